"""The site as it is published: below a path, with links to its repository; and before, without."""

import io
import re
import zipfile
from pathlib import Path

import pytest

from .conftest import NARROW, WIDE, Silent, Watch, build, served

pytest.importorskip("playwright", reason="needs playwright, of the extra browser")

SITE = "https://owner.example/repo/"
REPOSITORY = "https://github.com/owner/repo"  # where Material would ask for stars


class BelowAPath(Silent):
    """Serves a folder at /repo/, as GitHub Pages does: what is not there is its 404 page."""

    def translate_path(self, path):
        """Return the file; nothing for what lies outside of /repo/."""
        inside = path.removeprefix("/repo/")
        return super().translate_path(inside) if inside != path else "/no/such/file"

    def send_error(self, code, message=None, explain=None):
        """Answer with the 404 page of the site."""
        page = Path(self.directory, "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Build the site as the workflow does."""
    folder = tmp_path_factory.mktemp("published")
    known = {"SITE_URL": SITE, "REPO_URL": REPOSITORY, "EDIT_URI": "edit/main/docs/"}
    build(folder, DOWNLOADS="downloads/", **known)
    return folder


@pytest.fixture(scope="module")
def below_a_path(published):
    """Serve it; return its address."""
    with served(BelowAPath, published) as address:
        yield f"{address}repo/"


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["a desktop", "a phone"])
def test_a_missing_page_has_the_style_of_the_site_and_a_link_home(context, below_a_path, size):
    watch = Watch(context, below_a_path)
    tab = context.new_page()
    tab.set_viewport_size(size)
    tab.goto(f"{below_a_path}stages/no/such/page.html")
    assert tab.locator("h1").inner_text() == "This page does not exist"
    header = tab.locator(".md-header").evaluate("header => getComputedStyle(header).position")
    assert header == "sticky", "the style sheet is not there"
    assert [line for line in watch.forget() if not line.startswith(("404: ", "console: "))] == []
    tab.get_by_role("link", name="the home page").click()
    assert tab.url == below_a_path
    assert watch.complaints == []


def test_the_wheel_to_download_is_whole(published):
    (wheel,) = (published / "downloads").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "gradcheck_ref/adapters/torch.py" in names
    assert any(name.endswith("/RECORD") for name in names), "pip needs it"


PAGE = "stages/stage2_central/"


@pytest.mark.parametrize(("here", "there"), [(PAGE, f"zh/{PAGE}"), (f"zh/{PAGE}", PAGE)])
def test_a_page_knows_its_repository_and_its_translation_and_does_not_track_readers(
    context, below_a_path, here, there
):
    watch = Watch(context, below_a_path)
    tab = context.new_page()
    tab.goto(below_a_path + here, wait_until="networkidle")
    assert tab.locator(".md-header .md-source").get_attribute("href") == REPOSITORY
    edit = tab.locator("[rel=edit]").get_attribute("href")
    assert edit == f"{REPOSITORY}/edit/main/docs/{here[:-1]}.md"
    assert tab.locator("link[rel=canonical]").get_attribute("href") == SITE + here
    assert tab.locator("head link[hreflang]").get_attribute("href") == SITE + there
    card = tab.locator("meta[property='og:image']").get_attribute("content")
    assert card == f"{SITE}assets/social/card.png"
    assert tab.request.get(card.replace(SITE, below_a_path)).ok
    assert watch.complaints == []


# --- below a path ----------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["", "exercises/students/", "zh/"])
def test_the_course_and_the_package_can_be_downloaded(context, below_a_path, page):
    tab = context.new_page()
    tab.goto(below_a_path + page)
    links = tab.locator("p:has-text('To download:') a, p:has-text('下载：') a")
    files = [tab.request.get(one.evaluate("link => link.href")) for one in links.all()]
    course, wheel = (zipfile.ZipFile(io.BytesIO(file.body())).namelist() for file in files)
    assert "exercises/run.py" in course
    assert not [name for name in course if name.endswith("solution.py") or "grader" in name]
    assert "gradcheck_ref/__init__.py" in wheel
    assert "students" in page or tab.locator(f"article a[href='{REPOSITORY}']").count() == 1


def test_the_archives_of_an_exercise_are_found(context, below_a_path):
    tab = context.new_page()
    tab.goto(f"{below_a_path}exercises/01_forward/")
    archives = tab.locator(".exercise").get_attribute("data-course").split()
    assert len(archives) == 2
    for path in archives:
        assert tab.request.get(f"{below_a_path}exercises/01_forward/{path}").ok


def test_a_site_without_an_address_shows_none_and_offers_no_downloads(site):
    of_an_address = r"md-source|rel=\"?(canonical|edit)|og:image|twitter:"
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    shown = re.compile(f"{of_an_address}|To download:|<!-- downloads")
    assert [page for page, html in pages.items() if shown.search(html)] == []
    assert not list(site.rglob("course-for-students.zip"))
