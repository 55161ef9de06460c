"""Frozen questions in other units: the same traps, other numbers, and answers that follow."""

import itertools
from random import Random

import pytest

from gradcheck_ref.oracle.generate.numbers import UndecidedError, with_all_digits
from gradcheck_ref.oracle.generate.units import frozen, in_other_units, with_every_trap
from gradcheck_ref.oracle.judge import judge
from gradcheck_ref.oracle.protocol import answer
from gradcheck_ref.oracle.vectors import load_vectors, vector_of

# How many are asked, of each kind: verdicts take long.
COUNTS = {"stencil": 40, "compare": 40, "escalate": 40, "verdict": 12, "whole": 12}


@with_all_digits
def moved(kind, count):
    """Put frozen questions of a kind in other units; some cannot be decided there."""
    counting = [vector for vector in frozen(kind) if vector["result"] != "acceptable"]
    for k, before in enumerate(Random(5).sample(counting, count)):
        try:
            fields = in_other_units(before, Random(k))
        except UndecidedError:
            continue
        if fields["result"] != "acceptable":
            yield vector_of(kind, before), vector_of(kind, {**fields, "id": f"{k}"})


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("kind", "count"), COUNTS.items())
def test_a_right_answer_is_right_in_other_units_too(kind, count):
    pairs = list(moved(kind, count))
    assert len(pairs) > 0.75 * count
    for _, vector in pairs:
        assert judge(vector, answer(vector.request)).status == "passed", vector


@pytest.mark.parametrize("kind", ["stencil", "escalate"])
def test_the_frozen_answer_is_wrong_in_other_units(kind):
    right = [
        judge(vector, answer(before.request)).status == "passed"
        for before, vector in moved(kind, 80)
        if before.expected.get("slope") != "0" and "times 1" not in vector.description
    ]
    assert len(right) > 30
    assert sum(right) < 0.4 * len(right)  # what is not finite or refused has the same answer


def test_every_flag_comes_before_one_comes_again():
    groups = {"compare/torch", "stencil/central"}
    asked = [v for v in load_vectors() if v.counts and v.group in groups]
    traps = {(v.group, flag) for v in asked for flag in v.flags}
    met = {
        (vector["group"], flag)
        for vector in itertools.islice(with_every_trap(groups, Random(1)), len(traps))
        for flag in vector["flags"]
    }
    assert met == traps


def test_a_group_that_is_not_asked_for_does_not_come():
    some = itertools.islice(with_every_trap({"whole/products"}, Random(1)), 50)
    assert {vector["group"] for vector in some} == {"whole/products"}
