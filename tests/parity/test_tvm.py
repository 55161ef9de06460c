"""The same verdicts as the real TVM, over the whole zoo and at the edges.

The peer is ``tvm.testing.check_numerical_grads`` of apache-tvm, an extra (``peers``).
"""

import logging
import re
import warnings

import numpy as np
import pytest

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


# --- the edges ---------------------------------------------------------------------------------

X = np.array([[0.5, 1.0, 1.5], [2.0, 2.5, 3.0]])
ONE = np.ones(1)
WAVES = np.linspace(1, 2, 41)


def square(x):
    return np.sum(x * x)


def product(a, b):
    return np.sum(a * b)


def frozen(array):
    array.flags.writeable = False
    return array


def doubled_first(x):
    return 2 * x * np.where(np.arange(x.size) == 0, 2, 1)


SAME = {
    "the right gradient": (None, square, [X], [2 * X]),
    "a wrong one": (AssertionError, square, [X], [3 * X]),
    "minus the right one": (AssertionError, square, [X], [-2 * X]),
    "two entries wrong": (AssertionError, square, [X], [2 * X + 5 * (X > 2)]),
    "names": (None, product, {"a": X, "b": X[::-1]}, {"b": X, "a": X[::-1]}),
    "names, one wrong": (AssertionError, product, {"a": X, "b": X}, {"a": X, "b": -X}),
    "a subset of the names": (None, product, {"a": X, "b": X}, {"b": X}),
    "a shorter list": (None, product, [X, X], [X]),
    "a longer list": (KeyError, square, [X], [2 * X, X]),
    "an unknown name": (KeyError, square, {"x": X}, {"y": X}),
    "tuples": (None, square, (X,), (2 * X,)),
    "rows of an array as inputs": (None, product, X, X[::-1]),
    "integers as a constant": (None, product, [X, np.arange(3)], [0 * X + np.arange(3)]),
    "shape (3,) for (2, 3)": (AssertionError, square, [X], [2 * X[0]]),
    "shape (2, 3, 1)": (AssertionError, square, [X], [2 * X[..., None]]),
    "NaN is claimed": (ValueError, square, [X], [np.nan * X]),
    "infinity is claimed": (ValueError, square, [X], [np.inf * X]),
    "f is NaN": (ValueError, lambda x: np.nan, [X], [X]),
    "f is infinite at x": (ValueError, lambda x: np.log(abs(x[0])), [0 * ONE], [0 * ONE]),
    "f is infinite ahead": (ValueError, lambda x: 1 / (x[0] - 1e-3), [0 * ONE], [0 * ONE]),
    "f ends within the step": (ValueError, lambda x: np.log(x[0]), [1e-7 * ONE], [1e7 * ONE]),
    "the value is NaN": (ValueError, square, [X], [2 * X], np.nan),
    "the value is given": (None, square, [X], [2 * X], square(X)),
    "a wrong value": (None, square, [X], [2 * X], 100.0),
    "a wrong value that helps": (None, np.sum, [ONE], [2 * ONE], 1 - 1e-3),
    "kink, the mean is claimed": (None, lambda x: abs(x[0]), [0 * ONE], [0 * ONE]),
    "kink, the slope ahead": (None, lambda x: abs(x[0]), [0 * ONE], [ONE]),
    "kink, the slope behind": (AssertionError, lambda x: abs(x[0]), [0 * ONE], [-ONE]),
    "a doubled entry of 40": (AssertionError, square, [WAVES[:40]], [doubled_first(WAVES[:40])]),
    "a doubled entry of 41": (None, square, [WAVES], [doubled_first(WAVES)]),
    "9 % too much": (None, square, [X], [1.09 * 2 * X]),
    "below atol": (None, lambda x: 1e-3 * square(x), [X], [0 * X]),
    "f looks elsewhere": (AssertionError, lambda x: square(X), [X], [2 * X]),
    "f raises": (ZeroDivisionError, lambda x: 1 // 0, [X], [X]),
    "f returns (1,)": (ValueError, lambda x: x[:1], [ONE], [ONE]),
    "f returns a vector": (ValueError, lambda x: x, [X[0]], [X[0]]),
    "f returns None": (TypeError, lambda x: None, [X], [X]),
    "negative strides": (None, square, [X[::-1, ::-1]], [2 * X[::-1, ::-1]]),
    "x in Fortran order": (None, square, [np.asfortranarray(X)], [2 * X]),
    "x is read-only": (None, square, [frozen(X.copy())], [2 * X]),
    "x is broadcast": (None, square, [np.broadcast_to(X[0], (2, 3))], [2 * X[[0, 0]]]),
    "x is big-endian": (None, square, [X.astype(">f8")], [2 * X]),
    "x is longdouble": (None, square, [X.astype(np.longdouble)], [2 * X]),
    "the sum loses the step in float32": (
        AssertionError,
        lambda x: np.sum(x * x),
        [np.arange(1, 100, dtype=np.float32)],
        [2 * np.arange(1.0, 100.0)],
    ),
    "other knobs": (None, square, [X], [2 * X + 0.4], None, 0.01, 0.3, 0.1),
    "other knobs, wrong": (AssertionError, square, [X], [2 * X + 0.4], None, 0.01, 0.03, 0.01),
    "zero tolerance": (AssertionError, square, [X], [2.0001 * X], None, 0.01, 0, 0),
    "a step of zero": (ValueError, square, [X], [2 * X], None, 0),
}


@pytest.mark.parametrize(("kind", "args"), [(k, a) for k, *a in SAME.values()], ids=SAME)
def test_at_this_edge_the_outcome_is_the_same(kind, args):
    peer, own = Outcome(theirs, *args), Outcome(ours, *args)
    assert (peer.kind, own.kind) == (kind, kind), f"theirs: {peer.text}\nours: {own.text}"


# --- differs on purpose --------------------------------------------------------------------------

Z = np.array([1.0 + 2.0j, -0.5j])


def modulus(z):
    return np.sum(np.abs(z) ** 2)


# What TVM does, what is done here, and the call.
DIFFERENT = {
    "0-d": (TypeError, None, square, [np.array(3.0)], [np.array(6.0)]),
    "0-d, wrong": (TypeError, AssertionError, square, [np.array(3.0)], [np.array(9.0)]),
    "a number": (AttributeError, None, square, [3.0], [6.0]),
    "a number, wrong": (AttributeError, AssertionError, square, [3.0], [9.0]),
    "empty": (ValueError, None, lambda a, b: square(b), [X[:0], X], [X[:0], 2 * X]),
    "nothing to compare": (None, ValueError, square, [X], []),
    "Fortran order": (AssertionError, None, square, [X], [np.asfortranarray(2 * X)]),
    "integers, wrong": (None, TypeError, square, [np.arange(3)], [np.zeros(3, int)]),
    "integer gradient": (
        AssertionError, None, lambda x: 1.6 * np.sum(x), [ONE], [np.array([2])], 1.6, 1e-3, 0.5, 0,
    ),
    "the step is rounded": (
        AssertionError,
        None,
        lambda x: float(x.sum(dtype=float)),
        [np.full(2, 3000.0, np.float32)],
        [np.ones(2)],
        *(None, 1e-3, 0, 0.01),
    ),
    "the step vanishes": (AssertionError, ValueError, np.sum, [1e20 * ONE], [ONE]),
    "half precision": (AssertionError, ValueError, np.sum, [np.full(1, 5, np.float16)], [ONE]),
    "a negative step": (None, ValueError, square, [X], [2 * X], None, -1e-3),
    "a tolerance of NaN": (None, ValueError, square, [X], [9 * X], None, 1e-3, np.nan),
    "an infinite tolerance": (None, ValueError, square, [X], [9 * X], None, 1e-3, np.inf),
    "a negative tolerance": (AssertionError, ValueError, square, [X], [2 * X], None, 1e-3, -1),
    "x is infinite": (None, ValueError, lambda x: np.sum(1 / x), [np.inf * ONE], [0 * ONE]),
    "complex, conjugate": (None, AssertionError, modulus, [Z], [2 * Z.conj()]),
    "complex, off by 100j": (None, AssertionError, modulus, [Z], [2 * Z + 100j]),
    "complex for real": (None, AssertionError, square, [X], [2 * X + 100j]),
    "beyond 1e154": (ValueError, None, lambda x: 1e200 * np.sum(x), [ONE], [1e200 * ONE]),
    "a list with a dict": (AttributeError, TypeError, square, [X], {"x": 2 * X}),
    "a dict with a list": (AttributeError, TypeError, square, {"x": X}, [2 * X]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("peer_kind", "own_kind", "args"), [(p, o, a) for p, o, *a in DIFFERENT.values()], ids=DIFFERENT
)
def test_at_this_edge_the_outcome_differs_on_purpose(peer_kind, own_kind, args):
    peer, own = Outcome(theirs, *args), Outcome(ours, *args)
    assert (peer.kind, own.kind) == (peer_kind, own_kind), f"theirs: {peer.text}\nours: {own.text}"


@pytest.mark.parametrize(("check", "kept"), [(theirs, False), (ours, True)], ids=["tvm", "ours"])
def test_a_function_that_writes_to_its_argument_reaches_only_tvm_s_caller(check, kept):
    def greedy(x):
        value = square(x)
        x += 1
        return value

    x = X.copy()
    Outcome(check, greedy, [x], [2 * X])
    assert np.array_equal(x, X) == kept


def test_the_record_comes_from_another_logger():
    (peer,), (own,) = (Outcome(check, square, [X], [2 * X]).log for check in (theirs, ours))
    assert (peer[0], own[0]) == ("root", "gradcheck_ref.compat.tvm")


COMPLEX = [name for name, case in CASES.items() if "complex" in case.tags]


@pytest.mark.parametrize("name", COMPLEX)
def test_every_right_gradient_of_complex_inputs_passes_here(name):
    for problem in problems(CASES[name], CASES[name].vjp):
        assert Outcome(ours, problem.f, [problem.x], [problem.claimed]).kind is None
