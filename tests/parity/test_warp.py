"""Our `compat.warp` beside Warp itself: same verdicts, same table.

Both are asked about the same function and the same claim; ``in_warp.py`` writes it in Warp.
"""

import re
from collections import Counter

import numpy as np
import pytest
from in_warp import autograd, to_warp, warp, warps
from warp_functions import STEP, X, pair, pair_vjp, square, square_vjp

from gradcheck_ref.compat.warp import gradcheck
from gradcheck_ref.zoo import all_cases


def verdict(check, *arguments, **knobs):
    """Return the verdict, or the kind of exception."""
    try:
        return check(*arguments, raise_exception=False, show_summary=False, **knobs)
    except Exception as error:
        return type(error)


# --- the whole zoo ---------------------------------------------------------------------------

# Warp divides by the step wished for, and so refuses the right gradient of x at x = 1e10.
STEP_TAKEN = {"identity_far_out", "identity_far_out/nearly"}


def claims():
    """Build every right and every wrong vjp of the zoo anew, for some keep state."""
    for case in all_cases():
        for name, vjp in ((case.name, case.vjp), *((bug.id, bug.vjp) for bug in case.bugs)):
            yield name, case, vjp


def test_every_claim_of_the_zoo_gets_the_same_verdict():
    different, counts = {}, Counter()
    for (name, case, ours), (_, _, theirs) in zip(claims(), claims(), strict=True):
        one = verdict(gradcheck, case.f, case.inputs, vjp=ours)
        other = verdict(warps, autograd.gradcheck, case.f, theirs, case.inputs)
        counts[one] += 1
        if one != other:
            different[name] = (one, other)
    assert different == dict.fromkeys(STEP_TAKEN, (True, False))
    # Else the agreement would be worth little.
    assert min(counts[True], counts[False]) > 100
    assert counts[ValueError] > 10, "gradients of the wrong shape"
    assert set(counts) == {True, False, ValueError}


# --- the table -------------------------------------------------------------------------------


def pair_wrong(upstream, x, y):
    return 1.5 * upstream[0] * y + np.append(upstream[1], 0.0), upstream[0] * x


def nan_vjp(upstream, x):
    return 2 * x * upstream * [1, np.nan, 1]


def nan_square(x):
    return x * x * [1, np.nan, 1]


def puzzle(x):
    return np.array([2.235e-04, 0.0]) * x


def puzzle_vjp(upstream, x):
    return np.array([np.array([4.840e-05, 1.587e-05]) @ upstream])


def as_ours(text):
    """Return what Warp prints as we do: no colours, no last bar, a function and no kernel."""
    text = re.sub("\033\\[\\d+m", "", text).replace("check for kernel", "check for function")
    text = text[text.index("Input |") :]  # after what is said of compiling, the first time
    head, rule, *rows = (line.removesuffix(" | ") for line in text.splitlines())
    return "\n".join([head, rule[:-2], *rows]) + "\n"


TABLES = {
    "right": (pair, pair_vjp, (X, X + 1), {}),
    "wrong": (pair, pair_wrong, (X, X + 1), {}),
    "masked by name": (pair, pair_wrong, (X, X + 1), {
        "input_output_mask": [("y", "output_0"), ("x", "output_1")]}),
    "masked by position": (pair, pair_wrong, (X, X + 1), {
        "input_output_mask": [(1, 0), (0, 0), (0, 0)]}),
    "the first of each": (pair, pair_wrong, (X, X + 1), {
        "max_inputs_per_var": 1, "max_outputs_per_var": 2}),
    "no limit": (pair, pair_wrong, (X, X + 1), {
        "max_inputs_per_var": 0, "max_outputs_per_var": 99}),
    "tolerant": (pair, pair_wrong, (X, X + 1), {"atol": 0.25, "rtol": 0.5}),
    "NaN in AD": (square, nan_vjp, (X,), {}),
    "NaN in FD": (nan_square, square_vjp, (X,), {}),
    "NaN in both": (nan_square, nan_vjp, (X,), {}),
    "issue 508": (puzzle, puzzle_vjp, (np.zeros(1),), {}),
    "float32": (square, lambda u, x: 3 * x * u, (X.astype(np.float32),), {}),
    "complex": (lambda z: z * z, lambda u, z: 2 * np.conj(z) * u, (X + 1j,), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_the_same_table_is_printed(name, capsys):
    f, vjp, inputs, knobs = TABLES[name]
    knobs = {"eps": STEP, "raise_exception": False} | knobs
    theirs = warps(autograd.gradcheck, f, vjp, inputs, **knobs)
    expected = as_ours(capsys.readouterr().out)
    assert gradcheck(f, inputs, vjp=vjp, **knobs) == theirs
    assert capsys.readouterr().out == expected
    assert expected.count("\n") >= 4


@warp.kernel
def cube_kernel(x: warp.array(dtype=warp.float64), y: warp.array(dtype=warp.float64)):
    i = warp.tid()
    y[i] = x[i] * x[i] * x[i]


def test_a_kernel_of_warp_gets_the_table_that_its_formula_gets(capsys):
    def cube_kernel_in_numpy(x):
        return x * x * x

    knobs = {"eps": STEP, "atol": 0.0, "rtol": 0.0, "raise_exception": False}
    arrays = {"inputs": [to_warp(X)], "outputs": [to_warp(np.zeros(3))]}
    assert not autograd.gradcheck(cube_kernel, 3, **arrays, **knobs)
    expected = capsys.readouterr().out
    assert not gradcheck(cube_kernel_in_numpy, X, vjp=lambda u, x: 3 * x * x * u, **knobs)
    ours = capsys.readouterr().out
    # The names of output and function differ; the numbers are those of the table.
    assert [cell.strip() for cell in as_ours(expected).splitlines()[2].split("|")[2:]] == [
        cell.strip() for cell in ours.splitlines()[2].split("|")[2:]
    ]


# --- where we differ on purpose ----------------------------------------------------------------


def failure(check):
    with pytest.raises(ValueError, match="failed") as caught:
        check()
    return str(caught.value)


def test_warp_names_the_last_pair_and_we_the_one_that_fails():
    inputs, quiet = (X, X + 1), {"show_summary": False}
    theirs = failure(lambda: warps(autograd.gradcheck, pair, pair_wrong, inputs, **quiet))
    ours = failure(lambda: gradcheck(pair, inputs, vjp=pair_wrong, **quiet))
    assert "input 1, output 1" in theirs
    assert "output_0 (output 0) by x (input 0): AD and FD do not match" in ours
    assert ours.count("\n") == 1


def test_warp_never_says_nan_and_we_do():
    quiet = {"show_summary": False}
    theirs = failure(lambda: warps(autograd.gradcheck, square, nan_vjp, (X,), **quiet))
    assert "do not match" in theirs
    assert "contains NaN" in failure(lambda: gradcheck(square, X, vjp=nan_vjp, **quiet))


def test_warp_passes_where_nothing_needs_a_gradient_and_we_do_not():
    integers = np.array([1, 2, 3])
    f = {"x": lambda k: k * 1.5, "vjp": lambda u, k: None}
    array = warp.array(integers, dtype=warp.int64, device="cpu")
    assert autograd.gradcheck(lambda k: warp.array(f["x"](k.numpy())), inputs=[array])
    with pytest.raises(TypeError, match="nothing to differentiate"):
        gradcheck(f["x"], integers, vjp=f["vjp"])


# The function, its vjp, the input and more arguments; what we say, and what Warp says.
DIFFERENT = {
    "a mask that matches nothing": (
        square, nan_vjp, X, {"input_output_mask": [(7, 9)]}, ValueError, True,
    ),
    "infinity": (
        lambda x: np.where(x > 1, np.inf, 0.0), lambda u, x: np.inf * u, np.ones(1), {}, False,
        True,
    ),
    "a negative step": (square, square_vjp, X, {"eps": -1e-4}, ValueError, True),
    "no step": (square, square_vjp, X, {"eps": 0.0}, ValueError, False),
    "an infinite tolerance": (square, square_vjp, X, {"atol": np.inf}, ValueError, True),
    "a negative tolerance": (square, square_vjp, X, {"rtol": -1}, ValueError, False),
    "a step that vanishes": (square, square_vjp, np.array([1e20]), {}, ValueError, False),
    "a step that vanishes in float32": (
        square, square_vjp, np.array([3000.0], np.float32), {}, ValueError, False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENT)
def test_we_differ_on_purpose(name):
    f, vjp, x, knobs, ours, theirs = DIFFERENT[name]
    assert verdict(gradcheck, f, (x,), vjp=vjp, **knobs) == ours
    assert verdict(warps, autograd.gradcheck, f, vjp, (x,), **knobs) == theirs
