"""The normal form of code: what is calculated, and not how it is written.

A name stands for its value if it is set once, so that it does not matter what it is called, and
whether an expression is written in one line or in several. Other names are numbers, in the order in
which they come; a parameter is its place.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
LONGEST = 100  # letters by which an attribute is told
# Types, and what Python or another field already says.
LEFT_OUT = {"annotation", "returns", "type_comment", "ctx", "name", "kind", "type_params", "id"}


def normal_form(source: bytes, tasks: Sequence[str] = ()) -> str:
    """Return a hash of what the functions called ``tasks`` do, with what they need; else of all.

    It raises what ``ast.parse`` raises.
    """
    module = _Scope(ast.parse(source).body)
    names = [name for name in tasks if name in module.once]
    found = [name * bool(names) + module.value(name) for name in names or module.once]
    return _hash(sorted(found))


def _hash(told: object) -> str:
    return sha256(repr(told).encode()).hexdigest()


class _Scope:
    """A module, or a function, and what its names stand for."""

    def __init__(
        self, body: Sequence[ast.AST], outer: "_Scope | None" = None, parameters: Iterable[str] = ()
    ) -> None:
        self.outer, self.body = outer, body
        self.known = {name: f"parameter {n}" for n, name in enumerate(parameters)}
        self.once: dict[str, ast.AST] = {}
        nodes = [node for statement in body for node in _inside(statement)]
        stored = [n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        times = Counter(node.id for node in stored) + Counter([*self.known])
        changed = {*_changed(nodes)}
        for node in nodes:
            match node:
                case ast.Import(names=names):
                    self.known |= {one.asname or one.name: one.name for one in names}
                case ast.ImportFrom(module=module, names=names):
                    self.known |= {one.asname or one.name: f"{module}.{one.name}" for one in names}
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    self.once[name] = node
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ) if times[name] == 1 and name not in changed:
                    used = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
                    if not changed & used or (isinstance(value, ast.Name) and times[value.id] == 1):
                        self.once[name] = value
        others = sorted((n.lineno, n.col_offset, n.id) for n in stored if n.id not in self.once)
        for number, (*_, name) in enumerate(others):
            self.known.setdefault(name, f"variable {number}")

    def value(self, name: str) -> str:
        """Return what a name stands for."""
        if name not in self.known and name in self.once:
            self.known[name] = "itself"  # while it is read
            self.known[name] = self.read(self.once[name])
        if name in self.known:
            return self.known[name]
        return self.outer.value(name) if self.outer else name

    def read(self, node: Any) -> str:
        """Return what a part of the code does."""
        match node:
            case ast.Name(id=name):
                return self.value(name)
            case ast.Attribute(value=value, attr=attr):
                told = f"{self.read(value)}.{attr}"
                return told if len(told) < LONGEST else _hash(told)
            case ast.Constant(value=float() | int() as number) if not isinstance(number, bool):
                return f"number {hash(number)}"  # the same for 2 and 2.0
            case ast.BinOp(left=left, op=ast.Add() | ast.Mult() as op, right=right):
                return _hash([type(op).__name__, *sorted(map(self.read, (left, right)))])
            case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE() as op], comparators=[right]):
                turned = ast.Lt() if isinstance(op, ast.Gt) else ast.LtE()
                return self.read(ast.Compare(right, [turned], [left]))
            case ast.Raise(exc=ast.Call(func=kind)):
                return _hash(["raises", self.read(kind)])
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                return self._function(node)
            case ast.ClassDef(bases=bases, body=body):
                inner = _Scope(body, self)
                methods = sorted((name, inner.value(name)) for name in inner.once)
                return _hash(["class", self.read(bases), methods, inner.read([*body])])
            case ast.Call(func=function, args=given, keywords=named):
                words = sorted(f"{one.arg}={self.read(one.value)}" for one in named)
                return _hash(["calls", self.read(function), *map(self.read, given), *words])
            case [*first, ast.If(body=[*_, ast.Return() | ast.Raise()], orelse=[_, *_]) as last]:
                return self.read([*first, ast.If(last.test, last.body, []), *last.orelse])
            case list():
                return _hash([self.read(one) for one in node if not self._says_nothing(one)])
            case ast.AST():
                parts = [(k, self.read(v)) for k, v in ast.iter_fields(node) if k not in LEFT_OUT]
                return _hash([type(node).__name__, *parts])
        return repr(node)

    def _function(self, node: FUNCTION) -> str:
        given = node.args
        names = [*given.posonlyargs, *given.args, *filter(None, [given.vararg])]
        names += [*given.kwonlyargs, *filter(None, [given.kwarg])]
        body = [ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body
        inner = _Scope(body, self, [one.arg for one in names])
        more = [self.read([*given.defaults, *given.kw_defaults])]
        return _hash(["function", len(names), inner.read([*body]), *more])

    def _says_nothing(self, node: Any) -> bool:
        """Whether a statement is read elsewhere, or calculates nothing."""
        match node:
            case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.ClassDef():
                return True
            case ast.Pass() | ast.Assert() | ast.AnnAssign(value=None):
                return True
            case ast.Expr(value=ast.Constant() | ast.JoinedStr() | ast.Name()):
                return True
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
                return True
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                return name in self.once
        return False


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all in it, but not what is in a function or class: it has its own names."""
    yield node
    if not isinstance(node, FUNCTION | ast.ClassDef):
        for inner in ast.iter_child_nodes(node):
            yield from _inside(inner)


def _changed(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names of what is changed in its place."""
    for node in nodes:
        match node:
            case (
                ast.AugAssign(target=target)
                | ast.Subscript(value=target, ctx=ast.Store())
                | ast.Attribute(value=target, ctx=ast.Store())
            ):
                yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))
