"""What stands on the oracle's pages and is made: rules, functions, messages, and the coverage.

FORMAT.md has a place for what is made, between ``<!-- made: NAME -->`` and ``<!-- end -->``. The
tests compare what stands there, or in a file of its own, with what is made, and can write it.
"""

import re
from collections.abc import Sequence

from mutants.clients import Client
from mutants.coverage import LOOSE, STRICT, TELLS, Shown
from mutants.slips import Slip

from gradcheck_ref.conversation.messages import Message
from gradcheck_ref.oracle.table import ANSWERS, ASKED, EXCUSES, HELLO, HELLO_REPLY
from gradcheck_ref.oracle.vectors import load_file

BAR = "\\|"  # in a table
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


def rule_table(found: Sequence[tuple[Client, Shown]]) -> str:
    """Tell, for each mistake in the rules, the vectors that show it: mistake by rule."""
    rules = [group["rule"] for group in load_file("compare")["groups"]]
    lines = ["| | " + " | ".join(f"`{rule}`" for rule in rules) + " |"]
    lines.append("| --- " * (len(rules) + 1) + "|")
    for said in dict.fromkeys(client.said for client, _ in found):
        shown = Shown()
        for client, counts in found:
            if client.said == said:
                of_rules = {key: n for key, n in counts.items() if key[0] in client.groups}
                shown.update(of_rules)
        cells = [_cell_of(shown, f"compare/{rule}") for rule in rules]
        lines.append(f"| {said.replace('|', BAR)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell_of(shown: Shown, group: str) -> str:
    """Write: lets through / refuses; or how often another number is told, or nothing."""
    loose, strict, tells = (shown[group, way] for way in (LOOSE, STRICT, TELLS))
    return f"{loose} / {strict}" if loose or strict else f"({tells})" if tells else ""


def slip_list(found: Sequence[tuple[Slip | Client, Shown]]) -> str:
    """Tell how many vectors show each mistake in quotients, walks, verdicts and clients."""
    parts = []
    for kind in dict.fromkeys(slip.kind for slip, _ in found):
        shown = [(s.said, sum(counts.values())) for s, counts in found if s.kind == kind]
        parts.append(f"**{kind}**: " + ";\n".join(f"{said}: {n}" for said, n in shown) + ".")
    return "\n\n".join(parts)
