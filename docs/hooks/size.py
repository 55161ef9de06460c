"""Leave out files of Material that this site does not use: half of its size."""

import json
import re
import shutil
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

# White space and names in code look like the code around them.
PLAIN = re.compile(r'<span class="[wn]">([^<]*)</span>')


ANSWER = re.compile(r'(<div class="predict"(?:(?!</div>).)*?<details)>', re.DOTALL)


def on_page_content(html: str, **_: object) -> str:
    """Leave the answers of questions out of the search: it must not give them away."""
    return ANSWER.sub(r"\1 data-search-exclude>", html)


def on_post_page(output: str, **_: object) -> str:
    """Leave out white space around the text of a page, a third of it, and marks without a color."""
    begin, end = output.find("<article"), output.rfind("</article>")
    if begin < 0:
        return output
    article = PLAIN.sub(r"\1", output[begin:end])
    return _narrow(output[:begin]) + article + _narrow(output[end:])


def on_post_build(config: MkDocsConfig) -> None:
    """Remove the search in other languages, source maps, and what search and cards do not need."""
    scripts = Path(config.site_dir, "assets", "javascripts")
    shutil.rmtree(scripts / "lunr", ignore_errors=True)  # a translation has no scripts of its own
    for source_map in Path(config.site_dir, "assets").rglob("*.map"):
        source_map.unlink()
    if not config.site_url:  # without it, no page has a card
        shutil.rmtree(Path(config.site_dir, "assets", "social"), ignore_errors=True)
    index = Path(config.site_dir, "search", "search_index.json")
    index.write_text(_shorter(index.read_text(encoding="utf-8")), encoding="utf-8")


def _narrow(html: str) -> str:
    return re.sub(r">\n+<", "><", re.sub(r"\s*\n\s*", "\n", html))


def _shorter(index: str) -> str:
    """Leave out what only the look of a result needs."""
    data = json.loads(index)
    for part in data["docs"]:
        part["text"] = re.sub(r"\s+", " ", re.sub(r"</?(?:code|p)>", "", part["text"]))
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
