"""What from_jax does of its own; what it has in common with from_torch: test_adapters_both.py."""

import numpy as np
import pytest

from gradcheck_ref import check_vjp
from gradcheck_ref.adapters import from_jax

jax = pytest.importorskip("jax", reason="JAX is not installed")

X = np.array([0.5, -1.25, 2.0])


def test_a_jax_function_may_return_a_number():
    f = from_jax(lambda x: (x, 2, 3.0))
    assert [output.tolist() for output in f(X)] == [X.tolist(), 2, 3.0]
    assert f.vjp((np.ones(3), None, None), X).tolist() == [1] * 3


def test_double_stays_double_whatever_is_set_outside():
    outside = jax.config.jax_enable_x64
    f = from_jax(jax.jit(lambda x: jax.numpy.sin(x) / 3))
    x = np.array([0.1, 0.2])
    np.testing.assert_allclose(f(x), np.sin(x) / 3, rtol=1e-15)
    np.testing.assert_allclose(f.vjp(np.ones(2), x), np.cos(x) / 3, rtol=1e-15)
    assert jax.config.jax_enable_x64 == outside
    assert jax.numpy.asarray(x).dtype == (np.float64 if outside else np.float32)


def cube(factor=3.0):
    """Write x**3 with a vjp of its own, with a factor in it."""

    @jax.custom_vjp
    def power(x):
        return x**3

    power.defvjp(lambda x: (x**3, x), lambda x, upstream: (factor * upstream * x**2,))
    return power


@pytest.mark.parametrize(("factor", "verdict"), [(3.0, "pass"), (6.0, "fail")])
def test_a_custom_vjp_is_checked(factor, verdict):
    assert check_vjp(from_jax(cube(factor)), X).verdict == verdict


def by_callback(x):
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def cube_in_a_loop(x):
    return jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, x))[1]


@pytest.mark.parametrize(
    ("fn", "product"),
    [(cube(), "jvp"), (by_callback, "vjp"), (cube_in_a_loop, "vjp")],
    ids=["custom_vjp", "callback", "while_loop"],
)
def test_a_missing_rule_of_jax_has_the_type_that_it_has_in_torch(fn, product):
    f = from_jax(fn)
    f(X)
    with pytest.raises(NotImplementedError, match=r"JVP|Reverse-mode|custom_vjp"):
        getattr(f, product)(np.ones(3), X)


@pytest.mark.parametrize("kind", [TypeError, ValueError])
def test_other_errors_stay_what_they_are_in_jax(kind):
    def fn(x):
        raise kind("this is something else")

    with pytest.raises(kind, match="something else") as caught:
        from_jax(fn).vjp(np.ones(3), X)
    assert caught.type is kind


def test_a_function_of_a_dict_is_checked_by_the_names_in_it():
    def loss(params):
        return jax.numpy.sum(jax.numpy.tanh(params["w"] @ X + params["b"]))

    report = check_vjp(
        from_jax(lambda **params: loss(params)), {"w": np.eye(2, 3), "b": np.array([0.5, 0.25])}
    )
    assert report
    assert {pair.input.name for pair in report.pairs} == {"w", "b"}


def test_a_static_argument_of_a_jitted_function_is_a_constant():
    f = from_jax(jax.jit(lambda x, n: x**n, static_argnums=1))
    assert check_vjp(f, (X, 3))
    assert f.vjp(np.ones(3), X, 3)[1] is None
