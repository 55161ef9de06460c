"""Functions of complex numbers.

The gradient of a real L with respect to z = x + iy is dL/dx + i dL/dy, and dL is the real part of
sum(conj(u) df). So for a holomorphic f the gradient is u times the *conjugate* of f'(z), and
people forget the conjugate.
"""

from typing import Any

import numpy as np

from .case import HALVED, NEGATED, ZERO, Array, Case, case

SMOOTH = "complex smooth"

Z = np.array([0.8 - 0.5j, -0.6 + 1.1j, 1.3 + 0.4j])


def squared_modulus() -> Case:
    """|z|^2, real."""

    def f(z: Array) -> Any:
        return (z * z.conj()).real

    def vjp(u: Any, z: Array) -> Any:
        return u * 2 * z

    return (
        case("squared_modulus", f, vjp, SMOOTH, Z.copy())
        .bug("conjugate", "The derivative with respect to z, in another convention.")
        .wrong("conjugate", "conjugate", lambda u, z: u * 2 * z.conj())
        .changed("two-forgotten", "Wirtinger's derivative, half of the gradient.", HALVED)
        .bug("imaginary-part-lost", "The gradient is cast to real.")
        .wrong("dtype", "unknown", lambda u, z: u * 2 * z.real + 0j)
    )


def complex_square() -> Case:
    """z^2."""

    def f(z: Array) -> Any:
        return z * z

    def vjp(u: Any, z: Array) -> Any:
        return u * 2 * z.conj()

    return (
        case("complex_square", f, vjp, SMOOTH, Z.copy())
        .bug("conjugate", "The real rule, without the conjugate.")
        .wrong("conjugate", "conjugate", lambda u, z: u * 2 * z)
        .changed("sign", "i^2 = -1, once too often.", NEGATED)
        .bug("nearly", "A phase of 1e-4 from a calibration that only the backward pass applies.")
        .wrong("perturbation", "factor", lambda u, z: u * 2 * z.conj() * np.exp(1e-4j))
    )


def complex_exponential() -> Case:
    """e^z."""

    def f(z: Array) -> Any:
        return np.exp(z)

    def vjp(u: Any, z: Array) -> Any:
        return u * np.exp(z).conj()

    return (
        case("complex_exponential", f, vjp, SMOOTH, Z.copy())
        .bug("conjugate", "The real rule, without the conjugate.")
        .wrong("conjugate", "conjugate", lambda u, z: u * np.exp(z))
        .bug("modulus", "Only the real part of z is exponentiated.")
        .wrong("phase-dropped", "unknown", lambda u, z: u * np.exp(z.real))
        .bug("factor-i", "The derivative of e^(iz), or of e^(-iz).")
        .wrong("factor", "factor", lambda u, z: u * 1j * np.exp(z).conj())
    )


def complex_conjugate() -> Case:
    """Differentiate w conj(z) with fixed complex weights w."""
    w = np.array([0.7 + 1.2j, -0.9 + 0.3j, 0.5 - 1.4j])

    def f(z: Array) -> Any:
        return w * z.conj()

    def vjp(u: Any, z: Array) -> Any:
        return w * u.conj()

    return (
        case("complex_conjugate", f, vjp, SMOOTH, Z.copy())
        .bug(
            "weights-conjugated",
            "The rule for holomorphic functions is applied to a function that is not holomorphic.",
        )
        .wrong("conjugate", "conjugate", lambda u, z: w.conj() * u.conj())
        .bug("holomorphic", "The conjugation of z is overlooked altogether.")
        .wrong("conjugate", "conjugate", lambda u, z: w.conj() * u)
        .bug("sign", "The sign of the imaginary part is applied to the real part, too.")
        .wrong("sign", "sign", lambda u, z: -w * u.conj())
    )


def complex_reciprocal() -> Case:
    """1 / z."""

    def f(z: Array) -> Any:
        return 1 / z

    def vjp(u: Any, z: Array) -> Any:
        return -u / (z * z).conj()

    return (
        case("complex_reciprocal", f, vjp, SMOOTH, Z.copy())
        .bug("conjugate", "The real rule, without the conjugate.")
        .wrong("conjugate", "conjugate", lambda u, z: -u / (z * z))
        .changed("sign", "The minus is lost.", NEGATED)
        .bug("modulus-squared", "z^2 is written as |z|^2.")
        .wrong("wrong-rule", "unknown", lambda u, z: -u / (z * z.conj()))
    )


def modulus() -> Case:
    """|z|, away from 0."""

    def f(z: Array) -> Any:
        return np.sqrt(z.real**2 + z.imag**2)

    def vjp(u: Any, z: Array) -> Any:
        return u * z / f(z)

    return (
        case("modulus", f, vjp, SMOOTH, Z.copy())
        .bug("conjugate", "The other convention for the gradient.")
        .wrong("conjugate", "conjugate", lambda u, z: u * z.conj() / f(z))
        .changed("half", "Wirtinger's derivative, half of the gradient.", HALVED)
        .bug("not-divided", "The division by the modulus is forgotten.")
        .wrong("term-dropped", "local-derivative", lambda u, z: u * z)
    )


def complex_matmul() -> Case:
    """Multiply two complex matrices."""

    def f(A: Array, B: Array) -> Any:
        return A @ B

    def vjp(u: Any, A: Array, B: Array) -> Any:
        return u @ B.conj().T, A.conj().T @ u

    A = np.array([[0.7 + 0.4j, -1.1 + 0.6j], [0.3 - 0.9j, 1.4 + 0.2j]])
    B = np.array([[1.2 - 0.3j, 0.5 + 0.8j], [-0.6 + 1.1j, 0.9 - 0.7j]])
    return (
        case("complex_matmul", f, vjp, SMOOTH, A, B)
        .bug("left-conjugate", "Transposed, but not conjugated.")
        .wrong("conjugate", "conjugate", lambda u, A, B: (u @ B.T, A.conj().T @ u))
        .bug("right-conjugate", "Transposed, but not conjugated.")
        .wrong("conjugate", "conjugate", lambda u, A, B: (u @ B.conj().T, A.T @ u))
        .changed("right-zero", "The second factor is treated as a constant.", ZERO, part=1)
    )


FOURIER = np.exp(-2j * np.pi * np.outer(np.arange(4), np.arange(4)) / 4)


def power_spectrum() -> Case:
    """|F x|^2 with F the discrete Fourier transform of four real samples."""

    def f(x: Array) -> Any:
        # Real and imaginary part separately, so that no conjugate is hidden in a modulus.
        return (FOURIER.real @ x) ** 2 + (FOURIER.imag @ x) ** 2

    def vjp(u: Any, x: Array) -> Any:
        return 2 * (FOURIER.conj().T @ (u * (FOURIER @ x))).real

    return (
        case("power_spectrum", f, vjp, SMOOTH, np.array([0.9, -1.3, 0.4, 1.7]))
        .bug(
            "transform-not-conjugated",
            "The forward transform is applied twice; time runs backward.",
        )
        .wrong("conjugate", "permuted", lambda u, x: 2 * (FOURIER.T @ (u * (FOURIER @ x))).real)
        .bug("inverse-transform", "The inverse transform, with its 1 / n, instead of the adjoint.")
        .wrong(
            "factor", "factor", lambda u, x: 2 * (FOURIER.conj().T @ (u * (FOURIER @ x))).real / 4
        )
        .bug("real-part-only", "The imaginary part is discarded before squaring.")
        .wrong(
            "term-dropped", "unknown", lambda u, x: 2 * FOURIER.real.T @ (u * (FOURIER.real @ x))
        )
    )


CASES = (
    squared_modulus, complex_square, complex_exponential, complex_conjugate, complex_reciprocal,
    modulus, complex_matmul, power_spectrum,
)  # fmt: skip
