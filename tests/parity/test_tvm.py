"""The same verdicts as the real TVM, over the whole zoo and at the edges.

The peer is ``tvm.testing.check_numerical_grads`` of apache-tvm, an extra (``peers``).
"""

import logging
import re
import warnings

import numpy as np
import pytest
from tvm_edges import EDGES, ROWS, X, square

from gradcheck_ref.compat import tvm
from gradcheck_ref.zoo import all_cases
from gradcheck_ref.zoo.problem import problems

ours = tvm.check_numerical_grads
theirs = pytest.importorskip(
    "tvm.testing", reason="the peer apache-tvm is not installed"
).check_numerical_grads

DELTA = 1e-3
CASES = {case.name: case for case in all_cases()}


class Outcome:
    """What a call came to: the kind of its exception or None, its text, and what it logged."""

    def __init__(self, check, *args, **kwargs):
        self.kind, self.text, self.log = None, "", []
        handler, root = logging.Handler(), logging.getLogger()
        handler.emit = lambda record: self.log.append((record.name, *record.args))
        level = root.level
        root.addHandler(handler)
        root.setLevel(logging.INFO)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                check(*args, **kwargs)
        except Exception as error:
            self.kind, self.text = type(error), str(error)
        finally:
            root.removeHandler(handler)
            root.setLevel(level)

    def numbers(self):
        """Return the numbers that decided, variable by variable, and the facts of a failure."""
        found = [number for _, _, _, *numbers in self.log for number in numbers]
        n = r"([\d.e+-]+)"
        rule = re.search(rf"{n} > {n} ?\* ?{n} \+ {n} ?\* ?{n}", self.text)
        return found + ([float(number) for number in rule.groups()] if rule else [])

    def facts(self):
        """Return what has to be the same to the letter: names, shapes, wrong places."""
        found = [(name, shape) for _, name, shape, *_ in self.log]
        name = re.search(r"to '(\w+)'|wrt '(\w+)'", self.text)
        places = re.search(r"(\d+)% of .*?(\(.*\)|\[[^(]*\])\]?\n", self.text)
        if places:
            text = re.sub(r"np\.int64\((\d+)\)", r"\1", places[2])
            found.append((int(places[1]), re.findall(r"\d+", text)))
        return [self.kind, name and (name[1] or name[2]), *found]


def assert_same(*args, rounding=1e-11, **kwargs):
    """Compare verdicts, facts and numbers; return the kind of exception."""
    peer, own = Outcome(theirs, *args, **kwargs), Outcome(ours, *args, **kwargs)
    assert own.facts() == peer.facts(), f"theirs: {peer.text}\nours: {own.text}"
    np.testing.assert_allclose(own.numbers(), peer.numbers(), rtol=1e-9, atol=rounding)
    return own.kind


def in_their_way(problem):
    """Return a problem as TVM can take it: without 0-d arrays and gradients in Fortran order."""
    x = np.atleast_1d(problem.x)
    claimed = np.atleast_1d(np.ascontiguousarray(problem.claimed))
    return lambda moved: problem.f(moved.reshape(problem.x.shape)), x, claimed


def rounding_of(x, claimed):
    """How far two estimates may be apart, of which one is divided by the step taken."""
    step = np.finfo(float).eps * np.max(np.abs(x), initial=0) / DELTA
    size = np.linalg.norm(claimed) + 1
    return size * (4 * step + 1e-11)


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_on_every_gradient_of_the_zoo_is_the_same(name):
    case = CASES[name]
    for vjp in [case.vjp, *(bug.vjp for bug in case.bugs)]:
        found = problems(case, vjp)
        for f, x, claimed in map(in_their_way, found):
            if x.dtype.kind != "c":
                assert_same(f, [x], [claimed], rounding=rounding_of(x, claimed))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if len(case.inputs) > 1])
@pytest.mark.parametrize("by_name", [False, True], ids=["in-order", "by-name"])
def test_the_verdict_on_several_inputs_at_once_is_the_same(name, by_name):
    case = CASES[name]
    for vjp in [case.vjp, *(bug.vjp for bug in case.bugs)]:
        fs, xs, claims = zip(*map(in_their_way, problems(case, vjp)), strict=True)
        if any(x.dtype.kind == "c" for x in xs):
            continue
        rounding = max(map(rounding_of, xs, claims))
        if by_name:
            # The gradients in another order than the inputs: theirs is the one that counts.
            inputs = {f"w{k}": x for k, x in enumerate(xs)}
            gradients = {f"w{k}": claim for k, claim in reversed(list(enumerate(claims)))}
            assert_same(together(fs), inputs, gradients, rounding=rounding)
        else:
            assert_same(together(fs), xs, claims, rounding=rounding)


def together(fs):
    """Return the sum of functions of one input each, as a function of all."""

    def total(*in_order, **by_name):
        inputs = in_order or [by_name[f"w{k}"] for k in range(len(fs))]
        return sum(f(x) for f, x in zip(fs, inputs, strict=True))

    return total


# --- the edges; what we say of them is in compat/test_tvm.py --------------------------------------


@pytest.mark.parametrize(("kind", "_", "args"), ROWS, ids=EDGES)
def test_tvm_agrees_with_the_table_of_edge_cases(kind, _, args):
    peer = Outcome(theirs, *args)
    assert peer.kind == kind, peer.text


def test_tvm_logs_to_the_root_and_its_function_reaches_the_callers_array():
    def greedy(x):
        value = square(x)
        x += 1
        return value

    x = X.copy()
    assert Outcome(theirs, square, [x], [2 * X]).log[0][0] == "root"
    Outcome(theirs, greedy, [x], [2 * X])
    assert not np.array_equal(x, X)
