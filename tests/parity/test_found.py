"""What `docs/found.csv` tells is so, in the versions that it names."""

import csv
import importlib.metadata
import importlib.util
from pathlib import Path

import found
import numpy as np
import pytest

from gradcheck_ref import check_jvp, check_vjp

pytestmark = pytest.mark.filterwarnings("ignore")

ROWS = csv.DictReader((Path(__file__).parents[2] / "docs/found.csv").read_text("utf-8").split("\n"))
VERSIONS = {row["library"].removeprefix("HIPS ").lower(): row["version"] for row in ROWS}
DISTRIBUTIONS = dict(sklearn="scikit-learn", skfem="scikit-fem", numpy_ml="numpy-ml", ot="POT")


def skip_unless_it_is(library):
    """Skip where another version is installed: it may have corrected what is told."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    name = DISTRIBUTIONS.get(library, library)
    version, told = importlib.metadata.version(name).split("+")[0], VERSIONS[name.lower()]
    if version != told:
        pytest.skip(f"{library} is {version}, and the table tells of {told}")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("row", found.ROWS, ids=lambda row: f"{row.path} {row.name}")
def test_the_check_refuses_it_and_accepts_the_slopes_of_a_polynomial(row):
    skip_unless_it_is(row.path.split(".")[0])
    f, vjp = found.function_of(row)
    point = np.array(row.point)
    assert check_vjp(f, point, vjp).verdict == "fail"
    slopes = found.slopes_of(f, point)

    def right(u, x):
        return np.tensordot(u, slopes.conj(), np.ndim(u)).reshape(x.shape)

    assert check_vjp(lambda x: f(x), point, right).verdict == "pass"


def test_a_probability_is_negative():
    """Reflection of one coordinate changes the sign of the correlation."""
    skip_unless_it_is("openturns")
    import openturns

    def copula(correlation):
        matrix = openturns.CorrelationMatrix(2, [1, correlation, correlation, 1])
        return openturns.StudentCopula(3.0, matrix)

    wrong = copula(-0.4).computeCDF([0.35, 0.45])
    assert wrong < -0.05
    assert 0.35 - copula(0.4).computeCDF([0.35, 0.55]) == pytest.approx(wrong + 0.2, abs=1e-6)


def test_an_element_returns_the_basis_of_the_point_before():
    """It computes anew only where the number of points changes."""
    skip_unless_it_is("skfem")
    from skfem import ElementLinePp

    element = ElementLinePp(2)
    at = [element.lbasis(np.array([[x]]), 2) for x in (0.3, 0.8)]
    assert [float(value[0]) for value, _ in at] == [float(at[0][0][0])] * 2
    x = 2 * 0.8 - 1
    right, slope = np.sqrt(1.5) * (x**2 - 1) / 2, np.sqrt(1.5) * 2 * x
    value, (claimed,) = ElementLinePp(2).lbasis(np.array([[0.8]]), 2)
    assert (value[0], claimed[0]) == pytest.approx((right, slope))
    assert at[1][1][0, 0] == pytest.approx(-np.sqrt(1.5) * 0.8)


@pytest.mark.parametrize(
    ("name", "slope"), [("elu", 1.0), ("asin", 1.0), ("atan", 1.0), ("erf", 2 / np.sqrt(np.pi))]
)
def test_a_rule_has_a_wrong_slope_at_0(name, slope):
    """It is a product with a sign or a switch, which are 0 there."""
    skip_unless_it_is("tinygrad")
    row = found.Found(name, "tinygrad", lambda tinygrad, x: getattr(x, name)(), 0.0)
    f, vjp = found.function_of(row)
    assert vjp(np.array(1.0), np.array(0.0)) == 0
    for side in (-1e-4, 1e-4):
        assert vjp(np.array(1.0), np.array(side)) == pytest.approx(slope, rel=1e-3)
    assert check_vjp(f, np.array(0.0), vjp).verdict != "pass"


def test_a_rule_may_be_right_backward_and_not_a_number_forward():
    skip_unless_it_is("jax")
    row = found.Found("entropy", "jax.scipy.stats.poisson", lambda p, mu: p.entropy(mu), 0.3)
    f, vjp = found.function_of(row)
    assert check_vjp(lambda x: f(x), np.array(0.3), vjp).verdict == "pass"
    assert check_jvp(lambda x: f(x), np.array(0.3), f.jvp).verdict == "fail"


def test_one_of_two_spheroidal_functions_is_not_a_solution():
    """The Wronskian of both is 1 / (c (x^2 + 1)): that of the pair that SciPy gives is not."""
    skip_unless_it_is("scipy")
    from scipy import special

    m, n, c, x = 1, 2, 2.0, 0.9
    first, first_slope = special.obl_rad1(m, n, c, x)
    second, second_slope = special.obl_rad2(m, n, c, x)
    wronskian = first * second_slope - first_slope * second
    assert abs(wronskian - 1 / (c * (x**2 + 1))) > 0.5
    report = check_vjp(
        lambda x: np.float64(special.obl_rad2(m, n, c, x)[0]),
        np.array(x),
        lambda u, x: u * second_slope,
    )
    assert report.verdict == "fail"


def test_near_0_the_slope_of_sinc_is_lost_by_cancellation():
    skip_unless_it_is("mygrad")
    row = found.Found("sinc", "mygrad", lambda mygrad, x: mygrad.sinc(x), 1e-9)
    _, vjp = found.function_of(row)
    assert vjp(np.array(1.0), np.array(1e-9)) == 0  # and minus pi^2 1e-9 / 3 is right


def test_operators_of_torch_are_wrong_in_company():
    """Each by torch alone."""
    skip_unless_it_is("torch")
    import torch
    from torch.utils.checkpoint import checkpoint

    def gradient(y, x, upstream=None):
        (found,) = torch.autograd.grad(y, x, upstream, allow_unused=True)
        return None if found is None else found.tolist()

    a, b = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0])
    y = torch.kron(a, b)
    b.mul_(10)
    assert gradient(y.sum(), a) == [70, 70]
    s, u = torch.zeros(2, requires_grad=True), torch.tensor([9.0, 9, 1, 2, 3, 4])
    scattered = [torch.as_strided_scatter(torch.zeros(4), s, (2,), (2,), 0) for _ in range(2)]
    assert gradient(scattered[0], s, u[2:]) == [9, 1]
    assert gradient(scattered[1], s, u[2:].clone()) == [1, 3]
    x = torch.ones(1, 2, 3, requires_grad=True)
    assert gradient(torch.native_group_norm(x, None, None, 1, 2, 3, 1, 1e-5)[1], x) is None

    def rrelu(x):
        torch.manual_seed(0)
        return torch.nn.functional.rrelu(x, training=True).sum()

    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    assert gradient(rrelu(x), x)[1] == 1
    assert gradient(checkpoint(rrelu, x, use_reentrant=False), x)[1] != 1
