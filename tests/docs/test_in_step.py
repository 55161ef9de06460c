"""The translated pages: each is in step with its original, and set as its language wants it."""

import importlib
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.append(str(DOCS / "hooks"))
import in_step  # noqa: E402, the hooks are no package

PAGES = in_step.translated("zh")
README = ROOT / "README.zh.md"


def name_of(page):
    """Return the path of a page in docs, or of the README, as a test id."""
    return page.relative_to(ROOT if page == README else DOCS).as_posix()


# --- the same parts --------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_translation_is_in_step_with_its_original(page):
    said = "\n".join(in_step.out_of_step(page))
    how = f"Compare them: {in_step.what_changed(page)}\n"
    how += f"Then: python docs/hooks/in_step.py seen {page.relative_to(ROOT).as_posix()}"
    assert not said, f"{said}\n{how}"


ORIGINAL = """\
---
tags: [a]
---

# One `x`

Text with `x`, $a + b$ and a
[link](other.md#there): *words of
a report*.

- an item

    ```python
    y = 1
    ```

| a | b |
| --- | --- |
| 1 | 2 |

$$
c
$$

<div class="note" markdown="1">

![A picture.](a.svg){ data-figure=a }

</div>

    z = 2

## Two { data-search-exclude }

**term**{ #term }
:   What it is.
"""
IN_STEP = """\
# 一 `x`

这里有 `x`、$a + b$、`y = 1` 和[链接](other.md#there)。

- 一项

    [[block]]

| 甲 | 乙 |
| --- | --- |
| 1 | 2 |

[[block]]

<div class="note" markdown="1">

![图。](a.svg){ data-figure=a }

</div>

[[block]]

## 二

**术语**{ #term }
:   含义。
"""


def test_a_translation_with_the_same_parts_is_in_step():
    assert in_step.differences(IN_STEP, ORIGINAL) == []


# {what is changed in the translation: what is said}
CHANGES = {
    ("`x`、", ""): None,  # the heading still has it
    ("`x`", ""): "inline code: missing ['x']",
    ("`y = 1`", "`words of a report`"): None,
    ("## 二", "<!-- only here -->\n\n- `z`\n\n<!-- /only here -->\n\n## 二"): None,
    ("`y = 1`", "`y = 2`"): "inline code: more ['y = 2']",
    ("$a + b$", "$a$"): "inline formulas: missing ['a + b']",
    ("other.md#there", "other.md"): "links: missing ['other.md#there']",
    ("- 一项", "- 一项\n- 又一项"): "items of lists: more ['-']",
    ("| 1 | 2 |\n", ""): "rows of tables: missing ['|']",
    ("## 二", "### 二"): "headings: missing ['##']",
    ("    [[block]]", "    代码"): "blocks: 3, but 2 [[block]]",
    ("    [[block]]", "    ```python\n    y = 1\n    ```"): "blocks: 3, but 2 [[block]]",
    ('class="note" ', ""): """tags: missing ['<div class="note" markdown="1">']""",
    ("{ data-figure=a }", ""): "settings in braces: missing ['{ data-figure=a }']",
    (":   含义。", "含义。"): "definitions: missing [':']",
}


@pytest.mark.parametrize(("change", "said"), CHANGES.items())
def test_a_part_that_differs_is_named(change, said):
    assert change[0] in IN_STEP
    found = in_step.differences(IN_STEP.replace(*change), ORIGINAL)
    assert (found[:1] or [None]) == [said]


def test_the_blocks_of_the_original_are_filled_in_where_they_belong():
    whole = in_step.filled(IN_STEP, ORIGINAL)
    assert "- 一项\n\n    ```python\n    y = 1\n    ```\n" in whole
    assert "$$\nc\n$$" in whole
    assert "</div>\n\n    z = 2\n\n## 二" in whole
    with pytest.raises(ValueError, match=r"3 blocks in the original, 2 \[\[block\]\]"):
        in_step.filled(IN_STEP.replace("[[block]]", "", 1), ORIGINAL)


ENGLISH = sorted(
    page
    for page in DOCS.rglob("*.md")
    if page.relative_to(DOCS).parts[0] not in ("examples", "hooks", "zh")
)


@pytest.mark.one_in(10)
@pytest.mark.parametrize("page", ENGLISH, ids=name_of)
def test_the_beginning_of_a_translation_is_in_step_with_every_page(page):
    text = in_step.text_of(page)
    begun = in_step.unwrapped(in_step.places_for_blocks(text))
    assert in_step.differences(begun, text) == []
    assert in_step.filled(begun, text).split() == text.split()


@pytest.fixture
def pair(tmp_path, monkeypatch):
    """Write a page and the beginning of its translation, in a folder of their own."""
    monkeypatch.setattr(in_step, "ROOT", tmp_path)
    monkeypatch.setattr(in_step, "DOCS", tmp_path / "docs")
    original, page = tmp_path / "docs/a/b.md", tmp_path / "docs/zh/a/b.md"
    original.parent.mkdir(parents=True)
    original.write_text(ORIGINAL, encoding="utf-8")
    assert in_step.main(["start", str(page)]) == 0
    return original, page


def test_a_change_of_the_original_is_noticed_until_somebody_compares(pair):
    original, page = pair
    assert "tags: [a]" in page.read_text("utf-8")
    assert in_step.out_of_step(page) == []
    original.write_text(ORIGINAL.replace("and a\n[", "and\na ["), encoding="utf-8")
    assert in_step.out_of_step(page) == []  # a line breaks elsewhere
    for old, new in (("Text", "Words"), ("tags: [a]", "tags: [a]\ndescription: One thing.")):
        original.write_text(ORIGINAL.replace(old, new), encoding="utf-8")
        (said,) = in_step.out_of_step(page)
        assert said.startswith("docs/zh/a/b.md and docs/a/b.md: the original has changed")
        assert in_step.main(["seen", str(page)]) == 0
        assert in_step.out_of_step(page) == []


def test_a_translation_needs_an_original(pair, capsys):
    original, page = pair
    original.unlink()
    (said,) = in_step.out_of_step(page)
    assert said.startswith("docs/zh/a/b.md and docs/a/b.md: there is no such original. If it moved")
    assert in_step.main([]) == 1
    assert f"{said}\n    git diff HEAD -- docs/a/b.md\n" in capsys.readouterr().out


REFUSED = {
    "a mistyped command": (["begin", "docs/zh/a/b.md"], "invalid choice: 'begin'"),
    "no page": (["seen"], "the following arguments are required: PAGE"),
    "a page that was begun": (["start", "docs/zh/a/b.md"], "docs/zh/a/b.md exists"),
    "a page that was not begun": (["seen", "docs/zh/c.md"], "docs/zh/c.md is not there: write it"),
    "the second page is bad": (["start", "docs/zh/c.md", "docs/zh/a/b.md"], "b.md exists"),
    "an original": (["seen", "docs/a/b.md"], "docs/a/b.md is not in docs/zh"),
    "without an original": (["start", "docs/zh/d.md"], "translate docs/d.md, which is not there"),
    "without settings": (["seen", "docs/zh/e.md"], "docs/zh/e.md has no line 'original: ...'"),
}


@pytest.mark.parametrize(("words", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_a_sentence_and_changes_nothing(
    words, said, pair, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for name in ("docs/c.md", "docs/e.md", "docs/zh/e.md"):
        Path(name).write_text("Text.\n", encoding="utf-8")
    before = {path: path.read_text("utf-8") for path in tmp_path.rglob("*.md")}
    with pytest.raises(SystemExit, match="2"):
        in_step.main(words)
    assert said in " ".join(capsys.readouterr().err.split())
    assert {path: path.read_text("utf-8") for path in tmp_path.rglob("*.md")} == before


# --- the README, which is no page of the site -----------------------------------------------

SHOWN = re.compile(r"(?:^<!-- \w+: \w+ -->\n\n)?^```.+?^```$", re.MULTILINE | re.DOTALL)


def test_the_readme_has_the_example_and_the_commands_of_the_original():
    ours, theirs = (
        SHOWN.findall(page.read_text(encoding="utf-8")) for page in (ROOT / "README.md", README)
    )
    commands = [f"<!-- command: {name} -->" for name in ("tour", "tests", "site")]
    assert [shown.split("\n")[0] for shown in theirs] == ["```python", "```console", *commands]
    assert theirs == ours[:5]


def test_the_readmes_lead_to_each_other_and_to_pages_that_exist():
    links = in_step.LINK.findall(README.read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / link.split("#")[0]).is_file()] == []
    assert links[0] == "README.md"
    assert in_step.LINK.search((ROOT / "README.md").read_text(encoding="utf-8"))[1] == README.name


# --- what the site makes of a translation ------------------------------------------------------


def test_a_link_leads_to_english_only_without_a_translation_and_a_picture_has_chinese_words():
    pytest.importorskip("mkdocs", reason="comes with the extra docs")
    here = SimpleNamespace(src_uri="stages/stage2_central.md")
    there = SimpleNamespace(get_file_from_path={"glossary.md"}.__contains__)
    leads = {
        "[a](../glossary.md#kink)": "[a](../glossary.md#kink)",
        "[a](../found.md#x)": "[a](english:found.md#x)",
        "![a](../assets/figures/course.svg)": "![a](english:assets/figures/course.zh.svg)",
        "![a](../assets/figures/lines.svg)": "![a](english:assets/figures/lines.svg)",
    }
    found = importlib.import_module("edition")._linked("\n".join(leads), here, there)
    assert found.split("\n") == [*leads.values()]


# --- questions -------------------------------------------------------------------------------

QUESTION = re.compile(
    r'^<div class="predict" data-name="(?P<name>\w+)".*?</details>\n</div>$',
    re.MULTILINE | re.DOTALL,
)
TRUE = re.compile(r"\*\*(.+?)[.。]?\*\*")


def answers_in(text):
    """Return for each question the number of the right option, else the first words in bold."""
    found = {}
    for question in QUESTION.finditer(text):
        asked, told = question[0].split("</summary>")
        options = re.findall(r"^- (.+)$", asked, re.MULTILINE)
        true = TRUE.search(told)
        found[question["name"]] = options.index(true[1]) if options else true and true[1]
    return found


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_same_option_or_place_is_the_right_one(page):
    ours = answers_in(in_step.text_of(in_step.original_of(page)))
    theirs = answers_in(page.read_text(encoding="utf-8"))
    assert ours.keys() == theirs.keys()
    scales = {name: true for name, true in ours.items() if str(true)[:1].isdigit()}
    assert {name: theirs[name] for name in scales} == scales


# --- Chinese ---------------------------------------------------------------------------------

OUTSIDE = re.compile(
    r"`[^`]*`|\$[^$]*\$|<!--.*?-->|<[^>]*>|\]\([^)]*\)|\{ ?[^{}]*\}|\[\[block\]\]", re.DOTALL
)
HAN = "一-鿿"


def words_of(text):
    """Return what a page says in words: code and formulas are one letter."""
    inside = in_step.SETTINGS.sub("", text)
    inside = re.sub(r"`[^`]*`|\$[^$]*\$", "x", inside)
    return re.sub(r"!?\[|[\]*]", "", OUTSIDE.sub("", inside))


# {a rule: (what breaks it, a line that breaks it, a line that does not)}
TYPESETTING = {
    "a space between Chinese and Latin, digits, code and formulas": (
        rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9%][{HAN}]",
        "误差为`h`的平方，约 3倍。",
        "误差为 `h` 的平方，约 3 倍。[**第一级**](a.md)的 `f`，$x$：好。",
    ),
    "full-width punctuation": (
        rf"[{HAN}][,;:!?(]|[,;:!?)][{HAN}]|[{HAN}]\.(?!\w)",
        "第一, 第二",
        "第一，第二（见 3.1），f(x) 的 x，共 1, 2 两个。",
    ),
    "quotation marks of Chinese": (
        rf'"[^"\n]*[{HAN}][^"\n]*"|「|」',
        '这叫"噪声"。',
        "这叫“噪声”，print 的是 “x”。",
    ),
    "no space beside full-width punctuation": (
        r"(?<=\S) +[，。：；、！？）》”]|[，。：；、！？（《“] +(?=\S)",
        "第一 ，第二",
        "第一，第二",
    ),
    "a paragraph is one line": (
        rf"[{HAN}，。；：、！？）”]\n(?! *(?:[-|#<!:]|\d+\.|\{{))\S",
        "一行\n又一行",
        "一行\n\n又一行\n- 一项\n- 又一项\n",
    ),
    "no English sentence": (
        r"(?:\b[A-Za-z']+[,;]? ){4,}[a-z]+\b",
        "这是 the slope of the curve here 吗？",
        "这是 `the slope of the curve here`，Richardson extrapolation。",
    ),
}


@pytest.mark.one_in(10)
@pytest.mark.parametrize("page", [*PAGES, README], ids=name_of)
@pytest.mark.parametrize("rule", TYPESETTING)
def test_a_chinese_page_keeps_a_rule(page, rule):
    pattern, *_ = TYPESETTING[rule]
    text = words_of(page.read_text(encoding="utf-8"))
    assert [text[max(0, m.start() - 10) : m.end() + 10] for m in re.finditer(pattern, text)] == []


@pytest.mark.parametrize("rule", TYPESETTING)
def test_what_breaks_a_rule_is_noticed(rule):
    pattern, wrong, right = TYPESETTING[rule]
    assert re.search(pattern, words_of(wrong))
    assert not re.search(pattern, words_of(right))


# --- the navigation --------------------------------------------------------------------------


def test_each_part_of_the_navigation_has_a_name_and_no_name_is_left_over():
    english, chinese = (
        (ROOT / name).read_text(encoding="utf-8") for name in ("mkdocs.yml", "mkdocs.zh.yml")
    )
    navigation = re.search(r"^nav:\n((?: .*\n)+)", english, re.MULTILINE)[1]
    parts = re.findall(r"^ +- (.+):$", navigation, re.MULTILINE)
    titles = re.findall(r"^ +- (.+?):(?: .*)?$", navigation, re.MULTILINE)
    names = re.search(r"^  names:\n((?: {4}.*\n)+)", chinese, re.MULTILINE)[1]
    named = re.findall(r"^ {4}(.+): .", names, re.MULTILINE)
    assert set(parts) <= set(named) <= set(titles)


# --- what the scripts say --------------------------------------------------------------------

WORDS = (DOCS / "assets/words.zh.js").read_text(encoding="utf-8")
SCRIPTS = [path for path in (DOCS / "assets").rglob("*.js") if "katex" not in path.parts]
FIGURES = [path for path in SCRIPTS if path.parent.name == "figures"]
STRING = r'"((?:[^"\\]|\\.)*)"'
ENTRY = re.compile(rf"^ {{2}}(?:{STRING}|(\w+)):\s+{STRING},$", re.MULTILINE)
SAID = re.compile(rf"\bsay\(\s*{STRING}|failed\(\[\s*{STRING}")
SENT = re.compile(rf"\[{STRING}(?:, \{{|\])")  # by the worker


def said_in(script):
    """Return the texts that a script gives to `say`, or keeps or sends for it."""
    text = script.read_text(encoding="utf-8")
    kept = [rf"const {name} =\s+{STRING};" for name in re.findall(r"\bsay\(([A-Z]\w*)", text)]
    found = ["".join(groups) for groups in SAID.findall(text)]
    found += [re.search(constant, text)[1] for constant in kept]
    return {*found, *(SENT.findall(text) if script.name == "worker.js" else ())} - {"/page"}


def test_all_that_the_scripts_say_is_translated_and_nothing_else():
    known = {quoted or plain: translation for quoted, plain, translation in ENTRY.findall(WORDS)}
    said = set().union(*map(said_in, SCRIPTS))
    assert said - set(known) == set()
    # Names and labels are given to kit.js, which translates those that it can.
    text = "".join(path.read_text(encoding="utf-8") for path in FIGURES)
    named = {"measured, forward", "measured, central"}
    left_over = set(known) - said - named
    assert [one for one in left_over if not re.search(rf'["\s]{re.escape(one)}[":]', text)] == []
    gap = re.compile(r"\{\w+\}")
    gaps = {text: (set(gap.findall(text)), set(gap.findall(known[text]))) for text in known}
    assert {text: both for text, both in gaps.items() if both[0] != both[1]} == {}
