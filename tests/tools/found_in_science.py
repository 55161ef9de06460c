"""Wrong derivatives in libraries for thermodynamics, astronomy, statistics and engineering.

Rows of the page `docs/found_in_science.md`, as those in `found.py`. The right slopes are formulas
of their own, or the library's for the same thing, seen from another side.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from found import Found, gradient, hessian


def cauchy(f, x, order, radius):
    """Return a derivative of an analytic f, complex, by Cauchy's integral around x."""
    turns = np.exp(2j * np.pi * np.arange(32) / 32)
    values = np.array([f(x + radius * turn) for turn in turns])
    return (values * turns**-order).mean() * math.factorial(order) / radius**order


def slope(f, x):
    return np.imag(f(x + 1e-30j)) / 1e-30


# Equations of state: hexane, or pentane, hexane and heptane.

HEXANE = {"Tc": 507.6, "Pc": 3025000.0, "omega": 0.2975}
THREE = {
    "Tcs": [469.7, 507.4, 540.3],
    "Pcs": [3369000.0, 3012000.0, 2736000.0],
    "omegas": [0.249, 0.305, 0.349],
}
SHARES = np.array([0.2, 0.5, 0.3])
SHIFTS = [1e-6, 2e-6, -1e-6]
KAPPAS = {"PRSV": {"kappa1": 0.05}, "PRSV2": {"kappa1": 0.05, "kappa2": 0.8, "kappa3": 0.46}}
R = 8.31446261815324


def second_and_third(eos, name, T):
    model = getattr(eos, name)(T=float(T), P=1e6, **HEXANE, **KAPPAS[name])
    return model.a_alpha_and_derivatives_pure(float(T))[2], model.d3a_alpha_dT3_pure(float(T))


def attraction(T, kappa1, kappa2=0.0, kappa3=0.0):
    """Return a(T) of Stryjek and Vera."""
    w, share = HEXANE["omega"], T / HEXANE["Tc"]
    kappa0 = 0.378893 + 1.4897153 * w - 0.17131848 * w**2 + 0.0196554 * w**3
    kappa1 = kappa1 + kappa2 * (kappa3 - share) * (1 - np.sqrt(share))
    kappa = kappa0 + kappa1 * (1 + np.sqrt(share)) * (0.7 - share)
    return peng_robinson_a(HEXANE["Tc"], HEXANE["Pc"]) * (1 + kappa * (1 - np.sqrt(share))) ** 2


def peng_robinson_a(Tc, Pc):
    return 0.4572355289213821938 * (R * Tc) ** 2 / Pc


def mixture(shares, T=400.0):
    """Return b, and rows of a, of the Peng-Robinson equation, for any sum of the shares."""
    Tc, Pc, w = (np.array(THREE[name]) for name in ("Tcs", "Pcs", "omegas"))
    kappa = 0.37464 + 1.54226 * w - 0.26992 * w**2
    roots = np.sqrt(peng_robinson_a(Tc, Pc)) * (1 + kappa * (1 - np.sqrt(T / Tc)))
    return 0.0777960739038884559 * R * Tc / Pc, roots * (roots @ shares)


def third_of_pressure(mix, x):
    amounts = np.array([0.2, 0.5, float(x)])
    total = amounts.sum()
    state = {"T": 400.0, "V": LIQUID / total}
    model = mix.PRMIX(zs=list(amounts / total), **state, **THREE)
    entry = (model.d2P_dninjs_Vt("l")[0][0], model.d3P_dninjnks_Vt("l")[0][0][2])
    return entry[0] / total**2, entry[1] / total**3


LIQUID = 0.00014


def pressure(amounts):
    """Return the pressure of some amounts in the volume LIQUID at 400 K."""
    b, rows = mixture(amounts)
    total, b = sum(amounts), b @ amounts
    attracted = amounts @ rows / (LIQUID**2 + 2 * b * LIQUID - b**2)
    return total * R * 400.0 / (LIQUID - b) - attracted


def right_third_of_pressure(_):
    def second(x):
        return cauchy(lambda n: pressure(np.array([n, 0.5, x])), 0.2, 2, 0.02)

    return cauchy(second, 0.3, 1, 0.02).real


def fugacity(mix, name, z):
    cs = {"cs": SHIFTS} if name == "PRMIXTranslated" else {}
    model = getattr(mix, name)(T=400.0, P=3e6, zs=list(map(float, z)), **THREE, **cs)
    return np.array(model.lnphis_l), np.array(model.dlnphis_dzs(model.Z_l))


def log_fugacities(z, T=400.0, P=3e6):
    """Return those of the Peng-Robinson equation; a translation only adds a constant."""
    bs, rows = mixture(z)
    a, B = z @ rows, bs @ z * P / (R * T)
    A = a * P / (R * T) ** 2
    Z = 0.02
    for _ in range(40):
        f = Z**3 - (1 - B) * Z**2 + (A - 3 * B**2 - 2 * B) * Z - (A * B - B**2 - B**3)
        Z = Z - f / (3 * Z**2 - 2 * (1 - B) * Z + A - 3 * B**2 - 2 * B)
    share, root = bs / (bs @ z), np.sqrt(2)
    log = np.log((Z + (1 + root) * B) / (Z + (1 - root) * B))
    return share * (Z - 1) - np.log(Z - B) - A / (2 * root * B) * (2 * rows / a - share) * log


def jacobian(f, z):
    return np.stack([np.imag(f(z + 1e-30j * e)) / 1e-30 for e in np.eye(z.size)], axis=-1)


# Potentials.


def galpy(name, value, derivative, at, axis, **options):
    """Return what calls a potential and its derivative with one coordinate as x."""

    def call(potential, x):
        model = getattr(potential, name)(**options)
        point = [*at[:axis], float(x), *at[axis + 1 :]]
        coordinates = point[:-1]
        return (
            -getattr(model, value)(*coordinates, phi=point[-1]),
            getattr(model, derivative)(*coordinates, phi=point[-1]),
        )

    return call


BAR = {"b": 0.6, "c": 0.4}
TURNED = (0.7, 0.2, 0.4)


def bar_turned_back(derivative):
    """Return the derivative of the same bar along the x-axis, seen from the turned point."""
    return lambda p: getattr(p.FerrersPotential(**BAR), derivative)(0.7, 0.2, phi=0.4 - 0.3)


def disk(potential, z):
    model = potential.RazorThinExponentialDiskPotential()
    return -model._zforce(0.7, float(z)), model._z2deriv(0.7, float(z))


def disk_by_hankel(_):
    """Return the integral over J0, where J0 is an integral itself; the scale length is 1/3."""
    k = np.linspace(0, 60, 6001)
    bessel = np.cos(0.7 * k[:, None] * np.sin(np.arange(64) * np.pi / 64)).mean(axis=1)
    rows = 2 * np.pi * 3 * k**2 * bessel * np.exp(-k) / (9 + k**2) ** 1.5
    return -np.sum(rows * np.where(np.arange(6001) % 2, 4, 2)) * 0.01 / 3


def truncated_sphere(sphere, z):
    model = sphere.SIS_truncate()
    arguments = {"theta_E": 1.1, "r_trunc": 1.3, "center_x": 0.1, "center_y": -0.05}
    first = model.derivatives(np.array([z[0]]), np.array([z[1]]), **arguments)
    second = model.hessian(np.array([z[0]]), np.array([z[1]]), **arguments)
    return np.ravel(first), np.reshape(second, (2, 2))


def lens(z):
    r = np.sqrt((z[0] - 0.1) ** 2 + (z[1] + 0.05) ** 2)
    return 1.1 * (1.3 + (3 - r / 1.3) * (r - 1.3) / 2)


# Likelihoods, copulas and kernels.


def censored(pints, z):
    class Line(pints.ForwardModelS1):
        def n_parameters(self):
            return 2

        def simulate(self, parameters, times):
            return parameters[0] + parameters[1] * times

        def simulateS1(self, parameters, times):
            return self.simulate(parameters, times), np.stack([times**0, times], axis=-1)

    problem = pints.SingleOutputProblem(Line(), TIMES, np.minimum(MEASURED, 2.0))
    value, slopes = pints.CensoredGaussianLogLikelihood(problem, upper=2.0).evaluateS1(z)
    return value, slopes


TIMES, MEASURED = np.array([0.5, 1.0, 2.0, 3.0]), np.array([0.7, 1.2, 2.0, 2.0])


def right_slopes_of_censored(z):
    """Return the sums of the slopes of log density and of log survival."""
    values, sigma = z[0] + z[1] * TIMES, z[2]
    inputs = np.stack([np.ones(4), TIMES])
    far = (MEASURED - values) / sigma
    below = MEASURED < 2
    tail = np.array([math.erfc(x / math.sqrt(2)) / 2 for x in far])
    hazard = np.exp(-(far**2) / 2) / math.sqrt(2 * math.pi) / tail
    by_value = np.where(below, far, hazard) / sigma
    by_sigma = np.where(below, far**2 - 1, hazard * far) / sigma
    return np.append(inputs @ by_value, by_sigma.sum())


def critic(losses, fake, real):
    loss, slopes = losses.WGAN_GPLoss(), np.eye(2) + 0.5
    given = {"module": "C", "Y_real": real, "gradInterp": slopes}
    return loss.loss(fake, **given), loss.grad(fake, **given)


def frank(copula, name, x):
    model = copula.FrankCopula(dim=2)
    model.params = float(x)
    return float(getattr(model, name)), float(np.squeeze(getattr(model, f"d{name}")(float(x))))


def debye(order, x):
    nodes, weights = np.polynomial.legendre.leggauss(40)
    t = (nodes + 1) / 2
    return order * np.sum(weights / 2 * t ** (order - 1) * x * t / (np.exp(x * t) - 1))


def generator(openturns, t):
    model = openturns.FrankCopula(2.3)
    value = model.computeArchimedeanGenerator(float(t))
    return value, model.computeArchimedeanGeneratorDerivative(float(t))


def inverse_chi_square(openturns, x):
    model = openturns.InverseChiSquare()
    return model.computeCDF(float(x)), model.computePDF(float(x))


METRIC = np.array([[1.0, 0.3], [0.3, 0.7]])
APART = np.array([0.3, 0.8]), np.array([1.1, 0.2])


def squared_exponential(kernels, p):
    kernel = kernels.ExpSquaredKernel(metric=METRIC, ndim=2)
    kernel.set_parameter_vector(p)
    x, y = APART
    return kernel.get_value([x], [y])[0, 0], kernel.get_gradient([x], [y])[0, 0]


def of_factor(p):
    """Return the kernel for the Cholesky factor, with logarithms on the diagonal."""
    u = (APART[0] - APART[1])[0] / np.exp(p[0])
    v = ((APART[0] - APART[1])[1] - p[1] * u) / np.exp(p[2])
    return np.exp(-(u**2 + v**2) / 2)


def at_input(kernels, x, which):
    kernel = kernels.ExpSquaredKernel(metric=METRIC, ndim=2)
    pair = ([x], [APART[1]]) if which == 1 else ([APART[0]], [x])
    return kernel.get_value(*pair)[0, 0], getattr(kernel, f"get_x{which}_gradient")(*pair)[0, 0]


def of_inputs(x, y):
    return np.exp(-(x - y) @ np.linalg.inv(METRIC) @ (x - y) / 2)


def linear_kernel(GPy, y):
    kernel = GPy.kern.Linear(2, variances=1.5)
    one, x = np.ones((1, 1)), np.array([[0.3, 0.8]])
    return kernel.gradients_X(one, x, y[None])[0], kernel.gradients_XX(one, x, y[None])[0, 0]


def drude(models, x):
    given = np.array([2.0]), 1.0, float(x), 1.0
    model = models.Drude1D()
    return model.evaluate(*given)[0], model.fit_deriv(*given)[1][0]


FACTOR = np.array([0.0, 0.3, np.log(np.sqrt(0.61))])
CENSORED = np.array([0.3, 0.6, 0.5])
FAKE, REAL = np.array([1.0, -0.6]), np.array([-0.7, 0.9])
SCIENCE = tuple(
    Found(name, path, call, (at,), slopes)
    for path, name, call, at, slopes in (
        *(
            (
                "thermo.eos", f"{name}.d3a_alpha_dT3_pure",
                lambda eos, T, name=name: second_and_third(eos, name, T),
                400.0, cauchy(lambda T, k=KAPPAS[name]: attraction(T, **k), 400.0, 3, 80.0).real,
            )
            for name in KAPPAS
        ),
        ("thermo.eos_mix", "d3P_dninjnks_Vt", third_of_pressure, 0.3, right_third_of_pressure),
        (
            "thermo.eos_mix", "PRMIXTranslated.dlnphis_dzs",
            lambda mix, z: fugacity(mix, "PRMIXTranslated", z),
            SHARES, jacobian(log_fugacities, SHARES),
        ),
        (
            "astropy.modeling.models", "Drude1D.fit_deriv", drude, 1.0,
            slope(lambda x: x**-2 / ((2 / x - x / 2) ** 2 + x**-2), 1.0),
        ),
        *(
            (
                "galpy.potential", f"FerrersPotential.{derivative}",
                galpy("FerrersPotential", value, derivative, TURNED, axis, pa=0.3, **BAR),
                TURNED[axis], bar_turned_back(derivative),
            )
            for value, derivative, axis in (
                *(("_Rforce", "_R2deriv", 0), ("_Rforce", "_Rzderiv", 1)),
                *(("_phitorque", "_phi2deriv", 2), ("_phitorque", "_Rphideriv", 0)),
            )
        ),
        (
            "galpy.potential", "CosmphiDiskPotential.Rphideriv",
            galpy(
                "CosmphiDiskPotential", "_phitorque", "_Rphideriv", (0.7, 0.4), 0,
                m=3, phib=0.3, p=0.7, rb=0.9, phio=1.0,
            ),
            0.7, -3 * 0.9**1.4 * 0.7 * 0.7**-1.7 * np.sin(3 * (0.4 - 0.3)),
        ),
        ("galpy.potential", "RazorThinExponentialDiskPotential.z2deriv", disk, 1.0, disk_by_hankel),
        (
            "lenstronomy.LensModel.Profiles.sis_truncate", "SIS_truncate.hessian", truncated_sphere,
            np.array([-1.3, 0.9]), hessian(lens, np.array([-1.3, 0.9])),
        ),
        (
            "openturns", "InverseChiSquare.computePDF", inverse_chi_square,
            0.9, 0.9**-1.5 * np.exp(-1 / 1.8) / np.sqrt(2 * np.pi),
        ),
        (
            "openturns", "FrankCopula.computeArchimedeanGeneratorDerivative", generator,
            0.6, -2.3 / np.expm1(2.3 * 0.6),
        ),
        ("GPy", "Linear.gradients_XX", linear_kernel, APART[1], 1.5 * np.eye(2)),
        (
            "pints", "CensoredGaussianLogLikelihood.evaluateS1", censored,
            CENSORED, right_slopes_of_censored(CENSORED),
        ),
        (
            "numpy_ml.neural_nets.losses", "WGAN_GPLoss.grad, fake",
            lambda losses, y: (critic(losses, y, REAL)[0], critic(losses, y, REAL)[1][0]),
            FAKE, [0.5, 0.5],
        ),
        (
            "numpy_ml.neural_nets.losses", "WGAN_GPLoss.grad, real",
            lambda losses, y: (critic(losses, FAKE, y)[0], critic(losses, FAKE, y)[1][1]),
            REAL, [-0.5, -0.5],
        ),
        (
            "copulae", "FrankCopula.dtau", lambda c, x: frank(c, "tau", x),
            2.3, slope(lambda x: 4 * (debye(1, x) - 1) / x, 2.3),
        ),
        (
            "copulae", "FrankCopula.drho", lambda c, x: frank(c, "rho", x),
            2.3, slope(lambda x: 12 * (debye(2, x) - debye(1, x)) / x, 2.3),
        ),
        (
            "copulae", "ClaytonCopula.dipsi",
            lambda c, u: (
                np.squeeze(c.ClaytonCopula(-0.4, 2).ipsi(u)),
                np.squeeze(c.ClaytonCopula(-0.4, 2).dipsi(u)),
            ),
            0.6, -0.4 * 0.6**-0.6,
        ),
        (
            "george.kernels", "ExpSquaredKernel.get_gradient", squared_exponential,
            FACTOR, gradient(of_factor, FACTOR),
        ),
        *(
            (
                "george.kernels", f"ExpSquaredKernel.get_x{which}_gradient",
                lambda kernels, x, which=which: at_input(kernels, x, which),
                APART[which - 1],
                gradient(lambda x, y=APART[2 - which]: of_inputs(x, y), APART[which - 1]),
            )
            for which in (1, 2)
        ),
    )
)  # fmt: skip


@dataclass(frozen=True)
class WrongValue:
    """A function that is wrong itself, beside slopes that are right, or fit nothing.

    ``call`` returns the value and the slopes of the library, and ``right`` is another way to the
    value.
    """

    id: str
    path: str
    call: Callable[..., Any]
    point: Any
    right: Callable[..., Any]


def with_interaction(mix, z):
    pairs = [[0, 0.01, 0.02], [0.01, 0, 0.03], [0.02, 0.03, 0]]
    given = {name: THREE[name] for name in ("Tcs", "Pcs")}
    model = mix.VDWMIX(T=400.0, P=3e6, zs=list(map(float, z)), kijs=pairs, **given)
    return np.array(model.lnphis_l), np.array(model.dlnphis_dzs(model.Z_l))


def van_der_waals(z, T=400.0, P=3e6):
    pairs = np.array([[0, 0.01, 0.02], [0.01, 0, 0.03], [0.02, 0.03, 0]])
    Tc, Pc = np.array(THREE["Tcs"]), np.array(THREE["Pcs"])
    roots, bs = np.sqrt(27 / 64 * (R * Tc) ** 2 / Pc), R * Tc / Pc / 8
    rows = ((1 - pairs) * np.outer(roots, roots)) @ z
    a, b = z @ rows, bs @ z
    Z = 0.05
    A, B = a * P / (R * T) ** 2, b * P / (R * T)
    for _ in range(40):
        f = Z**3 - (1 + B) * Z**2 + A * Z - A * B
        Z = Z - f / (3 * Z**2 - 2 * (1 + B) * Z + A)
    V = Z * R * T / P
    return bs / (V - b) - np.log(Z - B) - 2 * rows / (R * T * V)


def hermite(models, c):
    x, y = np.array([0.5]), np.array([0.7])
    model = models.Hermite2D(2, 2)
    return model.evaluate(x, y, *c[:, None])[0], model.fit_deriv(x, y)[0]


def hermite_series(c):
    return np.polynomial.hermite.hermval2d(0.5, 0.7, c.reshape(3, 3).T)


def kriging(models, x):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, size=(14, 2))
    model = models.KRG(
        corr="squar_exp", poly="linear", theta0=[8.0, 9.0], theta_bounds=[8.0, 9.0],
        print_global=False,
    )  # fmt: skip
    model.set_training_values(X, np.sin(3 * X[:, :1]) + X[:, 1:] ** 2)
    model.train()
    slopes = [model.predict_variance_derivatives(x[None], k)[0, 0] for k in range(2)]
    return model.predict_variances(x[None])[0, 0], np.array(slopes), model


def variance(models, x):
    """Return the variance of universal kriging, by a dense inverse."""
    *_, model = kriging(models, x)
    x, X = (x - model.X_offset) / model.X_scale, model.X_norma

    def correlation(p, q):
        distances = (p[:, None] - q) ** 2 @ model.optimal_theta
        return np.exp(-distances)

    K = np.linalg.inv(correlation(X, X) + model.options["nugget"] * np.eye(14))
    F, k = np.column_stack([np.ones(14), X]), correlation(x[None], X)[0]
    u = F.T @ K @ k - np.append(1, x)
    inner = np.linalg.solve(F.T @ K @ F, u)
    return (model.optimal_par["sigma2"] * (1 - k @ K @ k + u @ inner))[0]


VALUES = (
    WrongValue(
        "VDWMIX.lnphis with kijs", "thermo.eos_mix", with_interaction, SHARES,
        lambda mix, z: van_der_waals(z),
    ),
    WrongValue(
        "Hermite2D.evaluate", "astropy.modeling.models", hermite, np.linspace(0.1, 0.9, 9),
        lambda models, c: hermite_series(c),
    ),
    WrongValue(
        "KRG.predict_variances", "smt.surrogate_models",
        lambda models, x: kriging(models, x)[:2], np.array([0.37, 0.61]), variance,
    ),
)  # fmt: skip
VERSIONS = {
    "thermo": "0.6.1",
    "astropy": "8.0.2",
    "galpy": "1.12.1",
    "lenstronomy": "1.14.2",
    "openturns": "1.27.post1",
    "skfem": "12.0.2",
    "GPy": "1.15.0",
    "pints": "0.6.1",
    "numpy_ml": "0.1.2",
    "copulae": "0.8.0",
    "george": "0.4.4",
    "smt": "2.15.0",
}
