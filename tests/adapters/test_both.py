"""What from_torch and from_jax both do, tested on what is installed: `m` is torch or jax.numpy."""

import pickle
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from beside import OneByOne, call, shifted
from edge_cases import LAYOUTS, Counted
from zoo_slopes import as_tuple

from gradcheck_ref import check_jvp, check_vjp
from gradcheck_ref.adapters import from_jax, from_torch
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.outputs import Outputs
from gradcheck_ref.structure.trees import leaves_of

ADAPTERS = {"torch": (from_torch, "torch"), "jax": (from_jax, "jax.numpy")}
INSTALLED = [name for name in ADAPTERS if find_spec(name)]
if not INSTALLED:
    pytest.skip("neither torch nor JAX is installed", allow_module_level=True)

X = np.array([0.5, -1.25, 2.0])
Z = np.array([1.0 + 2.0j, 0.5 - 0.25j, -1.5j])
A = 2.0 - 3.0j


@pytest.fixture(params=INSTALLED)
def framework(request):
    adapter, module = ADAPTERS[request.param]
    return SimpleNamespace(adapt=adapter, m=import_module(module), name=request.param)


def in_a_module(x):
    return x * x


def test_an_adapted_function_can_be_sent_to_another_process(framework):
    f = pickle.loads(pickle.dumps(framework.adapt(in_a_module)))
    assert f.vjp(np.ones(3), X).tolist() == (2 * X).tolist()
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(framework.adapt(lambda x: x * x))


# --- right derivatives, of every kind of argument --------------------------------------------

# The function of a framework, and the inputs.
FUNCTIONS = {
    "one array": (lambda m: m.sin, X),
    "a matrix": (lambda m: lambda x: x @ x, np.arange(4.0).reshape(2, 2)),
    "0-d": (lambda m: lambda x: x**3, np.array(1.5)),
    "a number": (lambda m: lambda x: x**3, 1.5),
    "a complex number": (lambda m: lambda z: z * z, 1.5 + 1j),
    "holomorphic": (lambda m: lambda z: m.exp(A * z), Z),
    "not holomorphic": (lambda m: lambda z: z * m.conj(z) + 2 * m.conj(z), Z),
    "complex to real": (lambda m: lambda z: m.real(z) * m.imag(z) ** 2, Z),
    "real to complex": (lambda m: lambda x: m.exp(1j * x), X),
    "several inputs": (lambda m: lambda a, b: a * m.sin(b), (X, X[::-1])),
    "real and complex inputs": (lambda m: lambda a, b: a * m.sin(b), (X, Z)),
    "an unused input": (lambda m: lambda a, b: m.sin(a), (X, X)),
    "several outputs": (lambda m: lambda a, b: (a * b, m.sum(a), m.cos(b)), (X, X)),
    "a list of outputs": (lambda m: lambda a: [a * a, m.sin(a)], X),
    "a tuple of one output": (lambda m: lambda a: (a * a,), X),
    "an integer output": (lambda m: lambda a: (m.argmax(a), a * a), X),
    "an integer input": (lambda m: lambda a, k: a[k] ** 2, (X, np.array([0, 0, 2]))),
    "a boolean input": (lambda m: lambda k, a: m.where(k, a, a**2), (X > 0, X)),
    "other constants": (lambda m: lambda a, n, how: a**n if how == "up" else a, (X, 2, "up")),
    "numbers of NumPy": (
        lambda m: lambda a, n, up: a**n if type(n) is int and type(up) is bool else None,
        (X, np.int64(2), np.bool(True)),
    ),
    "inputs by name": (lambda m: lambda b, a: a * m.sin(b), {"a": X, "b": np.array(2.0)}),
    "a constant by name": (lambda m: lambda a, *, n: a**n, {"a": X, "n": 3}),
    "a tree": (lambda m: lambda p: {"y": m.sin(p["a"]) * p["l"][0]}, [{"a": X, "l": [X[::-1], 2]}]),
    "trees by name": (lambda m: lambda p, x: [m.sin(x), (p["a"] * x,)], {"p": {"a": X}, "x": X}),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_right_derivative_passes_both_ways(framework, name):
    make, inputs = FUNCTIONS[name]
    f = framework.adapt(make(framework.m))
    assert check_vjp(f, inputs).verdict == "pass"  # the adjoint identity of vjp and jvp included
    assert check_jvp(f, inputs).verdict == "pass"


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_the_dtype_is_kept(framework, dtype):
    f = framework.adapt(lambda x: x * x)
    x = np.array([1, 2], dtype)
    products = f(x), f.vjp(np.ones(2), x), f.jvp(np.ones(2), x)
    assert [product.dtype for product in products] == [dtype] * 3
    assert [product.tolist() for product in products] == [[1, 4], [2, 4], [2, 4]]


@pytest.mark.parametrize("x", [np.array(1.5), np.array(1 + 2j)], ids=["real", "complex"])
def test_results_for_0_d_arrays_are_writable_0_d_arrays(framework, x):
    f = framework.adapt(lambda x: x * x)
    for product in (f(x), f.vjp(np.array(1.0), x), f.jvp(np.array(1.0), x)):
        assert type(product) is np.ndarray
        product += 1


# --- several upstreams at once ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "count"), [(name, 12) for name in FUNCTIONS] + [("one array", 0), ("one array", 1)]
)
def test_vjps_equals_vjp_for_each_upstream(framework, name, count):
    make, inputs = FUNCTIONS[name]
    f = framework.adapt(make(framework.m))
    point = Inputs(f, inputs)
    outputs = Outputs(point.call(f, point.copies()), float, f.__dict__.get("constant_outputs", ()))
    rng = np.random.default_rng(0)
    upstreams = [outputs.unflat(rng.normal(size=outputs.size)) for _ in range(count)]
    found = point.call(f.vjps, point.copies(), upstreams)
    alone = [point.call(f.vjp, point.copies(), upstream) for upstream in upstreams]
    assert len(found) == count
    for one, other in zip(found, alone, strict=True):
        mine, theirs = leaves_of(one), leaves_of(other)
        for a, b in zip(mine, theirs, strict=True):
            if isinstance(b, np.ndarray):
                assert (a.shape, a.dtype, a.flags.writeable) == (b.shape, b.dtype, True)
                np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)
            else:
                assert a is b is None


def test_the_gradients_of_many_outputs_are_computed_together(framework):
    counted = Counted(lambda x: framework.m.tanh(x) * x[0])
    found = framework.adapt(counted).vjps(list(np.eye(40)), np.linspace(-1, 1.5, 40))
    assert len(found) == 40
    assert counted.calls <= 4  # to be looked at, once for all, and at both ends


@pytest.mark.parametrize("end", [0, -1], ids=["the first", "the last"])
def test_gradients_that_differ_when_batched_are_computed_one_by_one(framework, end, monkeypatch):
    f = framework.adapt(framework.m.sin)
    at_once = f._gradients_at_once

    def spoilt(*given):
        rows = at_once(*given)
        rows[end] = rows[1]
        return rows

    monkeypatch.setattr(f, "_gradients_at_once", spoilt)
    x = np.linspace(-1, 1.5, 12)
    np.testing.assert_allclose(f.vjps(list(np.eye(12)), x), np.diag(np.cos(x)), atol=1e-15)


# --- many points at once -----------------------------------------------------------------------

LONG = np.linspace(-1, 1.5, 40)


# What goes through vmap: the function of a framework, and a point.
TOGETHER = {
    **{name: FUNCTIONS[name] for name in ("a matrix", "an integer output", "complex to real")},
    **{name: FUNCTIONS[name] for name in ("a list of outputs", "other constants")},
    "several inputs": (lambda m: lambda a, b: m.sin(a) * b, (LONG, np.array(0.5))),
    "by name": (lambda m: lambda w, b: m.tanh(w * b), {"w": LONG, "b": np.array(0.5)}),
    "several outputs": (lambda m: lambda x: (m.sum(x), m.cos(x)), LONG),
    "float32": (lambda m: lambda x: m.sin(x) * x[0], LONG.astype(np.float32)),
    "complex": (lambda m: lambda z: z * m.conj(z) + m.exp(z), LONG + 1j * LONG[::-1]),
    "an output that is constant": (lambda m: lambda x: (m.ones(2), m.sum(x)), LONG),
}


@pytest.mark.parametrize(
    ("name", "count"),
    [(name, 9) for name in TOGETHER] + [("several inputs", count) for count in (0, 1, 130)],
)
def test_many_equals_f_at_each_point_for_any_number_of_points(framework, name, count):
    make, inputs = TOGETHER[name]
    counted = Counted(make(framework.m))
    points = shifted(inputs, count)
    values = framework.adapt(counted).many(points)
    assert counted.calls <= 8
    assert len(values) == count
    for value, point in zip(values, points, strict=True):
        alone = call(framework.adapt(counted.f), point)
        assert isinstance(value, tuple) == isinstance(alone, tuple)
        for one, other in zip(as_tuple(value), as_tuple(alone), strict=True):
            assert type(one) is np.ndarray
            assert one.flags.writeable
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            eps = np.finfo(other.dtype).eps if other.dtype.kind in "fc" else 0
            np.testing.assert_allclose(one, other, rtol=1e2 * eps, atol=1e2 * eps)


@pytest.mark.parametrize(
    ("check", "name"),
    [(check_vjp, "by name"), (check_vjp, "several outputs"), (check_jvp, "complex")],
)
def test_a_check_gives_the_same_report_batched_and_one_by_one(framework, check, name):
    make, inputs = TOGETHER[name]
    counted, alone_counted = Counted(make(framework.m)), Counted(make(framework.m))
    together = check(framework.adapt(counted), inputs)
    alone = check(OneByOne(framework.adapt(alone_counted)), inputs)
    assert (together.verdict, together.reason) == (alone.verdict, alone.reason) == ("pass", "ok")
    fewer = alone_counted.calls - counted.calls  # those for the products included
    assert fewer > together.evaluations / 2


def test_points_that_differ_in_a_constant_are_called_one_by_one(framework):
    f = framework.adapt(lambda x, n, k: x**n + k)
    points = [(LONG, n, np.array(n)) for n in range(10)] + [(LONG, 2, np.array(n)) for n in (1, 5)]
    for (_, n, k), value in zip(points, f.many(points), strict=True):
        np.testing.assert_allclose(value, LONG**n + k, rtol=1e-14)
    for (_, n, k), value in zip(points[-2:], f.many(points[-2:]), strict=True):
        np.testing.assert_allclose(value, LONG**n + k, rtol=1e-14)
    assert hasattr(f, "many")  # which says nothing of fn


def test_random_numbers_drawn_by_fn_are_drawn_at_every_point(framework):
    rng = np.random.default_rng(0)
    f = framework.adapt(lambda x: framework.m.sum(x) + 1e-6 * rng.random())
    assert len({float(value) for value in f.many([LONG] * 20)}) == 20


def test_an_exception_of_fn_at_one_point_is_passed_on(framework):
    def fn(x):
        if x[0] > 0:
            raise ArithmeticError("not there")
        return framework.m.sum(x)

    with pytest.raises(ArithmeticError, match="not there"):
        framework.adapt(fn).many([LONG + 0.1 * k for k in range(20)])


def test_a_tree_goes_through_fn_as_a_whole(framework):
    counted = Counted(lambda p: {"y": framework.m.tanh(p["w"]) * p["b"][0]})
    f = framework.adapt(counted)
    points = [({"w": LONG + 0.01 * k, "b": [np.array(0.5)]},) for k in range(30)]
    found = f.many(points)
    assert counted.calls < 10
    for one, (params,) in zip(found, points, strict=True):
        np.testing.assert_allclose(one["y"], np.tanh(params["w"]) / 2, rtol=1e-13)
    assert check_vjp(f, [points[0][0]])


@pytest.mark.parametrize("points", [3, None], ids=str)
def test_many_refuses_anything_but_a_list_of_points(framework, points):
    with pytest.raises(TypeError, match=r"points must be a list of points.*: for one .*\[point\]"):
        framework.adapt(lambda x: x * x).many(points)


# --- the convention for complex numbers ------------------------------------------------------


def test_a_vjp_multiplies_by_the_conjugate_and_a_jvp_does_not(framework):
    f = framework.adapt(lambda z: A * z)
    upstream = np.array([1.0, 1j, 2 - 1j])
    assert f.vjp(upstream, Z).tolist() == (np.conj(A) * upstream).tolist()
    assert f.jvp(upstream, Z).tolist() == (A * upstream).tolist()


# --- structure -------------------------------------------------------------------------------


def test_gradients_are_arranged_like_the_inputs(framework):
    f = framework.adapt(lambda a, n=2, b=1.0: a**n * b)
    one, ones = np.array(2.0), np.array(1.0)
    assert f.vjp(ones, one).tolist() == 4
    assert f.vjp(ones, one, 3) == (12, None)
    assert f.vjp(ones, one, b=np.array(5.0), n=3) == (60, 8, None)  # in the order handed over
    assert f.vjp(ones, a=one, n=3) == {"a": 12, "n": None}
    assert f.jvp((ones, None, ones), one, 3, np.array(5.0)).tolist() == 68
    assert f.jvp({"a": ones, "b": ones}, a=one, b=np.array(5.0), n=3).tolist() == 68


def test_arrays_of_integers_and_objects_are_constants(framework):
    f = framework.adapt(lambda a, k, names: a * k if names[0] == "k" else a)
    names = np.array(["k"], object)
    assert f(X, np.array([1, 2, 3]), names).tolist() == [0.5, -2.5, 6]
    gradient, *nothing = f.vjp(np.ones(3), X, np.array([1, 2, 3]), names)
    assert gradient.tolist() == [1, 2, 3]
    assert nothing == [None, None]


def test_an_array_of_the_framework_is_a_constant_and_the_error_gives_advice(framework):
    f = framework.adapt(lambda a, b: a * b)
    theirs = framework.m.asarray(np.ones(3))
    gradient, nothing = f.vjp(np.ones(3), X, theirs)
    assert (gradient.tolist(), nothing) == ([1] * 3, None)
    line = {"torch": r"a\.detach\(\)\.numpy\(\)", "jax": r"np\.asarray\(a\)"}[framework.name]
    with pytest.raises(TypeError, match=rf"nothing to differentiate .* e\.g\. {line}"):
        check_vjp(f, (theirs, theirs))


@pytest.mark.parametrize("check", [check_vjp, check_jvp])
def test_a_bare_function_is_refused_with_the_line_to_write(framework, check):
    line = rf"write {check.__name__}\(from_{framework.name}\(f\), inputs\)"
    with pytest.raises(TypeError, match=line):
        check(framework.m.sin, X)
    assert check(framework.adapt(framework.m.sin), X)


def test_an_input_may_have_any_name(framework):
    f = framework.adapt(lambda **named: named["self"] * named["upstream"] * named["tangent"])
    named = {"self": np.array(2.0), "upstream": np.array(3.0), "tangent": np.array(5.0)}
    assert f(**named) == 30
    assert f.vjp(np.array(1.0), **named) == {"self": 15, "upstream": 10, "tangent": 6}
    assert f.jvp(named, **named) == 90


def test_without_upstream_or_tangent_there_are_zeros(framework):
    f = framework.adapt(lambda a, b: (a * b, a + b))
    assert [g.tolist() for g in f.vjp((None, np.ones(3)), X, X)] == [[1] * 3] * 2
    assert [g.tolist() for g in f.vjp((None, None), X, X)] == [[0] * 3] * 2
    assert [t.tolist() for t in f.jvp((None, np.ones(3)), X, X)] == [X.tolist(), [1] * 3]
    assert framework.adapt(lambda a: a * a).vjp(None, X).tolist() == [0] * 3


def test_an_output_that_depends_on_nothing_has_zeros(framework):
    constant = framework.m.asarray(np.ones(3))
    f = framework.adapt(lambda a: (a * a, constant))
    assert f.vjp((np.ones(3), np.ones(3)), X).tolist() == (2 * X).tolist()
    assert [t.tolist() for t in f.jvp(np.ones(3), X)] == [(2 * X).tolist(), [0] * 3]
    assert framework.adapt(lambda a: constant).vjp(np.ones(3), X).tolist() == [0] * 3


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_the_zeros_of_an_output_have_its_dtype(framework, dtype):
    constant = framework.m.asarray(np.ones(3, dtype))
    _, zeros = framework.adapt(lambda a: (a * a, constant)).jvp(np.ones(3), X)
    assert (zeros.dtype, zeros.tolist()) == (dtype, [0] * 3)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 1)], ids=str)
def test_empty_arrays_go_through(framework, shape):
    f = framework.adapt(lambda x: (x * 2, framework.m.sum(x)))
    x = np.zeros(shape)
    assert [output.shape for output in f(x)] == [shape, ()]
    assert f.vjp((x, np.ones(())), x).shape == shape
    assert [output.shape for output in f.jvp(x, x)] == [shape, ()]


# --- the caller's arrays ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [name for name, x in LAYOUTS.items() if isinstance(x, np.ndarray) and x.size]
)
def test_arrays_of_any_layout_are_accepted_and_not_changed(framework, name):
    f, x = framework.adapt(lambda x: x * x), LAYOUTS[name]
    before = x.tolist()
    assert f(x).tolist() == (x * x).tolist()
    assert f.vjp(x, x).tolist() == (2 * x * x).tolist()
    assert f.jvp(x, x).tolist() == (2 * x * x).tolist()
    assert x.tolist() == before


def test_returned_arrays_belong_to_the_caller(framework):
    kept = framework.m.asarray(np.ones(3))
    f = framework.adapt(lambda x: (x, kept))
    x, upstream = X.copy(), np.ones(3)
    for given in (f(x), (f.vjp((upstream, None), x),), f.jvp(upstream, x)):
        for array in given:
            array[...] = 7
    assert (x.tolist(), upstream.tolist()) == (X.tolist(), [1] * 3)
    assert np.asarray(kept).tolist() == [1] * 3


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize("fn", [None, 3.0, "sin"], ids=repr)
def test_only_functions_are_adapted(framework, fn):
    with pytest.raises(TypeError, match="fn must be a function, not"):
        framework.adapt(fn)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (lambda x: None, "not None"),
        (lambda x: "x", "not str 'x'"),
        (lambda x: (x, None), r"not None at output\[1\]"),
        (lambda x: {"x": (x, "y")}, r"not str 'y' at output\['x'\]\[1\]"),
    ],
    ids=["nothing", "text", "tuple with nothing", "text in a tree"],
)
def test_an_output_that_is_not_an_array_or_a_tree_is_refused(framework, returned, said):
    f = framework.adapt(returned)
    for ask in (lambda: f(X), lambda: f.vjp(X, X), lambda: f.jvp(X, X)):
        with pytest.raises(TypeError, match=rf"^fn must return one .* or a tree of them, {said}"):
            ask()


def test_bfloat16_comes_back_as_float32(framework):
    short = {"torch": lambda x: x.bfloat16(), "jax": lambda x: x.astype("bfloat16")}
    f = framework.adapt(short[framework.name])
    assert f(X).dtype == np.float32
    assert np.allclose(f(X), X, rtol=2**-8)
    assert check_vjp(f, X).verdict == "pass"
    wrong = check_vjp(f, X, lambda upstream, x: 2 * f.vjp(upstream, x), jvp=False)
    assert wrong.verdict == "fail"


@pytest.mark.parametrize(
    ("product", "given", "kind", "said"),
    [
        ("vjp", np.ones(2), ValueError, r"upstream has shape \(2,\), .* have shape \(3,\)"),
        ("vjp", np.full(3, 1j), TypeError, "upstream is complex, .* real"),
        ("vjp", "x", TypeError, "upstream must be an array of numbers, not str 'x'"),
        ("jvp", np.ones(2), ValueError, r"the tangent of inputs\[0\] has shape \(2,\)"),
    ],
    ids=["short", "complex", "text", "short tangent"],
)
def test_an_upstream_or_tangent_must_fit(framework, product, given, kind, said):
    f = framework.adapt(lambda x: x * x)
    with pytest.raises(kind, match=said):
        getattr(f, product)(given, X)


PAIR = {"w": X, "b": X + 1}


@pytest.mark.parametrize("inside", [False, True], ids=["the tree", "by name"])
def test_a_tree_that_came_by_name_has_its_tangent_with_and_without_the_name(framework, inside):
    f = framework.adapt(lambda p: p["w"] * p["b"])
    pushed = f.jvp({"p": PAIR} if inside else PAIR, p=PAIR)
    assert pushed.tolist() == (2 * X * (X + 1)).tolist()


@pytest.mark.parametrize(
    ("inputs", "named", "given", "said"),
    [
        ((), PAIR, {"w": X, "B": X}, r"'B', .* names \['w', 'b'\]"),
        ((X, X), {}, PAIR, "'w', 'b', .* passed in order"),
        ((X, 3), {}, (X,), "is for 1 inputs, but there are 2"),
        ((), {"p": PAIR, "q": X}, {"P": PAIR}, r"'P', .* names \['p', 'q'\]"),
    ],
    ids=["a slip in a name", "names for inputs in order", "too few", "the name of a tree"],
)
def test_a_tangent_that_would_be_lost_is_refused(framework, inputs, named, given, said):
    f = framework.adapt(lambda *args, **more: X)
    with pytest.raises(ValueError, match=f"^tangent .*{said}"):
        f.jvp(given, *inputs, **named)


@pytest.mark.parametrize("upstream", [X, (X,), (X, X, X), None], ids=["one", "1", "3", "None"])
def test_several_outputs_need_one_upstream_each(framework, upstream):
    f = framework.adapt(lambda x: (x, x * x))
    with pytest.raises(ValueError, match="fn returns 2 outputs: upstream must be a tuple"):
        f.vjp(upstream, X)


@pytest.mark.skipif(np.finfo(np.longdouble).bits == 64, reason="long double is double here")
def test_numbers_longer_than_double_are_refused(framework):
    with pytest.raises(TypeError, match=r"inputs\[0\] is .*, which no framework has: pass float64"):
        framework.adapt(lambda x: x)(np.ones(2, np.longdouble))


# --- what the user's function does -----------------------------------------------------------


def test_an_exception_of_fn_is_passed_on(framework):
    def fn(x):
        raise KeyError("the weather")

    f = framework.adapt(fn)
    for ask in (lambda: f(X), lambda: f.vjp(X, X), lambda: f.jvp(X, X)):
        with pytest.raises(KeyError, match="the weather"):
            ask()
