"""The line on the terminal: only there, only for long checks, and gone afterwards."""

import re
import time
from types import SimpleNamespace

import numpy as np
import pytest

from gradcheck_ref import check_gradient
from gradcheck_ref.check.measure import progress
from gradcheck_ref.check.measure.progress import Progress


class Stream:
    """A stderr that keeps what is written, and may be a terminal."""

    def __init__(self, terminal):
        self.terminal = terminal
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return self.terminal


@pytest.fixture(params=[True, False], ids=["terminal", "pipe"])
def stderr(request, monkeypatch):
    stream = Stream(request.param)
    # Of this module only: pytest has sys.stderr for itself.
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    return stream


def count_to(rows, seconds):
    with Progress(rows, 6 * rows, seconds) as line:
        for _ in range(rows):
            line.tick()


def test_a_long_check_is_announced_before_it_starts(stderr):
    with Progress(1000, 6000, 0.1):
        assert ("about 6000 evaluations of f to come" in stderr.text) == stderr.terminal


def test_a_long_check_counts_its_coordinates(stderr, monkeypatch):
    monkeypatch.setattr(progress, "REFRESH", 0.0)
    count_to(3, seconds=1.0)
    assert ("2 of 3 coordinates" in stderr.text) == stderr.terminal


def test_a_short_check_says_nothing(stderr):
    count_to(3, seconds=1e-6)
    assert stderr.text == ""


def test_the_line_is_wiped_in_the_end_even_after_an_error(stderr):
    with pytest.raises(KeyboardInterrupt), Progress(1000, 6000, 0.1):
        raise KeyboardInterrupt
    assert stderr.text.endswith("\r\x1b[K") == stderr.terminal


def test_it_is_one_line(stderr):
    count_to(3, seconds=1.0)
    assert "\n" not in stderr.text


def test_the_check_announces_itself_when_f_is_slow(stderr, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.05)

    def slow(x):
        time.sleep(0.002)
        return np.sum(x * x)

    x = np.linspace(1, 2, 20)
    report = check_gradient(slow, x, 2 * x)
    assert bool(re.search("about 120 evaluations", stderr.text)) == stderr.terminal
    assert report.verdict == "pass"
