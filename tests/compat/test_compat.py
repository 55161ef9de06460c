"""The peers' functions are where they are looked for, and say what they do otherwise and miss."""

import importlib
import inspect
import pkgutil
import re
import sys

import pytest
from beside import ran
from docstrings import faults_of

from gradcheck_ref import compat
from gradcheck_ref.compat import cs231n, tvm, warp
from gradcheck_ref.zoo import all_cases
from gradcheck_ref.zoo.problem import problems

PEERS = ["cs231n", "tvm", "torch", "warp"]
MODULES = [module.name for module in pkgutil.iter_modules(compat.__path__)]
EXTRAS = ["jax", "matplotlib", "torch", "tvm", "warp"]


def module_of(name):
    return importlib.import_module(f"gradcheck_ref.compat.{name}")


# --- importing -------------------------------------------------------------------------------


@pytest.mark.slow
def test_all_modules_are_imported_without_any_extra_and_print_nothing():
    names = ", ".join(f"gradcheck_ref.compat.{name}" for name in MODULES)
    none = f"import sys\nsys.modules |= dict.fromkeys({EXTRAS})\n"  # None: not to be imported
    done = ran(sys.executable, "-W", "error", "-c", f"{none}import {names}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# --- docstrings ------------------------------------------------------------------------------

ZOO = {name for case in all_cases() for name in (case.name, *(bug.id for bug in case.bugs))}


def words_of(module):
    """Return the names of the module's functions and of their arguments."""
    functions = {name: f for name, f in vars(module).items() if inspect.isfunction(f)}
    parameters = (inspect.signature(f).parameters for f in functions.values())
    return {*functions, *(word for words in parameters for word in words)}


def named_rows(docstring, words):
    """Return what *Catches* and *Misses* name in code font, but for words and dotted names."""
    text = re.search(r"^Catches\n.*?(?=^\S(?!isses$))", docstring, re.MULTILINE | re.DOTALL)[0]
    return set(re.findall(r"``([^`.]+)``", text)) - words


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_says_what_it_misses_in_the_zoo_and_where_it_differs_on_purpose(name):
    module = module_of(name)
    head, _, differences = module.__doc__.partition("Differs on purpose")
    assert re.search(r"^Idea\n.*^Catches\n.*^Misses\n", head, re.MULTILINE | re.DOTALL)
    assert len(re.findall(r"^ *- ", differences, re.MULTILINE)) >= 5
    rows = named_rows(module.__doc__, words_of(module))
    assert rows <= ZOO, f"not in the zoo: {rows - ZOO}"
    assert len(rows) >= 3


# Gradients of the zoo, right ones of cases and bugs: what passes, and what looks wrong.
JUDGED = {
    "cs231n": (
        "two_layer_network tiny_loss/sign", "relu_near_zero very_fast_sine logarithm_near_zero"),
    "tvm": (
        "relu_at_zero iris_classifier/first-flower-left-out float32_softplus/five-per-cent "
        "tiny_loss/sign tiny_loss/zero relu_near_zero/slope-half",
        "very_fast_sine logarithm_near_zero relu_at_zero/mask-dropped huge_loss/sign"),
    "warp": (
        "huge_loss/nearly sine_of_turns/pi-is-3.1416 tiny_loss/sign tiny_loss/zero "
        "square_of_small_x/zero relu/in-place ridge_regression/halved",
        "relu_at_zero relu_near_zero logarithm_near_zero very_fast_sine"),
}  # fmt: skip


def looks_right(peer, case, vjp):
    """Whether a peer lets a gradient pass; of CS231n's number, whether it is that of kinks."""
    if peer == "warp":
        quiet = {"raise_exception": False, "show_summary": False}
        return warp.gradcheck(case.f, case.inputs, vjp=vjp, **quiet)
    for one in problems(case, vjp):
        if peer == "cs231n":
            slopes = cs231n.eval_numerical_gradient(one.f, one.x.copy(), verbose=False)
            if not cs231n.rel_error(slopes, one.claimed) < 1e-4:
                return False
        else:
            try:
                tvm.check_numerical_grads(one.f, [one.x], [one.claimed])
            except (AssertionError, ValueError):
                return False
    return True


@pytest.mark.parametrize("peer", JUDGED)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_misses_and_refusals_are_those_of_the_docstring(peer):
    for names, passes in zip(JUDGED[peer], (True, False), strict=True):
        for name in names.split():
            case = next(case for case in all_cases() if case.name == name.split("/")[0])
            vjps = {case.name: case.vjp} | {bug.id: bug.vjp for bug in case.bugs}
            assert looks_right(peer, case, vjps[name]) is passes, name


# --- names and signatures --------------------------------------------------------------------

# As the peers have them; vjp, jvp, what derives them and seed are ours: NumPy has no engine.
SIGNATURES = """
    cs231n.eval_numerical_gradient(f, x, verbose=True, h=1e-05)
    cs231n.eval_numerical_gradient_array(f, x, df, h=1e-05)
    cs231n.eval_numerical_gradient_blobs(f, inputs, output, h=1e-05)
    cs231n.grad_check_sparse(f, x, analytic_grad, num_checks=10, h=1e-05, *, seed=0)
    cs231n.rel_error(x, y)

    tvm.check_numerical_grads(function, input_values, grad_values, function_value=None,
        delta=0.001, atol=0.01, rtol=0.1)

    torch.gradcheck(func, inputs, *, vjp=None, jvp=None, eps=1e-06, atol=1e-05, rtol=0.001,
        raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False,
        check_batched_grad=False, check_batched_forward_grad=False, check_forward_ad=False,
        check_backward_ad=True, fast_mode=False, masked=None)
    torch.gradgradcheck(func, inputs, grad_outputs=None, *, vjp=None, vjp_vjp=None, vjp_jvp=None,
        eps=1e-06, atol=1e-05, rtol=0.001, gen_non_contig_grad_outputs=False,
        raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False,
        check_batched_grad=False, check_fwd_over_rev=False, check_rev_over_rev=True,
        fast_mode=False, masked=False)
    torch.get_numerical_jacobian(fn, inputs, target=None, eps=0.001, grad_out=1.0)
    torch.get_analytical_jacobian(inputs, output, nondet_tol=0.0, grad_out=1.0, *, vjp)

    warp.gradcheck(function, inputs, *, vjp=None, eps=0.0001, atol=0.001, rtol=0.01,
        raise_exception=True, input_output_mask=None, max_inputs_per_var=-1,
        max_outputs_per_var=-1, plot_relative_error=False, plot_absolute_error=False,
        show_summary=True)
    warp.jacobian(function, inputs, *, vjp=None, input_output_mask=None, max_outputs_per_var=-1,
        plot_jacobians=False)
    warp.jacobian_fd(function, inputs, *, input_output_mask=None, max_inputs_per_var=-1,
        eps=0.0001, plot_jacobians=False)
    warp.jacobian_plot(jacobians, function, inputs, *, show_plot=True, show_colorbar=True,
        scale_colors_per_submatrix=False, title=None, colormap='coolwarm', log_scale=False)
"""


def listed(text):
    """Return the signatures by name, each on one line."""
    found = re.findall(r"(\w+\.\w+)(\(.*?\))", text, re.DOTALL)
    return {name: " ".join(signature.split()) for name, signature in found}


def bare(function):
    """Return the signature of a function without its types."""
    signature = inspect.signature(function)
    empty = inspect.Parameter.empty
    parameters = [p.replace(annotation=empty) for p in signature.parameters.values()]
    return str(inspect.Signature(parameters))


@pytest.mark.parametrize("name", listed(SIGNATURES))
def test_a_function_has_its_signature(name):
    peer, function = name.split(".")
    assert bare(getattr(module_of(peer), function)) == listed(SIGNATURES)[name]


@pytest.mark.parametrize("name", listed(SIGNATURES))
def test_a_function_is_documented_in_full(name):
    peer, function = name.split(".")
    assert faults_of(getattr(module_of(peer), function)) == []


def test_the_error_of_torch_is_a_runtime_error():
    assert issubclass(module_of("torch").GradcheckError, RuntimeError)
