"""Our `compat.warp` beside Warp itself: same verdicts, same Jacobians, same table.

Warp differentiates its own kernels, but a Python function of Warp arrays may put anything on the
tape: here a NumPy function, and the vjp that is claimed for it. So both are asked about the same
function and the same claim, and no kernel has to be compiled but one.
"""

import inspect
import re
import warnings
from collections import Counter

import numpy as np
import pytest

from gradcheck_ref.compat.warp import gradcheck, jacobian, jacobian_fd
from gradcheck_ref.zoo import all_cases

warp = pytest.importorskip("warp", reason="the peer warp-lang is not installed")
autograd = pytest.importorskip("warp.autograd", reason="this warp-lang has no warp.autograd")

X = np.array([1.0, 2.0, 3.0])
# Samples of polynomials at x +- this step are exact, so that tables can be compared to the letter.
STEP = 2.0**-13
DTYPES = {np.dtype(np.float32): warp.float32, np.dtype(np.float64): warp.float64}

# --- a NumPy function in Warp ------------------------------------------------------------------

recording = []  # the tape that Warp records on now, if it does


class Tape(warp.Tape):
    """A tape that can be found while it records."""

    def __enter__(self):
        recording.append(self)
        return super().__enter__()

    def __exit__(self, *error):
        recording.remove(self)
        return super().__exit__(*error)


@pytest.fixture(autouse=True)
def findable_tape(monkeypatch):
    monkeypatch.setattr(warp, "Tape", Tape)


def is_floating(value):
    return np.asarray(value).dtype.kind in "fc"


def to_warp(value):
    """Return a NumPy array as a flat array of Warp; a complex entry becomes two numbers."""
    flat = np.array(value, order="C").reshape(-1)
    flat = flat.view(flat.real.dtype)
    return warp.array(flat, dtype=DTYPES[flat.dtype], requires_grad=True, device="cpu")


def to_numpy(array, like):
    """Return a flat array of Warp with the shape and dtype of the one it came from."""
    like = np.asarray(like)
    return np.array(array.numpy()).view(like.dtype).reshape(like.shape)


def in_warp(f, vjp, inputs):
    """Return a function of Warp arrays that computes with ``f`` and pulls back with ``vjp``."""

    def function(*arrays):
        values = [
            to_numpy(array, value) if is_floating(value) else value
            for array, value in zip(arrays, inputs, strict=True)
        ]
        output = f(*map(np.copy, values))
        outputs = output if isinstance(output, tuple) else (output,)
        returned = [to_warp(one) if is_floating(one) else one for one in outputs]

        def pull_back():
            upstream = tuple(
                to_numpy(array.grad, one)[()] if is_floating(one) else np.zeros(np.shape(one))
                for array, one in zip(returned, outputs, strict=True)
            )
            upstream = upstream if isinstance(output, tuple) else upstream[0]
            add_gradients(arrays, values, vjp(upstream, *map(np.copy, values)))

        for tape in recording:
            on_it = [a for a in (*arrays, *returned) if isinstance(a, warp.array)]
            tape.record_func(pull_back, on_it)
        return returned

    names = [p.name for p in inspect.signature(f).parameters.values() if p.kind != p.VAR_POSITIONAL]
    names = names if len(names) == len(inputs) else [f"input_{k}" for k in range(len(inputs))]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    function.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])
    function.__name__ = f.__name__
    return function


def add_gradients(arrays, values, given):
    """Add to the gradients on the tape what a vjp gives."""
    given = given if isinstance(given, tuple) else (given,)
    for array, gradient, value in zip(arrays, given, values, strict=True):
        if gradient is not None and is_floating(value):
            if np.shape(gradient) != value.shape:
                raise ValueError(f"a gradient of shape {np.shape(gradient)}, not {value.shape}")
            gradient = to_warp(np.asarray(gradient, value.dtype)).numpy()
            array.grad.assign(array.grad.numpy() + gradient)


def warps(check, f, vjp, inputs, **knobs):
    """Call a function of ``warp.autograd`` for a NumPy function, without its warnings."""
    arrays = [to_warp(value) if is_floating(value) else value for value in inputs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return check(in_warp(f, vjp, inputs), inputs=arrays, **knobs)


def verdict(check, *arguments, **knobs):
    """Return the verdict, or the kind of exception."""
    try:
        return check(*arguments, raise_exception=False, show_summary=False, **knobs)
    except Exception as error:
        return type(error)


def verdicts(f, vjp, inputs, **knobs):
    """Return our verdict and Warp's."""
    return (
        verdict(gradcheck, f, inputs, vjp=vjp, **knobs),
        verdict(warps, autograd.gradcheck, f, vjp, inputs, **knobs),
    )


# --- the whole zoo ---------------------------------------------------------------------------

# Warp divides by the step wished for, and so refuses the right gradient of x at x = 1e10.
STEP_TAKEN = {"identity_far_out", "identity_far_out/nearly"}
CASES = [case.name for case in all_cases()]


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


@pytest.mark.parametrize("name", CASES)
def test_a_case_of_the_zoo_has_the_same_jacobians(name):
    (case,) = (case for case in all_cases() if case.name == name)
    ours = jacobian(case.f, case.inputs, vjp=case.vjp)
    theirs = warps(autograd.jacobian, case.f, case.vjp, case.inputs)
    assert list(ours) == list(theirs)
    for pair, matrix in ours.items():
        np.testing.assert_array_equal(matrix, theirs[pair].numpy())

    ours = jacobian_fd(case.f, case.inputs)
    theirs = warps(autograd.jacobian_fd, case.f, case.vjp, case.inputs)
    assert list(ours) == list(theirs)
    for pair, matrix in ours.items():
        x = np.abs(to_warp(case.inputs[pair[0]]).numpy())
        # The samples are the same; the divisors differ by up to the distance of two numbers.
        allowed = 4 * np.finfo(float).eps + np.spacing(x) / 1e-4
        expected = theirs[pair].numpy()
        expected = np.where(np.isfinite(expected), expected, np.nan)
        assert np.array_equal(np.isnan(matrix), np.isnan(expected))
        assert np.all((np.abs(matrix - expected) <= allowed * np.abs(expected)) | np.isnan(matrix))


# --- the table -------------------------------------------------------------------------------


def product(x, y):
    return x * y, x[:2]


def product_vjp(upstream, x, y):
    return upstream[0] * y + np.append(upstream[1], 0.0), upstream[0] * x


def product_wrong(upstream, x, y):
    return 1.5 * upstream[0] * y + np.append(upstream[1], 0.0), upstream[0] * x


def square(x):
    return x * x


def square_vjp(upstream, x):
    return 2 * x * upstream


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
    "right": (product, product_vjp, (X, X + 1), {}),
    "wrong": (product, product_wrong, (X, X + 1), {}),
    "masked by name": (product, product_wrong, (X, X + 1), {
        "input_output_mask": [("y", "output_0"), ("x", "output_1")]}),
    "masked by position": (product, product_wrong, (X, X + 1), {
        "input_output_mask": [(1, 0), (0, 0), (0, 0)]}),
    "the first of each": (product, product_wrong, (X, X + 1), {
        "max_inputs_per_var": 1, "max_outputs_per_var": 2}),
    "no limit": (product, product_wrong, (X, X + 1), {
        "max_inputs_per_var": 0, "max_outputs_per_var": 99}),
    "tolerant": (product, product_wrong, (X, X + 1), {"atol": 0.25, "rtol": 0.5}),
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


@pytest.mark.parametrize("name", TABLES)
def test_a_wrong_gradient_raises_the_same_kind_of_exception(name):
    f, vjp, inputs, knobs = TABLES[name]
    knobs = {"eps": STEP, "show_summary": False} | knobs
    ours, theirs = verdicts(
        f, vjp, inputs, **{k: v for k, v in knobs.items() if k != "show_summary"}
    )
    assert ours == theirs
    for check in (
        lambda: gradcheck(f, inputs, vjp=vjp, **knobs),
        lambda: warps(autograd.gradcheck, f, vjp, inputs, **knobs),
    ):
        if ours:
            assert check() is True
        else:
            with pytest.raises(ValueError, match="failed"):
                check()


def test_the_same_entries_are_left_nan():
    inputs, most = (X, X + 1), {"max_outputs_per_var": 1}
    ours = jacobian(product, inputs, vjp=product_vjp, **most)
    theirs = warps(autograd.jacobian, product, product_vjp, inputs, **most)
    for pair in ours:
        np.testing.assert_array_equal(ours[pair], theirs[pair].numpy())
    most = {"max_inputs_per_var": 2, "eps": STEP}
    ours = jacobian_fd(product, inputs, **most)
    theirs = warps(autograd.jacobian_fd, product, product_vjp, inputs, **most)
    for pair in ours:
        np.testing.assert_array_equal(ours[pair], theirs[pair].numpy())


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
    theirs = failure(lambda: warps(autograd.gradcheck, product, product_wrong, inputs, **quiet))
    ours = failure(lambda: gradcheck(product, inputs, vjp=product_wrong, **quiet))
    assert "input 1, output 1" in theirs
    assert "output_0 (output 0) by x (input 0): AD and FD do not match" in ours
    assert ours.count("\n") == 1


def test_warp_never_says_nan_and_we_do():
    quiet = {"show_summary": False}
    theirs = failure(lambda: warps(autograd.gradcheck, square, nan_vjp, (X,), **quiet))
    assert "do not match" in theirs
    assert "contains NaN" in failure(lambda: gradcheck(square, X, vjp=nan_vjp, **quiet))


def test_warp_passes_a_mask_that_matches_nothing_and_we_do_not():
    assert verdicts(square, nan_vjp, (X,), input_output_mask=[(7, 9)]) == (ValueError, True)


def test_warp_passes_where_nothing_needs_a_gradient_and_we_do_not():
    integers = np.array([1, 2, 3])
    f = {"x": lambda k: k * 1.5, "vjp": lambda u, k: None}
    array = warp.array(integers, dtype=warp.int64, device="cpu")
    assert autograd.gradcheck(lambda k: warp.array(f["x"](k.numpy())), inputs=[array])
    with pytest.raises(TypeError, match="nothing to differentiate"):
        gradcheck(f["x"], integers, vjp=f["vjp"])


def test_warp_takes_one_infinity_for_another_and_we_do_not():
    def jump(x):
        return np.where(x > 1, np.inf, 0.0)

    assert verdicts(jump, lambda u, x: np.inf * u, (np.ones(1),)) == (False, True)


@pytest.mark.parametrize(
    ("knobs", "theirs"),
    [
        ({"eps": -1e-4}, True),
        ({"eps": 0.0}, False),
        ({"atol": np.inf}, True),
        ({"rtol": -1}, False),
    ],
    ids=str,
)
def test_warp_takes_any_number_for_a_step_or_tolerance_and_we_do_not(knobs, theirs):
    assert verdicts(square, square_vjp, (X,), **knobs) == (ValueError, theirs)


@pytest.mark.parametrize("x", [np.array([1e20]), np.array([3000.0], np.float32)], ids=str)
def test_warp_blames_the_gradient_for_a_step_that_vanishes_and_we_the_step(x):
    assert verdicts(square, square_vjp, (x,)) == (ValueError, False)


def test_warp_evaluates_again_for_each_output_and_we_do_not():
    calls = Counter()

    def counted(x):
        calls["f"] += 1
        return x, x, x

    def vjp(upstream, x):
        return sum(upstream)

    jacobian_fd(counted, X)
    assert calls.pop("f") == 1 + 2 * 3
    warps(autograd.jacobian_fd, counted, vjp, (X,))
    assert calls.pop("f") == 1 + 2 * 3 * 3
