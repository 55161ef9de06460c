"""Workers on a cluster: a client of dask has an executor, here with two processes."""

import numpy as np
import pytest
from crew_cases import CHECKS, fingerprint, raises_beside_x

from gradcheck_ref import check_gradient

distributed = pytest.importorskip("distributed", reason="comes with the extra cluster")


@pytest.fixture(scope="module")
def executor():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as here,
        distributed.Client(here) as client,
    ):
        yield client.get_executor()


@pytest.mark.parametrize("name", CHECKS)
def test_verdict_numbers_and_cost_are_those_of_this_process(executor, name):
    there = CHECKS[name](workers=executor)
    assert fingerprint(there) == fingerprint(CHECKS[name]())


def test_an_exception_of_f_is_passed_on_with_the_place(executor):
    with pytest.raises(NotImplementedError, match="not here") as caught:
        check_gradient(raises_beside_x, np.ones(3), np.ones(3), workers=executor)
    assert any("calling f at x moved by" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("factor", [3.0, 2.0], ids=["right", "wrong"])
def test_a_lambda_and_its_variables_are_sent_to_the_cluster(executor, factor):
    three = np.array(3.0)
    report = check_gradient(
        lambda x: np.sum(three * x), np.ones(40), np.full(40, factor), workers=executor
    )
    assert report.verdict == ("pass" if factor == 3.0 else "fail")
