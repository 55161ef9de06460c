"""Small edits of a solution: what a slip of the hand, or a wrong idea, makes of it.

``mutants`` edits the functions that a student writes, one place at a time: a constant, an operator,
an axis, a comparison, a default, a name, a statement that is left out.
"""

import ast
import re
import textwrap
from collections.abc import Iterator

SWAPPED = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.FloorDiv: (ast.Div,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
WORDS = {
    "sum": ("mean",),
    "mean": ("sum", "max"),
    "max": ("min", "sum"),
    "min": ("max",),
    "all": ("any",),
    "any": ("all",),
    "maximum": ("minimum", "fmax"),
    "zeros": ("ones",),
    "ones": ("zeros",),
    "exp": ("expm1",),
    "log": ("log1p", "log2"),
    "isfinite": ("isnan", "isinf"),
    "array_equal": ("allclose",),
    "round": ("trunc", "floor"),
    "argmax": ("argmin",),
    "float64": ("float32",),
}
SMALL = 1e-8  # what is added in secret


def mutants(source: str, tasks: list[str]) -> Iterator[tuple[str, str]]:
    """Yield (what is changed, the source) for each edit of the functions named ``tasks``."""
    tree, lines = ast.parse(source), source.splitlines()
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name in tasks]
    for function in functions:
        names, seen = _names(function), {ast.unparse(function)}
        first = min(node.lineno for node in (function, *function.decorator_list))
        before, after = lines[: first - 1], lines[function.end_lineno :]
        for parent, field, index, node in _places(function):
            for new in _instead(parent, field, node, names):
                _put(parent, field, index, new)
                edited = ast.unparse(function)
                _put(parent, field, index, node)
                if edited not in seen:
                    seen.add(edited)
                    old, text = (ast.unparse(x) if x else "nothing" for x in (node, new))
                    inside = textwrap.indent(edited, " " * function.col_offset)
                    whole = "\n".join([*before, inside, *after])
                    yield f"{function.name}: {_line(old)} -> {_line(text)}", whole


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _put(parent: ast.AST, field: str, index: int | None, new: ast.AST | None) -> None:
    if index is None:
        setattr(parent, field, new)
    elif new is None:
        getattr(parent, field)[index] = ast.Pass()
    else:
        getattr(parent, field)[index] = new


def _places(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    for parent in ast.walk(function):
        for field, value in ast.iter_fields(parent):
            if parent is function and field not in ("body", "args"):
                continue
            if isinstance(value, list):
                for index, node in enumerate(value):
                    if isinstance(node, ast.AST):
                        yield parent, field, index, node
            elif isinstance(value, ast.AST):
                yield parent, field, None, value


def _names(function: ast.FunctionDef) -> list[str]:
    """Return the variables of a function, in order."""
    found = [a.arg for a in ast.walk(function) if isinstance(a, ast.arg)]
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.append(node.id)
    return list(dict.fromkeys(found))


def _instead(
    parent: ast.AST, field: str, node: ast.AST, names: list[str]
) -> Iterator[ast.AST | None]:
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            for other in (value + 1, value - 1, 2 * value, -value):
                if other != value:
                    yield ast.Constant(other)
        case ast.Constant(value=float(value)):
            for other in (2 * value, value / 2, -value, value + 1, 0.0, 1.001 * value):
                if other != value:
                    yield ast.Constant(other)
        case ast.Constant(value=str(value)) if "->" in value:  # of einsum
            left, _, right = value.partition("->")
            one, *more = left.split(",")
            yield ast.Constant(f"{one[::-1]},{','.join(more)}->{right}")
            yield ast.Constant(f"{left}->{right[0]}{right[:0:-1]}")
        case ast.BinOp():
            for op in SWAPPED.get(type(node.op), ()):
                yield ast.BinOp(node.left, op(), node.right)
            yield node.left
            yield node.right
            if not isinstance(node.op, ast.Add | ast.Mult):
                yield ast.BinOp(node.right, node.op, node.left)
            yield ast.BinOp(node, ast.Add(), ast.Constant(SMALL))
            if isinstance(node.op, ast.Sub):
                yield _call("np.abs", node)
        case ast.UnaryOp():
            yield node.operand
        case ast.BoolOp():
            yield ast.BoolOp(SWAPPED[type(node.op)][0](), node.values)
            yield from node.values
        case ast.Compare(ops=[op]):
            for other in SWAPPED.get(type(op), ()):
                yield ast.Compare(node.left, [other()], node.comparators)
        case ast.Compare():
            for k in range(len(node.ops)):
                for other in SWAPPED.get(type(node.ops[k]), ()):
                    yield ast.Compare(
                        node.left, [*node.ops[:k], other(), *node.ops[k + 1 :]], node.comparators
                    )
        case ast.IfExp():
            yield node.body
            yield node.orelse
        case ast.Attribute(attr=word) if isinstance(node.ctx, ast.Load):
            for other in WORDS.get(word, ()):
                yield ast.Attribute(node.value, other, node.ctx)
            if word in ("T", "flat"):
                yield node.value
        case ast.Call():
            yield from _other_calls(node)
        case ast.Subscript(ctx=ast.Load()):
            yield node.value
        case ast.Tuple(ctx=ast.Load(), elts=elements) if len(elements) > 1:
            for k in range(len(elements) - 1):
                swapped = [*elements]
                swapped[k : k + 2] = elements[k + 1], elements[k]
                yield ast.Tuple(swapped, node.ctx)
            if not isinstance(parent, ast.Subscript):
                yield ast.Tuple(elements[:-1], node.ctx)
        case ast.Slice(lower=lower, upper=upper) if lower or upper:
            yield ast.Slice(None, upper, node.step)
            yield ast.Slice(lower, None, node.step)
        case ast.Name(id=name, ctx=ast.Load()) if name in names:
            for other in names:
                if other != name:
                    yield ast.Name(other, node.ctx)
        case ast.AugAssign():
            yield ast.Assign([node.target], node.value, lineno=0)
            for op in SWAPPED.get(type(node.op), ()):
                yield ast.AugAssign(node.target, op(), node.value)
            yield None
        case ast.Assign() | ast.Expr(value=ast.Call()):
            yield None
        case ast.If():
            yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
            yield ast.If(ast.Constant(True), node.body, node.orelse)
            yield None
        case ast.For():
            yield ast.For(
                node.target,
                _call("list", node.iter, keep=slice(None, -1)),
                node.body,
                node.orelse,
                lineno=0,
            )
            yield ast.For(
                node.target,
                _call("list", node.iter, keep=slice(1, None)),
                node.body,
                node.orelse,
                lineno=0,
            )
            yield ast.For(
                node.target,
                _call("list", node.iter, keep=slice(None, None, -1)),
                node.body,
                node.orelse,
                lineno=0,
            )
        case ast.Return(value=ast.AST() as value):
            yield ast.Return(ast.UnaryOp(ast.USub(), value))
            yield ast.Return(_call("np.abs", value))
            yield ast.Return(_call("np.float32", value))
            yield ast.Return(_call("np.round", value, ast.Constant(6)))
            yield ast.Return(ast.BinOp(value, ast.Mult(), ast.Constant(1 + SMALL)))
        case ast.comprehension():
            cut = _call("list", node.iter, keep=slice(None, -1))
            yield ast.comprehension(node.target, cut, node.ifs, 0)
    if field == "defaults":
        yield ast.Constant(None)


def _other_calls(node: ast.Call) -> Iterator[ast.AST]:
    for k, keyword in enumerate(node.keywords):
        others = node.keywords[:k] + node.keywords[k + 1 :]
        yield ast.Call(node.func, node.args, others)
        if keyword.arg == "axis":
            for axis in (0, 1, -1):
                new = ast.keyword("axis", ast.Constant(axis))
                yield ast.Call(node.func, node.args, [*others, new])
    if isinstance(node.func, ast.Attribute) and not (
        isinstance(node.func.value, ast.Name) and node.func.value.id == "np"
    ):
        yield node.func.value  # x.copy() -> x
    for k in range(len(node.args)):
        yield node.args[k]
        if k and not isinstance(node.args[0], ast.Constant):
            swapped = [*node.args]
            swapped[k - 1], swapped[k] = swapped[k], swapped[k - 1]
            yield ast.Call(node.func, swapped, node.keywords)


def _call(name: str, *arguments: ast.AST, keep: slice | None = None) -> ast.AST:
    text = f"{name}({', '.join(ast.unparse(a) for a in arguments)})"
    if keep:
        bounds = ("" if b is None else str(b) for b in (keep.start, keep.stop, keep.step))
        text += f"[{':'.join(bounds)}]"
    return ast.parse(text, mode="eval").body
