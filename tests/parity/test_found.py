"""What the page `docs/found.md` tells is so, in the versions that it names."""

import importlib
import importlib.metadata
import importlib.util

import found
import numpy as np
import pytest

from gradcheck_ref import check_jvp, check_vjp

pytestmark = pytest.mark.filterwarnings("ignore")

ROWS = (*found.HIPS, *found.JAX, *found.OTHERS, *found.MODELS)
DISTRIBUTIONS = {"sklearn": "scikit-learn"}


def skip_unless_it_is(library):
    """Skip where another version is installed: it may have corrected what is told."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    version = importlib.metadata.version(DISTRIBUTIONS.get(library, library))
    if version != found.VERSIONS[library]:
        pytest.skip(f"{library} is {version}, and the page tells of {found.VERSIONS[library]}")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.path} {row.id}")
def test_the_check_refuses_it_and_accepts_the_derivative_by_another_route(row):
    skip_unless_it_is(row.path.split(".")[0])
    f, vjp = found.function_of(row)
    point = np.array(row.point[0])
    report = check_vjp(f, point, vjp)
    assert report.verdict == "fail"
    if row.slopes is None:
        assert report.reason == "shape"
        return
    slopes = np.reshape(row.slopes, (*np.shape(f(point)), *point.shape))

    def right(u, x):
        return np.tensordot(u, slopes.conj(), np.ndim(u)).reshape(x.shape)

    assert check_vjp(lambda x: f(x), point, right).verdict == "pass"


@pytest.mark.parametrize(
    ("name", "slope"), [("elu", 1.0), ("asin", 1.0), ("atan", 1.0), ("erf", 2 / np.sqrt(np.pi))]
)
def test_a_rule_has_a_wrong_slope_at_0(name, slope):
    """It is a product with a sign or a switch, which are 0 there."""
    skip_unless_it_is("tinygrad")
    row = found.Found(name, "tinygrad", lambda tinygrad, x: getattr(x, name)(), (0.0,), slope)
    f, vjp = found.function_of(row)
    assert vjp(np.array(1.0), np.array(0.0)) == 0
    for side in (-1e-4, 1e-4):
        assert vjp(np.array(1.0), np.array(side)) == pytest.approx(slope, rel=1e-3)
    assert check_vjp(f, np.array(0.0), vjp).verdict != "pass"


def test_a_rule_may_be_right_backward_and_not_a_number_forward():
    skip_unless_it_is("jax")
    row = found.Found("entropy", "jax.scipy.stats.poisson", lambda p, mu: p.entropy(mu), (0.3,), 0)
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
    row = found.Found("sinc", "mygrad", lambda mygrad, x: mygrad.sinc(x), (1e-9,), None)
    _, vjp = found.function_of(row)
    assert vjp(np.array(1.0), np.array(1e-9)) == 0  # and minus pi^2 1e-9 / 3 is right
