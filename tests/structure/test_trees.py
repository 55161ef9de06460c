"""Containers as inputs, gradients and outputs: taken apart, named, and put together again."""

from collections import OrderedDict, defaultdict, namedtuple
from types import MappingProxyType

import numpy as np
import pytest

from gradcheck_ref import check_gradient, check_jvp, check_vjp
from gradcheck_ref.compat import warp
from gradcheck_ref.structure.inputs import Inputs

A, B = np.array([1.0, 2.0]), np.array([[3.0], [4.0]])
Layer = namedtuple("Layer", "w b")

# --- there and back ----------------------------------------------------------------------------


def half_squares(tree):
    """Return half the sum of all squares: its gradient is the tree."""
    if isinstance(tree, np.ndarray):
        return 0.5 * np.sum(tree**2)
    if hasattr(tree, "values"):
        tree = tree.values()
    return 0.0 if tree is None or isinstance(tree, str) else sum(map(half_squares, tree))


TREES = {
    "an array": (A, [""]),
    "numbers": ({"w": [[1.0, 2.0], [3.0, 4.0]], "b": (0.5, 2)}, ["['w']", "['b']"]),
    "rows of another length": ([[1.0], [1.0, 2.0]], ["[0]", "[1]"]),
    "a dict": ({"w": A, 2: B}, ["['w']", "[2]"]),
    "a list": ([A, B], ["[0]", "[1]"]),
    "a named tuple": (Layer(A, B), [".w", ".b"]),
    "nested": ({"l": [Layer(A, None), (B, "relu")]}, ["['l'][0].w", "['l'][1][0]"]),
    "empty": ({"a": [], "b": A}, ["['b']"]),
    "ordered": (OrderedDict(b=A, a=B), ["['b']", "['a']"]),
    "with a default": (defaultdict(list, a=A), ["['a']"]),
    "read-only": (MappingProxyType({"a": A}), ["['a']"]),
}


@pytest.mark.parametrize(("tree", "names"), TREES.values(), ids=TREES)
def test_a_tree_is_taken_apart_and_put_together_again(tree, names):
    report = check_gradient(half_squares, [tree], lambda tree: [tree])
    assert [pair.input.name for pair in report.pairs] == [f"tree{name}" for name in names]
    assert report.verdict == "pass"
    assert check_gradient(half_squares, [tree], [tree]).verdict == "pass"


# --- a function of a tree, and its gradient ----------------------------------------------------

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])


def network():
    """Return parameters as people keep them."""
    hidden = {"w": np.linspace(-1.0, 1.3, 6).reshape(3, 2), "b": np.array([0.1, -0.2])}
    return {"hidden": hidden, "out": [np.array([0.4, -1.2]), 0.5], "name": "tanh"}


def loss(params):
    w, b, (a, c) = params["hidden"]["w"], params["hidden"]["b"], params["out"]
    return np.sum(np.sinh(w)) + np.sum(b**2) + c * np.sum(a**2)


def gradient(params, factor=1.0):
    w, b, (a, c) = params["hidden"]["w"], params["hidden"]["b"], params["out"]
    return {"hidden": {"w": factor * np.cosh(w), "b": 2 * b}, "out": [2 * c * a, np.sum(a**2)]}


@pytest.mark.parametrize(
    ("f", "inputs", "grads"),
    [
        (loss, [network()], gradient),
        (loss, [network()], [gradient(network())]),
        (loss, {"params": network()}, lambda params: {"params": gradient(params)}),
        (lambda params, n: n * loss(params), (network(), 1), lambda p, n: (gradient(p), None)),
    ],
    ids=["callable", "tree-in-a-list", "by-name", "with-a-constant"],
)
def test_a_gradient_comes_in_the_same_tree(f, inputs, grads):
    report = check_gradient(f, inputs, grads)
    assert (report.verdict, report.compared) == ("pass", 11)


def test_a_wrong_gradient_in_a_tree_is_named_by_its_path():
    report = check_gradient(loss, [network()], lambda params: gradient(params, 3.0))
    assert report.verdict == "fail"
    assert report.worst.name.startswith("params['hidden']['w'][")
    assert {d.subject for d in report.diagnoses} == {"params['hidden']['w']"}


def without(way):
    """Return a gradient in which something is missing, or too much."""
    tree = gradient(network())
    way(tree)
    return tree


OTHER_TREES = {
    "key": (lambda g: g["hidden"].pop("b"), "no gradient for params['hidden']['b']"),
    "too much": (lambda g: g["hidden"].update(c=1.0), "params['hidden']['c'], an unknown input"),
    "an array for a dict": (
        lambda g: g.update(hidden=A), "for params['hidden']['w'], params['hidden']['b']"),
    "empty": (dict.clear, "must give the same tree as the inputs"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "said"), OTHER_TREES.values(), ids=OTHER_TREES)
def test_a_gradient_in_another_tree_fails_with_the_path_of_the_difference(change, said):
    report = check_gradient(loss, [network()], without(change))
    assert (report.verdict, report.reason) == ("fail", "structure")
    assert said in str(report.faults[0].sentence)


def test_none_in_a_tree_means_zeros_and_is_named():
    report = check_gradient(loss, [network()], without(lambda g: g["out"].__setitem__(1, None)))
    assert (report.verdict, report.reason) == ("fail", "wrong")
    assert "gives None for params['out'][1], which means a constant" in report.notes[0]


@pytest.mark.parametrize("given", [[A, B], [[A, B]], ([A, B],)], ids=["itself", "list", "tuple"])
def test_one_list_of_arrays_has_a_list_as_its_gradient(given):
    doubled = [2 * A, 2 * B]
    grads = doubled if given[0] is A else type(given)([doubled])
    f = lambda x: np.sum(x[0] ** 2) + np.sum(x[1] ** 2)  # noqa: E731
    assert check_gradient(f, [[A, B]], grads).verdict == "pass"
    assert check_gradient(f, [[A, B]], [A, B]).verdict == "fail"


@pytest.mark.parametrize("given", [network(), [network(), network()]], ids=["mapping", "list"])
def test_a_tree_in_place_of_a_list_of_arguments_is_refused_with_advice(given):
    with pytest.raises(TypeError, match=r"one (argument that is a )?tree,? (pass )?\[inputs\]"):
        check_gradient(loss, given, gradient)


def test_f_gets_the_kinds_of_containers_it_was_given_and_cannot_change_ours():
    params, seen = {"l": [Layer(A, 0.5)], "o": OrderedDict(a=B)}, []

    def f(params):
        seen.append(type(params["l"][0]))
        value = np.sum(params["l"][0].w) + params["l"][0].b + np.sum(params["o"].pop("a"))
        params.clear()
        return value

    ones = {"l": [Layer(np.ones(2), 1.0)], "o": {"a": np.ones((2, 1))}}
    assert check_gradient(f, [params], ones).verdict == "pass"
    assert set(seen) == {Layer}
    assert list(params) == ["l", "o"]


def test_an_array_of_a_tree_that_f_writes_to_is_named():
    def f(params):
        params["a"][0] *= 2
        return np.sum(params["a"])

    report = check_gradient(f, [{"a": A}], {"a": np.array([2.0, 1.0])})
    assert (report.verdict, report.reason) == ("fail", "mutated")
    assert "params['a']" in report.faults[0].sentence


# --- trees out of f ----------------------------------------------------------------------------


def layers(params):
    return {"h": X @ params["w"], "parts": (params["b"] ** 2, 3), "sum": np.sum(params["b"])}


def layers_vjp(upstream, params, factor=1.0):
    b = 2 * params["b"] * upstream["parts"][0] + factor * upstream["sum"]
    return {"w": X.T @ upstream["h"], "b": b}


def layers_jvp(tangent, params):
    moved = 2 * params["b"] * tangent["b"]
    return {"h": X @ tangent["w"], "parts": [moved, 0], "sum": np.sum(tangent["b"])}


PARAMS = {"w": np.array([[0.5, 1.0], [2.0, -1.0], [0.1, 0.2]]), "b": np.array([0.3, -0.4])}


def test_upstreams_and_tangents_of_a_tree_are_trees():
    report = check_vjp(layers, [PARAMS], layers_vjp, jvp=layers_jvp)
    assert report.verdict == "pass"
    assert check_jvp(layers, [PARAMS], layers_jvp).verdict == "pass"


def test_a_wrong_product_of_trees_is_named_on_both_sides():
    report = check_vjp(layers, [PARAMS], lambda u, params: layers_vjp(u, params, 2.0))
    assert report.verdict == "fail"
    assert report.worst.name.startswith("d output['sum'] / d params['b'][")

    def not_adjoint(tangent, params):
        return layers_jvp(tangent, params) | {"sum": 2 * np.sum(tangent["b"])}

    report = check_vjp(layers, [PARAMS], layers_vjp, jvp=not_adjoint)
    assert [fault.subject for fault in report.faults] == ["jvp and vjp"]


def test_a_jvp_in_another_tree_than_the_output_fails():
    for change, said in (
        (lambda out: out.pop("sum"), "a tree without output['sum']"),
        (lambda out: out.update(more=1.0), "a tree with output['more']"),
    ):

        def jvp(tangent, params, change=change):
            out = layers_jvp(tangent, params)
            change(out)
            return out

        report = check_jvp(layers, [PARAMS], jvp)
        assert (report.verdict, report.reason) == ("fail", "shape")
        assert said in report.faults[0].sentence


def test_an_output_tree_that_changes_is_refused():
    def f(params):
        return {"a": A} if np.array_equal(params["w"], PARAMS["w"]) else {"b": A}

    with pytest.raises(ValueError, match="f changes what it returns: a tree without output"):
        check_vjp(f, [PARAMS], lambda upstream, params: params)


def test_a_tree_of_one_number_is_not_a_scalar():
    with pytest.raises(ValueError, match="one real number for check_gradient"):
        check_gradient(lambda x: {"loss": np.sum(x)}, A, np.ones(2))


def test_warp_accepts_only_arrays():
    with pytest.raises(TypeError, match="holds containers"):
        warp.gradcheck(lambda p: p["a"], [{"a": A}], vjp=lambda u, p: {"a": u})


# --- pandas ------------------------------------------------------------------------------------


@pytest.fixture
def pandas():
    return pytest.importorskip("pandas", reason="comes with the extra peers")


def test_a_series_is_differentiated_by_its_values(pandas):
    x = pandas.Series([1.0, 2.0, 3.0], index=list("abc"), name="height")
    seen = []

    def f(x):
        seen.append(x)
        return (x**2).sum() + x["b"]

    step = pandas.Series([0.0, 1.0, 0.0], index=list("abc"))
    assert check_gradient(f, x, lambda x: 2 * x + step).verdict == "pass"
    assert check_gradient(f, x, lambda x: (2 * x + step).to_numpy()).verdict == "pass"
    report = check_gradient(f, x, lambda x: 2 * x)
    assert (report.verdict, report.worst.name) == ("fail", "x[1]")
    assert {(one.name, tuple(one.index)) for one in seen} == {("height", ("a", "b", "c"))}


def test_a_data_frame_is_differentiated_by_its_values(pandas):
    d = pandas.DataFrame({"p": [1.0, 2.0], "q": [3.0, 4.0]}, index=["a", "b"])

    def f(d, scale):
        return scale["s"] * (d["p"] * d["q"]).sum()

    def grads(d, scale, swapped=True):
        other = {"p": d["q"], "q": d["p"]} if swapped else d
        return {"d": scale["s"] * pandas.DataFrame(other), "scale": {"s": (d["p"] * d["q"]).sum()}}

    point = {"d": d, "scale": {"s": 0.5}}
    assert check_gradient(f, point, grads).verdict == "pass"
    report = check_gradient(f, point, lambda d, scale: grads(d, scale, swapped=False))
    assert report.verdict == "fail"
    assert report.worst.name.startswith("d[")


def test_a_data_frame_with_other_columns_is_refused_and_one_of_integers_a_constant(pandas):
    mixed = pandas.DataFrame({"p": [1.0, 2.0], "who": ["a", "b"], "n": [1, 2]})
    with pytest.raises(TypeError, match="but who, n hold none: pass only"):
        check_gradient(lambda d: d["p"].sum(), mixed, lambda d: d)
    whole = pandas.DataFrame({"n": [1, 2]})
    ours = Inputs(lambda d, x: x, (whole, A))
    assert (ours.names, sorted(ours.parts)) == (["d", "x"], [1])
    assert ours.values[0] is whole
