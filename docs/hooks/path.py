"""Keep *Next* within its group, so that it does not lead into a manual; students go through all groups."""

from typing import Any

from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page


def on_nav(nav: Navigation, **_: Any) -> None:
    """Remove links from one group to another, except in the first part of the site, *Learn*."""
    learn = next(item for item in nav.items if item.is_section)

    def group_of(page: Page) -> Any:
        return learn if learn in page.ancestors else page.parent

    for page in nav.pages:
        if page.next_page and group_of(page.next_page) is not group_of(page):
            page.next_page.previous_page = None
            page.next_page = None
