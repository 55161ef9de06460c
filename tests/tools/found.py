"""What the check refuses in libraries that are installed, each confirmed by another route.

The table `docs/found.csv` tells of them, and `tests/parity/test_found.py` looks if they are
still so.

A row of a table has a call and a point. The call gets a module and x. In `FUNCTIONS` its
derivative is that of the library, by `ADAPTERS`. In `PAIRS` it returns a value, and the slopes that
the library has for it: outputs first.
"""

import collections.abc
import importlib
import os
import shutil
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev


class Found(NamedTuple):
    """A derivative that is refused: a function of a library, by its path, at a point."""

    name: str
    path: str
    call: Callable[..., Any]
    point: Any


ONES = np.ones((3, 3))
UNSORTED = np.array([0.3, 0.1, 0.7])
FUNCTIONS: dict[str, dict[str, tuple[Callable[..., Any], Any]]] = {
    "autograd.numpy": {
        "full_like": (lambda np_, v: np_.full_like(ONES[0], v), 2.0),
        "arccosh": (lambda np_, z: np_.arccosh(z), -0.55 + 0.8j),
        "cross": (lambda np_, v: np_.cross(ONES, v), UNSORTED),
        "tril": (lambda np_, v: np_.tril(v), UNSORTED),
        "triu": (lambda np_, v: np_.triu(v), UNSORTED),
        "outer": (lambda np_, a: np_.outer(a, ONES[0, 0]), 2.0),
        "prod": (lambda np_, x: np_.prod(x), np.array([0, 2.0, 3])),
        "sinc": (lambda np_, x: np_.sinc(x), 0.0),
    },
    "autograd.scipy.special": {"rgamma": (lambda special, x: special.rgamma(x), 0.0)},
    "jax.numpy": {
        "unique": (lambda np_, x: np_.unique(x), UNSORTED),
        "setdiff1d": (lambda np_, x: np_.setdiff1d(x, ONES[0]), UNSORTED),
        "union1d": (lambda np_, x: np_.union1d(x, ONES[0][:0]), UNSORTED),
        "setxor1d": (lambda np_, x: np_.setxor1d(x, ONES[0][:0]), UNSORTED),
        "arange": (lambda np_, x: np_.arange(x, 2.0), 0.5),
        "vander": (lambda np_, x: np_.vander(x, 3)[0], np.zeros(1)),
    },
    "jax.scipy.special": {
        "i0": (lambda special, x: special.i0(x), 0.0),
        "boxcox": (lambda special, a: special.boxcox(2.0, a), 0.0),
        "boxcox1p": (lambda special, a: special.boxcox1p(1.0, a), 0.0),
        "hyp1f1": (lambda special, a: special.hyp1f1(a, 1.0, 1.0), 0.0),
        "spence at 1": (lambda special, x: special.spence(x), 1.0),
        "spence at 2": (lambda special, x: special.spence(x), 2.0),
    },
    "jax.scipy.stats": {
        "gamma.sf": (lambda stats, x: stats.gamma.sf(x, 2.0), -1.0),
        "gamma.logsf": (lambda stats, x: stats.gamma.logsf(x, 2.0), -1.0),
        "truncnorm.sf": (lambda stats, a: stats.truncnorm.sf(0.3, a, 0.8), 0.55),
    },
    "dezero.functions": {
        "mean_squared_error": (lambda F, v: F.mean_squared_error(ONES, v), UNSORTED),
        "matmul": (lambda F, A: F.matmul(A, UNSORTED), ONES),
        "sigmoid_simple": (lambda F, x: F.sigmoid_simple(x), -800.0),
    },
    "mygrad": {
        "sech": (lambda mygrad, x: mygrad.sech(x), 800.0),
        "csch": (lambda mygrad, x: mygrad.csch(x), 800.0),
    },
    "tinygrad": {"elu": (lambda tinygrad, x: x.elu(), 800.0)},
}

# --- models and formulas, of which a library has a value and slopes ----------------------------

LIKELIHOOD, SCORE = ("loglike", "score"), ("score", "hessian")
COUNTS = np.array([0.0, 0.0, 1.0, 3.0])
LEVELS = np.array([1.0, 2.0, 0.5, 3.0])
ONE = np.ones((4, 1))
LINE = np.column_stack([ONE, [0.2, -0.7, 1.5, 0.4]])
SHARES = np.array([0.2, 0.1, 0.2])  # of the pairs of three points
THREE = np.array([0.3, 0.1, 0.0, -0.5, 0.2, 0.4, 0.7, -1.0, 0.1])
B, Z = np.array([0.3, 0.2]), np.array([0.5, 0.2])


def model(make, value, slopes, *rest):
    """Return a call of two methods of what ``make`` makes of a module; ``rest`` goes to both."""

    def call(module, x):
        made, x = make(module), x if np.ndim(x) else float(x)
        return getattr(made, value)(x, *rest), np.real(getattr(made, slopes)(x, *rest))

    return call


def mixed(sm, b):
    model = sm.MixedLM(LEVELS, LINE, [0, 0, 1, 1])
    model.reml, model.fe_pen, model.cov_pen = False, None, None
    params = sm.regression.mixed_linear_model.MixedLMParams.from_components(b, np.eye(1))
    return model.score_full(params, calc_fe=True)[0], model.hessian(params)[0][:2, :2]


# Equations of state: hexane, or pentane, hexane and heptane.

HEXANE = {"Tc": 507.6, "Pc": 3025000.0, "omega": 0.2975}
LIQUIDS = {
    "Tcs": [469.7, 507.4, 540.3],
    "Pcs": [3369000.0, 3012000.0, 2736000.0],
    "omegas": [0.249, 0.305, 0.349],
}
MIXED = np.array([0.2, 0.5, 0.3])


def stryjek_vera(eos, T, name, **kappas):
    model = getattr(eos, name)(T=float(T), P=1e6, **HEXANE, **kappas)
    return model.a_alpha_and_derivatives_pure(float(T))[2], model.d3a_alpha_dT3_pure(float(T))


def third_of_pressure(mix, x):
    amounts = np.array([0.2, 0.5, float(x)])
    total = amounts.sum()
    model = mix.PRMIX(zs=list(amounts / total), T=400.0, V=0.00014 / total, **LIQUIDS)
    second, third = model.d2P_dninjs_Vt("l"), model.d3P_dninjnks_Vt("l")
    return second[0][0] / total**2, third[0][0][2] / total**3


def fugacity(mix, z, name, **options):
    model = getattr(mix, name)(T=400.0, P=3e6, zs=list(map(float, z)), **LIQUIDS, **options)
    return np.array(model.lnphis_l), np.array(model.dlnphis_dzs(model.Z_l))


def van_der_waals(mix, z):
    pairs = [[0, 0.01, 0.02], [0.01, 0, 0.03], [0.02, 0.03, 0]]
    return fugacity(mix, z, "VDWMIX", kijs=pairs)


# Potentials.


def galpy(potential, x, name, value, derivative, at, axis, **options):
    """Return a potential's force and the derivative of it, with one coordinate as x."""
    model = getattr(potential, name)(**options)
    *coordinates, phi = (*at[:axis], float(x), *at[axis + 1 :])
    return (
        -getattr(model, value)(*coordinates, phi=phi),
        getattr(model, derivative)(*coordinates, phi=phi),
    )


FERRERS = {"name": "FerrersPotential", "at": (0.7, 0.2, 0.4), "b": 0.6, "c": 0.4, "pa": 0.3}
COSMPHI = {"name": "CosmphiDiskPotential", "at": (0.7, 0.4), "m": 3, "phib": 0.3, "p": 0.7}
COSMPHI |= {"rb": 0.9, "phio": 1.0}
DISK = {"name": "RazorThinExponentialDiskPotential", "at": (0.7, 1.0, 0.0)}


def truncated_sphere(sphere, z):
    model = sphere.SIS_truncate()
    given = {"theta_E": 1.1, "r_trunc": 1.3, "center_x": 0.1, "center_y": -0.05}
    x, y = z[:, None]
    first, second = model.derivatives(x, y, **given), model.hessian(x, y, **given)
    return np.ravel(first), np.reshape(second, (2, 2))


def gala(potential, x, name, **options):
    from gala.units import dimensionless

    model = getattr(potential, name)(units=dimensionless, **options)
    return model.gradient(x)[:, 0].value, model.hessian(x)[..., 0].value


SPACE = np.array([1.0, 0.7, 0.5])
FLAT = {"name": "LogarithmicPotential", "v_c": 1.0, "r_h": 0.1, "q1": 1.0, "q2": 0.95, "q3": 0.92}


def entropy(props, T, backend):
    at = "T", float(T), "P", 1e5, f"{backend}::Methane"
    return props.PropsSI("Smolar", *at), props.PropsSI("d(Smolar)/d(T)|P", *at)


# Transport, transforms and rotations.


def transport(ot, costs):
    weights = np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.4])
    found = ot.solve(costs, *weights, reg=5.0, reg_type="L2", tol=1e-12, max_iter=10**5)
    return found.value, found.plan


def hazard(lifelines, shape):
    from autograd import elementwise_grad

    def value(shape):
        return lifelines.GeneralizedGammaFitter()._cumulative_hazard([0.3, 0.2, shape], 1.7)

    return value(shape), elementwise_grad(value)(float(shape))


def ordered(transforms, share):
    shares, transform = np.array([share, 1 - share]), transforms.SimplexToOrderedTransform(2.0)
    y = transform(shares)
    return np.asarray(y)[0], np.exp(np.asarray(transform.log_abs_det_jacobian(shares, y)))


def in_torch(f, x):
    import torch

    x = torch.tensor(x, dtype=torch.float64)
    return f(x).detach().numpy(), torch.autograd.functional.jacobian(f, x).numpy()


# Likelihoods, copulas and kernels.


def censored(pints, z):
    class Line(pints.ForwardModelS1):
        def n_parameters(self):
            return 2

        def simulate(self, parameters, times):
            return parameters[0] + parameters[1] * times

        def simulateS1(self, parameters, times):
            return self.simulate(parameters, times), np.stack([times**0, times], axis=-1)

    times, measured = np.array([0.5, 1.0, 2.0, 3.0]), np.array([0.7, 1.2, 2.0, 2.0])
    problem = pints.SingleOutputProblem(Line(), times, measured)
    return pints.CensoredGaussianLogLikelihood(problem, upper=2.0).evaluateS1(z)


FAKE, REAL = np.array([1.0, -0.6]), np.array([-0.7, 0.9])


def critic(losses, fake, real, which):
    loss = losses.WGAN_GPLoss()
    given = {"module": "C", "Y_real": real, "gradInterp": np.eye(2) + 0.5}
    return loss.loss(fake, **given), loss.grad(fake, **given)[which]


def frank(copula, x, name):
    model = copula.FrankCopula(dim=2)
    model.params = float(x)
    return float(getattr(model, name)), float(np.squeeze(getattr(model, f"d{name}")(float(x))))


METRIC = np.array([[1.0, 0.3], [0.3, 0.7]])
APART = np.array([0.3, 0.8]), np.array([1.1, 0.2])
GENERATOR = "computeArchimedeanGenerator"
FACTOR = np.array([0.0, 0.3, np.log(np.sqrt(0.61))])


def of_metric(kernels, p):
    kernel = kernels.ExpSquaredKernel(metric=METRIC, ndim=2)
    kernel.set_parameter_vector(p)
    x, y = APART
    return kernel.get_value([x], [y])[0, 0], kernel.get_gradient([x], [y])[0, 0]


def of_input(kernels, x, which):
    kernel = kernels.ExpSquaredKernel(metric=METRIC, ndim=2)
    pair = ([x], [APART[1]]) if which == 1 else ([APART[0]], [x])
    return kernel.get_value(*pair)[0, 0], getattr(kernel, f"get_x{which}_gradient")(*pair)[0, 0]


def linear_kernel(GPy, y):
    kernel = GPy.kern.Linear(2, variances=1.5)
    one, x = np.ones((1, 1)), np.array([[0.3, 0.8]])
    return kernel.gradients_X(one, x, y[None])[0], kernel.gradients_XX(one, x, y[None])[0, 0]


def drude(models, x):
    given = np.array([2.0]), 1.0, float(x), 1.0
    model = models.Drude1D()
    return model.evaluate(*given)[0], model.fit_deriv(*given)[1][0]


def hermite(models, c):
    x, y = np.array([0.5]), np.array([0.7])
    model = models.Hermite2D(2, 2)
    return model.evaluate(x, y, *c[:, None])[0], np.ravel(model.fit_deriv(x, y))


@cache
def trained(models):
    X = np.random.default_rng(0).uniform(0, 1, size=(14, 2))
    theta = {"theta0": [8.0, 9.0], "theta_bounds": [8.0, 9.0]}
    model = models.KRG(corr="squar_exp", poly="linear", print_global=False, **theta)
    model.set_training_values(X, np.sin(3 * X[:, :1]) + X[:, 1:] ** 2)
    model.train()
    return model


def kriging(models, x):
    model = trained(models)
    slopes = [model.predict_variance_derivatives(x[None], k)[0, 0] for k in range(2)]
    return model.predict_variances(x[None])[0, 0], np.array(slopes)


PAIRS: dict[str, dict[str, tuple[Callable[..., Any], Any]]] = {
    "statsmodels.api": {
        "OLS.hessian": (model(lambda sm: sm.OLS(LEVELS, LINE), *SCORE), B),
        "GLM.score": (model(lambda sm: sm.GLM(LEVELS, LINE), *LIKELIHOOD), B),
        "AutoReg.score": (
            model(lambda sm: sm.tsa.AutoReg(np.append(0.4, LEVELS), 1), *LIKELIHOOD),
            B,
        ),
        "MixedLM.hessian": (mixed, B),
        "ZeroInflatedPoisson.hessian": (
            model(lambda sm: sm.ZeroInflatedPoisson(COUNTS, ONE), *SCORE),
            Z,
        ),
        "NegativeBinomial.hessian before fit": (
            model(lambda sm: sm.NegativeBinomial(COUNTS, ONE), *SCORE),
            Z,
        ),
    },
    "statsmodels.discrete.truncated_model": {
        "TruncatedLFGeneralizedPoisson.score": (
            model(lambda t: t.TruncatedLFGeneralizedPoisson(COUNTS + 1, ONE), *LIKELIHOOD),
            Z,
        ),
        "TruncatedLFNegativeBinomialP.score, p=1": (
            model(lambda t: t.TruncatedLFNegativeBinomialP(COUNTS + 1, ONE, p=1), *LIKELIHOOD),
            Z,
        ),
    },
    "statsmodels.distributions.copula.transforms": {
        "TransfFrank.deriv": (model(lambda t: t.TransfFrank(), "evaluate", "deriv", 2.0), 0.5),
        "TransfFrank.deriv2": (
            lambda t, x: (-2 / np.expm1(2 * x), t.TransfFrank().deriv2(x, 2.0)),
            0.5,
        ),
        "TransfGumbel.deriv2": (model(lambda t: t.TransfGumbel(), "deriv", "deriv2", 2.5), 0.5),
    },
    "sklearn.manifold._t_sne": {
        "t-SNE in three dimensions": (lambda t, p: t._kl_divergence(p, SHARES, 2, 3, 3), THREE),
    },
    "thermo.eos": {
        "PRSV.d3a_alpha_dT3_pure": (partial(stryjek_vera, name="PRSV", kappa1=0.05), 400.0),
        "PRSV2.d3a_alpha_dT3_pure": (
            partial(stryjek_vera, name="PRSV2", kappa1=0.05, kappa2=0.8, kappa3=0.46),
            400.0,
        ),
    },
    "thermo.eos_mix": {
        "d3P_dninjnks_Vt": (third_of_pressure, 0.3),
        "PRMIXTranslated.dlnphis_dzs": (
            partial(fugacity, name="PRMIXTranslated", cs=[1e-6, 2e-6, -1e-6]),
            MIXED,
        ),
        "VDWMIX.lnphis with kijs": (van_der_waals, MIXED),
    },
    "astropy.modeling.models": {
        "Drude1D.fit_deriv": (drude, 1.0),
        "Hermite2D.evaluate": (hermite, np.linspace(0.1, 0.9, 9)),
    },
    "galpy.potential": {
        **{
            f"FerrersPotential.{derivative}": (
                partial(galpy, value=value, derivative=derivative, axis=axis, **FERRERS),
                FERRERS["at"][axis],
            )
            for value, derivative, axis in (
                ("_Rforce", "_R2deriv", 0),
                ("_Rforce", "_Rzderiv", 1),
                ("_phitorque", "_phi2deriv", 2),
                ("_phitorque", "_Rphideriv", 0),
            )
        },
        "CosmphiDiskPotential.Rphideriv": (
            partial(galpy, value="_phitorque", derivative="_Rphideriv", axis=0, **COSMPHI),
            0.7,
        ),
        "RazorThinExponentialDiskPotential.z2deriv": (
            partial(galpy, value="_zforce", derivative="_z2deriv", axis=1, **DISK),
            1.0,
        ),
    },
    "lenstronomy.LensModel.Profiles.sis_truncate": {
        "SIS_truncate.hessian": (truncated_sphere, np.array([-1.3, 0.9])),
    },
    "gala.potential": {
        "KuzminPotential.hessian": (partial(gala, name="KuzminPotential", m=1.0, a=0.5), SPACE),
        "BurkertPotential.hessian": (
            partial(gala, name="BurkertPotential", rho=0.1, r0=1.0),
            SPACE,
        ),
        "LeeSutoTriaxialNFWPotential.hessian": (
            partial(
                gala, name="LeeSutoTriaxialNFWPotential", v_c=0.2, r_s=1.0, a=1.0, b=0.9, c=0.8
            ),
            SPACE,
        ),
        "LogarithmicPotential.hessian with phi": (partial(gala, phi=0.4, **FLAT), SPACE),
    },
    "CoolProp.CoolProp": {
        "Smolar of PR": (partial(entropy, backend="PR"), 300.0),
        "Smolar of SRK": (partial(entropy, backend="SRK"), 300.0),
    },
    "ot": {"solve with reg_type L2": (transport, np.array([[0.6, 0.3], [0.0, 0.1], [0.8, 0.9]]))},
    "lifelines": {"GeneralizedGammaFitter": (hazard, 1e-4)},
    "numpyro.distributions.transforms": {"SimplexToOrderedTransform": (ordered, 0.3)},
    "kornia.geometry.conversions": {
        "quaternion_exp_to_log": (
            lambda conversions, q: in_torch(conversions.quaternion_exp_to_log, q),
            np.array([1.0, 0.0, 0.0, 0.0]),
        ),
    },
    "e3nn.o3": {
        "matrix_to_quaternion": (
            lambda o3, t: in_torch(lambda t: o3.matrix_to_quaternion(o3.matrix_x(t)), t),
            0.0,
        ),
    },
    "openturns": {
        "InverseChiSquare.computePDF": (
            model(lambda o: o.InverseChiSquare(), "computeCDF", "computePDF"),
            0.9,
        ),
        "FrankCopula.computeArchimedeanGeneratorDerivative": (
            model(
                lambda openturns: openturns.FrankCopula(2.3), GENERATOR, f"{GENERATOR}Derivative"
            ),
            0.6,
        ),
    },
    "GPy": {"Linear.gradients_XX": (linear_kernel, APART[1])},
    "pints": {"CensoredGaussianLogLikelihood.evaluateS1": (censored, np.array([0.3, 0.6, 0.5]))},
    "numpy_ml.neural_nets.losses": {
        "WGAN_GPLoss.grad, fake": (lambda losses, y: critic(losses, y, REAL, 0), FAKE),
        "WGAN_GPLoss.grad, real": (lambda losses, y: critic(losses, FAKE, y, 1), REAL),
    },
    "copulae": {
        "FrankCopula.dtau": (partial(frank, name="tau"), 2.3),
        "FrankCopula.drho": (partial(frank, name="rho"), 2.3),
        "ClaytonCopula.dipsi": (model(lambda c: c.ClaytonCopula(-0.4, 2), "ipsi", "dipsi"), 0.6),
    },
    "george.kernels": {
        "ExpSquaredKernel.get_gradient": (of_metric, FACTOR),
        "ExpSquaredKernel.get_x1_gradient": (partial(of_input, which=1), APART[0]),
        "ExpSquaredKernel.get_x2_gradient": (partial(of_input, which=2), APART[1]),
    },
    "smt.surrogate_models": {"KRG.predict_variances": (kriging, np.array([0.37, 0.61]))},
}

# --- the derivatives that the libraries have -----------------------------------------------------


def hips(f):
    """Return f and its vjp, in the convention of the check for complex numbers."""
    from autograd import make_vjp

    return lambda x: np.asarray(f(x)), lambda u, x: np.conj(make_vjp(f)(x)[0](np.conj(u)))


def jax(f):
    from gradcheck_ref.adapters import from_jax

    f = from_jax(f)
    return f, f.vjp


def tape(wrap, slope_of, value_of):
    """Return what makes a NumPy function and its vjp of a function of a library's tensors."""

    def adapter(f):
        def vjp(u, x):
            tensor = wrap(np.array(x))
            return slope_of(f(tensor), u, tensor)

        return lambda x: np.asarray(value_of(f(wrap(np.array(x))))), vjp

    return adapter


def mygrad(f):
    from mygrad import tensor

    def slope_of(y, u, x):
        y.backward(u)
        return x.grad

    return tape(tensor, slope_of, lambda y: y.data)(f)


def dezero(f):
    vars(np).setdefault("int", int)  # NumPy had it when dezero was written
    from dezero import Variable

    def slope_of(y, u, x):
        y.grad = Variable(np.array(u))
        y.backward()
        return np.asarray(x.grad.data)

    return tape(Variable, slope_of, lambda y: y.data)(f)


def tinygrad(f):
    if not shutil.which("clang"):
        os.environ.setdefault("DEV", "PYTHON")  # its interpreter
    from tinygrad import Tensor

    def wrap(x):
        return Tensor(np.atleast_1d(x)).reshape(x.shape)

    def slope_of(y, u, x):
        return y.gradient(x, gradient=wrap(np.asarray(u)))[0].numpy()

    return tape(wrap, slope_of, lambda y: y.numpy())(f)


def pair(f):
    """Return the first of the two that f returns, and a vjp by the second, the slopes."""

    def vjp(u, x):
        y, slopes = f(x)
        slopes = np.reshape(slopes, (*np.shape(y), *x.shape))
        return np.tensordot(u, slopes, np.ndim(u))

    return lambda x: np.asarray(f(x)[0]), vjp


ADAPTERS = {"autograd": hips, "jax": jax, "mygrad": mygrad, "dezero": dezero, "tinygrad": tinygrad}
ROWS = [
    Found(name, path, *row)
    for table in (FUNCTIONS, PAIRS)
    for path, rows in table.items()
    for name, row in rows.items()
]


def function_of(found):
    """Return the function of the library, with its vjp."""
    vars(collections).setdefault("Hashable", collections.abc.Hashable)  # for numpy-ml
    adapter = ADAPTERS.get(found.path.split(".")[0], pair)
    return adapter(lambda x: found.call(importlib.import_module(found.path), x))


def slopes_of(f, x):
    """Return the Jacobian of f: of polynomials through 33 values of f along each axis."""
    radius, nodes, columns = 0.05 * np.maximum(1, np.abs(x)), chebyshev.chebpts1(33), []
    for index in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[index] = radius[index]
        values = np.stack([np.ravel(f(x + node * step)) for node in nodes])
        slope = chebyshev.chebder(chebyshev.chebfit(nodes, values, 32))
        columns.append(chebyshev.chebval(0, slope) / radius[index])
    return np.stack(columns, axis=-1).reshape((*np.shape(f(x)), *x.shape))
