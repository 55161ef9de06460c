"""Functions of complex numbers.

The gradient of a real L with respect to z = x + iy is dL/dx + i dL/dy, and dL is the real part of
sum(conj(u) df). So for a holomorphic f the gradient is u times the *conjugate* of f'(z), and
the conjugate is what people forget.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .case import Array, Bug, Case

SMOOTH = frozenset({"complex", "smooth"})

Z = np.array([0.8 - 0.5j, -0.6 + 1.1j, 1.3 + 0.4j])


def squared_modulus() -> Case:
    """|z|^2, real."""

    def f(z: Array) -> Any:
        return (z * z.conj()).real

    def vjp(u: Any, z: Array) -> Any:
        return u * 2 * z

    return Case(
        "squared_modulus",
        f,
        (Z.copy(),),
        vjp,
        SMOOTH,
        (
            Bug(
                "squared_modulus/conjugate",
                "conjugate",
                lambda u, z: u * 2 * z.conj(),
                "The derivative with respect to z, in another convention.",
                "conjugate",
            ),
            Bug(
                "squared_modulus/two-forgotten",
                "factor-half",
                lambda u, z: u * z,
                "Wirtinger's derivative, half of the gradient.",
                "factor",
            ),
            Bug(
                "squared_modulus/imaginary-part-lost",
                "dtype",
                lambda u, z: u * 2 * z.real + 0j,
                "A cast to real on the way.",
                "unknown",
            ),
        ),
    )


def complex_square() -> Case:
    """z^2."""

    def f(z: Array) -> Any:
        return z * z

    def vjp(u: Any, z: Array) -> Any:
        return u * 2 * z.conj()

    return Case(
        "complex_square",
        f,
        (Z.copy(),),
        vjp,
        SMOOTH,
        (
            Bug(
                "complex_square/conjugate",
                "conjugate",
                lambda u, z: u * 2 * z,
                "The real rule, without the conjugate.",
                "conjugate",
            ),
            Bug(
                "complex_square/sign",
                "sign",
                lambda u, z: -u * 2 * z.conj(),
                "i^2 = -1, once too often.",
                "sign",
            ),
            Bug(
                "complex_square/nearly",
                "perturbation",
                lambda u, z: u * 2 * z.conj() * np.exp(1e-4j),
                "A phase of 1e-4 from a calibration that only the backward pass applies.",
                "factor",
            ),
        ),
    )


def complex_exponential() -> Case:
    """e^z."""

    def f(z: Array) -> Any:
        return np.exp(z)

    def vjp(u: Any, z: Array) -> Any:
        return u * np.exp(z).conj()

    return Case(
        "complex_exponential",
        f,
        (Z.copy(),),
        vjp,
        SMOOTH,
        (
            Bug(
                "complex_exponential/conjugate",
                "conjugate",
                lambda u, z: u * np.exp(z),
                "The real rule, without the conjugate.",
                "conjugate",
            ),
            Bug(
                "complex_exponential/modulus",
                "phase-dropped",
                lambda u, z: u * np.exp(z.real),
                "Only the real part of z is exponentiated.",
                "unknown",
            ),
            Bug(
                "complex_exponential/factor-i",
                "factor",
                lambda u, z: u * 1j * np.exp(z).conj(),
                "The derivative of e^(iz), or of e^(-iz).",
                "factor",
            ),
        ),
    )


def complex_conjugate() -> Case:
    """Differentiate w conj(z) with fixed complex weights w."""
    w = np.array([0.7 + 1.2j, -0.9 + 0.3j, 0.5 - 1.4j])

    def f(z: Array) -> Any:
        return w * z.conj()

    def vjp(u: Any, z: Array) -> Any:
        return w * u.conj()

    return Case(
        "complex_conjugate",
        f,
        (Z.copy(),),
        vjp,
        SMOOTH,
        (
            Bug(
                "complex_conjugate/weights-conjugated",
                "conjugate",
                lambda u, z: w.conj() * u.conj(),
                "The rule for holomorphic functions is applied to one that is not.",
                "conjugate",
            ),
            Bug(
                "complex_conjugate/holomorphic",
                "conjugate",
                lambda u, z: w.conj() * u,
                "The conjugation of z is overlooked altogether.",
                "conjugate",
            ),
            Bug(
                "complex_conjugate/sign",
                "sign",
                lambda u, z: -w * u.conj(),
                "The sign of the imaginary part is taken for the sign of everything.",
                "sign",
            ),
        ),
    )


def complex_reciprocal() -> Case:
    """1 / z."""

    def f(z: Array) -> Any:
        return 1 / z

    def vjp(u: Any, z: Array) -> Any:
        return -u / (z * z).conj()

    return Case(
        "complex_reciprocal",
        f,
        (Z.copy(),),
        vjp,
        SMOOTH,
        (
            Bug(
                "complex_reciprocal/conjugate",
                "conjugate",
                lambda u, z: -u / (z * z),
                "The real rule, without the conjugate.",
                "conjugate",
            ),
            Bug(
                "complex_reciprocal/sign",
                "sign",
                lambda u, z: u / (z * z).conj(),
                "The minus is lost.",
                "sign",
            ),
            Bug(
                "complex_reciprocal/modulus-squared",
                "wrong-rule",
                lambda u, z: -u / (z * z.conj()),
                "z^2 is written as |z|^2.",
                "unknown",
            ),
        ),
    )


def modulus() -> Case:
    """|z|, away from 0."""

    def f(z: Array) -> Any:
        return np.sqrt(z.real**2 + z.imag**2)

    def vjp(u: Any, z: Array) -> Any:
        return u * z / f(z)

    return Case(
        "modulus",
        f,
        (Z.copy(),),
        vjp,
        SMOOTH,
        (
            Bug(
                "modulus/conjugate",
                "conjugate",
                lambda u, z: u * z.conj() / f(z),
                "The other convention for the gradient.",
                "conjugate",
            ),
            Bug(
                "modulus/half",
                "factor-half",
                lambda u, z: u * z / (2 * f(z)),
                "Wirtinger's derivative, half of the gradient.",
                "factor",
            ),
            Bug(
                "modulus/not-divided",
                "term-dropped",
                lambda u, z: u * z,
                "The division by the modulus is forgotten.",
                "unknown",
            ),
        ),
    )


def complex_matmul() -> Case:
    """Multiply two complex matrices."""

    def f(A: Array, B: Array) -> Any:
        return A @ B

    def vjp(u: Any, A: Array, B: Array) -> Any:
        return u @ B.conj().T, A.conj().T @ u

    A = np.array([[0.7 + 0.4j, -1.1 + 0.6j], [0.3 - 0.9j, 1.4 + 0.2j]])
    B = np.array([[1.2 - 0.3j, 0.5 + 0.8j], [-0.6 + 1.1j, 0.9 - 0.7j]])
    return Case(
        "complex_matmul",
        f,
        (A, B),
        vjp,
        SMOOTH,
        (
            Bug(
                "complex_matmul/left-conjugate",
                "conjugate",
                lambda u, A, B: (u @ B.T, A.conj().T @ u),
                "Transposed, but not conjugated.",
                "conjugate",
            ),
            Bug(
                "complex_matmul/right-conjugate",
                "conjugate",
                lambda u, A, B: (u @ B.conj().T, A.T @ u),
                "Transposed, but not conjugated.",
                "conjugate",
            ),
            Bug(
                "complex_matmul/right-zero",
                "zero",
                lambda u, A, B: (u @ B.conj().T, np.zeros_like(B)),
                "The second factor is taken for a constant.",
                "zero",
            ),
        ),
    )


FOURIER = np.exp(-2j * np.pi * np.outer(np.arange(4), np.arange(4)) / 4)


def power_spectrum() -> Case:
    """|F x|^2 with F the discrete Fourier transform of four real samples."""

    def f(x: Array) -> Any:
        # Real and imaginary part apart, so that no conjugate is hidden in a modulus.
        return (FOURIER.real @ x) ** 2 + (FOURIER.imag @ x) ** 2

    def vjp(u: Any, x: Array) -> Any:
        return 2 * (FOURIER.conj().T @ (u * (FOURIER @ x))).real

    return Case(
        "power_spectrum",
        f,
        (np.array([0.9, -1.3, 0.4, 1.7]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "power_spectrum/transform-not-conjugated",
                "conjugate",
                lambda u, x: 2 * (FOURIER.T @ (u * (FOURIER @ x))).real,
                "The forward transform is applied twice; time runs backward.",
                "permuted",
            ),
            Bug(
                "power_spectrum/inverse-transform",
                "factor",
                lambda u, x: 2 * (FOURIER.conj().T @ (u * (FOURIER @ x))).real / 4,
                "The inverse transform, with its 1 / n, instead of the adjoint.",
                "factor",
            ),
            Bug(
                "power_spectrum/real-part-only",
                "term-dropped",
                lambda u, x: 2 * FOURIER.real.T @ (u * (FOURIER.real @ x)),
                "The imaginary part is discarded before squaring.",
                "unknown",
            ),
        ),
    )


def cases() -> Iterator[Case]:
    """Build every case of this module anew."""
    yield squared_modulus()
    yield complex_square()
    yield complex_exponential()
    yield complex_conjugate()
    yield complex_reciprocal()
    yield modulus()
    yield complex_matmul()
    yield power_spectrum()
