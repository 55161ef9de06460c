"""What the check says of the gradients of the zoo, right and wrong.

Several test files ask, and to check them all takes seconds: each is checked once. `conftest.py`
gives the tests that ask to one worker.
"""

import functools
import warnings

from gradcheck_ref.check import check_vjp
from gradcheck_ref.zoo import all_cases

CASES = {case.name: case for case in all_cases()}
BUGS = {bug.id: (case.name, bug) for case in CASES.values() for bug in case.bugs}


def checked(case, vjp):
    """Check a vjp of a case as a user would."""
    inputs = case.inputs if len(case.inputs) > 1 else case.inputs[0]
    with warnings.catch_warnings():
        # Near the edge of a domain f is evaluated outside of it, and NumPy says so.
        warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)
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


def reports_on_bugs():
    """Return (bug, report) for all bugs of the zoo."""
    return [(bug, report_on(name, bug.id)) for name, bug in BUGS.values()]
