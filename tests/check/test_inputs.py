"""A number for every input, from what was measured anyway, and what it decides."""

import numpy as np
import pytest
from programs import checks
from rounded import to_bfloat16

from gradcheck_ref import check_gradient, check_vjp

RNG = np.random.default_rng(0)
SHAPES = {"a": (6, 4), "b": (4,), "c": (4, 5), "d": (5,), "e": (5, 3), "f": (3,)}
X = RNG.normal(size=(20, 6))


def net(scale=1):
    """Return a loss of three layers by name, its gradient and a point."""
    shapes = {name: tuple(scale * n for n in shape) for name, shape in SHAPES.items()}
    rng = np.random.default_rng(1)
    point = {name: rng.normal(size=shape) / shape[0] ** 0.5 for name, shape in shapes.items()}
    x = rng.normal(size=(20, 6 * scale))

    def loss(a, b, c, d, e, f):
        return np.mean((np.tanh(np.tanh(x @ a + b) @ c + d) @ e + f) ** 2)

    def gradient(a, b, c, d, e, f):
        p = np.tanh(x @ a + b)
        q = np.tanh(p @ c + d)
        out = q @ e + f
        g = 2 * out / out.size
        s = g @ e.T * (1 - q * q)
        t = s @ c.T * (1 - p * p)
        sums = {"b": t.sum(axis=0), "d": s.sum(axis=0), "f": g.sum(axis=0)}
        return {"a": x.T @ t, "c": p.T @ s, "e": q.T @ g} | sums

    return loss, gradient, point


def verdicts(report):
    return {one.name: one.verdict for one in report.inputs}


@pytest.mark.parametrize("scale", [1, 4])
def test_a_right_gradient_has_a_small_limit_for_every_input(scale):
    loss, gradient, point = net(scale)
    report = check_gradient(loss, point, gradient)
    assert report.verdict == "pass"
    assert [one.name for one in report.inputs] == [*SHAPES]
    for one in report.inputs:
        assert one.verdict == "pass"
        assert one.error <= one.limit < 1e-6
        assert one.hidden < 1
        assert one.entries == point[one.name].size


@pytest.mark.one_in(2)
@pytest.mark.parametrize("scale", [1, 4])
@pytest.mark.parametrize("wrong", [("a",), ("a", "b"), ("d",), ("a", "b", "c"), ("f",)])
def test_wrong_inputs_are_told_from_right_ones(wrong, scale):
    loss, gradient, point = net(scale)

    def claim(**values):
        right = gradient(**values)
        return {name: (1 + (name in wrong)) * g for name, g in right.items()}

    report = check_gradient(loss, point, claim)
    assert report.verdict == "fail"
    expected = {name: "fail" if name in wrong else "pass" for name in SHAPES}
    assert verdicts(report) == expected
    for one in report.inputs:
        if one.name in wrong:
            assert 0.1 < one.error < 1.5  # twice the gradient is off by half of itself, or all


def test_a_backward_that_goes_wrong_in_the_middle_says_where():
    loss, gradient, point = net(4)

    def claim(a, b, c, d, e, f):
        right = gradient(a, b, c, d, e, f)
        return right | {name: 0.7 * right[name] for name in "ab"}

    report = check_gradient(loss, point, claim)
    text = " ".join(str(report).split())
    assert "right from c on, and wrong from b on towards the input" in text


def test_a_wrong_entry_counts_for_its_input_alone():
    loss, gradient, point = net(4)
    grads = gradient(**point)
    grads["c"][3, 2] += np.abs(grads["c"]).mean()
    report = check_gradient(loss, point, grads)
    assert report.verdict == "fail"
    assert verdicts(report) == {name: "fail" if name == "c" else "pass" for name in SHAPES}
    units = np.maximum(np.abs(point["c"]), np.median(np.abs(point["c"])))
    error, right = units * (grads["c"] - gradient(**point)["c"]), units * gradient(**point)["c"]
    true = np.linalg.norm(error) / np.linalg.norm(right)
    assert report.inputs[2].error == pytest.approx(true, rel=0.5)  # units are powers of two


def test_the_numbers_survive_json():
    loss, gradient, point = net()
    data = check_gradient(loss, point, gradient).to_dict()["inputs"]
    assert [one["name"] for one in data] == [*SHAPES]
    assert {one["verdict"] for one in data} == {"pass"}
    assert all(0 <= one["error"] <= one["limit"] <= one["proved"] for one in data)
    assert all(one["hidden"] < 1 for one in data)


# --- what it decides --------------------------------------------------------------------------


def in_float32(x, w):
    return np.tanh(x @ w)


def backward(u, x, w):
    g = u * (1 - in_float32(x, w) ** 2)
    return g @ w.T, x.T @ g


@pytest.fixture
def arrays():
    rng = np.random.default_rng(2)
    return tuple(rng.normal(size=(32, 32)).astype(np.float32) / s for s in (1, 6))


def test_a_float32_layer_of_ordinary_size_passes_as_a_whole(arrays):
    report = check_vjp(in_float32, arrays, backward)
    assert report.verdict == "pass"
    assert report.by_whole
    assert report.compared == report.entries


@pytest.mark.parametrize("knob", [{"rtol": 1e-3}, {"atol": 1e-3}])
def test_whoever_gives_a_tolerance_gets_the_whole_in_a_line(arrays, knob):
    report = check_vjp(in_float32, arrays, backward, **knob)
    assert not report.by_whole
    if report.verdict == "unsure":
        assert "as a whole: unsure are x (within" in " ".join(str(report).split())


@pytest.mark.parametrize("most", [60, 150, 250])
def test_a_limit_of_evaluations_is_kept(arrays, most):
    right = check_vjp(in_float32, arrays, backward, max_evaluations=most)
    assert right.evaluations <= most
    assert right.verdict != "fail"
    doubled = lambda u, x, w: tuple(2 * g for g in backward(u, x, w))  # noqa: E731
    wrong = check_vjp(in_float32, arrays, doubled, max_evaluations=most)
    assert wrong.evaluations <= most
    assert wrong.verdict != "pass"


def test_in_float64_nothing_passes_as_a_whole_that_has_all_its_digits():
    x = RNG.normal(size=(40, 30))
    f = lambda x: np.sum(np.sin(x)) + 1e-4 * np.sin(1e9 * np.sum(x))  # noqa: E731
    assert not check_gradient(f, x, np.cos(x)).by_whole


@pytest.mark.parametrize("inside", ["float16", "bfloat16"])
@pytest.mark.parametrize("size", [80, 100])
def test_an_entry_alone_refuses_nobody_where_f_has_few_digits(size, inside):
    """Along an axis, only the penalty moves f: stairs hide the loss from short steps."""
    cast = {"float16": np.float16, "bfloat16": to_bfloat16}[inside]
    x, y = np.random.default_rng(0).normal(size=(2, size)).astype(np.float32)

    def f(x):
        return np.float32(cast(np.mean((np.tanh(x) - y) ** 2)) + np.float32(0.1) * np.mean(x * x))

    t = np.tanh(x)
    right = (2 * (t - y) * (1 - t * t) + 0.2 * x) / size
    assert check_gradient(f, x, right).verdict != "fail"
    assert check_gradient(f, x, 2 * right).verdict != "pass"


def test_combinations_of_outputs_hide_no_few_digits():
    """Each of 4096 outputs has eight bits, but a combination of them has many."""
    rng = np.random.default_rng(0)
    x, w, b = (rng.uniform(-1, 1, size=shape) for shape in ((64, 64), (64, 64), 64))

    def f(w, b):
        z = np.float64(to_bfloat16(np.float64(to_bfloat16(x @ w / 4)) + b))
        return np.float64(to_bfloat16(z / np.sqrt(1 + z * z)))

    def vjp(u, w, b):
        g = u / (1 + (x @ w / 4 + b) ** 2) ** 1.5
        return x.T @ g / 4, g.sum(axis=0)

    for seed in range(3, 5):
        assert check_vjp(f, (w, b), vjp, seed=seed).verdict == "pass"


@pytest.mark.parametrize("seed", [100, 5011])
def test_slopes_next_to_x_are_not_refused_from_afar(seed):
    """Programs whose slopes at long steps are others, and whose noise hides those at x."""
    name, run = next(checks("float32 scales", seed))
    assert (name, run().verdict) == ("right", "unsure")


@pytest.mark.parametrize(("seed", "wrong"), [(10, "no chain rule in fast sine"), (11, "doubled")])
def test_refused_entries_stay_refused_where_all_together_are_known_less_well(seed, wrong):
    """At the steps that lines need, these programs have another slope, and single axes do not."""
    runs = [run for name, run in checks("float32", seed) if name.startswith(wrong)]
    assert [run().verdict for run in runs] == ["fail"]


def test_an_input_at_a_kink_is_not_refused_as_a_whole():
    x = np.zeros(40, np.float32)
    f = lambda x: np.float32(np.sum(np.abs(x)))  # noqa: E731
    assert check_gradient(f, x, np.float32(0.5) + x).verdict == "unsure"


def test_a_mask_that_the_gradient_lacks_is_named_where_f_has_few_digits():
    rng = np.random.default_rng(0)
    x, w = (rng.normal(size=(12, 12)).astype(np.float32) * size for size in (1, np.float32(0.2)))
    seen = np.tri(12, dtype=bool)

    def f(x, w):
        return np.float32(np.where(seen, to_bfloat16(np.tanh(x @ w)), 0.0))

    def vjp(upstream, x, w, mask=seen):
        inner = upstream * mask / np.cosh(x @ w) ** 2
        return inner @ w.T, x.T @ inner

    point = {"x": x, "w": w}
    assert check_vjp(f, point, lambda upstream, x, w: vjp(upstream, x, w)).verdict == "pass"
    report = check_vjp(f, point, lambda upstream, x, w: vjp(upstream, x, w, True))
    assert report.verdict == "fail"
    assert {one.kind for one in report.diagnoses} == {"not-zero"}
    assert "is a mask or a condition of f missing" in report.diagnoses[0].advice


def test_kinks_of_some_outputs_do_not_hide_how_far_an_input_is_off():
    """No random line has a slope for each of 144 outputs, but each line has some."""
    rng = np.random.default_rng(0)
    x, w = (rng.normal(size=s).astype(np.float32) for s in ((12, 16), (16, 12)))
    w /= 4
    bend = lambda z: np.where(z > 0, z, np.float32(0.1) * z)  # noqa: E731

    def doubled(upstream, x, w):
        inner = 2 * upstream * np.where(x @ w > 0, np.float32(1), np.float32(0.1))
        return inner @ w.T, x.T @ inner

    report = check_vjp(lambda x, w: bend(x @ w), {"x": x, "w": w}, doubled)
    assert [one.verdict for one in report.inputs] == ["fail", "fail"]
    assert [one.error for one in report.inputs] == pytest.approx([0.5, 0.5], rel=0.2)
    assert {one.lines for one in report.inputs} == {7}  # they were measured anyway
    assert {one.kind for one in report.diagnoses} == {"factor"}
