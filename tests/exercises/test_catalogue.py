"""Messages in another language: how they are found, and how their files are read."""

import time

import pytest

import catalogue
from catalogue import read_file, read_po, speak, spoken, told, word

FILE = r"""
# A comment.
msgid ""
msgstr ""
"Language: xx\n"

#: where it comes from
#, python-format
msgid "two \"words\""
msgstr "zwei "
"\"W\u00f6rter\"\\"

msgid ""
"in "
"two lines\n"
msgstr "in einer\tZeile"

msgid "not done yet"
msgstr ""

#, fuzzy
#| msgid "it was so"
msgid "it is so"
msgstr "es war so"

msgid "after a fuzzy one"
msgstr "danach"
#~ msgid "gone"
#~ msgstr "weg"
""".replace(r"\u00f6", "ö")


@pytest.fixture
def spoken_here(tmp_path, monkeypatch):
    """Speak a language whose file a test writes, and English again."""
    catalogue._catalogue.cache_clear()
    monkeypatch.setattr(catalogue, "LOCALE", tmp_path)

    def speaks(messages):
        lines = [f'msgid "{english}"\nmsgstr "{text}"\n' for english, text in messages.items()]
        (tmp_path / "xx.po").write_text("\n".join(lines), encoding="utf-8")
        speak("xx")

    yield speaks
    catalogue._catalogue.cache_clear()
    speak("en")


# --- files -------------------------------------------------------------------------------------


def test_a_file_is_read_with_escapes_long_texts_and_comments():
    assert read_po(FILE, "xx.po") == {
        'two "words"': 'zwei "Wörter"\\',
        "in two lines\n": "in einer\tZeile",
        "not done yet": "",
        "it is so": "",  # fuzzy
        "after a fuzzy one": "danach",
    }


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ('msgid "a"\nmsgid "b"\n', r"line 2: expected msgstr and a text .*: msgid \"b\""),
        ('msgstr "a"\n', "line 1: expected msgid"),
        ('"a"\n', "line 1"),
        ('msgid "a\nmsgstr "b"\n', "line 1"),
        ('msgid "a"\nmsgid_plural "b"\n', "line 2: .* no plural forms .*: msgid_plural"),
        ('msgctxt "menu"\nmsgid "a"\n', "line 1"),
        ('msgid "a"\nmsgstr "1"\n\nmsgid "a"\nmsgstr "2"\n', "twice: a"),
    ],
    ids=["no msgstr", "no msgid", "no word", "no end", "plural", "context", "twice"],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(source, says):
    with pytest.raises(ValueError, match=f"^xx.po.*{says}"):
        read_po(source, "xx.po")


def test_a_file_is_in_utf_8_with_a_mark_at_its_beginning_or_without(tmp_path):
    path = tmp_path / "xx.po"
    for encoding in ("utf-8", "utf-8-sig"):
        path.write_text(FILE, encoding=encoding)
        assert read_file(path) == read_po(FILE, "xx.po")
    path.write_text(FILE, encoding="latin-1")
    with pytest.raises(ValueError, match=r"^xx\.po is not in UTF-8: save it"):
        read_file(path)


# --- messages ----------------------------------------------------------------------------------


def test_a_message_is_shown_in_the_language_and_anything_else_as_it_is(spoken_here):
    spoken_here({"where is b1?": "b1 在哪里？", "not done yet": ""})
    assert spoken() == "xx"
    assert told("where is b1?") == "b1 在哪里？"
    for text in ("not done yet", "where is b2?", "[0 -4 0.1]", ""):
        assert told(text) == text
    speak("en")
    assert told("where is b1?") == "where is b1?"


# The file, the English text, and what is shown.
SHOWN = {
    "values go where the other language wants them": (
        {"{calls} calls of {name}": "调用 {name} {calls} 次"},
        {
            "12 calls of loss": "调用 loss 12 次",
            "12 calls of {calls}": "调用 {calls} 12 次",
            "12 calls": "12 calls",
        },
    ),
    "a value may be a message, too, but a word may be a function": (
        {"it depends on {said}": "它依赖于：{said}", "x is left alone": "x 不变", "loss": "损失"},
        {
            "it depends on x is left alone": "它依赖于：x 不变",
            "it depends on loss": "它依赖于：loss",
            "loss": "loss",
        },
    ),
}


@pytest.mark.parametrize(("messages", "shown"), SHOWN.values(), ids=SHOWN)
def test_a_message_with_values_is_shown_in_the_language(spoken_here, messages, shown):
    spoken_here(messages)
    assert {english: told(english) for english in shown} == shown


def test_a_label_is_a_word(spoken_here):
    spoken_here({"loss": "损失"})
    assert (word("loss"), word("accuracy")) == ("损失", "accuracy")


@pytest.mark.parametrize(
    ("english", "text"),
    [
        ("{n} checks", "{m} 项"),
        ("{n} checks", "几项"),
        ("{n} checks", "{n} 项，{n}"),
        ("{n} checks", "{} 项"),
        ("{n} checks", "{n.real} 项"),
        ("{n} checks", "{n:d} 项"),
        ("{n} checks", "{n 项"),
        ("all checks", "{n} 项"),
    ],
    ids=["another", "none", "twice", "no name", "an attribute", "a format", "open", "one more"],
)
def test_a_translation_with_other_fields_is_refused_before_anything_is_said(
    spoken_here, english, text
):
    spoken_before = spoken()
    with pytest.raises(ValueError, match=rf"^xx\.po: other fields than in the message: {english}$"):
        spoken_here({"other checks": "其他", english: text})
    assert spoken() == spoken_before


@pytest.mark.parametrize("text", ["line 1: " * 5000, "line " * 20000, ": " * 20000])
def test_a_text_that_looks_like_many_messages_takes_no_time(spoken_here, text):
    spoken_here(
        {
            "line {number}: {code}": "第 {number} 行：{code}",
            "line {a}, line {b}: {c} line {d}, line {e} :": "{a}{b}{c}{d}{e}",
        }
    )
    begun = time.process_time()
    told(text)
    assert time.process_time() - begun < 2


def test_a_language_without_a_file_is_refused_with_those_there_are():
    assert catalogue.languages() == ["en", "zh"]
    with pytest.raises(ValueError, match="no language 'fr'; choose en or zh"):
        speak("fr")
    assert spoken() == "en"
