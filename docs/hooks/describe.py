"""Give each page a description, for search engines and for previews of links.

It is the beginning of the page, unless the page has a `description` in its settings. Pages that
begin with an example have one.
"""

import re
from html import unescape
from typing import Any
from unicodedata import east_asian_width

from mkdocs.structure.pages import Page

PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
ENOUGH, MOST = 100, 200  # columns; search engines show about 160


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Give a page a description, for the theme to write into its head."""
    if paragraph := PARAGRAPH.search(html):
        page.meta.setdefault("description", beginning(words(paragraph[1])))
    return html


def words(html: str) -> str:
    """Return a paragraph without its markup, in one line."""
    text = unescape(re.sub(r"<[^>]+>", "", html)).replace(r"\(", "").replace(r"\)", "")
    return " ".join(text.split())


def beginning(text: str) -> str:
    """Return the first sentences, at least ENOUGH columns and at most MOST."""
    said = ""
    for sentence in re.findall(r".+?(?:[.?!](?=\s|$)|[。？！]”?)\s*|.+$", text):
        longer = said + sentence
        if said and (columns(said) >= ENOUGH or columns(longer.strip()) > MOST):
            break
        said = longer
    return said.strip()


def columns(text: str) -> int:
    """Return how wide a text is: a Chinese character takes two columns."""
    return sum(1 + (east_asian_width(character) in "WF") for character in text)
