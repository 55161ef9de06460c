"""Workers on a cluster: dask, with two worker processes on this machine."""

import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from test_check_crew import CHECKS, dies_beside_x, fingerprint, is_alive, raises_beside_x

from gradcheck_ref import check_gradient
from gradcheck_ref.check.measure.crew import A_WHILE, Chunk

distributed = pytest.importorskip("distributed", reason="comes with the extra cluster")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as here,
        distributed.Client(here) as client,
    ):
        yield client


@pytest.mark.parametrize("name", CHECKS)
def test_verdict_numbers_and_cost_are_those_of_this_process(client, name):
    there = CHECKS[name](workers=client.get_executor())
    assert fingerprint(there) == fingerprint(CHECKS[name]())


def test_what_f_raises_is_passed_on_with_the_place(client):
    with pytest.raises(ArithmeticError, match="not here") as caught:
        check_gradient(raises_beside_x, np.ones(3), np.ones(3), workers=client.get_executor())
    assert any("calling f at x with x[1] moved" in note for note in caught.value.__notes__)
    assert not any("raised by the workers" in note for note in caught.value.__notes__)


def test_what_is_only_in_this_program_is_sent_along(client):
    factor = np.array(3.0)
    report = check_gradient(
        lambda x: np.sum(factor * x),
        np.ones(40),
        factor * np.ones(40),
        workers=client.get_executor(),
    )
    assert report.verdict == "pass"


def slow_sum(x):
    time.sleep(A_WHILE)
    return np.sum(x)


def test_more_than_a_million_numbers_are_sent_twice_and_nobody_is_warned(client, monkeypatch):
    sent, submit = [], client.submit

    def counted(function, chunk, **how):
        assert isinstance(chunk, Chunk)
        sent.append(len(pickle.dumps(chunk)))
        return submit(function, chunk, **how)

    monkeypatch.setattr(client, "submit", counted)
    x = np.ones(1_400_000)  # 11 MB: dask warns of messages above 10
    report = check_gradient(
        slow_sum, x, np.ones_like(x), workers=client.get_executor(), max_evaluations=60
    )
    assert report.verdict == "pass"
    light = [size for size in sent if size < 1000]
    assert len(sent) - len(light) == 2
    assert sum(sent) - sum(light) < 2 * (x.nbytes + 2000)  # x, and how it is arranged
    assert len(light) > 40


def test_a_worker_that_dies_is_missed(client):
    # dask tries elsewhere, three times more, and starts other workers.
    with pytest.raises(distributed.KilledWorker) as caught:
        check_gradient(dies_beside_x, np.ones(3), np.ones(3), workers=client.get_executor())
    assert any("for want of memory? Check with workers=None" in n for n in caught.value.__notes__)


ENDLESS = """
import sys, time
import numpy as np
import distributed
from gradcheck_ref import check_gradient
def f(x):
    if x[0] != 1:
        time.sleep(1000)
    return np.sum(x)
if __name__ == "__main__":
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as here,
        distributed.Client(here) as client,
    ):
        pids = client.run(__import__("os").getpid).values()
        print(*pids, flush=True)
        check_gradient(f, np.ones(3), np.ones(3), workers=client.get_executor())
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks for processes in /proc")
def test_whoever_interrupts_the_check_ends_the_workers(tmp_path):
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    process = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    workers = process.stdout.readline().split()
    assert len(workers) == 2
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode
    deadline = time.monotonic() + 10
    while any(map(is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(is_alive, workers))


def test_loky_has_an_executor_too():
    loky = pytest.importorskip("joblib.externals.loky", reason="comes with joblib")
    executor = loky.get_reusable_executor(max_workers=2)
    try:
        there = CHECKS["wrong"](workers=executor)
        assert fingerprint(there) == fingerprint(CHECKS["wrong"]())
        with pytest.raises(RuntimeError, match="a worker process died while it called f"):
            check_gradient(dies_beside_x, np.ones(3), np.ones(3), workers=executor)
    finally:
        executor.shutdown(kill_workers=True)
