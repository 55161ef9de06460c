"""The gradient alone, where a function returns it behind the value: ``(value, gradient)``.

The rule has three cases. A result that fits as the gradients of the inputs is just that. Any other
pair of a number and a gradient is a value and a gradient. If a result fits as both, and the number
is the value of f, the caller has to say which it is.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.knobs import RTOL
from gradcheck_ref.structure.gradients import fits, value_and_gradient


class GradientAlone:
    """Gradients, or a function that returns them, without the values that come with them.

    Parameters
    ----------
    ask : Ask
        Calls f, and knows its value and its inputs.
    who : str
        The name of the claim; ``f`` if it is f itself, which then always returns pairs.
    claim : any
        The gradients, or the function.
    """

    def __init__(self, ask: Ask, who: str, claim: Any) -> None:
        self.ask, self.who, self.claim = ask, who, claim
        self.value: float | None = None  # another value than that of f, at the first call
        self.given = self._called if callable(claim) else self._of(claim)

    def _called(self, /, *inputs: Any, **named: Any) -> Any:
        """Return the gradient alone, at any point."""
        return self._of(self.claim(*inputs, **named))

    def _of(self, given: Any) -> Any:
        """Return the gradient in what the function returned."""
        pair, inputs = value_and_gradient(given), self.ask.inputs
        if self.who == "f":
            return given if pair is None else pair[1]
        if pair is None:
            return given
        rounding = max(RTOL, 10 * self.ask.precision)  # two formulas for one value differ by that
        is_value = bool(np.isclose(pair[0], self.ask.first[0], rtol=rounding, atol=0.0))
        if fits(inputs, given):
            if is_value and fits(inputs, pair[1]):
                raise ValueError(
                    f"{self.who} gives two numbers, and the first is the value of f: they may be a "
                    f"value and a gradient, or the gradients of {' and '.join(inputs.forest.trees)}"
                    ". Give the gradient alone, or by name"
                )
            return given
        one_of_no_shape = is_value and not fits(inputs, given, shapes=False)
        if not fits(inputs, pair[1], shapes=not one_of_no_shape):
            return given
        if not is_value and self.value is None:
            self.value = pair[0]
        return pair[1]

    def notes(self) -> Iterator[str]:
        """Yield what the reader has to know about the values."""
        if self.who != "f" and self.ask.outputs.paired:
            yield (
                f"f returns (value, gradient), and you also give {self.who}: the check compares "
                f"{self.who}. To check the gradient that f returns, leave {self.who} out"
            )
        if self.value is not None:
            yield (
                f"{self.who} returns (value, gradient), but its value is {self.value:.6g}, and "
                f"that of f is {self.ask.first[0]:.6g}: are both of the same function?"
            )
