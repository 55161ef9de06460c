"""What the check refuses in libraries that are installed, each confirmed by another route.

The page `docs/found.md` tells of them, and `test_found.py` looks whether they are still so. Run as
a script, this file goes through the functions of the libraries again and prints what is refused,
confirmed or not: `python tests/parity/found.py [hips] [scipy] [jax]`. JAX takes half an hour.
"""

import contextlib
import importlib
import io
import math
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gradcheck_ref import check_vjp


@dataclass(frozen=True)
class Found:
    """A derivative that is refused: a function of a library, by its path, at a point.

    ``slopes`` is the right Jacobian, outputs first, by a formula that is not the library's; None
    says that the shape of the gradient is wrong, which needs no number.
    """

    id: str
    path: str
    call: Callable[..., Any]
    point: tuple[Any, ...]
    slopes: Any


ONES = np.ones((3, 3))
UNSORTED = np.array([0.3, 0.1, 0.7])
SORTS = np.eye(3)[[1, 0, 2]]

HIPS = (
    Found("full_like", "autograd.numpy", lambda np_, v: np_.full_like(ONES[0], v), (2.0,), ONES[0]),
    Found(
        "arccosh",
        "autograd.numpy",
        lambda np_, z: np_.arccosh(z),
        (-0.55 + 0.8j,),
        1 / (np.sqrt(-1.55 + 0.8j) * np.sqrt(0.45 + 0.8j)),
    ),
    Found("cross", "autograd.numpy", lambda np_, v: np_.cross(ONES, v), (UNSORTED,), None),
    Found("tril", "autograd.numpy", lambda np_, v: np_.tril(v), (UNSORTED,), None),
    Found("triu", "autograd.numpy", lambda np_, v: np_.triu(v), (UNSORTED,), None),
    Found("outer", "autograd.numpy", lambda np_, a: np_.outer(a, ONES[0, 0]), (2.0,), None),
)
JAX = (
    Found("unique", "jax.numpy", lambda np_, x: np_.unique(x), (UNSORTED,), SORTS),
    Found("setdiff1d", "jax.numpy", lambda np_, x: np_.setdiff1d(x, ONES[0]), (UNSORTED,), SORTS),
    Found("union1d", "jax.numpy", lambda np_, x: np_.union1d(x, ONES[0][:0]), (UNSORTED,), SORTS),
    Found("setxor1d", "jax.numpy", lambda np_, x: np_.setxor1d(x, ONES[0][:0]), (UNSORTED,), SORTS),
    Found("arange", "jax.numpy", lambda np_, x: np_.arange(x, 2.0), (0.5,), [1.0, 1.0]),
    Found(
        "vander",
        "jax.numpy",
        lambda np_, x: np_.vander(x, 3)[0],
        (np.zeros(1),),
        [[0], [1], [0]],
    ),
    Found("i0", "jax.scipy.special", lambda sp, x: sp.i0(x), (0.0,), 0.0),
    Found(
        "boxcox",
        "jax.scipy.special",
        lambda sp, lmbda: sp.boxcox(2.0, lmbda),
        (0.0,),
        np.log(2.0) ** 2 / 2,
    ),
    Found(
        "boxcox1p",
        "jax.scipy.special",
        lambda sp, lmbda: sp.boxcox1p(1.0, lmbda),
        (0.0,),
        np.log(2.0) ** 2 / 2,
    ),
    Found(
        "hyp1f1",
        "jax.scipy.special",
        lambda sp, a: sp.hyp1f1(a, 1.0, 1.0),
        (0.0,),
        sum(1 / (k * math.factorial(k)) for k in range(1, 25)),
    ),
    Found("spence at 1", "jax.scipy.special", lambda sp, x: sp.spence(x), (1.0,), -1.0),
    Found("spence at 2", "jax.scipy.special", lambda sp, x: sp.spence(x), (2.0,), -np.log(2.0)),
    Found("gamma.sf", "jax.scipy.stats.gamma", lambda gamma, x: gamma.sf(x, 2.0), (-1.0,), 0.0),
    Found(
        "truncnorm.sf",
        "jax.scipy.stats.truncnorm",
        lambda truncnorm, a: truncnorm.sf(0.3, a, 0.8),
        (0.55,),
        0.0,
    ),
)
VERSIONS = {"autograd": "1.9.1", "jax": "0.10.2", "scipy": "1.17.1"}


def hips_vjp(f):
    """Return the vjp by HIPS autograd, in the convention of the check for complex numbers."""
    from autograd import make_vjp

    def vjp(u, *inputs):
        grads = [make_vjp(f, k)(*inputs)[0](np.conj(u)) for k in range(len(inputs))]
        return tuple(map(np.conj, grads)) if len(grads) > 1 else np.conj(grads[0])

    return vjp


def function_of(found):
    """Return the function of the library, with its vjp."""
    call, library = found.call, importlib.import_module(found.path)
    if found.path.startswith("jax"):
        from gradcheck_ref.adapters import from_jax

        f = from_jax(lambda x: call(library, x))
        return f, f.vjp
    return lambda x: np.asarray(call(library, x)), hips_vjp(lambda x: call(library, x))


# All functions, at points of all kinds.

SCALARS = (-1.3, -1.0, 0.0, 0.3, 1.0, 2.0, 2.4)
PAIRS = ((0.3, 1.3), (0.0, 1.0), (1.0, 2.0), (-1.3, 0.7), (2.0, 3.0), (5.3, 2.0))
TRIPLES = ((0.3, 1.3, 0.7), (1.0, 2.0, 3.0), (0.3, 0.55, 0.8))
V = np.array([0.3, -0.55, 0.8, 0.42])
M = np.array([[2.0, 0.3, -0.5], [0.1, 1.5, 0.4], [0.6, -0.2, 1.8]])
POINTS = (
    *((x,) for x in SCALARS),
    *PAIRS,
    *TRIPLES,
    *((V,), (np.array([1.0, 2.0, 2.0, 0.0]),), (M,), (M @ M.T,), (V + 1j * V[::-1],)),
    *((V, V[::-1] + 0.2), (M, M.T + 0.1), (M, V[:3])),
)
# They write, read, or make what no memory of theirs is.
NOT_THESE = ("save", "load", "from", "empty", "test", "show", "info", "vectorize", "print", "mem")


def functions_of(*paths):
    """Yield path and name of the public functions of modules, each function once."""
    seen = set()
    for path in paths:
        module = importlib.import_module(path)
        for name in sorted(vars(module)):
            g = getattr(module, name)
            hidden = name.startswith("_") or any(word in name for word in NOT_THESE)
            if callable(g) and not isinstance(g, type) and not hidden and id(g) not in seen:
                seen.add(id(g))
                yield f"{path}.{name}", g


def refusals(functions, with_vjp):
    """Print what is refused, of functions that give finite numbers at a point."""
    for name, g in functions:
        for point in POINTS:
            inputs = tuple(np.array(x) for x in point)
            with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
                f, vjp = with_vjp(g)
                y = np.asarray(f(*(x.copy() for x in inputs)))
                if y.dtype.kind not in "fc" or not 0 < y.size <= 40 or not np.isfinite(y).all():
                    continue
                report = check_vjp(f, inputs if len(inputs) > 1 else inputs[0], vjp)
                if report.verdict == "fail":
                    where = point if y.ndim == 0 else [x.shape for x in inputs]
                    print(name, where, str(report).split("\n")[0], file=sys.stderr)


def sweep_hips():
    def with_vjp(g):
        return lambda *x: np.asarray(g(*x)), hips_vjp(g)

    modules = ("numpy", "numpy.linalg", "numpy.fft", "scipy.special", "scipy.linalg")
    refusals(functions_of(*(f"autograd.{m}" for m in modules)), with_vjp)


def sweep_jax():
    import jax

    from gradcheck_ref.adapters import from_jax

    jax.config.update("jax_enable_x64", True)

    def with_vjp(g):
        f = from_jax(g)
        return f, f.vjp

    stats = importlib.import_module("jax.scipy.stats")
    names = [f"jax.scipy.stats.{n}" for n in dir(stats) if type(getattr(stats, n)) is type(sys)]
    modules = ("jax.numpy", "jax.numpy.linalg", "jax.scipy.special", "jax.nn", *names)
    refusals(functions_of(*modules), with_vjp)


def scipy_pairs():
    """Yield a name, a function, its derivative as SciPy has it, and points."""
    from scipy import special, stats
    from scipy.stats._distr_params import distcont

    def spheroidal(name, m, n, c):
        function = getattr(special, name)
        return lambda x: function(m, n, c, x)[0], lambda x: function(m, n, c, x)[1]

    for v in (0, 1, 2.5, -0.5):
        for name in ("jv", "yv", "kv", "iv"):
            f, df = partial(getattr(special, name), v), partial(getattr(special, f"{name}p"), v)
            yield f"{name}({v})", f, df, (0.3, 1.7, 7.5)
    for n in (0, 1, 3):
        for name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"):
            f = partial(getattr(special, name), n)
            yield f"{name}({n})", f, partial(f, derivative=True), (0.0, 0.3, 1.7, 7.5, -0.6)
    for m, n, c in ((0, 1, 0.5), (1, 1, 1.0), (1, 2, 2.0), (0, 0, 3.0), (2, 3, 0.7)):
        for name, points in (
            ("pro_ang1", (0.2, -0.4)),
            ("obl_ang1", (0.2, -0.4)),
            ("pro_rad1", (1.2, 2.5)),
            ("pro_rad2", (1.2, 2.5)),
            ("obl_rad1", (0.3, 0.9, 2.1)),
            ("obl_rad2", (0.3, 0.9, 2.1)),
        ):
            yield f"{name}({m}, {n}, {c})", *spheroidal(name, m, n, c), points
    for name, arguments in distcont:
        if isinstance(name, str) and name not in ("levy_stable", "studentized_range", "kstwo"):
            d = getattr(stats, name)(*arguments)
            points = tuple(float(d.ppf(q)) for q in (0.1, 0.35, 0.6, 0.9))
            yield f"stats.{name}", d.cdf, d.pdf, points


def sweep_scipy():
    for name, f, df, points in scipy_pairs():
        for x in points:
            if np.isfinite(f(x)):
                report = check_vjp(partial(_number, f), np.array(x), partial(_times, df))
                if report.verdict == "fail":
                    print(name, x, str(report).split("\n")[0], file=sys.stderr)


def _number(f, x):
    return np.float64(f(x))


def _times(slope, u, x):
    return u * slope(x)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sweeps = {"hips": sweep_hips, "scipy": sweep_scipy, "jax": sweep_jax}
    for wanted in sys.argv[1:] or sweeps:
        try:
            sweeps[wanted]()
        except ModuleNotFoundError as error:
            print(f"{wanted}: skipped, for {error.name} is not installed")
