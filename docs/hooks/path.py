"""*Learn* is the way of a student: *Next* leads through all of it, and pages have their minutes.

Elsewhere *Next* stays within its group, so that it does not lead into a manual.
"""

import re
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

PER_MINUTE = 200  # words: prose is read at about 240, and these pages have formulas and figures
CHINESE = 300  # characters: a word has about one and a half
WORDS = {"en": "About {} minutes to read", "zh": "阅读约 {} 分钟"}


def on_nav(nav: Navigation, config: MkDocsConfig, **_: Any) -> None:
    """Remove links from one group to another."""
    for page in nav.pages:
        if page.next_page and group_of(page.next_page, config) is not group_of(page, config):
            page.next_page.previous_page = None
            page.next_page = None


def on_page_content(html: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Say below the title how long it takes to read; exercises say so themselves."""
    group = group_of(page, config)
    if group is page.parent or page.file.src_uri.startswith("exercises/"):
        return html
    said = WORDS[config.theme["language"]].format(minutes(html))
    return html.replace("</h1>", f'</h1>\n<p class="minutes">{said}</p>', 1)


def group_of(page: Page, config: MkDocsConfig) -> Any:
    """Return the part of the site in which *Next* stays: *Learn*, or a group."""
    learn = config.extra.get("names", {}).get("Learn", "Learn")
    return next((part for part in page.ancestors if part.title == learn), page.parent)


def minutes(html: str) -> int:
    """Estimate how long a page takes to read, with its code."""
    text = re.sub(r"<svg\b.*?</svg>|<[^>]+>", " ", html, flags=re.DOTALL)
    latin, chinese = len(re.findall(r"[A-Za-z]+", text)), len(re.findall(r"[\u4e00-\u9fff]", text))
    return max(1, round(latin / PER_MINUTE + chinese / CHINESE))
