"""The Chinese edition: a switch on every page, a search, exercises, and no file there twice."""

import functools
import re

import pytest

from course import read_course

from .another_python import give_numpy
from .conftest import first_found

pytest.importorskip("playwright", reason="needs playwright, of the extra browser")

MOST_BYTES = 12_000_000  # of the whole site


def test_only_pages_and_their_search_are_there_twice(site):
    files = {path.relative_to(site / "zh") for path in (site / "zh").rglob("*") if path.is_file()}
    others = {path.as_posix() for path in files if path.name != "index.html"}
    assert others == {"search/search_index.json", "sitemap.xml", "sitemap.xml.gz"}
    whole = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    assert whole < MOST_BYTES


# {page: where its switch leads}. Without a translation it is the home page.
SWITCHES = {
    "": "zh/",
    "zh/": "",
    "stages/stage2_central/": "zh/stages/stage2_central/",
    "zh/stages/stage2_central/": "stages/stage2_central/",
    "reference/check/": "zh/",
}


@pytest.mark.parametrize("path", SWITCHES)
def test_a_switch_leads_to_the_same_page_in_the_other_language(page, address, path):
    tab = page(path)
    language, other = ("zh-CN", "en") if path.startswith("zh/") else ("en", "zh")
    assert language.startswith(tab.locator("html").get_attribute("lang"))
    alternate = tab.locator("head link[hreflang]")
    same = [path, SWITCHES[path]] != ["reference/check/", "zh/"]
    assert alternate.count() == same
    if same:
        assert alternate.evaluate("link => [link.hreflang, link.href]") == [
            other,
            address + SWITCHES[path],
        ]
    tab.locator(".md-header a[hreflang]").click()
    tab.wait_for_url(address + SWITCHES[path])


LOOKED_FOR = {
    "中心差分": "zh/stages/stage2_central/",
    "折点": "zh/exercises/03_relative/",
    "有效数字": "zh/stages/stage2_central/",
    "梯度检查": "zh/check/five_minutes/",
    "symmetric difference": "zh/stages/stage2_central/",
    "上游梯度": "zh/exercises/02_central/",
}


def test_the_search_finds_the_right_chinese_page(page, address):
    tab = page("zh/")
    for words, place in LOOKED_FOR.items():
        wanted = address + place
        assert wanted in first_found(tab, "搜索", words, wanted), words


EXERCISE = "exercises/02_central/"


def test_an_exercise_is_done_in_chinese_and_its_file_is_the_same_in_english(
    context, address, tmp_path
):
    give_numpy(context, tmp_path)
    tab = context.new_page()
    tab.goto(f"{address}zh/{EXERCISE}")
    block, hints = tab.locator(".exercise"), tab.locator("#hints ~ details")
    assert [hint.is_visible() for hint in hints.all()] == [True, False, False]
    hints.first.locator("summary").click()
    hints.nth(1).wait_for()
    buttons = block.locator(".run-button").all_inner_texts()
    assert buttons[:2] == ["检查", "运行文件"]
    assert not re.search("[A-Za-z]{3}", "".join(buttons).replace("Python", ""))
    folder = read_course().find("02").folder
    block.locator("code").first.press("Control+a")
    tab.keyboard.insert_text((folder / "solution.py").read_text(encoding="utf-8"))
    block.get_by_role("button", name="检查", exact=True).click()
    passed = re.compile(r"(\d+) 项检查通过了 \1 项。")
    block.locator(".run-status").filter(has_text=passed).wait_for()
    tab.locator(".md-header a[hreflang]").click()  # Python runs: the page is loaded nevertheless
    tab.wait_for_url(address + EXERCISE)
    tab.locator(".run-status").filter(has_text="The last time, ").first.wait_for()
    assert "central_difference" in tab.locator(".exercise code").first.inner_text()
    assert tab.locator("html").get_attribute("lang") == "en"


def test_the_right_answer_to_a_question_is_marked(page):
    tab = page("zh/")
    question = tab.locator(".predict")
    question.get_by_label("通过（pass）", exact=True).check()
    question.get_by_role("button", name="看答案").click()
    assert question.locator(".predict-true").inner_text().startswith("无法判定（unsure）")
    assert "正确答案是 无法判定（unsure）" in question.locator(".predict-status").inner_text()
    tab.evaluate("localStorage.clear()")


NOT_READ = re.compile(r"<(script|style|pre|code|svg)\b.*?</\1>", re.DOTALL)
SAID_BY_TAGS = re.compile(r' (?:alt|title|aria-label|placeholder)="([^"]*)"')
ENGLISH = re.compile(r"(?:\b[A-Za-z']+[,;]?\s+){4,}[A-Za-z]+\b")


def english_in(html):
    """Return the English sentences of a page, and what its tags say without a Chinese sign."""
    html = NOT_READ.sub(" . ", html)
    said = [
        text for text in SAID_BY_TAGS.findall(html) if re.fullmatch(r"[\w' ]+ [\w' ]+", text, re.A)
    ]
    return [*said, *(found[0] for found in ENGLISH.finditer(re.sub(r"<[^>]*>", " ", html)))]


def test_a_chinese_page_says_nothing_in_english_but_code(site):
    assert english_in(
        '<p title="A link">一 <b>two three</b> four five six。<code>a b c d e</code>'
    ) == [
        "A link",
        "two three  four five six",
    ]
    for page in (site / "zh").rglob("*.html"):
        assert english_in(page.read_text(encoding="utf-8")) == [], page


@functools.cache
def anchors_of(page):
    """Return the places of a page to which a link may lead."""
    return {*re.findall(r'\bid="?([^\s">]+)', page.read_text(encoding="utf-8"))}


def test_every_link_of_a_chinese_page_leads_somewhere(site):
    pages = [path for path in (site / "zh").rglob("*.html")]
    assert len(pages) > 3
    for page in pages:
        html = page.read_text(encoding="utf-8")
        for link in re.findall(r'(?:href|src)="([^"]+)"', html):
            if re.match(r"\w+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), f"{page}: {link}"
            assert not anchor or anchor in anchors_of(target), link
