"""Who calls f: the same verdict and the same numbers whoever it is; and nobody is left behind."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from crew_cases import (
    CHECKS,
    SMALL,
    cubes,
    dies_beside_x,
    fingerprint,
    raises_an_unpicklable_error,
    raises_beside_x,
    spawning,
    sum_of_the_first,
)
from processes import assert_it_goes

from gradcheck_ref import check_gradient, check_jvp, check_vjp

pytestmark = pytest.mark.forks


@pytest.mark.one_in(10)
@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize(
    "crew", [1, 2, 3, -1, "threads", "map"], ids=lambda crew: str(crew).replace("-1", "all")
)
def test_verdict_numbers_and_cost_do_not_depend_on_the_workers(name, crew):
    alone = CHECKS[name]()
    assert alone.verdict == ("fail" if name == "wrong" else "pass")
    if crew == "threads":
        with ThreadPoolExecutor(3) as crew:
            there = CHECKS[name](workers=crew)
    else:
        there = CHECKS[name](workers=map if crew == "map" else crew)
    assert fingerprint(there) == fingerprint(alone)


@pytest.mark.slow
def test_an_executor_of_processes_serves_several_checks():
    with spawning(1) as executor:
        for name in CHECKS:
            assert fingerprint(CHECKS[name](workers=executor)) == fingerprint(CHECKS[name]())


# --- what travels -----------------------------------------------------------------------------


def test_points_are_sent_as_few_bytes_beside_the_inputs():
    x, sent = np.linspace(1, 2, 10**5), []

    def sending(call, chunks):
        sent.extend(len(pickle.dumps(chunk)) for chunk in chunks)
        return map(call, chunks)

    assert check_gradient(np.sum, x, np.ones(10**5), workers=sending).verdict == "pass"
    assert max(sent) < 1.5 * x.nbytes


def test_a_lambda_is_known_to_processes_that_are_forked():
    factor = np.array(3.0)
    if multiprocessing.get_start_method() != "fork" or "jax" in sys.modules:
        pytest.skip("processes are not forked here")
    there = check_gradient(lambda x: np.sum(factor * x), SMALL, np.full(3, 3.0), workers=2)
    assert there.verdict == "pass"


# --- what goes wrong --------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [None, 2], ids=["alone", "two"])
def test_an_exception_of_f_is_passed_on_with_the_place(workers):
    with pytest.raises(NotImplementedError, match="not here") as caught:
        check_gradient(raises_beside_x, SMALL, np.ones(3), workers=workers)
    assert any("calling f at x moved by" in note for note in caught.value.__notes__)


def entropy(p):
    assert p.max() <= 1, "p must be in [0, 1]"
    return np.sum(p * p)


@pytest.mark.parametrize("factor", [2, 3])
def test_an_exception_outside_the_domain_is_noted_in_workers_too(factor):
    p = np.array([0.5, 1 - 1e-9, 0.25])
    alone = check_gradient(entropy, p, factor * p)
    assert alone.verdict == ("pass" if factor == 2 else "fail")
    assert "p must be in [0, 1]" in alone.notes[0]
    there = check_gradient(entropy, p, factor * p, workers=2)
    assert (fingerprint(there), there.notes) == (fingerprint(alone), alone.notes)
    with ThreadPoolExecutor(2) as executor:
        assert check_gradient(entropy, p, factor * p, workers=executor).notes == alone.notes


def test_an_unpicklable_exception_is_passed_on_as_text():
    with pytest.raises(RuntimeError, match="StubbornError: this and that") as caught:
        check_gradient(raises_an_unpicklable_error, SMALL, np.ones(3), workers=2)
    assert any("calling f at x moved by" in note for note in caught.value.__notes__)


def test_a_worker_that_dies_is_noticed():
    with pytest.raises(RuntimeError, match="a worker process died: compiled code crashed"):
        check_gradient(dies_beside_x, SMALL, np.ones(3), workers=2)
    assert not multiprocessing.active_children()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("f", "inputs"),
    [(lambda x, *_: np.sum(x), SMALL), (sum_of_the_first, (SMALL, lambda: 0))],
    ids=["f", "an input"],
)
def test_an_unpicklable_function_is_refused_with_advice(f, inputs):
    def check(workers):
        return check_gradient(f, inputs, lambda x, *_: x * 0 + 1, workers=workers)

    with (
        spawning(1) as executor,
        pytest.raises((AttributeError, pickle.PicklingError), match="define f at the top of a mod"),
    ):
        check(executor)
    with ThreadPoolExecutor(2) as threads:
        assert check(threads)


@pytest.mark.parametrize(
    ("bad", "error"), [(0, ValueError), (-2, ValueError), (2.0, TypeError), (True, TypeError),
                       ("all", TypeError)]
)  # fmt: skip
def test_invalid_workers_are_refused(bad, error):
    with pytest.raises(error, match="workers must be"):
        check_gradient(np.sum, SMALL, np.ones(3), workers=bad)


ENDLESS = """
import sys, time
import numpy as np
from gradcheck_ref import check_gradient
def f(x):
    if x[0] != 1:
        time.sleep(100)
    return np.sum(x)
if __name__ == "__main__":
    import threading, multiprocessing
    def tell():
        while not multiprocessing.active_children():
            time.sleep(0.01)
        time.sleep(0.3)
        print(*[p.pid for p in multiprocessing.active_children()], flush=True)
    threading.Thread(target=tell, daemon=True).start()
    check_gradient(f, np.ones(3), np.ones(3), workers=2)
"""


@pytest.mark.one_in(3)
@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks for processes in /proc")
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopping_the_check_stops_its_workers(signum, tmp_path):
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    process = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    workers = process.stdout.readline().split()
    assert len(workers) == 2
    process.send_signal(signum)
    process.communicate(timeout=20)
    assert process.returncode
    for worker in workers:
        assert_it_goes(worker)


def test_f_gets_a_fresh_copy_in_every_thread():
    lock, seen = threading.Lock(), []

    def f(x):
        with lock:
            seen.append(id(x))
        y = x.copy()
        x[:] = np.nan
        return np.sum(y**3)

    with ThreadPoolExecutor(4) as threads:
        report = check_gradient(f, SMALL, 3 * SMALL**2, workers=threads)
    assert [fault.reason for fault in report.faults] == ["mutated"]
    assert (report.pairs[0].verdict == 0).all()


# --- f.many -----------------------------------------------------------------------------------


class Batched:
    """A function with a batch axis, that counts how it is called."""

    def __init__(self, many=lambda points: np.sum(np.stack(points) ** 3, axis=1)):
        self.batches, self.single, self.given = [], 0, many

    def __call__(self, x):
        self.single += 1
        return np.sum(x**3)

    def many(self, points):
        self.batches.append(len(points))
        return self.given(points)


def test_a_function_with_many_gets_the_points_of_a_trial_in_one_call():
    f = Batched()
    report = check_gradient(f, SMALL, 3 * SMALL**2)
    assert report.verdict == "pass"
    assert f.single == 2  # before the claim is asked for, and before it is again
    assert len(f.batches) <= 8
    assert report.evaluations == f.single + sum(f.batches)


def test_the_points_of_all_random_lines_are_one_call():
    x = np.linspace(1, 2, 500)
    f = Batched()
    assert check_gradient(f, x, 3 * x**2).verdict == "pass"
    assert len(f.batches) <= 10
    f = Batched()
    g = 3 * x**2
    g[321] *= 1.001
    report = check_gradient(f, x, g)
    assert report.worst.name == "x[321]"


@pytest.mark.parametrize(
    ("arranged", "f", "many"),
    [
        (SMALL, cubes, lambda points: [p**3 for p in points]),
        ((SMALL, 2.0), lambda x, a: a * x, lambda points: [a * x for x, a in points]),
        ({"x": SMALL, "a": 2.0}, lambda x, a: a * x,
         lambda points: [p["a"] * p["x"] for p in points]),
    ],
    ids=["one", "in order", "by name"],
)  # fmt: skip
def test_points_are_arranged_as_the_inputs_are(arranged, f, many):
    def of(*args, **kwargs):
        return f(*args, **kwargs)

    of.many = many
    jacobian = lambda t, *args, **kw: f(*args, **kw)  # noqa: E731
    assert check_jvp(of, arranged, jacobian).evaluations > 9


@pytest.mark.parametrize(
    ("many", "said"),
    [
        (lambda points: np.sum(np.stack(points) ** 2, axis=1),
         "x and x it returned 5.25 and 5.25, and f returned 9.125"),
        (lambda points: np.zeros(1), "returned 1 for 2"),
        (lambda points: 3.0, "returned float 3.0 for 2"),
        (lambda points: np.cumsum(np.sum(np.stack(points) ** 3, axis=1)),
         "x and x it returned 9.125 and 18.25, and f returned 9.125"),
        (lambda points: [np.zeros(2)] * len(points), "f changes what it returns"),
    ],
    ids=["another function", "too few", "a number", "by its place", "another shape"],
)  # fmt: skip
def test_a_many_that_contradicts_f_is_refused(many, said):
    with pytest.raises(ValueError, match=said):
        check_gradient(Batched(many), SMALL, 3 * SMALL**2)


def test_a_random_f_is_reported_as_random_and_not_as_a_wrong_many():
    rng = np.random.default_rng(0)

    def dropout(x):
        return x * (rng.random(x.shape) < 0.5)

    dropout.many = lambda points: [dropout(point) for point in points]
    report = check_vjp(dropout, np.ones(12), lambda upstream, x: upstream)
    assert (report.verdict, report.reason) == ("unsure", "nondeterministic")


@pytest.mark.parametrize("most", [12, 17, 24])
def test_comparing_many_with_f_counts_toward_max_evaluations(most):
    report = check_gradient(Batched(), SMALL[:2], 3 * SMALL[:2] ** 2, max_evaluations=most)
    assert report.evaluations <= most


def test_an_exception_of_many_names_the_number_of_points():
    def many(points):
        raise MemoryError("too many")

    with pytest.raises(MemoryError) as caught:
        check_gradient(Batched(many), SMALL, SMALL)
    assert "calling f.many with 2 points" in caught.value.__notes__[0]
