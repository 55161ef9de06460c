"""The width of texts: a Chinese character takes two columns."""

import textwrap

import pytest

from columns import columns, padded, wrapped

MIXED = "你返回的是掩码；`upstream` 用在哪里？看看 relu_backward(x, upstream)（见“任务 3”）。"


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("got", 3), ("得到", 4), ("h = 得", 6), ("：", 2), ("é", 1)]
)
def test_a_wide_character_counts_twice(text, width):
    assert columns(text) == width
    assert columns(padded(text, 10)) == 10


@pytest.mark.parametrize("room", [12, 20, 30, 60])
def test_no_line_is_too_long_or_begins_with_a_comma(room):
    lines = wrapped(MIXED, room, "得到 ", "     ")
    assert lines[0].startswith("得到 你")
    assert all(columns(line) <= room for line in lines)
    assert all(line[:5] == "     " for line in lines[1:])
    assert not any(line.strip()[0] in "，；？：）”。" or line[-1] in "（“" for line in lines)
    kept = "".join("".join(lines).split())
    assert kept == "得到" + "".join(MIXED.split())


def test_lines_are_filled():
    lines = wrapped("一" * 35, 20)
    assert [columns(line) for line in lines] == [20, 20, 20, 10]


@pytest.mark.parametrize("room", [10, 33, 60])
def test_english_is_wrapped_as_ever(room):
    text = "the rise of f is divided by the step; where do you divide? " * 3
    expected = textwrap.wrap(text, room, initial_indent="NO ", subsequent_indent="   ")
    assert wrapped(text, room, "NO ", "   ") == expected
    assert wrapped("", room) == []


def test_a_word_longer_than_a_line_is_cut():
    assert wrapped("é" * 25 + " 长", 10) == ["é" * 10, "é" * 10, "ééééé 长"]
