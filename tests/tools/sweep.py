"""Go through the functions of installed libraries again, and print what the check refuses.

`python tests/tools/sweep.py` does it for hips, scipy, jax, statsmodels, sklearn, mygrad, dezero
and tinygrad, or for those that are named after it, and counts. What it prints is not confirmed: a
claim may be a convention, or the point outside of the domain. JAX takes half an hour.
"""

import contextlib
import importlib
import io
import sys
import warnings
from functools import partial

import found
import numpy as np

from gradcheck_ref import check_vjp, hard_points

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
    *((x,) for _, x in hard_points(V)),
    *(x for _, x in hard_points((V, V[::-1] + 0.2))),
)
REAL = [p for p in POINTS if not any(np.iscomplexobj(x) for x in p)]
# They write, read, draw, make what no memory of theirs is, or take hours for tiny numbers.
NOT_THESE = (
    *("save", "load", "from", "empty", "test", "show", "info", "vectorize", "print", "mem"),
    *("rand", "dropout", "shard", "keccak", "hash", "threefry", "exp1", "expi", "expn"),
)


class Tally:
    """The functions that were checked, and those that were refused somewhere."""

    def __init__(self):
        self.checked, self.refused = set(), set()

    def judge(self, name, f, inputs, vjp):
        report = check_vjp(f, inputs if len(inputs) > 1 else inputs[0], vjp)
        self.checked.add(name)
        # An input that is written to was taken as out=.
        if report.verdict == "fail" and report.reason != "mutated":
            self.refused.add(name)
            where = [x.tolist() if x.ndim == 0 else x.shape for x in inputs]
            print(name, where, str(report).split("\n")[0], file=sys.stderr)


def functions_of(*paths):
    """Yield path and name of the public functions of modules, each function once."""
    seen = set()
    for path in paths:
        module = importlib.import_module(path)
        for name in sorted(vars(module)):
            g = getattr(module, name)
            hidden = name.startswith("_") or any(word in name for word in NOT_THESE)
            a_class = isinstance(g, type) and not hasattr(g, "nin")  # mygrad's ufuncs are classes
            if callable(g) and not a_class and not hidden and id(g) not in seen:
                seen.add(id(g))
                yield f"{path}.{name}", g


def all_functions(functions, adapter, points=POINTS):
    """Check functions wherever they give finite numbers."""
    tally = Tally()
    for name, g in functions:
        for point in points:
            inputs = tuple(np.array(x) for x in point)
            if len(inputs) != getattr(g, "nin", len(inputs)):
                continue
            with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
                f, vjp = adapter(g)
                y = np.asarray(f(*(x.copy() for x in inputs)))
                if y.dtype.kind in "fc" and 0 < y.size <= 40 and np.isfinite(y).all():
                    tally.judge(name, f, inputs, vjp)
    return tally


def all_pairs(pairs):
    """Check functions beside the slopes that the library has for them: outputs first."""
    tally = Tally()
    for name, f, df, points in pairs:
        both = partial(_both, f, df)
        for x in map(np.asarray, points):
            if np.isfinite(f(x)).all():
                value, vjp = found.pair(both)
                tally.judge(name, value, (x,), vjp)
    return tally


def _both(f, df, x):
    return f(x), df(x)


def elementwise(df):
    """Return slopes as a Jacobian, of a function that has a slope for each entry."""
    return lambda x: np.diag(df(x))


def hips():
    modules = ("numpy", "numpy.linalg", "numpy.fft", "scipy.special", "scipy.linalg")
    return all_functions(functions_of(*(f"autograd.{m}" for m in modules)), found.hips)


def jax():
    import jax

    jax.config.update("jax_enable_x64", True)
    stats = importlib.import_module("jax.scipy.stats")
    names = [f"jax.scipy.stats.{n}" for n in dir(stats) if type(getattr(stats, n)) is type(sys)]
    modules = ("jax.numpy", "jax.numpy.linalg", "jax.scipy.special", "jax.nn", *names)
    return all_functions(functions_of(*modules), found.jax)


def mygrad():
    modules = ("mygrad", "mygrad.linalg", "mygrad.nnet.activations")
    return all_functions(functions_of(*modules), found.mygrad, REAL)


def dezero():
    found.dezero(None)
    return all_functions(functions_of("dezero.functions"), found.dezero, REAL)


def tinygrad():
    found.tinygrad(None)
    from tinygrad import Tensor

    functions = [
        (f"Tensor.{name}", g)
        for name, g in ((name, getattr(Tensor, name)) for name in dir(Tensor))
        if callable(g) and not name.startswith("_") and not any(w in name for w in NOT_THESE)
    ]
    few = [(np.float64(x),) for x in (-1.3, 0.0, 0.3, 1.0)]
    return all_functions(functions, found.tinygrad, [*few, (0.3, 1.3), (V,), (V, V[::-1] + 0.2)])


def scipy():
    return all_pairs(scipy_pairs())


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


def statsmodels():
    return all_pairs(statsmodels_pairs())


def statsmodels_pairs():
    import statsmodels.api as sm
    from scipy import stats
    from statsmodels.base import _penalties as penalties
    from statsmodels.discrete import conditional_models, truncated_model
    from statsmodels.distributions.copula import transforms
    from statsmodels.genmod.families import links
    from statsmodels.miscmodels.ordinal_model import OrderedModel
    from statsmodels.othermod.betareg import BetaModel
    from statsmodels.robust import norms

    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(12), rng.normal(size=12)])
    counts, yes = rng.poisson(2, 12) * 1.0, np.tile([0.0, 1.0, 1.0], 4)
    positive, real = rng.gamma(2, 1, 12), rng.normal(size=12)
    times, groups = np.arange(12) // 2 + 1.0, np.repeat(np.arange(4), 3)

    def methods(name, model, z, **fixed):
        for value, slope in (("loglike", "score"), ("score", "hessian")):
            f, df = partial(getattr(model, value), **fixed), getattr(model, slope, None)
            if df:
                yield f"{name}.{slope}", f, partial(df, **fixed), [z, np.multiply(0.7, z) + 0.05]

    for family, y in (
        *((sm.families.Gaussian, real), (sm.families.Binomial, yes), (sm.families.Poisson, counts)),
        *((sm.families.Gamma, positive), (sm.families.InverseGaussian, positive)),
        *((sm.families.NegativeBinomial, counts), (sm.families.Tweedie, positive)),
    ):
        for link in family.links:
            model = sm.GLM(y, X, family=family(link=link()))
            below = link in (links.LogC, links.NegativeBinomial) or (y is yes and link is links.Log)
            z = [-1.0, 0.1] if below else [0.5, 0.1]
            yield from methods(f"GLM({family.__name__}, {link.__name__})", model, z, scale=1.0)
        yield from methods(
            f"GLM({family.__name__}) without scale", sm.GLM(y, X, family()), [0.5, 0.1]
        )

    z, wide, inflated = [0.3, 0.2], [0.3, 0.2, 0.4], [0.2, 0.1, 0.5, 0.2]
    for make, y, b in (
        *((sm.OLS, real, z), (sm.Logit, yes, z), (sm.Probit, yes, z), (sm.Poisson, counts, z)),
        *((sm.NegativeBinomial, counts, wide), (sm.NegativeBinomialP, counts, wide)),
        *((sm.GeneralizedPoisson, counts, wide), (sm.MNLogit, groups % 3, inflated)),
        *((partial(sm.NegativeBinomial, loglike_method=m), counts, wide) for m in ("nb1", "nb2")),
        *((partial(m, exog_infl=X), counts, inflated) for m in (sm.ZeroInflatedPoisson,)),
        (partial(sm.ZeroInflatedNegativeBinomialP, exog_infl=X), counts, [*inflated, 0.4]),
        (partial(sm.ZeroInflatedGeneralizedPoisson, exog_infl=X), counts, [*inflated, 0.1]),
        (truncated_model.TruncatedLFPoisson, counts + 1, z),
        (truncated_model.TruncatedLFNegativeBinomialP, counts + 1, wide),
        (partial(truncated_model.TruncatedLFNegativeBinomialP, p=1), counts + 1, wide),
        (truncated_model.TruncatedLFGeneralizedPoisson, counts + 1, wide),
        (truncated_model.HurdleCountModel, counts, inflated),
        (partial(BetaModel, exog_precision=X), rng.uniform(0.1, 0.9, 12), [0.3, 0.2, 2.0, 0.1]),
    ):
        model = make(y, X)
        options = ", ".join(getattr(make, "keywords", {}))
        yield from methods(f"{type(model).__name__}({options})", model, b)

    x = X[:, 1:]
    for make in (conditional_models.ConditionalLogit, conditional_models.ConditionalPoisson):
        yield from methods(make.__name__, make(yes, x, groups=groups), [0.3])
    for ties in ("breslow", "efron"):
        yield from methods(f"PHReg({ties})", sm.PHReg(times, X, status=yes, ties=ties), z)
    ordered = OrderedModel(groups % 3, x, distr="probit")
    yield from methods("OrderedModel", ordered, [0.3, -0.2, 0.4])
    yield from methods("AutoReg", sm.tsa.AutoReg(real, 1), z)
    arima = sm.tsa.ARIMA(real, order=(1, 0, 1))
    yield "ARIMA.score", arima.loglike, arima.score, [[0.1, 0.4, 0.2, 1.1]]

    for link in (
        *(links.Logit(), links.Power(2.0), links.InversePower(), links.Sqrt(), links.Log()),
        *(links.LogC(), links.Probit(), links.Cauchy(), links.CLogLog(), links.LogLog()),
        *(links.NegativeBinomial(0.7), links.CDFLink(stats.t(4))),
    ):
        name, ps = type(link).__name__, np.array([0.2, 0.5, 0.77])
        for f, df, x in (
            *((link, link.deriv, ps), (link.deriv, link.deriv2, ps)),
            *((link.inverse, link.inverse_deriv, link(ps)),),
            *((link.inverse_deriv, link.inverse_deriv2, link(ps)),),
        ):
            yield f"{name}.{df.__name__}", f, elementwise(df), [x]
    many = np.array([-9.3, -3.3, -1.2, 0.3, 0.9, 1.7, 3.2])
    for name in (
        *("AndrewWave", "Hampel", "HuberT", "LeastSquares", "RamsayE", "StudentT"),
        *("TrimmedMean", "TukeyBiweight", "TukeyQuartic"),
    ):
        norm = getattr(norms, name)()
        yield f"{name}.psi", norm.rho, elementwise(norm.psi), [many]
        yield f"{name}.psi_deriv", norm.psi, elementwise(norm.psi_deriv), [many]
    for penalty in (penalties.L2(), penalties.SCAD(1.0), penalties.SCADSmoothed(0.8)):
        yield f"{type(penalty).__name__}.deriv", penalty.func, penalty.deriv, [many[1:5]]
    for t, theta in (
        *((transforms.TransfFrank(), 1.7), (transforms.TransfClayton(), 0.8)),
        (transforms.TransfGumbel(), 2.3),
    ):
        for f, df in ((t.evaluate, t.deriv), (t.deriv, t.deriv2)):
            at = (partial(_at, f, theta), partial(_at, df, theta))
            yield f"{type(t).__name__}.{df.__name__}", *at, (0.2, 0.6, 0.9)


def _at(f, theta, t):
    return np.real(f(t, theta))


def sklearn():
    return all_pairs(sklearn_pairs())


def sklearn_pairs():
    from sklearn._loss import loss
    from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
    from sklearn.gaussian_process import kernels as k
    from sklearn.linear_model._huber import _huber_loss_and_gradient
    from sklearn.linear_model._linear_loss import LinearModelLoss
    from sklearn.manifold import _t_sne
    from sklearn.neighbors import NeighborhoodComponentsAnalysis

    rng = np.random.default_rng(0)
    y3 = np.array([0.5, 1.0, 0.25])
    raw = [np.array([0.4, 0.7, 1.1]), np.array([0.01, 8.0, 2.2]), np.array([31.0, 35.5, 18.1])]
    losses = [loss.HalfSquaredError(), loss.HuberLoss(delta=0.7), loss.HalfPoissonLoss()]
    losses += [loss.HalfGammaLoss(), loss.HalfBinomialLoss(), loss.ExponentialLoss()]
    losses += [loss.HalfTweedieLoss(power=p) for p in (0, 1, 1.5, 2, 3)]
    losses += [loss.HalfTweedieLossIdentity(power=p) for p in (0, 1, 1.5, 2, 3)]
    smooth = len(losses)
    losses += [loss.AbsoluteError(), loss.PinballLoss(0.3)]  # their Hessian is a convention
    for number, a in enumerate(losses):
        name, f, df = type(a).__name__, partial(a.loss, y3), partial(a.gradient, y3)
        yield f"{name}.gradient {number}", f, elementwise(df), raw
        if number < smooth:
            yield f"{name}.hessian {number}", df, elementwise(partial(_second, a, y3)), raw

    X, labels = rng.normal(size=(6, 2)), np.array([0, 1, 0, 1, 2, 2])
    real = rng.normal(size=6)
    for a, y in (
        (loss.HalfSquaredError(), real),
        (loss.HalfBinomialLoss(), labels % 2 * 1.0),
        (loss.HalfPoissonLoss(), labels * 1.0),
        (loss.HalfGammaLoss(), labels + 1.0),
        (loss.HalfMultinomialLoss(n_classes=3), labels * 1.0),
    ):
        linear = LinearModelLoss(a, fit_intercept=True)
        w = rng.normal(size=9 if a.is_multiclass else 3)
        weights = np.linspace(0.2, 2, 6)
        arguments = {"X": X, "y": y, "sample_weight": weights, "l2_reg_strength": 0.3}
        f, df = partial(linear.loss, **arguments), partial(linear.gradient, **arguments)
        yield f"linear {type(a).__name__}.gradient", f, df, [w]
        second = partial(_second_of_linear, linear, arguments)
        yield f"linear {type(a).__name__}.hessian", df, second, [w]
    given = {"X": X, "y": labels * 3.0, "epsilon": 1.35, "alpha": 0.1, "sample_weight": np.ones(6)}
    robust = partial(_huber_loss_and_gradient, **given)
    yield "huber", *halves(robust), [np.array([0.3, 0.2, 0.1, 0.5])]

    for kernel in (
        *(k.RBF(0.7), k.RBF([0.7, 1.3]), k.RationalQuadratic(0.7, 1.4), k.ExpSineSquared(0.7, 1.9)),
        *(k.Matern([0.7, 1.2], nu=nu) for nu in (0.5, 1.5, 2.5, np.inf)),
        *(k.DotProduct(0.8), k.WhiteKernel(0.5), k.ConstantKernel(1.7)),
        *(k.RBF(0.7) + k.WhiteKernel(), k.ConstantKernel(2.0) * k.Matern(0.7)),
        k.Exponentiation(k.DotProduct(0.8), 3),
    ):
        yield f"kernel {kernel}", *halves(partial(_kernel, kernel, X)), [kernel.theta]
        process = GaussianProcessRegressor(kernel + k.WhiteKernel(0.4), optimizer=None)
        evidence = partial(process.fit(X, labels).log_marginal_likelihood, eval_gradient=True)
        yield f"evidence {kernel}", *halves(evidence), [process.kernel_.theta]
    process = GaussianProcessClassifier(k.ConstantKernel(1.5) * k.RBF(0.9), optimizer=None)
    evidence = partial(process.fit(X, labels % 2).log_marginal_likelihood, eval_gradient=True)
    yield "evidence of classes", *halves(evidence), [process.kernel_.theta]

    nca = NeighborhoodComponentsAnalysis()
    nca.n_iter_ = 0
    same = labels[:, None] == labels
    both = partial(_of_first, nca._loss_grad_lbfgs, X, same, -1.0)
    yield "NeighborhoodComponentsAnalysis", *halves(both), [rng.normal(size=4)]
    shares = rng.uniform(0.5, 1, size=15)
    for freedom, d in ((1, 2), (2, 3)):
        both = partial(_of_first, _t_sne._kl_divergence, shares / shares.sum() / 2, freedom, 6, d)
        yield f"t-SNE in {d} dimensions", *halves(both), [rng.normal(size=6 * d)]
    yield from perceptrons(X, labels, rng)


def perceptrons(X, labels, rng):
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.neural_network._multilayer_perceptron import _pack

    for make, y in ((MLPRegressor, rng.normal(size=6)), (MLPClassifier, labels)):
        for activation in ("identity", "logistic", "tanh", "relu"):
            quick = {"max_iter": 1, "solver": "lbfgs", "random_state": 0}
            net = make(hidden_layer_sizes=(3,), activation=activation, alpha=0.3, **quick)
            net.fit(X, y)
            Y = np.eye(3)[labels] if make is MLPClassifier else y[:, None]
            layers = [X, *(np.empty((6, n)) for n in (3, Y.shape[1]))]
            spare = [[np.empty_like(a) for a in b] for b in (layers, net.coefs_, net.intercepts_)]
            both = partial(_of_first, net._loss_grad_lbfgs, X, Y, None, layers, *spare)
            start = _pack(net.coefs_, net.intercepts_)
            yield f"{make.__name__}({activation})", *halves(both), [start]


def halves(both):
    """Return value and slopes as two functions, of one that returns both."""
    return lambda x: np.copy(both(x)[0]), lambda x: np.copy(both(x)[1])


def _of_first(f, *rest):
    *rest, x = rest
    return f(x.copy(), *rest)


def _second(a, y, raw):
    return a.gradient_hessian(y, raw)[1]


def _second_of_linear(linear, arguments, w):
    return linear.gradient_hessian(w, **arguments)[1]


def _kernel(kernel, X, theta):
    return kernel.clone_with_theta(theta)(X, eval_gradient=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sweeps = (hips, scipy, jax, statsmodels, sklearn, mygrad, dezero, tinygrad)
    for sweep in sweeps:
        name = sweep.__name__
        if name in (sys.argv[1:] or [name]):
            try:
                tally = sweep()
            except ModuleNotFoundError as error:
                print(f"{name}: skipped, for {error.name} is not installed")
            else:
                refused = sorted(tally.refused)
                print(f"{name}: {len(tally.checked)} checked, {len(refused)} refused: {refused}")
