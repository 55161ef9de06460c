"""What from_jax does of its own; what it has in common with from_torch: test_adapters_both.py."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from beside import assert_one_by_one

from gradcheck_ref import check_jvp, check_vjp
from gradcheck_ref.adapters import from_jax

jax = pytest.importorskip("jax", reason="JAX is not installed")

X = np.array([0.5, -1.25, 2.0])


def wave(x):
    return jax.numpy.sin(x)


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "pass"), (1.01, "fail")])
def test_worker_processes_are_not_forked_if_jax_is_loaded(factor, verdict):
    f, vjp = from_jax(wave), lambda upstream, x: factor * upstream * np.cos(x)
    alone, there = (check_vjp(f, X, vjp, workers=workers) for workers in (None, 2))
    assert there.verdict == verdict
    assert str(there) == str(alone)


def test_a_jax_function_may_return_a_number():
    f = from_jax(lambda x: (x, 2, 3.0))
    assert [output.tolist() for output in f(X)] == [X.tolist(), 2, 3.0]
    assert f.vjp((np.ones(3), None, None), X).tolist() == [1] * 3


def test_double_precision_is_used_for_any_setting_of_jax():
    outside = jax.config.jax_enable_x64
    f = from_jax(jax.jit(lambda x: jax.numpy.sin(x) / 3))
    x = np.array([0.1, 0.2])
    np.testing.assert_allclose(f(x), np.sin(x) / 3, rtol=1e-15)
    np.testing.assert_allclose(f.vjp(np.ones(2), x), np.cos(x) / 3, rtol=1e-15)
    assert jax.config.jax_enable_x64 == outside
    assert jax.numpy.asarray(x).dtype == (np.float64 if outside else np.float32)


def cube():
    """Write x**3 with a vjp of its own."""
    power = jax.custom_vjp(lambda x: x**3)
    power.defvjp(lambda x: (x**3, x), lambda x, upstream: (3 * upstream * x**2,))
    return power


def test_a_backward_of_many_outputs_may_store_its_upstreams():
    kept = []
    sine = jax.custom_vjp(jax.numpy.sin)
    sine.defvjp(
        lambda x: (jax.numpy.sin(x), x),
        lambda x, upstream: (kept.append(upstream), (upstream * jax.numpy.cos(x),))[1],
    )
    # In company it is traced, too.
    f = from_jax(lambda x: 2.0 * sine(x))
    assert check_vjp(f, np.linspace(0.3, 1.7, 12), company=False)
    assert {np.asarray(one).shape for one in kept} == {(12,)}


def by_callback(x):
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def cube_in_a_loop(x):
    return jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, x))[1]


@pytest.mark.parametrize(
    ("fn", "product"),
    [(cube(), "jvp"), (by_callback, "vjp"), (cube_in_a_loop, "vjp")],
    ids=["custom_vjp", "callback", "while_loop"],
)
def test_a_missing_rule_raises_the_same_type_in_jax_as_in_torch(fn, product):
    f = from_jax(fn)
    f(X)
    with pytest.raises(NotImplementedError, match=r"JVP|Reverse-mode|custom_vjp"):
        getattr(f, product)(np.ones(3), X)


@pytest.mark.parametrize("kind", [TypeError, ValueError])
def test_other_errors_of_jax_are_unchanged(kind):
    def fn(x):
        raise kind("this is something else")

    with pytest.raises(kind, match="something else") as caught:
        from_jax(fn).vjp(np.ones(3), X)
    assert caught.type is kind


def test_a_static_argument_of_a_jitted_function_is_a_constant():
    f = from_jax(jax.jit(lambda x, n: x**n, static_argnums=1))
    assert check_vjp(f, (X, 3))
    assert f.vjp(np.ones(3), X, 3)[1] is None


# --- many points, and many products, at once --------------------------------------------------

LONG = np.linspace(-1, 1.5, 40)


m = jax.numpy


# What does not go through vmap, and is found out: each is called for one point after the other.
def by_the_value(x):
    return m.sum(x**2) if x[0] < 0 else m.sum(x**3)


def through_numpy(x):
    return m.sum(x) + np.asarray(jax.lax.stop_gradient(x)).size


def printing(x):
    jax.debug.callback(lambda first: None, x[0])
    return m.sum(x * x)


def large_on_the_way(x):
    return m.sum(m.cos(m.zeros((2**18, 1)) + x[:2]))


@jax.custom_batching.custom_vmap
def wrong_in_a_batch(x):
    return m.sum(x**2)


@wrong_in_a_batch.def_vmap
def _(size, batched, x):
    return 2 * m.sum(x**2, axis=-1), True


ONE_BY_ONE = {
    "control flow on values": by_the_value,
    "numpy inside": through_numpy,
    "an effect": printing,
    "too large for it": large_on_the_way,
    "another value in a batch": wrong_in_a_batch,
    "jitted": jax.jit(lambda x: m.sum(x**3)),
}


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_a_function_that_vmap_refuses_is_called_one_by_one(name):
    checked = name not in ("too large for it", "another value in a batch")
    assert_one_by_one(lambda: from_jax(ONE_BY_ONE[name]), LONG, 20, checked)


@pytest.mark.parametrize("how", ["check", "fault", "vjp"])
def test_the_callers_own_32_bit_gradient_works_afterwards(how):
    weights = np.array([1.0, 2.0, 3.0])
    x = np.array([0.5, 1.0, 2.0])

    def fn(x):
        return m.sum(m.sin(x) * weights)

    f = from_jax(fn)
    if how == "vjp":
        f.vjp(1.0, x)
    elif how == "check":
        assert check_vjp(f, x).verdict == "pass"
        assert check_vjp(f, x, lambda upstream, x: 1.01 * f.vjp(upstream, x)).verdict == "fail"
    else:
        with pytest.raises(ZeroDivisionError):
            check_vjp(f, x, lambda upstream, x: f.vjp(upstream, x) / (1 // 0))
    gradient = jax.grad(fn)(m.asarray(x))
    assert gradient.dtype == np.float32
    assert np.allclose(gradient, np.cos(x) * weights, rtol=1e-5)


def test_the_jvp_of_a_custom_jvp_is_not_mistaken_for_an_adapted_one():
    @jax.custom_jvp
    def square(x):
        return x**2

    square.defjvp(lambda primals, tangents: (primals[0] ** 2, 2 * primals[0] * tangents[0]))
    with pytest.raises(TypeError, match=r"write check_jvp\(from_jax\(f\), inputs\)"):
        check_jvp(square, X)
    assert check_jvp(from_jax(square), X)


# --- pytrees ---------------------------------------------------------------------------------


@jax.tree_util.register_dataclass
@dataclass
class Dense:
    """A layer as JAX's users write one: numbers, and what is none."""

    w: Any
    b: Any
    squash: str = field(metadata={"static": True}, default="tanh")


@jax.tree_util.register_pytree_node_class
class Pair:
    """A container that does not name what it holds."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def tree_flatten(self):
        return (self.a, self.b), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


def parameters():
    rng = np.random.default_rng(1)
    dense = Dense(rng.normal(size=(3, 2)), np.array([0.1, -0.3]))
    return {"dense": dense, "more": [Pair(rng.normal(size=2), np.array(0.5))], "rate": None}


def network(params):
    dense, (pair,) = params["dense"], params["more"]
    hidden = getattr(jax.numpy, dense.squash)(X @ dense.w + dense.b)
    return {"hidden": hidden, "out": (hidden @ pair.a * pair.b,)}


NAMES = [
    "params['dense'].w",
    "params['dense'].b",
    "params['more'][0][0]",
    "params['more'][0][1]",
]


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["plain", "jitted"])
def test_pytrees_go_in_and_out(wrap):
    f = from_jax(wrap(network))
    point = parameters()
    output = f(point)
    assert type(output["hidden"]) is np.ndarray
    assert type(output["out"]) is tuple
    for check in (check_vjp, check_jvp):
        report = check(f, [point])
        assert (report.verdict, report.compared) == ("pass", 11 * 3)
        assert list(dict.fromkeys(pair.input.name for pair in report.pairs)) == NAMES
    gradient = f.vjp({"hidden": np.ones(2), "out": None}, point)
    assert type(gradient["dense"]) is Dense
    assert gradient["more"][0].a.tolist() == [0, 0]
    assert gradient["rate"] is None


def squared(factor):
    """Write the sum of squares of two leaves, with a vjp of its own and a factor in it."""

    @jax.custom_vjp
    def square(params):
        return params["a"] @ params["a"] + params["b"] @ params["b"]

    def backward(params, upstream):
        return ({"a": 2 * upstream * params["a"], "b": factor * upstream * params["b"]},)

    square.defvjp(lambda params: (square(params), params), backward)
    return square


def test_a_rule_of_a_tree_is_checked():
    point = {"a": np.linspace(0.5, 1.5, 40), "b": np.linspace(-1.0, 2.0, 40)}
    assert check_vjp(from_jax(squared(2.0)), [point]).verdict == "pass"
    report = check_vjp(from_jax(squared(2.02)), [point])
    assert report.verdict == "fail"
    assert report.worst.name.startswith("params['b'][")


@pytest.mark.parametrize(
    "aux", [None, {"norm": 1.0}, lambda x: x], ids=["none", "dict", "function"]
)
def test_the_auxiliary_output_is_left_out(aux):
    f = from_jax(lambda params: (jax.numpy.sum(params["w"] ** 3), aux), has_aux=True)
    report = check_vjp(f, [{"w": X}])
    assert report.verdict == "pass"
    assert [pair.output.name for pair in report.pairs] == ["output"]
    assert not check_vjp(f, [{"w": X}], lambda upstream, params: {"w": 3 * upstream * X})


def test_has_aux_needs_a_pair():
    with pytest.raises(TypeError, match=r"with has_aux, fn must return a pair, \(output, aux\)"):
        from_jax(lambda x: x, has_aux=True)(X)


def test_the_static_data_of_a_container_is_part_of_the_call():
    f = from_jax(lambda d: getattr(jax.numpy, d.squash)(d.w))
    one, other = Dense(X, None), Dense(X, None, "sin")
    assert f.vjp(np.ones(3), one).w.tolist() != f.vjp(np.ones(3), other).w.tolist()
    np.testing.assert_allclose(f.vjp(np.ones(3), other).w, np.cos(X), rtol=1e-13)


def test_an_upstream_or_a_tangent_must_be_the_same_tree():
    f = from_jax(lambda p: {"y": p["x"] ** 2})
    with pytest.raises(ValueError, match=r"upstream has an entry for output\['z'\]"):
        f.vjp({"z": X}, {"x": X})
    with pytest.raises(ValueError, match=r"upstream must have the form of the tree it is for"):
        f.vjp(X, {"x": X})
    with pytest.raises(ValueError, match=r"tangent has an entry for inputs\[0\]\['z'\]"):
        f.jvp({"z": X}, {"x": X})


def test_jax_arrays_in_a_tree_are_refused_with_the_conversion():
    with pytest.raises(TypeError, match=r"jax\.tree\.map\(np\.asarray, params\)"):
        check_vjp(from_jax(network), [jax.tree.map(jax.numpy.asarray, parameters())])
