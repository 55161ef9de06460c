"""Every page, as a reader gets it: wide and narrow, light and dark, by eye and by screen reader."""

import inspect
import math
import pydoc
import re
import runpy
import sys
from html import unescape

import pytest

import gradcheck_ref
from conftest import FENCE, lines_of

from .axe import CONTRAST, DARK, HIDDEN, contrast_faults_of, faults_of
from .conftest import NARROW, ROOT, WIDE, first_found

pytest.importorskip("playwright", reason="needs playwright, of the extra browser")

DOCS = ROOT / "docs"
SOURCES = [
    path
    for path in sorted(DOCS.rglob("*.md"))
    if not {"examples", "hooks"} & {*path.relative_to(DOCS).parts}
]


def name_of(source):
    """Return the path of a page in docs, without its suffix."""
    return source.relative_to(DOCS).with_suffix("").as_posix()


def place_of(source):
    """Return the path of a page in the site."""
    return re.sub(r"(^|/)index/$", r"\1", f"{name_of(source)}/")


sys.path.append(str(DOCS / "hooks"))
import in_step  # noqa: E402, the hooks are no package
from describe import columns  # noqa: E402


def text_of(source):
    """Return the text of a page; a translation has its blocks from the original."""
    text = source.read_text(encoding="utf-8")
    if source not in in_step.translated():
        return text
    return in_step.filled(text, in_step.text_of(in_step.original_of(source)))


# --- all pages -------------------------------------------------------------------------------

# tests/docs/test_site.py says which examples the hook marks.
MARKED = runpy.run_path(str(DOCS / "hooks" / "run.py"))["on_page_markdown"]


# What a page has, in one question.
ASKED = """() => {
  const all = (what) => [...document.querySelectorAll(what)];
  const said = (name) => document.querySelector(name)?.content;
  all("details").forEach((one) => (one.open = true)); // what is folded is of the page, too
  const { scrollWidth } = document.documentElement;
  return {
    headings: all("h1").map((one) => one.innerText),
    formulas: all(".katex-error, .arithmatex:not(:has(.katex))").map((one) => one.innerText),
    described: [said("meta[name=description]"), said("meta[property='og:description']")],
    titled: Boolean(said("meta[property='og:title']")),
    fits: scrollWidth <= innerWidth,
    cut: all("div.arithmatex, .md-typeset__scrollwrap")
      .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.innerText),
    examples: all(".highlight.run code").map((one) => `${one.innerText.trimEnd()}\\n`),
    buttons: all(".run-bar button").filter((one) => ["Run", "运行"].includes(one.innerText)).length,
  };
}"""


@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_a_page_is_accessible(source, tab, address, watch, good):
    tab.goto("about:blank")  # the page before need not fit into a window of another width
    tab.set_viewport_size(WIDE)
    tab.emulate_media(color_scheme="light")
    tab.goto(address + place_of(source))
    examples = [
        lines_of(fence)
        for fence in FENCE.finditer(MARKED(text_of(source)))
        if ".run" in fence[0].partition("\n")[0]
    ]
    tab.wait_for_function("!document.querySelector('.arithmatex:not(:has(.katex))')")
    told = tab.evaluate(ASKED)
    (heading,), (said, shared) = told.pop("headings"), told.pop("described")
    assert "description:" not in heading, "its settings are not YAML"
    least = 30 if source in in_step.translated() else 40  # Chinese says more in a column
    assert least < columns(said) <= 200
    assert told == {
        **{"formulas": [], "titled": True, "fits": True, "cut": []},
        **{"examples": examples, "buttons": len(examples)},
    }
    assert shared == said
    # A translation has the same parts as its original; only its words differ.
    with_axe = source not in in_step.translated()
    assert not with_axe or faults_of(tab, good) == []
    # What changes the page comes last: in the dark, and on a phone.
    ground = [int(part) for part in re.findall(r"\d+", tab.evaluate(DARK))]
    assert max(ground[:3]) < 64
    assert not with_axe or contrast_faults_of(tab, good) == []
    tab.set_viewport_size(NARROW)
    assert too_wide(tab) <= 0


# The marks beside formulas that are not in the line of the formula, in columns of many widths.
APART = """() => {
  const column = document.querySelector("article");
  const apart = new Set();
  const placeOf = (node, at) => {
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    return range.getBoundingClientRect();
  };
  for (let width = 200; width < 700; width += 10) {
    column.style.width = `${width}px`;
    for (const formula of document.querySelectorAll("span.arithmatex")) {
      const parts = [...formula.querySelectorAll(".katex-base")]
        .map((one) => one.getBoundingClientRect());
      const tex = formula.querySelector("annotation").textContent;
      const { previousSibling: before, nextSibling: after } = formula;
      const mark = /^[，。；：？！、）,.;:?)]/.test(after?.data ?? "") && placeOf(after, 0);
      if (mark && mark.top > parts.at(-1).bottom) apart.add(tex + after.data[0]);
      const at = before?.length - 1;
      const opening = /[(（“]$/.test(before?.data ?? "") && placeOf(before, at);
      if (opening && opening.bottom < parts[0].top) apart.add(before.data[at] + tex);
    }
  }
  return [...apart];
}"""


@pytest.mark.parametrize("path", ["stages/stage3_relative/", "zh/stages/stage3_relative/"])
def test_no_line_begins_with_the_mark_after_a_formula(page, path):
    tab = page(path)
    tab.wait_for_function("!document.querySelector('.arithmatex:not(:has(.katex))')")
    assert tab.evaluate(APART) == []


# Every formula of the site on one page; then the fonts that the browser has fetched. The folder
# has no others of KaTeX 0.19.1: add one where a new formula needs it.
FONTS_OF = """async (formulas) => {
  const article = document.querySelector("article");
  for (const text of formulas) {
    const place = article.appendChild(document.createElement("p"));
    katex.render(text.slice(2, -2), place, { displayMode: text.startsWith("\\\\[") });
  }
  await document.fonts.ready;
  const urls = performance.getEntriesByType("resource").map((one) => one.name.split("/").at(-1));
  return urls.filter((name) => /^KaTeX_.*woff2$/.test(name));
}"""
FORMULA = re.compile(r'class="?arithmatex"?>(.*?)</(?:span|div)>', re.DOTALL)


def test_every_font_of_the_formulas_is_there_and_is_used(page, site):
    pages = [path.read_text(encoding="utf-8") for path in site.rglob("index.html")]
    formulas = {unescape(found).strip() for text in pages for found in FORMULA.findall(text)}
    assert len(formulas) > 100
    tab = page("stages/stage3_relative/")
    tab.wait_for_function("!document.querySelector('.arithmatex:not(:has(.katex))')")
    used = tab.evaluate(FONTS_OF, sorted(formulas))
    assert sorted(used) == sorted(path.name for path in site.glob("assets/katex/fonts/*"))


# The largest of each kind: without formulas, with formulas, of the reference, an exercise.
LARGEST = ["", "exercises/18_low_precision/", "reference/check/", "stages/stage1_forward/"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("path", LARGEST)
def test_a_page_is_light(context, address, path):
    sizes = []
    context.on("response", lambda answer: sizes.append(len(answer.body())))
    context.new_page().goto(address + path, wait_until="networkidle")
    assert sum(sizes) < 870_000  # uncompressed, before Run is pressed or the search is used


def test_no_two_pages_have_the_same_description(site):
    pages = [page.read_text(encoding="utf-8") for page in site.rglob("index.html")]
    said = {re.search(r'<meta name="?description[^>]*>', page)[0] for page in pages}
    assert len(said) == len(pages) > 50


def too_wide(tab):
    """Return how far the page reaches beyond the window."""
    return tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")


# --- axe-core --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def good():
    """Remember the ways of looking that were found good on the pages before."""
    return []


def test_axe_finds_nothing_serious_in_an_example_that_is_used(page):
    tab = page("check/kinks/")
    for button in tab.get_by_role("button", name="Edit").all():
        button.click()
    tab.evaluate(
        """for (const one of document.querySelectorAll('.run-output, .run-status')) {
             one.textContent = 'printed';
             one.hidden = false;
           }"""
    )
    assert faults_of(tab) == []


# --- some pages ------------------------------------------------------------------------------


@pytest.mark.parametrize(("preferred", "other"), [("light", "dark"), ("dark", "light")])
def test_the_colours_are_those_that_the_reader_prefers_until_changed(
    context, address, preferred, other
):
    schemes = {"light": "default", "dark": "slate"}
    tab = context.new_page()
    body = tab.locator("body")
    tab.emulate_media(color_scheme=preferred)
    tab.goto(address)
    assert body.get_attribute("data-md-color-scheme") == schemes[preferred]
    tab.get_by_title(f"Switch to {other}").click()
    tab.goto(f"{address}glossary/")
    assert body.get_attribute("data-md-color-scheme") == schemes[other]


COLOURS = """all => all.map((one) => getComputedStyle(one))
                  .map(({ color, backgroundColor }) => `${color} on ${backgroundColor}`)"""


@pytest.mark.parametrize("path", ["", "check/checklist/", "backward_pass/"])
def test_paper_has_the_same_colours_in_the_dark(context, address, path):
    tab = context.new_page()
    tab.goto(address + path)
    tab.emulate_media(media="print")
    printed = []
    for scheme in ("default", "slate"):
        tab.evaluate("(scheme) => { document.body.dataset.mdColorScheme = scheme }", scheme)
        tab.wait_for_timeout(300)  # for what changes slowly
        printed.append(tab.locator(".md-main *").evaluate_all(COLOURS))
    assert printed[0] == printed[1]


# What a reader types, and where the answer is: among the first three.
LOOKED_FOR = {
    "batchnorm": "exercises/11_batch_norm/",
    "complex": "check/complex_numbers/",
    "divided by m": "network/",
    "dropout": "exercises/15_dropout/",
    "eps": "choosing_the_step/",
    "epsilon": "choosing_the_step/",
    "fmincon": "compat/coming_from/",
    "my loss goes down": "check/checklist/",
    "quantized": "check/kinks/",
    "regularization": "check/checklist/",
    "straight-through": "check/kinks/",
    "layernorm": "zoo/",
    "Jacobian-vector": "check/your_function/",
    "check_jvp": "check/your_function/",
    "finite differences": "stages/stage1_forward/",
    "numerical gradient": "stages/stage1_forward/",
    "gradcheck": "compat/from_torch/",
    "softmax": "exercises/07_softmax/",
    "kinks": "check/kinks/",
    "float32": "check/in_low_precision/",
    "bfloat16": "check/in_low_precision/",
    "how to choose h": "choosing_the_step/",
    "step size": "choosing_the_step/",
    "how accurate": "stages/stage5_adaptive/",
    "relu at zero": "check/kinks/",
    "vjp": "check/your_function/",
}


def test_the_search_finds_the_right_page(page, address):
    tab = page("")  # the index is made once
    for words, place in LOOKED_FOR.items():
        wanted = address + place
        assert wanted in first_found(tab, "Search", words, wanted), words


# A function of the reference, and an entry of its list of parameters that has a default.
FUNCTION = re.compile(r'<h\d id="?(gradcheck_ref[\w.]*)(.*?)(?=<h\d id|</article>)', re.DOTALL)
DEFAULT = re.compile(r"<b><code>([\w, ]+)</code></b>[^–]*?default:\s*<code>(.*?)</code>", re.DOTALL)


def test_the_reference_prints_the_defaults_that_functions_have(site):
    wrong, compared = [], 0
    for page in site.glob("reference/*/index.html"):
        for path, about in FUNCTION.findall(page.read_text(encoding="utf-8")):
            for names, printed in DEFAULT.findall(about):
                function = pydoc.locate(path)
                known = {**vars(math), **vars(sys.modules[function.__module__])}
                value = eval(unescape(re.sub("<[^>]+>", "", printed)), known)
                for name in names.split(", "):
                    compared += 1
                    default = inspect.signature(function).parameters[name].default
                    wrong += [] if value == default else [(path, name, printed)]
    assert wrong == []
    assert compared > 100


LINK = re.compile(r'href="?[^"\s>#]*#gradcheck_ref[\w.]*?\.(\w+)["\s>]')
UNLINKED = re.compile(r"<(h[1-6]|summary|button|svg)\b.*?</\1>", re.DOTALL)
IN_PROSE = re.compile(r"<code>(\w+)(?:\([^<]*\))?</code>")
IN_CODE = re.compile(r"language-python .*?</pre>", re.DOTALL)


def test_every_page_that_uses_a_public_name_links_to_its_place_in_the_reference(site):
    names = {*gradcheck_ref.__all__} - {"allclose"}  # mostly NumPy's
    for page in site.rglob("index.html"):
        if "reference" not in page.parts:
            article = re.search("<article.*</article>", page.read_text("utf-8"), re.DOTALL)
            text = UNLINKED.sub("", article[0]) if article else ""
            used = {
                *IN_PROSE.findall(text),
                *re.findall(r"\w+_\w+", " ".join(IN_CODE.findall(text))),
            }
            assert used & names <= {*LINK.findall(text)}, page


def test_copying_a_session_copies_only_its_code(context, address):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    tab.goto(f"{address}reference/check/")
    session = tab.locator(".highlight:has(.gp)").first
    assert session.inner_text().lstrip().startswith(">>> import numpy as np\n")
    session.locator(".md-code__button, .md-clipboard").first.click()
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("import numpy as np\n")
    compile(copied, "what is copied", "exec")


def read_by_next(site, page):
    """Return the pages to which *Next* leads from a page, and that page."""
    folder, met = site / page, []
    while folder:
        assert folder not in met
        met.append(folder)
        html = (folder / "index.html").read_text(encoding="utf-8")
        following = re.search(r'<a href="(\S+)" class="[^"]*md-footer__link--next"', html)
        folder = (folder / following[1]).resolve() if following else None
    return [place.name for place in met]


def test_next_leads_a_student_only_from_stage_to_exercise(site):
    met = read_by_next(site, "exercises/students")
    exercises = sorted(path.name for path in (ROOT / "exercises").glob("[0-9]*"))
    names = [name for name in met if name[:2].isdigit()]
    assert sorted(names) == exercises
    assert [name[:2] for name in names] == [name[:2] for name in exercises]
    assert [name[:6] for name in met[1:10:2]] == [f"stage{number}" for number in range(1, 6)]
    assert len(met) == 1 + 5 + 3 + len(exercises)
    assert "minutes to read" in (site / "stages/stage5_adaptive/index.html").read_text("utf-8")


def test_next_does_not_lead_through_the_other_libraries(site):
    met = read_by_next(site, "check/five_minutes")
    assert met[:3] == ["five_minutes", "checklist", "your_function"]
    assert not any(name.startswith("from_") for name in met)


def test_a_long_table_shows_the_rows_with_all_words(page):
    tab = page("found/")
    tab.locator(".filtered input").fill("jax ALONE")
    said = tab.locator(".filtered tbody tr:visible").all_inner_texts()
    assert 5 < len(said) < 15
    assert all("jax" in text.lower() and "alone" in text for text in said)


# --- what would go wrong is noticed ----------------------------------------------------------


UNLIKE_A_LINK = "color: #30365a; text-decoration: none"
# {what somebody writes: the page, where, among hundreds of others, and what is said}
HARD_TO_READ = {
    "one word of code": ("reference/check/", ".md-content pre .nn", "color: #bbb", CONTRAST),
    "the ground of one cell": ("reference/kinds/", ".md-content td", "background: #777", CONTRAST),
    "half transparent text": ("reference/check/", ".md-content p", "opacity: 0.4", CONTRAST),
    "a link like its text": ("glossary/", ".md-content dd a[href^='#']", UNLIKE_A_LINK, HIDDEN),
}


@pytest.mark.parametrize("what", HARD_TO_READ)
def test_one_text_that_is_hard_to_read_is_noticed_among_many(page, what):
    path, where, style, said = HARD_TO_READ[what]
    tab = page(path)
    good = []
    assert contrast_faults_of(tab, good) == []
    assert contrast_faults_of(tab, good) == []
    tab.locator(where).nth(7).evaluate("(one, style) => { one.style = style }", style)
    assert [fault.split(":")[0] for fault in contrast_faults_of(tab, good)][:1] == [said]
