"""Write the table of wrong derivatives into a page, at a line `<!-- found -->`.

Those of installed libraries are in `docs/found.csv`. Those that were released and reported are in
the package, with their sources.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from gradcheck_ref.zoo.wild import WILD

# Libraries that are in both, by their names.
SPELLED = {"hips": "HIPS autograd", "jax": "JAX", "openturns": "OpenTURNS", "pints": "PINTS"}
LINE = re.compile(r"^<!-- found -->$", re.MULTILINE)
INSTALLED = Path(__file__).parents[1] / "found.csv"
TABLE = """\
<div class="filtered" markdown="1">

| library | derivative | what is wrong | seen |
| --- | --- | --- | --- |
{rows}

</div>"""


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put the table where its line is."""
    return LINE.sub(lambda _: TABLE.format(rows="\n".join([*installed(), *released()])), markdown)


def installed() -> Iterator[str]:
    """Yield a row for each that was found in a library as it is today."""
    with INSTALLED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            wrong = " instead of ".join(filter(None, (row["claimed"], row["right"])))
            seen = ", ".join(filter(None, (row["checked"], row["version"], row["report"])))
            yield f"| {row['library']} | {row['derivative']} | {wrong} | {seen} |"


def released() -> Iterator[str]:
    """Yield a row for each that somebody reported."""
    for wild in WILD:
        project, kind, number = wild.source.where.split()
        address = f"https://github.com/{project}/{'issues' if kind == 'issue' else kind}/{number}"
        lived = f", {wild.source.lived}" if wild.source.lived else ""
        seen = f"[{wild.source.year}]({address}){lived}"
        library, _, name = wild.id.partition("/")
        unnoticed = wild.unnoticed.replace("|", r"\|")  # else |x| ends the cell
        library = SPELLED.get(library, library)
        yield f"| {library} | {name.replace('-', ' ')} | {unnoticed} | {seen} |"
