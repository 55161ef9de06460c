"""What stands on the oracle's pages and is made: rules, functions, messages, and the coverage.

FORMAT.md has a place for what is made, between ``<!-- made: NAME -->`` and ``<!-- end -->``. The
tests compare what stands there, or in a file of its own, with what is made, and can write it.
"""

import re
from collections import Counter
from collections.abc import Sequence

from mutants.clients import Client
from mutants.mistakes import LOOSE, STRICT, TELLS, Mistake
from mutants.slips import Slip

from gradcheck_ref.conversation.messages import Message
from gradcheck_ref.oracle.table import ANSWERS, ASKED, EXCUSES, HELLO, HELLO_REPLY
from gradcheck_ref.oracle.vectors import load_file

PLACE = re.compile(r"(<!-- made: ([\w-]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def filled(page: str) -> str:
    """Put what is made into its places on a page."""
    made = {made.__name__: made for made in (rules, functions, messages)}
    return PLACE.sub(lambda place: f"{place[1]}\n{made[place[2]]()}\n\n{place[3]}", page)


def rules() -> str:
    """List the rules of ``compare``, as the vector files state them."""
    groups = load_file("compare")["groups"]
    return "\n".join(f"- `{group['rule']}`: {group['says']}." for group in groups)


def functions() -> str:
    """List the functions of ``verdict``, as the vector files state them."""
    groups = load_file("verdict")["groups"]
    return "\n".join(f"- `{group['function']}`: {group['formula']}" for group in groups)


def messages() -> str:
    """List what is asked and what is replied, key by key."""
    lines = ["| ask | request, besides `id` and `ask` |", "| --- | --- |"]
    asked = {"hello": Message({"protocol": HELLO.keys["protocol"]}), **ASKED}
    lines += [f"| `{name}` | {_cell(message)} |" for name, message in asked.items()]
    lines += ["", "| to | reply, besides `id` |", "| --- | --- |"]
    hello = {key: value for key, value in HELLO_REPLY.keys.items() if key != "id"}
    replies = {"hello": Message(hello), **ANSWERS}
    lines += [f"| `{name}` | {_cell(message)} |" for name, message in replies.items()]
    lines += [f"| any | `{key}`: {value.said} |" for key, value in EXCUSES.items()]
    return "\n".join(lines)


def _cell(message: Message) -> str:
    return message.row().replace("|", "\\|")


# --- coverage --------------------------------------------------------------------------------


def rule_table(found: Sequence[tuple[Mistake, Counter[str]]]) -> str:
    """Tell, for each mistake in each rule, the vectors that show it: rule by edge by vectors."""
    names = list(dict.fromkeys(mistake.rule for mistake, _ in found))
    notes: list[str] = []
    parts = []
    for about in dict.fromkeys(mistake.about for mistake, _ in found):
        here = [(m, c) for m, c in found if m.about == about]
        rules = [name for name in names if any(m.rule == name for m, _ in here)]
        lines = [f"**{about}**", "", "| | " + " | ".join(f"`{r}`" for r in rules) + " |"]
        lines.append("| --- " * (len(rules) + 1) + "|")
        for said in dict.fromkeys(mistake.said for mistake, _ in here):
            cells = []
            for rule in rules:
                pair = next(((m, c) for m, c in here if (m.rule, m.said) == (rule, said)), None)
                cells.append(_counts(*pair, notes) if pair else "")
            lines.append(f"| {_escaped(said)} | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    told = [f"{_letter(k)}: {note}." for k, note in enumerate(notes)]
    return "\n\n".join([*parts, " ".join(told)])


def _counts(mistake: Mistake, counts: Counter[str], notes: list[str]) -> str:
    """Write: lets through / refuses, or how often another number is told."""
    if mistake.errs == TELLS:
        return f"({counts[TELLS]})"
    return " / ".join(_count(mistake, counts, way, notes) for way in (LOOSE, STRICT))


def _count(mistake: Mistake, counts: Counter[str], way: str, notes: list[str]) -> str:
    if counts[way] or way in mistake.errs:
        return str(counts[way])
    if mistake.because not in notes:
        notes.append(mistake.because)
    return _letter(notes.index(mistake.because))


def _letter(k: int) -> str:
    return "abcdefghijklmnopqrstuvwxyz"[k]


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def slip_list(found: Sequence[tuple[Slip | Client, Counter[str]]]) -> str:
    """Tell how many vectors show each mistake in quotients, walks, verdicts and clients."""
    parts = []
    for kind in dict.fromkeys(slip.kind for slip, _ in found):
        shown = [(s.said, sum(counts.values())) for s, counts in found if s.kind == kind]
        parts.append(f"**{kind}**: " + ";\n".join(f"{said}: {n}" for said, n in shown) + ".")
    return "\n\n".join(parts)
