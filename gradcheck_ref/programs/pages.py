"""What stands on the protocol's page and is made from its table."""

from collections.abc import Mapping

from gradcheck_ref.messages import Message
from gradcheck_ref.programs.table import ANSWERS, ASKED, EXCUSES, PARTS

BEGIN, END = "<!-- made: messages -->\n", "<!-- end -->\n"


def filled(page: str) -> str:
    """Put what is made into its place on a page."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{messages()}\n\n{END}{rest.split(END)[1]}"


def messages() -> str:
    """List what is asked and what is replied, key by key."""
    return "\n\n".join(
        [
            _table("ask", "request, besides `id` and `ask`", ASKED),
            _table("to", "reply, besides `id`", ANSWERS)
            + "".join(f"\n| any | `{key}`: {value.said} |" for key, value in EXCUSES.items()),
            _table("", "keys", PARTS, "{}"),
        ]
    )


def _table(first: str, second: str, rows: Mapping[str, Message], name: str = "`{}`") -> str:
    lines = [f"| {first} | {second} |", "| --- | --- |"]
    told = {key: message.row().replace("|", "\\|") for key, message in rows.items()}
    lines += [f"| {name.format(key)} | {row or 'nothing'} |" for key, row in told.items()]
    return "\n".join(lines)
