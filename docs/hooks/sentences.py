"""Put in, for the line `<!-- sentences -->` of a page, every sentence that a report can print.

They are read from the code that writes them, which is not run: a function is a row, with its
sentences and what it advises, in the order of the code.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

from gradcheck_ref.check.mistakes.table import KINDS, MISTAKES

CHECK = Path(__file__).parents[2] / "gradcheck_ref" / "check"
HERE = "<!-- sentences -->"

UNKNOWN = "…"  # for what only a check knows, and for words of another line
ENOUGH = 3  # words that are worth a line

# {heading: (what it is, its modules)}
PARTS = {
    "Pass and fail": ("The first lines.", "report/sentences.py report/wholes.py"),
    "Unsure": ("The first line, *seen*, and *try*.", "report/unsure.py results.py"),
    "Diagnoses": (
        "The lines *looks like* and *try*, by `kind`.",
        "mistakes/factors.py mistakes/numbers.py mistakes/places.py diagnose/*.py",
    ),
    "Faults": ("They come first, and say what to do.", "claim/*.py judge/ties.py"),
    "What the point hides": (
        "After *this point cannot show*. The report proposes other numbers.",
        "hides/blind.py",
    ),
    "Notes": (
        "After *note*, with any verdict.",
        "examine.py ../adapters/torch_call.py:remarks",
    ),
}

# {call: which of its arguments is advice}
ADVICE = {"Guess": 2, "Words": 1, "Diagnosis": 3, "Circumstance": 3}
# Functions that mend a claim are named in the table of mistakes; others of a kind are these.
OF_KIND = {"SIGN": "sign", "no_number": "nonfinite", "few_digits": "noisy", "meaning": "factor"}
OF_KIND |= {"_divided": "factor", "_meanings": "factor", "stairs": "not-zero"}
OF_KIND["ignores_upstream"] = "upstream-ignored"
for mistake in MISTAKES:
    for function in (mistake.mend, mistake.reshape):
        OF_KIND |= {function.__name__: mistake.kind} if function else {}
SILENT = {"getattr", "removeprefix"}  # calls that say nothing to a reader

Row = dict[bool, dict[str, None]]  # {whether it is advice: texts}


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put the sentences where a page wants them."""
    return markdown.replace(HERE, sentences()) if HERE in markdown else markdown


def sentences() -> str:
    """Return all sentences, as Markdown; the search is light without them, and finds the page."""
    written = []
    for heading, (about, patterns) in PARTS.items():
        written += [f"### {heading} {{ data-search-exclude }}\n", f"{about}\n"]
        if heading == "What the point hides":
            asked = (f"{one.question} ({one.reason})" for one in MISTAKES if one.question)
            written += [f"- {_cell(one)}" for one in asked]
        for pattern in patterns.split():
            name, _, function = pattern.partition(":")
            for path in sorted((CHECK / name).parent.glob(Path(name).name)):
                for part in _parts(ast.parse(path.read_text(encoding="utf-8"))):
                    if function in ("", getattr(part, "name", None)):
                        written += listed(part)
        written.append("")
    return "\n".join(written)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the functions, the rows of tables and the other parts of a module."""
    for part in ast.iter_child_nodes(node):
        table = getattr(part, "value", None)
        if isinstance(part, ast.ClassDef):
            yield from _parts(part)
        elif isinstance(table, ast.Tuple) and any(isinstance(one, ast.Call) for one in table.elts):
            yield from table.elts
        else:
            yield part


def listed(part: ast.AST) -> Iterator[str]:
    """Write the sentences of a part as a list; of a kind, or with advice, they are one row."""
    for kind, row in Part(part).rows.items():
        lines = [*row[False], *(f"*do:* {one}" for one in row[True])]
        if kind:
            lines.insert(0, f"**{kind}**")
        if kind or row[True]:
            lines = ["<br>".join(lines)]
        yield from (f"- {one}" for one in lines)


class Part:
    """The sentences of a function, or of another part of a module, by their kinds.

    Parameters
    ----------
    part : ast.AST
        The part.
    """

    def __init__(self, part: ast.AST) -> None:
        self.rows: dict[str, Row] = {}
        name = getattr(part, "name", "") or ast.unparse(part).partition(" ")[0]
        nodes = [*ast.walk(part)]
        calls = [one for one in nodes if isinstance(one, ast.Call) and _name(one) in ADVICE]
        words = [getattr(one, "value", None) for one in nodes if calls]
        kinds = dict.fromkeys(one for one in (OF_KIND.get(name), *words) if one in KINDS)
        # Names that stand for advice.
        self.advice = {"advice", "more"}
        given = [one for call in calls for one in call.args[ADVICE[_name(call)] :]]
        assigned = [one for one in nodes if isinstance(one, ast.Assign)]
        given += [one.value for one in assigned if ast.unparse(one.targets[0]) == "advice"]
        for one in given:
            self.advice |= {word.id for word in ast.walk(one) if isinstance(word, ast.Name)}
        # Names that always stand for one text, in a table of sentences: it is read there.
        tables = [value for one in nodes if isinstance(one, ast.Dict) for value in one.values]
        named = {one.id for value in tables for one in ast.walk(value) if isinstance(one, ast.Name)}
        texts = [one for one in _together(getattr(part, "body", ())) if isinstance(one, ast.Assign)]
        self.texts = {ast.unparse(one.targets[0]): one.value for one in texts}
        often = Counter(ast.unparse(one.targets[0]) for one in assigned)
        self.texts = {k: text for k, text in self.texts.items() if k in named and often[k] == 1}
        self._read(part, ", ".join(map("`{}`".format, kinds)), False)

    def _read(self, node: ast.AST, kind: str, is_advice: bool) -> None:
        """Keep the texts in a piece of code."""
        text = text_of(node)
        if text is not None:
            if len(re.findall(r"[A-Za-z'-]+", text)) >= ENOUGH:
                row = self.rows.setdefault(kind, {False: {}, True: {}})
                row[is_advice][_cell(text)] = None
            return
        match node:
            case ast.Raise() | ast.Compare() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Assign(targets=[ast.Name(id=name)]) if name in self.texts:
                pass
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                for target, value in zip(names, values, strict=True):
                    self._read(ast.Assign([target], value), kind, is_advice)
            case ast.Assign(targets=[target], value=value) | ast.AugAssign(target, value=value):
                self._read(value, kind, is_advice or ast.unparse(target) in self.advice)
                self._read(target, kind, is_advice)
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    word = getattr(key, "value", kind)
                    if key and " " in str(word):
                        self._read(key, kind, is_advice)
                    of = kind if " " in str(word) else f"`{word}`"
                    names = [getattr(one, "id", "") for one in ast.walk(value)]
                    for one in (value, *(self.texts[name] for name in names if name in self.texts)):
                        self._read(one, of, is_advice)
            case ast.Call(args=args, keywords=keywords):
                if (name := _name(node)) not in SILENT:
                    for at, one in enumerate([*args, *keywords, node.func]):
                        self._read(one, kind, at == ADVICE[name] if name in ADVICE else is_advice)
            case ast.Tuple(elts=[_, _, *_, last]):
                for one in node.elts:
                    self._read(one, kind, is_advice or one is last)
            case _:
                for one in _together(ast.iter_child_nodes(node)):
                    self._read(one, kind, is_advice)


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func).split(".")[-1]


def _together(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """Return parts of code, with `text += "more"` joined to `text = "some"` just before it."""
    joined: list[ast.AST] = []
    for node in nodes:
        if isinstance(node, ast.AugAssign) and joined and isinstance(joined[-1], ast.Assign):
            before = joined[-1]
            if ast.unparse(before.targets[0]) == ast.unparse(node.target):
                both = ast.BinOp(before.value, node.op, node.value)
                joined[-1] = ast.Assign(before.targets, both)
                continue
        joined.append(node)
    return joined


def text_of(node: ast.AST) -> str | None:
    """Return the text that an expression writes, or None for another expression."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(map(_inside, values))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            if text_of(left) is not None or text_of(right) is not None:
                return _inside(left) + _inside(right)
    return None


def _inside(node: ast.AST) -> str:
    """Return a part of a text; a choice stands in brackets."""
    match node:
        case ast.FormattedValue(value=value):
            return _inside(value)
        case ast.IfExp(body=one, orelse=other) | ast.Call(ast.Name("words"), [one, other]):
            return f"⟨{' | '.join(filter(None, map(_inside, (one, other))))}⟩"
        case ast.BinOp(left=times, op=ast.Mult()):
            return f"⟨{_inside(times)}⟩"
        case ast.Call(ast.Attribute(value=ast.Constant() as between, attr="join")):
            return UNKNOWN + _inside(between) + UNKNOWN
        case ast.Call(ast.Name("setting"), [name, *value]):
            return f"{_inside(name)}={''.join(map(_inside, value))}"
    text = text_of(node)
    return UNKNOWN if text is None else text


def _cell(text: str) -> str:
    """Write a text so that Markdown leaves it as it is."""
    text = re.sub(r"(⟨…⟩|…|{\d*})+", UNKNOWN, text).strip(" ;,:.")
    return re.sub(r"([\\*_`|\[\]$~])", r"\\\1", escape(text, quote=False))
