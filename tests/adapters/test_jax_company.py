"""A rule of JAX that is right alone, and wrong in one circumstance; beside each, a right one."""

import numpy as np
import pytest

from gradcheck_ref import check_vjp
from gradcheck_ref.adapters import from_jax

jax = pytest.importorskip("jax")
jnp = jax.numpy
Zero = jax.custom_derivatives.SymbolicZero

A, B = np.random.default_rng(0).normal(size=(2, 3, 4))


def rule(f, fwd, bwd):
    made = jax.custom_vjp(f)
    made.defvjp(fwd, bwd)
    return made


def square(fwd, bwd):
    return rule(lambda x: x**2, fwd, bwd)


def keeping(residual):
    kept = []

    def fwd(x):
        kept.append(x)
        return x**2, x

    return square(fwd, lambda x, g: (2 * (x if residual else kept[-1]) * g,))


def absolute(residual):
    kept = []

    def fwd(x):
        kept.append(jnp.sign(x))
        return jnp.abs(x), jnp.sign(x)

    return rule(jnp.abs, fwd, lambda sign, g: ((sign if residual else kept[-1]) * g,))


def product_of_three(same):
    def f(x, y, z):
        last = 0.0 if same(y, z) else 1.0

        def bwd(kept, g):
            x, y, z = kept
            return g * y * z, g * x * z, last * g * x * y

        product = rule(lambda x, y, z: x * y * z, lambda *a: (a[0] * a[1] * a[2], a), bwd)
        return product(x, y, z)

    return f


def symbolic(k):
    """Return x * y; the rule looks whether input k is perturbed."""

    def fwd(x, y):
        return x.value * y.value, (x.value, y.value, (x.perturbed, y.perturbed))

    def bwd(kept, g):
        x, y, perturbed = kept
        return (g * y, g * x if perturbed[k] else jnp.zeros_like(y))

    made = jax.custom_vjp(lambda x, y: x * y)
    made.defvjp(fwd, bwd, symbolic_zeros=True)
    return made


def two_outputs(right):
    def bwd(x, g):
        one, two = (jnp.zeros_like(x) if isinstance(ct, Zero) else ct for ct in g)
        if isinstance(g[1], Zero) and not right:
            return (jnp.zeros_like(x),)
        return (one + 2 * x * two,)

    made = jax.custom_vjp(lambda x: (x * 1, x**2))
    made.defvjp(lambda x: ((x.value * 1, x.value**2), x.value), bwd, symbolic_zeros=True)
    return made


def looks(at_numbers):
    def bwd(x, g):
        if at_numbers and float(jnp.max(g)) > 1e6:
            return (g,)
        return (2 * x * g,)

    return square(lambda x: (x**2, x), bwd)


def on_the_host(method):
    """Return the sum of x**2, with a gradient that NumPy computes."""

    def host(x):
        return np.asarray(2 * x) if x.ndim == 1 else np.asarray(2 * x[:1] + 0 * x)

    def bwd(x, g):
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return (g * jax.pure_callback(host, shape, x, vmap_method=method),)

    return rule(lambda x: jnp.sum(x**2), lambda x: (jnp.sum(x**2), x), bwd)


# circumstance: (wrong, right, inputs, verdict, everything).
ROWS = {
    "they change if the function is called again": (
        keeping(False), keeping(True), [A], "fail", True),
    "they change if the function is called again | the same signs nearby": (
        absolute(False), absolute(True), [A], "fail", True),
    "they change if f(x, x) gets one array": (
        product_of_three(lambda y, z: y is z), product_of_three(lambda y, z: False),
        [A, B, A + B], "fail", True),
    "they change if the other inputs are constants": (
        symbolic(0), symbolic(1), [A, B], "fail", True),
    "they change if the loss uses one output only": (
        two_outputs(False), two_outputs(True), [A], "fail", True),
    "vjp raises if it runs under jax.jit": (looks(True), looks(False), [A], "pass", True),
    "they change if it runs under jax.vmap": (
        on_the_host("expand_dims"), on_the_host("sequential"), [A[0]], "fail", "all"),
    "vjp raises if it runs under jax.vmap": (
        on_the_host(None), on_the_host("sequential"), [A[0]], "pass", True),
}  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize("circumstance", ROWS)
def test_a_rule_that_is_right_alone_is_found_in_one_circumstance(circumstance):
    wrong, right, inputs, verdict, company = ROWS[circumstance]
    report = check_vjp(from_jax(wrong), inputs, jvp=False, company=company)
    assert report.verdict == verdict
    said = [fault.sentence for fault in report.faults] or report.notes
    assert said[0].startswith(circumstance.partition(" | ")[0])
    assert check_vjp(from_jax(wrong), inputs, jvp=False, company=False)
    report = check_vjp(from_jax(right), inputs, jvp=False, company=company)
    assert (report.verdict, report.notes) == ("pass", ())
    assert len(report.company) == (12 if company == "all" else 8)


def test_functions_without_rules_of_their_own_are_not_asked_again():
    assert check_vjp(from_jax(jnp.sin), A, jvp=False).company == ()
    assert len(check_vjp(from_jax(jnp.sin), A, jvp=False, company="all").company) == 12


def test_a_function_that_cannot_be_traced_is_not_transformed():
    def branching(rule):
        return lambda x: rule(x) if x.sum() > -1e3 else x

    assert len(check_vjp(from_jax(branching(keeping(True))), A, jvp=False).company) == 4
    report = check_vjp(from_jax(branching(keeping(False))), A, jvp=False)
    assert report.faults[0].sentence.startswith("they change if the function is called again")
