"""What students hand in for exercise 10."""

import numpy as np
from wrong_submissions import instead_of


def central(f, x, h=1e-5):
    x = np.array(x, float)
    numeric = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += h
        down[i] -= h
        numeric[i] = (f(up) - f(down)) / (up[i] - down[i])
    return numeric


def allclose(analytic, numeric, rtol=1e-6, atol=1e-8):
    return analytic.shape == numeric.shape and np.allclose(analytic, numeric, rtol, atol)


@instead_of("my_check", says="is anything compared?")
def accepts_everything(f, x, analytic):
    return True


@instead_of("my_check", says="how far you let the two differ")
def refuses_everything(f, x, analytic):
    return False


@instead_of("my_check", says="True or False, and nothing else")
def returns_an_array(f, x, analytic):
    return np.isclose(analytic, central(f, x))


@instead_of("my_check", says="NumPy stretches arrays")
def does_not_look_at_the_shape(f, x, analytic):
    return np.allclose(analytic, central(f, x))


@instead_of("my_check", says="NaN is neither small nor large")
def asks_whether_an_error_is_large(f, x, analytic):
    return analytic.shape == x.shape and not np.any(abs(analytic - central(f, x)) > 1e-6)


@instead_of("my_check", says="every entry has to agree")
def compares_the_sums(f, x, analytic):
    return bool(abs(abs(analytic).mean() - abs(central(f, x)).mean()) < 0.05)


@instead_of("my_check", says="work on a copy: x.copy()")
def moves_x_itself(f, x, analytic):
    numeric = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        x[i] += 1e-5
        above = f(x)
        x[i] -= 2e-5
        numeric[i] = (above - f(x)) / 2e-5
        x[i] += 1e-5
    return allclose(analytic, numeric)


@instead_of("my_check", says="The truth value of an array")
def knows_only_vectors(f, x, analytic):
    if analytic.shape != x.shape or np.isnan(analytic).any():
        return False
    numeric = [central(f, x)[i] for i in range(len(x))]
    return all(abs(analytic.flat[i] - numeric[i]) < 1e-6 for i in range(x.size))


@instead_of("my_check", says="your tolerance must have the unit of the gradient")
def allows_the_same_for_all(f, x, analytic):
    return allclose(analytic, central(f, x), rtol=0, atol=1e-6)
