"""How far a check has come: only said of long checks, in one line, or to whoever asked."""

import io
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest

from gradcheck_ref import check_gradient
from gradcheck_ref.check.call import progress
from gradcheck_ref.check.call.progress import Progress


@pytest.fixture(params=[True, False], ids=["terminal", "log"])
def stderr(request, monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: request.param
    # Of this module only: pytest has sys.stderr for itself.
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    return stream


@pytest.fixture
def impatient(monkeypatch):
    for name in ("PATIENCE", "LOG_EVERY"):
        monkeypatch.setattr(progress, name, 0.0)


def count_to(number, tell=None):
    with closing(Progress(tell)) as line:
        line.total = 10
        for _ in range(number):
            line.tick()


@pytest.mark.usefixtures("impatient")
def test_a_long_check_counts_its_evaluations(stderr):
    count_to(3)
    assert "gradcheck: 2 of about 10 evaluations of f" in stderr.getvalue()


def test_a_short_check_says_nothing(stderr):
    count_to(12)
    assert stderr.getvalue() == ""


@pytest.mark.usefixtures("impatient")
def test_the_line_is_wiped_in_the_end_even_after_an_error(stderr):
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_gradient(interrupted, np.ones(2), np.ones(2))
    assert "gradcheck: 1 evaluations of f" in stderr.getvalue()
    assert stderr.getvalue().endswith("\r\x1b[K") == stderr.isatty()


def test_a_log_gets_a_line_every_half_a_minute(monkeypatch, stderr):
    clock = iter(np.arange(0.0, 1000.0, 1.0))
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    count_to(95)
    lines = stderr.getvalue().splitlines()
    assert len(lines) == 3 or stderr.isatty()


def test_a_progress_function_is_called_in_place_of_the_line(stderr):
    told = []
    x = np.linspace(1, 2, 20)
    report = check_gradient(
        lambda x: np.sum(x * x), x, 2 * x, progress=lambda *both: told.append(both)
    )
    assert stderr.getvalue() == ""
    done, totals = zip(*told, strict=True)
    assert list(done) == sorted(done)
    assert done[-1] == report.evaluations
    assert totals[-1] == pytest.approx(report.evaluations, rel=0.1)


@pytest.mark.usefixtures("impatient")
def test_a_check_runs_without_stderr(monkeypatch):
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=None))
    count_to(3)


@pytest.mark.parametrize("bad", [True, 1, "yes"])
def test_an_invalid_progress_argument_is_refused(bad):
    with pytest.raises(TypeError, match="progress must be None, False or a function"):
        check_gradient(np.sum, np.ones(2), np.ones(2), progress=bad)
