"""Link each public name, where a page first uses it, to its place in the API; fold notes there.

The places are the lines `:::` of the reference. Prose comes before code, and headings and links
stay as they are. In tables, long names may go on in the next line, after a dot or an underscore.
"""

import re
from functools import cache
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

DOCS = Path(__file__).parents[1]
OBJECT = re.compile(r"^::: (\S+)\n((?: .*\n|\n(?= ))*)", re.MULTILINE)
MEMBER = re.compile(r"[\[,-] ?(\w+)(?=[\],\n])")
SKIPPED = r"<(?P<skip>a|autoref|h[1-6]|pre|summary|button|svg)\b.*?</(?P=skip)>"
PROSE = re.compile(SKIPPED + r"|<code>(?P<name>\w+)(?:\([^<]*\))?</code>", re.DOTALL)
CODE = re.compile(SKIPPED.replace("pre|", "") + r'|<span class="n">(?P<name>\w+)</span>', re.DOTALL)
IMPORT = re.compile(r"^from (gradcheck_ref\S*) import (\([^)]*\)|.*)$", re.MULTILINE)
CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
BREAK = re.compile(r"(?<=[\w)][._])(?=[A-Za-z][^<>]*</(?:code|td)>)")
# Names that pages use for the functions of others, too: linked where a page imports them from here.
SHARED = {"allclose", "answer", "draw", "gradcheck", "jacobian", "judge", "run"}
SHARED |= {"close", "many", "notes"}


def on_page_content(html: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Link the first use of each name; in the reference itself, fold the notes."""
    source = page.file.src_uri
    if source.startswith("reference/"):
        html = html.replace('<details class="note" open>', '<details class="note">')
    at = {anchor.rpartition(".")[2]: anchor for anchor in places()}
    for name in SHARED:
        del at[name]
    for module, names in IMPORT.findall(page.markdown):
        found = re.findall(r"\w+", names) if names != "*" else SHARED
        at |= {name: f"{module}.{name}" for name in found if f"{module}.{name}" in places()}

    def linked(found: re.Match[str]) -> str:
        name = found["name"]
        is_here = found.re is CODE and places().get(at.get(name)) == source  # its own example
        if name not in at or is_here:
            return found[0]
        anchor = at.pop(name)
        address = places()[anchor].removesuffix(".md")
        address += "/" if config.use_directory_urls else ".html"
        up = config.extra["above"] + get_relative_url(address, page.url)
        return f'<a class="api" href="{up}#{anchor}">{found[0]}</a>'

    html = CODE.sub(linked, PROSE.sub(linked, html))
    return CELL.sub(lambda cell: BREAK.sub("<wbr>", cell[0]), html)


@cache
def places() -> dict[str, str]:
    """Return the page of each public name, by its anchor."""
    found = {}
    for page in sorted((DOCS / "reference").glob("*.md")):
        for path, options in OBJECT.findall(page.read_text(encoding="utf-8")):
            members = [f"{path}.{name}" for name in MEMBER.findall(options)]
            found |= dict.fromkeys(members or [path], page.relative_to(DOCS).as_posix())
    return found
