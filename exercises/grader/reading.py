"""The pages about the stages, to be read offline: as Markdown, without the site."""

import posixpath
import re
import textwrap
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from course import ROOT, Exercise

PAGES = ("stages/*.md", "choosing_the_step.md", "glossary.md")
SETTINGS = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)
CODE = re.compile(r"^--8<--\n(.*?)\n--8<--$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[([^]]*)\]\(([^)\s]+)\)(?:\{[^}]*\})?")


def reading(exercises: Sequence[Exercise]) -> dict[str, bytes]:
    """Return the pages, with the code that they show and the figures, by their names."""
    docs = ROOT / "docs"
    pages = [path.relative_to(docs).as_posix() for pattern in PAGES for path in docs.glob(pattern)]
    readmes = {f"exercises/{e.name}.md": f"../exercises/{e.name}/README.md" for e in exercises}
    found: dict[str, bytes] = {}

    def linked(link: re.Match[str], page: str) -> str:
        picture, text, target = link.groups()
        here, path = posixpath.dirname(page), target.partition("#")[0]
        place = posixpath.normpath(posixpath.join(here, path)) if path else page
        if picture:
            found[f"docs/{place}"] = (docs / place).read_bytes()
        elif place in readmes:
            target = posixpath.relpath(readmes[place], here or ".")
        elif place not in pages and "://" not in target:
            return text  # it is not handed out
        return f"{picture}[{text}]({target})"

    for page in pages:
        text = SETTINGS.sub("", (docs / page).read_text(encoding="utf-8"))
        text = CODE.sub(lambda lines: "\n\n".join(map(_section, lines[1].split())), text)
        found[f"docs/{page}"] = LINK.sub(partial(linked, page=page), text).encode()
    return found


def _section(line: str) -> str:
    """Return the part of a file that a line names, ``gradcheck_ref/stage1_forward.py:name``."""
    path, _, name = line.partition(":")
    source = Path(ROOT, path).read_text(encoding="utf-8")
    begin, end = (rf"^ *# --8<-- \[{word}:{name}\]\n" for word in ("start", "end"))
    part = re.search(f"{begin}(.*?){end}", source, re.MULTILINE | re.DOTALL)
    assert part, line
    return textwrap.dedent(part[1]).rstrip()
