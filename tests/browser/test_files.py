"""The site without a server: a folder of pages that are opened as files."""

import pytest

from .conftest import Watch, build

pytest.importorskip("playwright", reason="needs playwright, of the extra browser")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Build the site as it is handed out in a zip."""
    folder = tmp_path_factory.mktemp("files")
    build(folder, OFFLINE="true")
    return folder


def test_it_is_small(folder):
    sizes = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    pages = [size for path, size in sizes.items() if path.suffix == ".html"]
    assert sum(pages) / len(pages) < 65e3
    assert sum(sizes.values()) - sum(pages) < 2.7e6


def test_one_can_read_and_search_without_a_server(context, folder):
    watch = Watch(context, folder.as_uri())
    tab = context.new_page()
    tab.goto((folder / "index.html").as_uri())
    tab.get_by_placeholder("Search").press_sequentially("glossary")
    tab.locator(".md-search-result__link").first.wait_for()
    tab.goto((folder / "stages/stage1_forward.html").as_uri())
    tab.locator(".katex").first.wait_for()
    tab.locator(".figure-live").wait_for()
    tab.locator(".md-footer__link--next").click()
    assert tab.url == (folder / "exercises/01_forward.html").as_uri()
    assert watch.complaints == []


def test_run_says_that_it_needs_a_server(context, folder):
    watch = Watch(context, folder.as_uri())
    tab = context.new_page()
    tab.goto((folder / "check/kinks.html").as_uri())
    tab.locator(".run-button").first.click()
    tab.locator(".run-status").filter(has_text="python3 -m http.server").wait_for()
    assert watch.complaints == []
