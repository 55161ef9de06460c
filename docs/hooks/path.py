"""Keep *Next* within its section, so that it does not lead learners into a manual."""

from typing import Any

from mkdocs.structure.nav import Navigation


def on_nav(nav: Navigation, **_: Any) -> None:
    """Remove links from one section to another."""
    for page in nav.pages:
        if page.next_page and page.next_page.parent is not page.parent:
            page.next_page.previous_page = None
            page.next_page = None
