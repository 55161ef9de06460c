"""Errors as GitHub shows them beside the code: lines that a workflow prints."""

import os


def on_github() -> bool:
    """Tell whether this is a step of a GitHub workflow."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def annotation(said: str, file: str = "", line: int = 1) -> str:
    r"""Write an error as a workflow command.

    Examples
    --------
    >>> annotation("FAIL  x: 100 % wrong", "tests/test_x.py", 12)
    '::error file=tests/test_x.py,line=12::FAIL  x: 100 %25 wrong'
    """
    where = f" file={_escaped(file, ':,')},line={line}" if file else ""
    return f"::error{where}::{_escaped(said)}"


def _escaped(text: str, more: str = "") -> str:
    """Escape what would end a message, or a property of it."""
    for one in f"%\r\n{more}":
        text = text.replace(one, f"%{ord(one):02X}")
    return text
