"""Terminal, notebook and page say one sentence for one slip."""

import contextlib
import linecache
import re

import pytest
from wrong_submissions import NOTHING, visible_outcome_of, wrong_answers

import course
import in_notebook
import in_page
import run

COURSE = course.read_course()
ROWS = [
    pytest.param(exercise, wrong, id=f"{exercise.number}-{wrong}")
    for exercise in COURSE.exercises
    if not course.missing(exercise)
    for wrong in wrong_answers(exercise)
    if wrong.says != NOTHING and "(held out)" not in wrong.name
]


def in_a_terminal(exercise, _, capsys):
    """Check the file in work/, as run.py does."""
    run.go_to(COURSE, exercise)
    return capsys.readouterr().out


def in_a_page(exercise, *_):
    """Check the file in work/, as the page of the exercise does."""
    return in_page.check(exercise.name)["report"]


def in_a_notebook(exercise, wrong, capsys):
    """Check the names of a cell, as Jupyter has them."""
    cell, names = "/tmp/ipykernel_1/2.py", {"__name__": "__main__", "get_ipython": None}
    linecache.cache[cell] = len(wrong.source), None, wrong.source.splitlines(keepends=True), cell
    with contextlib.redirect_stdout(None):
        exec(compile(wrong.source.partition("if __name__")[0], cell, "exec"), names)
    in_notebook.check(exercise.number, names)
    return capsys.readouterr().out


def told(output):
    """Return what is said of the first failing check, on one line."""
    lines = re.sub(r"\x1b\[\d+m", "", output).partition("  called    ")[2]
    return " ".join(lines.partition("not run yet")[0].partition("next  ")[0].split())


@pytest.mark.one_in(88)
@pytest.mark.sweep(4)
@pytest.mark.parametrize(("exercise", "wrong"), ROWS)
def test_a_slip_gets_one_sentence_wherever_it_is_made(
    exercise, wrong, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(course.Exercise, "work", property(lambda one: tmp_path / f"{one.name}.py"))
    monkeypatch.setenv("COLUMNS", "100")
    exercise.work.write_text(wrong.source, encoding="utf-8")
    said = dict(visible_outcome_of(exercise, wrong).first_failing.lines)
    sentence = " ".join(said.get("look at", said.get("raised", "")).split())
    capsys.readouterr()  # some print what they should return
    found = {way.__name__: told(way(exercise, wrong, capsys)) for way in PLACES}
    assert sentence
    assert all(sentence in text for text in found.values()), found


PLACES = in_a_terminal, in_a_page, in_a_notebook
