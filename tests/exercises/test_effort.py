"""What is counted of a backward pass: forward passes, time, and complex numbers."""

import sys
import threading
import time

import numpy as np
import pytest
from beside import ran

import course
from effort import RealArray, effort


def busy():
    end = time.thread_time() + 2e-4
    while time.thread_time() < end:
        pass


def in_a_thread():
    thread = threading.Thread(target=busy)
    thread.start()
    thread.join()


@pytest.mark.parametrize("work", [busy, in_a_thread])
def test_the_time_of_all_threads_is_measured(work):
    assert effort(work, [])[2] >= 1.5e-4


@pytest.mark.parametrize(
    ("code", "least", "most"), [("0", 0, 1e-4), ("sum(range(50_000))", 1e-4, 1)]
)
def test_a_limit_on_the_time_does_not_make_the_clock_coarse(code, least, most):
    limited = "import resource; resource.setrlimit(resource.RLIMIT_CPU, (100, 100)); "
    asked = f"from effort import effort; print(effort(lambda: {code}, [])[2])"
    told = ran(sys.executable, "-c", limited + asked, cwd=course.HERE, check=True)
    assert least <= float(told.stdout) <= most


def forward(x):
    return np.sum(x)


@pytest.mark.parametrize("times", [0, 1, 7])
def test_calls_of_the_forward_pass_are_counted(times):
    def backward(x):
        return [forward(x) for _ in range(times)]

    assert effort(backward, [np.ones(3)], "forward")[0] == times


@pytest.mark.parametrize(
    ("noted", "backward"),
    [
        ("complex", lambda x: (x + 1e-30j).imag),
        ("complex", lambda x: x.astype("D") * 2),
        ("complex", lambda x: np.add(x, 1, out=np.zeros(3, complex))),
        ("complex", lambda x: np.exp(2 * x[1:]) * (-1) ** 0.5),
        ("long", lambda x: x.astype(np.longdouble) + 1e-9),
        ("long", lambda x: (y := np.array(x, dtype="g")) + y),
        ("", lambda x: np.fft.irfft(np.fft.rfft(x) * 2j, 3)),
        ("", lambda x: np.add.reduce(x) + np.asarray(x, dtype=float)),
        ("", lambda x: x if type(x) is np.ndarray else 1 / 0),
    ],
    ids=["step", "dtype", "output", "power", "long", "long local", "fft", "real", "cannot take it"],
)
def test_other_kinds_of_numbers_are_noted(noted, backward):
    RealArray.met = "something"
    assert effort(backward, [np.ones(3)])[1] == noted


def test_of_a_graph_of_scalars_a_bounded_part_is_looked_at():
    def backward(x):
        nodes = []

        def visit(number):
            nodes.append([number])

        for _ in range(20_000):
            visit(1.0)

    begun = time.process_time()
    effort(backward, [np.ones(3)], "visit")
    assert time.process_time() - begun < 1  # of the 20 that it takes to look at all nodes each time
