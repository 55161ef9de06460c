"""Workers on a cluster: dask, with two worker processes on this machine."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from test_check_crew import CHECKS, dies_beside_x, fingerprint, is_alive, raises_beside_x

from gradcheck_ref import check_gradient

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


def test_what_is_only_in_this_program_is_sent_along(client):
    factor = np.array(3.0)
    report = check_gradient(
        lambda x: np.sum(factor * x),
        np.ones(40),
        factor * np.ones(40),
        workers=client.get_executor(),
    )
    assert report.verdict == "pass"


def test_a_worker_that_dies_is_missed(client):
    # dask tries elsewhere, three times more, and starts other workers.
    with pytest.raises(distributed.KilledWorker):
        check_gradient(dies_beside_x, np.ones(3), np.ones(3), workers=client.get_executor())


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
