"""Put in, for the line `<!-- sentences -->` of a page, every sentence that a report can print.

They are read from the code that writes them, which is not run: each function is followed line by
line, with what it adds to a text and what it chooses between, to where it hands the text over.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import product
from math import prod
from pathlib import Path

CHECK = Path(__file__).parents[2] / "gradcheck_ref" / "check"
HELPERS = CHECK / "report" / "text.py"  # functions that others use in their sentences
HERE = "<!-- sentences -->"

UNKNOWN = "…"  # for what only a check knows
ENOUGH = 3  # words that are worth a line
MOST = 8  # lines for one text; beyond that, it is written with its choices inside

Texts = list[str]
Names = dict[str, Texts]
Row = tuple[str, Texts, Texts]  # kind, sentences, advice
Cell = dict[str, None]

# {heading: (what it is, its modules)}
PARTS = {
    "Pass and fail": (
        "The first lines.",
        ("report/sentences.py", "report/wholes.py", "report/text.py:random_lines"),
    ),
    "Unsure": ("The first line, *seen*, and *try*.", ("report/unsure.py", "results.py")),
    "Diagnoses": (
        "The lines *looks like* and *try*, by `kind`.",
        ("mistakes/factors.py", "mistakes/numbers.py", "mistakes/places.py", "diagnose/*.py"),
    ),
    "Faults": ("They come first, and say what to do.", ("claim/*.py", "judge/ties.py")),
    "What the point hides": (
        "After *this point cannot show*. The report proposes other numbers.",
        ("mistakes/table.py", "hides/blind.py"),
    ),
    "Notes": (
        "After *note*, with any verdict.",
        ("examine.py", "hides/measured.py", "../adapters/torch_call.py:remarks"),
    ),
}

# {call: where it has the kind, the sentence and the advice}
PAIRS = {
    "Guess": (0, 1, 2),
    "Words": (None, 0, 1),
    "Diagnosis": (0, 2, 3),
    "Circumstance": (None, 2, 3),
}
# Functions whose sentences are of a kind that their code does not name; calls that say nothing to a
# reader, or only a part of what is said.
OF_KIND = {"SIGN": "sign", "no_number": "nonfinite", "few_digits": "noisy", "meaning": "factor"}
OF_KIND |= {"_meanings": "factor", "stairs": "not-zero"}
SILENT = {"words", "join", "getattr", "removeprefix", "startswith"}


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put the sentences where a page wants them."""
    return markdown.replace(HERE, sentences()) if HERE in markdown else markdown


def sentences() -> str:
    """Return all sentences, as Markdown; the search is light without them, and finds the page."""
    kinds, written = kinds_of_mistakes(), []
    for heading, (about, names) in PARTS.items():
        rows = [row for name in names for row in _rows_of(name, kinds)]
        title = f"## {heading} {{ data-search-exclude }}\n"
        written += [title, f"{about}\n", *_listed(rows, list(kinds)), ""]
    return "\n".join(written)


def _rows_of(name: str, kinds: dict[str, Texts]) -> Iterator[Row]:
    """Yield the rows of modules, or of one function of a module."""
    pattern, _, function = name.partition(":")
    for path in sorted((CHECK / pattern).parent.glob(Path(pattern).name)):
        yield from Module(path, kinds).rows(function)


def kinds_of_mistakes() -> dict[str, Texts]:
    """Return the kinds of the table of mistakes, with the names of the functions that mend them."""
    tree = ast.parse((CHECK / "mistakes/table.py").read_text(encoding="utf-8"))
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    values = {ast.unparse(node.targets[0]): node.value for node in assigned}
    found: dict[str, Texts] = {kind: [] for kind in ast.literal_eval(values["KINDS"])}
    for mistake in (node for node in ast.walk(values["MISTAKES"]) if isinstance(node, ast.Call)):
        for word in mistake.keywords:
            if word.arg in ("mend", "reshape"):
                kind = ast.literal_eval(mistake.args[0])
                found[kind].append(ast.unparse(word.value).split(".")[-1])
    return found


def _listed(rows: Iterable[Row], order: Texts) -> Iterator[str]:
    """Write rows as a list, those with advice first, and each sentence once."""
    advised: dict[tuple[str, tuple[str, ...]], Cell] = {}
    alone: Cell = {}
    for kind, said, advice in rows:
        texts, cell = (tuple(map(_cell, filter(is_sentence, some))) for some in (said, advice))
        where = advised.setdefault((kind, texts or (UNKNOWN,)), {}) if cell else alone
        where.update(dict.fromkeys(cell or texts))
    # Sentences with the same advice are in one row.
    lines: dict[tuple[str, tuple[str, ...]], Cell] = {}
    for (kind, texts), several in advised.items():
        lines.setdefault((kind, tuple(several)), {}).update(dict.fromkeys(texts))
    places = {kind: at for at, kind in enumerate(order)}
    for key in sorted(lines, key=lambda key: places.get(key[0].split(",")[0], 0)):
        kinds = [f"`{one}`" for one in key[0].split(", ") if one]
        label = [f"**{', '.join(kinds)}**"] if kinds else []
        yield f"- {'<br>'.join([*label, *lines[key], *(f'*do:* {one}' for one in key[1])])}"
    yield from (f"- {one}" for one in alone)


def _cell(text: str) -> str:
    """Write a text so that Markdown leaves it as it is."""
    once = re.sub("⟨⟨([^⟨⟩]*)⟩⟩", r"⟨\1⟩", text.strip(" ;,:."))
    return re.sub(r"([\\*_`|\[\]$~])", r"\\\1", escape(once, quote=False))


# --- texts and their parts -----------------------------------------------------------------------


def is_sentence(text: str) -> bool:
    """Whether a text has enough words."""
    return len(re.findall(r"[A-Za-z']{2,}", text)) >= ENOUGH


def _merged(texts: Iterable[str]) -> Texts:
    """Return each text once; one that only goes on is written with the rest in brackets."""
    several: Texts = []
    for text in texts:
        shorter = [one for one in several if one and text.startswith(one)]
        longer = [one for one in several if text and one.startswith(text)]
        if text in several:
            continue
        if shorter:
            several[several.index(shorter[0])] = f"{shorter[0]}⟨{text[len(shorter[0]) :]}⟩"
        elif longer:
            several[several.index(longer[0])] = f"{text}⟨{longer[0][len(text) :]}⟩"
        else:
            several.append(text)
    return several


def _joined(parts: Sequence[Texts]) -> Texts:
    """Join parts of a text; a choice between a few words stays inside."""
    inside = [
        [_choice(part)] if len(part) > 1 and not all(map(is_sentence, part)) else part
        for part in parts
    ]
    for part in sorted(inside, key=lambda part: len("".join(part))):
        if prod(map(len, inside)) > MOST:
            inside[inside.index(part)] = [_choice(part)]
    joined = ("".join(way) for way in product(*inside))
    return [re.sub("…[…]+", UNKNOWN, text) for text in joined]


def _has_tuples(node: ast.Tuple) -> bool:
    return any(isinstance(one, ast.Tuple) for one in node.elts)


def _choice(part: Texts) -> str:
    known = [text for text in part if text]
    return part[0] if len(part) == 1 else f"⟨{' | '.join(known)}⟩" if known else ""


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Yield the functions and methods of a module; those inside of one are followed with it."""
    for node in tree.body:
        for one in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(one, ast.FunctionDef):
                yield one


class Module:
    """The texts of a module.

    Parameters
    ----------
    path : Path
        The module.
    kinds : mapping of str to list of str
        The kinds of mistakes, with the functions that mend them.
    """

    def __init__(self, path: Path, kinds: dict[str, Texts]) -> None:
        self.tree, self.kinds = ast.parse(path.read_text(encoding="utf-8")), kinds
        self.all = [*_functions(self.tree)]
        self.functions = {node.name: node for node in self.all}
        helpers = ast.parse(HELPERS.read_text(encoding="utf-8"))
        self.helpers = {node.name: node for node in _functions(helpers)}
        self.parts: set[str] = set()  # functions whose texts are parts of others, or told there
        self.following: set[str] = set()  # functions that are followed now
        self.found: list[Row] = []
        self.own: Names = {}
        self.kind = ""

    def rows(self, function: str = "") -> list[Row]:
        """Return a row for each text that leaves a function, and is no part of another one."""
        for node in self.tree.body:
            if isinstance(node, ast.Assign | ast.AnnAssign):
                self.kind = OF_KIND.get(ast.unparse(node).split(" ")[0], "")
                self._follow([node], self.own)
        for part in ast.walk(self.tree):  # what objects keep
            if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Attribute):
                for at, one in enumerate(getattr(part.value, "elts", ())):
                    name = f"{ast.unparse(part.targets[0])}[{at}]"
                    self.own[name] = _merged([*self.own.get(name, []), *self.texts(one, {})])
        told = [("", self.found)]
        for node in self.all:
            self.kind, self.found = self._kind_of(node.name), []
            self._follow(node.body, dict(self.own))
            told.append((node.name, self.found))
        if function:
            return [row for name, rows in told if name == function for row in rows]
        return [row for name, rows in told if name not in self.parts for row in rows]

    def _kind_of(self, name: str) -> str:
        """Return the kind of mistake that a function is about, or one that calls it."""
        calls = [one for one, node in self.functions.items() if f"{name}(" in ast.unparse(node)]
        mends = {mend: kind for kind, several in self.kinds.items() for mend in several} | OF_KIND
        return next((mends[one] for one in (name, *calls) if one in mends), "")

    # --- statements ------------------------------------------------------------------------------

    def _follow(self, body: list[ast.stmt], names: Names) -> bool:
        """Follow statements, keeping what names stand for; return whether they end the function."""
        for node in body:
            if isinstance(node, ast.If):
                ways = dict(names), dict(names)
                ends = self._follow(node.body, ways[0]), self._follow(node.orelse, ways[1])
                left = [way for way, end in zip(ways, ends, strict=True) if not end]
                if not left:
                    return True
                for name in {name: None for way in left for name in way}:
                    names[name] = _merged(one for way in left for one in way.get(name, []))
            elif isinstance(node, ast.For):
                self._bind_each(node.target, node.iter, names)
                self._follow(node.body, names)
            elif isinstance(node, ast.With | ast.Try):
                for one in [node, *getattr(node, "handlers", ())]:
                    self._follow(one.body, names)
            elif isinstance(node, ast.Raise):
                return True
            elif isinstance(node, ast.FunctionDef):
                self._follow(node.body, dict(names))
            else:
                self._hand_over(node, names)
                if isinstance(node, ast.Assign):
                    self._bind(node.targets[0], node.value, names, {})
                elif isinstance(node, ast.AugAssign):
                    target = ast.unparse(node.target)
                    both = [names.get(target, [""]), self.texts(node.value, names)]
                    self._bind(node.target, node.value, names, {})  # the entries of a table
                    names[target] = _joined(both)
                elif isinstance(node, ast.Return):
                    return True
        return False

    def _bind(self, target: ast.expr, value: ast.expr, names: Names, before: Names) -> None:
        """Let a name, or several, stand for the texts of a value, and for those before."""
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, its in zip(target.elts, value.elts, strict=False):
                self._bind(one, its, names, before)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.IfExp):
            self._bind(target, value.body, names, before)
            self._bind(target, value.orelse, names, names)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Call):
            names[ast.unparse(target.elts[-1])] = self.texts(value, names)
        elif isinstance(value, ast.Dict):
            for key, one in zip(value.keys, value.values, strict=True):
                entry = f"{ast.unparse(target)}[{ast.unparse(key or value)}]"
                names[entry] = self.texts(one, names)
        else:
            name = ast.unparse(target)
            names[name] = _merged([*before.get(name, []), *self.texts(value, names)])
            # What a loop over this will find.
            for row in value.elts if isinstance(value, ast.List | ast.Tuple) else ():
                for at, one in enumerate(row.elts if isinstance(row, ast.Tuple) else ()):
                    column = f"{name}#{at}"
                    names[column] = _merged([*names.get(column, []), *self.texts(one, names)])

    def _bind_each(self, target: ast.expr, over: ast.expr, names: Names) -> None:
        """Let the names of a loop stand for all that they meet."""
        for values in ast.walk(over):
            if isinstance(values, ast.Tuple) and not _has_tuples(values):
                self._bind(target, values, names, names)
        name = ast.unparse(over).removesuffix(".items()")
        for at, one in enumerate(target.elts if isinstance(target, ast.Tuple) else [target]):
            found = names.get(f"{name}#{at}", [])
            if not at and name != ast.unparse(over):  # the keys
                begin = f"{name}['"
                found = [key.removeprefix(begin)[:-2] for key in names if key.startswith(begin)]
            if found:
                names[ast.unparse(one)] = found

    def _hand_over(self, node: ast.stmt, names: Names) -> None:
        """Find the texts that a statement returns, yields, or gives to another function."""
        for part in ast.walk(node):
            value = getattr(part, "value", None)
            if isinstance(part, ast.Return | ast.Yield) and value:
                self._tell_result(value, names)
            elif isinstance(part, ast.YieldFrom | ast.Assign) and isinstance(value, ast.Tuple):
                goes_on = isinstance(part, ast.YieldFrom) or ast.unparse(part.targets[0]) == "notes"
                for one in value.elts:
                    if goes_on or isinstance(one, ast.Tuple):
                        self._tell_result(one, names)
            elif isinstance(part, ast.Call):
                self._tell_call(part, names)

    def _tell_result(self, value: ast.expr, names: Names) -> None:
        """Tell what a function returns: a text, several, or an entry of each of two tables."""
        if not isinstance(value, ast.Tuple):
            self._tell([value], names, False)
        elif len(value.elts) == 2 and all(isinstance(one, ast.Subscript) for one in value.elts):
            said, advice = (f"{ast.unparse(one).split('[')[0]}['" for one in value.elts)
            for name in [name for name in names if name.startswith(said)]:
                key = name.removeprefix(said)
                reason = key[:-2].removeprefix("rounded")  # which is no reason of an entry
                self.found.append((reason, names[name], names[advice + key]))
        else:
            self._tell(value.elts, names, True)

    def _tell_call(self, call: ast.Call, names: Names) -> None:
        """Tell what is given to another function; one of this module is followed with it."""
        name = ast.unparse(call.func).split(".")[-1]
        if name in PAIRS and len(call.args) > PAIRS[name][2]:
            kind, said, advice = PAIRS[name]
            both = self.texts(call.args[said], names), self.texts(call.args[advice], names)
            several = [self.kind] if kind is None else self.texts(call.args[kind], names)
            its = ", ".join(one for one in several if one in self.kinds)
            self.found.append((its, *both))
        elif name in ("Mistake", "BlindSpot"):
            given = {word.arg: word.value for word in call.keywords}
            parts = [given.get("question"), given.get("reason")] if given else call.args[2:4]
            texts = [self.texts(one, names) for one in parts if one]
            if len(texts) == 2:
                whole = _joined([texts[0], [" ("], texts[1], [")"]])
                self.found.append(("", [one.replace("{}", UNKNOWN) for one in whole], []))
        elif name in self.functions and name not in self.following:
            given_names = self._given(self.functions[name], call.args, names)
            if any(map(is_sentence, (one for some in given_names.values() for one in some))):
                inside = self._inside(name)
                inside._follow(self.functions[name].body, {**self.own, **given_names})
                self.parts.add(name) if inside.found else None
                self.found += inside.found
        elif name not in SILENT | {*self.helpers}:
            for one in [*call.args, *(word.value for word in call.keywords)]:
                self._tell_result(one, names)

    def _inside(self, name: str) -> "Module":
        """Return a copy that follows a function for its caller."""
        inside = Module.__new__(Module)
        inside.__dict__.update(self.__dict__, found=[], following={name, *self.following})
        return inside

    def _given(self, function: ast.FunctionDef, args: list[ast.expr], names: Names) -> Names:
        """Return what the parameters of a function stand for in a call."""
        words = [one.arg for one in function.args.args if one.arg != "self"]
        return {word: self.texts(arg, names) for word, arg in zip(words, args, strict=False)}

    def _tell(self, values: Sequence[ast.expr], names: Names, has_advice: bool) -> None:
        """Keep values that are sentences; the last one of several is advice."""
        texts = [
            self.texts(one, names)
            for one in values
            if not (isinstance(one, ast.Call) or ast.unparse(one).isupper())
        ]
        texts = [[one for one in some if is_sentence(one)] for some in texts]
        texts = [some for some in texts if some]
        if has_advice and len(texts) > 1:
            *said, advice = texts
            self.found.append((self.kind, [one for some in said for one in some], advice))
        elif self.kind == "factor":
            self.found += [("factor", ["every entry is … x the numeric value"], t) for t in texts]
        else:
            self.found += [(self.kind, some, []) for some in texts]

    # --- expressions -----------------------------------------------------------------------------

    def texts(self, node: ast.expr, names: Names) -> Texts:
        """Return the texts that an expression may be."""
        match node:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.JoinedStr(values=values):
                return _joined([self.texts(value, names) for value in values])
            case ast.FormattedValue(value=value):
                return self.texts(value, names)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _joined([self.texts(left, names), self.texts(right, names)])
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                some = [*self.texts(left, names), *self.texts(right, names)]
                return ["", *(one for one in some if one != UNKNOWN)] if len(some) > 1 else some
            case ast.IfExp(body=body, orelse=orelse):
                return _merged([*self.texts(body, names), *self.texts(orelse, names)])
            case ast.BoolOp(values=values):
                return _merged(one for value in values for one in self.texts(value, names))
            case ast.Name(id=name):
                return names.get(name, [UNKNOWN])
            case ast.Subscript() if ast.unparse(node) in names:
                return names[ast.unparse(node)]
            case ast.Subscript(value=ast.Name() | ast.Dict() as of):
                return self.texts(of, names)
            case ast.List(elts=values):
                return _merged(one for value in values for one in self.texts(value, names))
            case ast.Dict(values=values):
                return _merged(one for value in values for one in self.texts(value, names))
            case ast.Call(func=func, args=args):
                return self._called(ast.unparse(func), func, args, names)
        return [UNKNOWN]

    def _called(self, name: str, func: ast.expr, args: list[ast.expr], names: Names) -> Texts:
        """Return the texts that a call may return: a function of this module, or a known one."""
        if name == "setting":
            given = [self.texts(arg, names) for arg in args]
            return _joined([given[0], ["="], *given[1:]])
        if name == "words":
            return _merged([*self.texts(args[0], names), *self.texts(args[1], names)])
        if isinstance(func, ast.Attribute) and func.attr == "join":
            (between,), some = self.texts(func.value, names), self.texts(args[0], names)
            if is_sentence(between):
                return [f"{UNKNOWN}{between}{UNKNOWN}"]
            return some if any(map(is_sentence, some)) else [UNKNOWN]
        if isinstance(func, ast.Attribute) and func.attr == "format":
            return [re.sub(r"{\w*}", UNKNOWN, one) for one in self.texts(func.value, names)]
        function = self.functions.get(name) or self.helpers.get(name)
        if function and name not in self.following:
            inside = self._inside(name)
            inside._follow(function.body, {**self.own, **self._given(function, args, names)})
            texts = [one for _, said, advice in inside.found if not advice for one in said]
            if texts:
                self.parts.add(name)
                # What a helper may add at the end is told once, with the helper.
                shorter = [re.sub("⟨ [^⟨⟩]*⟩$", "", one) for one in texts]
                return _merged(shorter if name in self.helpers else texts)
        return [UNKNOWN]
