"""Every page, as a reader gets it: wide and narrow, light and dark."""

import functools
import http.server
import threading

import pytest

from .conftest import ROOT, Silent, Watch

DOCS = ROOT / "docs"
PAGES = [
    path.relative_to(DOCS).with_suffix("").as_posix()
    for path in sorted(DOCS.rglob("*.md"))
    if path.parts[len(DOCS.parts)] not in ("examples", "hooks")
]


def address_of(name):
    """Return the path of a page in the site."""
    return "" if name == "index" else f"{name}/"


def too_wide(tab):
    """Return how far the page reaches beyond the window."""
    return tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_without_a_complaint_and_fits_a_phone(page, name):
    tab = page(address_of(name))
    assert tab.locator("h1").count() == 1
    assert tab.locator(".katex-error").count() == 0
    assert tab.locator(".arithmatex:not(:has(.katex))").count() == 0, "a formula is not rendered"
    assert too_wide(tab) <= 0
    tab.set_viewport_size({"width": 360, "height": 740})
    assert too_wide(tab) <= 0


def test_a_page_that_is_too_wide_is_noticed(page):
    tab = page("")
    tab.evaluate("document.querySelector('h1').style.width = '3000px'")
    assert too_wide(tab) > 0


@pytest.mark.parametrize(("scheme", "name"), [("light", "default"), ("dark", "slate")])
def test_the_colours_are_those_that_the_reader_prefers(context, address, watch, scheme, name):
    tab = context.new_page()
    tab.emulate_media(color_scheme=scheme)
    tab.goto(address)
    assert tab.locator("body").get_attribute("data-md-color-scheme") == name


def test_the_colours_can_be_changed(page):
    tab = page("")
    tab.get_by_title("Switch to dark").click()
    assert tab.locator("body").get_attribute("data-md-color-scheme") == "slate"
    tab.goto(tab.url + "glossary/")
    assert tab.locator("body").get_attribute("data-md-color-scheme") == "slate"


def test_the_search_finds_a_page(page):
    tab = page("")
    tab.get_by_placeholder("Search").press_sequentially("kinks")
    tab.locator(".md-search-result__link").first.wait_for()
    assert "Kinks" in tab.locator(".md-search-result__list").inner_text()


def test_one_reads_from_the_first_stage_to_the_exercises_by_next(page):
    tab = page("stages/stage1_forward/")
    met = []
    while "exercises/" not in tab.url:
        met.append(tab.url)
        tab.locator(".md-footer__link--next").click()
        assert tab.url not in met
    assert any("stage5" in url for url in met)
    assert any("check/five_minutes" in url for url in met)


BAD = {
    "an error on the console": ("<script>console.error('no')</script>", "console: no"),
    "a script that fails": ("<script>throw new Error('no')</script>", "script: no"),
    "a file that is not there": ("<img src=none.png>", "404: "),
    "a request that leaves": ("<img src=http://127.0.0.1:1/x.png>", "leaves the site: "),
}


@pytest.mark.parametrize(("html", "said"), BAD.values(), ids=BAD)
def test_a_bad_page_is_noticed(context, tmp_path, html, said):
    (tmp_path / "index.html").write_text(f"<link rel=icon href=data:,>{html}", encoding="utf-8")
    handler = functools.partial(Silent, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/"
        watch = Watch(context, address)
        context.new_page().goto(address, wait_until="networkidle")
        server.shutdown()
        thread.join()
    assert any(complaint.startswith(said) for complaint in watch.complaints), watch.complaints
