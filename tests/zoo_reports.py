"""What the check says of the gradients of the zoo, right and wrong, and what the stages make of it.

Several test files ask, and to find out takes seconds: each gradient is checked once. `conftest.py`
gives the tests that ask to one worker.
"""

import contextlib
import functools
import warnings

from gradcheck_ref import staircase
from gradcheck_ref.check import check_vjp
from gradcheck_ref.zoo import all_cases

CASES = {case.name: case for case in all_cases()}


@contextlib.contextmanager
def quietly():
    """Near the edge of a domain f is evaluated outside of it, and NumPy says so: ignore that."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)
        yield


@functools.cache
def kill_matrix(made=staircase.kill_matrix):
    """Return the rows of the kill matrix, which are made once."""
    with quietly():
        return made()


def checked(case, vjp):
    """Check a vjp of a case as a user would."""
    inputs = case.inputs if len(case.inputs) > 1 else case.inputs[0]
    with quietly():
        return check_vjp(case.f, inputs, vjp)


@functools.cache
def reports(name):
    """Return {bug id: report}, with None for the right gradient, of a case that is built anew.

    Anew, for some bugs are about what was called before.
    """
    case = next(case for case in all_cases() if case.name == name)
    return {None: checked(case, case.vjp)} | {bug.id: checked(case, bug.vjp) for bug in case.bugs}


def report_on(name, bug_id=None):
    """Return the report on the right gradient of a case, or on a wrong one."""
    return reports(name)[bug_id]
