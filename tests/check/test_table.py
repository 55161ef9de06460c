"""Rows and columns, and nothing wider than the terminal."""

import pytest
from report_cases import REPORTS, every_report

from gradcheck_ref.check.report.table import grid


@pytest.mark.one_in(6)
@every_report
def test_no_line_is_wider_than_the_terminal(name, monkeypatch):
    report = REPORTS[name]
    for width in (40, 55, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        for text in (str(report), report.table(), report.text(width), report.table(width)):
            assert max(map(len, text.splitlines())) <= width
            assert text == "\n".join(line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("name", ["fail", "kink", "fail, tuple", "fail, long name"])
def test_a_narrow_terminal_gets_the_same_words(name):
    wide, narrow = (REPORTS[name].text(width).split("\n\n")[0] for width in (200, 40))
    assert "".join(wide.split()) == "".join(narrow.split())
    assert narrow.count("\n") > wide.count("\n")


def test_the_table_has_a_row_for_each_pair_the_worst_first():
    lines = REPORTS["fail, tuple"].table(140).splitlines()
    assert lines[0].split() == (
        ["entry", "error", "analytic", "numeric", "+-", "allowed", "ratio", "by", "step", "verdict"]
    )
    assert len(lines) == 1 + 4 + 1
    assert lines[1].startswith("d output[1][0] / d the ")
    assert lines[1].endswith("fail (2/2)")
    assert all(line.endswith("pass") for line in lines[2:5])


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("fail", ["x[0]", "0.75", "1.500", "0.750", "1.0e6", "rtol", "fail (2/3)"]),
        ("pass", ["<0.01", "rtol", "pass"]),
        ("kink", ["x[1]", "unsure: kink (1/3)"]),
        ("fail, nan", ["x[0]", "nan", "0.750", "fail: nonfinite (1/3)"]),
        ("shape", ["-", "fail: shape (3/3)"]),
        ("empty", ["x", "no entries"]),
        ("lines", ["W", "by lines"]),
    ],
)
def test_a_row_shows_the_expected_cells(name, cells):
    row = REPORTS[name].table(140).splitlines()[1]
    at = -1
    for cell in cells:
        assert cell in row[at + 1 :]
        at = row.index(cell, at + 1)


def test_a_table_without_room_leaves_out_columns_and_then_stacks_them():
    wide, narrower, narrow = (REPORTS["fail"].table(width) for width in (100, 60, 40))
    assert "step" in wide
    assert "step" not in narrower
    assert "verdict" in narrower
    assert narrow.startswith("x[0]\n  error 0.75,")


def test_a_row_names_all_the_reasons_it_counts():
    row = REPORTS["kink and edge"].table(140).splitlines()[1]
    assert row.endswith("unsure: domain-edge, kink (2/2)")


def test_a_missing_number_is_a_dash_and_a_column_of_dashes_is_left_out():
    rows = [{"entry": "a", "analytic": "1", "numeric": "2"}, {"entry": "b", "analytic": "nan"}]
    assert grid(rows, 80) == [
        "entry  analytic  numeric",
        "a             1        2",
        "b           nan        -",
    ]
    assert grid(rows[1:], 80) == ["entry  analytic", "b           nan"]
    assert "nan" not in REPORTS["nonfinite"].text(100)


# --- the worst entries ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "listed"),
    [("fail", 2), ("fail, one number", 0), ("fail, nan", 0), ("kink", 0), ("noise", 3),
     ("fail, twenty", 10), ("pass", 0), ("shape", 0), ("shape and wrong", 2)],
)  # fmt: skip
def test_several_wrong_entries_are_listed_and_at_most_ten(name, listed):
    lines = REPORTS[name].text(100).splitlines()
    heading = [k for k, line in enumerate(lines) if line.startswith("entry")]
    assert len(heading) == (listed > 0)
    if listed:
        rows = lines[heading[0] + 1 : lines.index("", heading[0])]
        assert len(rows) == listed
