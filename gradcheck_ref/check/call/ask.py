"""The one place where the check calls f.

A point is given by a line through x and a step along it; the value of f is one flat real vector.
All calls are counted, in this process and in others.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import cached_property, partial
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, as_function
from gradcheck_ref.check.call.budget import Budget
from gradcheck_ref.check.call.crew import Crew, Place, Work, note_on
from gradcheck_ref.check.call.progress import Progress
from gradcheck_ref.check.knobs import Knobs
from gradcheck_ref.structure.gradients import fits, value_and_gradient
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.outputs import Outputs


class Ask:
    """Calls f at the point and around it, and knows the structure of its value.

    Each call gets copies of the inputs. If f has an attribute ``many``, the points around x go to
    that. ``mix``, of shape (combinations, outputs), makes combinations of the outputs of f.

    ``pairs`` says which pairs are a value and a gradient, of which only the value counts: "any",
    "fitting" ones, in which the second is arranged as the inputs are, or "none".
    """

    def __init__(
        self,
        f: Callable[..., Any],
        inputs: Inputs,
        progress: Progress | None = None,
        crew: Crew | None = None,
        pairs: str = "none",
    ) -> None:
        self.f, self.inputs = f, inputs
        self.mix: Array | None = None
        self.progress, self.crew = progress or Progress(False), crew
        self.budget = Budget(self.progress)
        self.mutated: str | None = None  # an input that f writes to
        self.outside: list[str] = []  # the errors of f at points outside its domain
        start = time.perf_counter()
        self.first = self.here = self._at_x(partial(self._learn_structure, pairs=pairs))
        self.progress.seconds = time.perf_counter() - start
        self.nondeterminism = np.zeros(self.here.shape)
        self.elsewhere = False  # whether f was called at another point after its last call at x

    def _learn_structure(self, first: Any, pairs: str) -> Array:
        """Learn the structure of the output from the first value."""
        pair = None if pairs == "none" else value_and_gradient(first)
        paired = pair is not None and (pairs == "any" or fits(self.inputs, pair[1]))
        # f may set this during the call, for the outputs that it returns.
        constants = getattr(self.f, "constant_outputs", ())
        opener = getattr(self.f, "open_tree", None)
        self.outputs = Outputs(first, self.inputs.dtype, constants, opener, paired)
        return self.outputs.flat(first)

    def _at_x(self, read: Callable[[Any], Array]) -> Array:
        """Call f at x, and return its value as ``read`` converts it."""
        values = self.inputs.copies()
        self.progress.tick()
        try:
            here = read(self.inputs.call(self.f, values))
        except BaseException as error:
            note_on(error, "x", self.inputs, self.f)
            raise
        self.mutated = self.mutated or self.inputs.changed(values)
        return here

    @property
    def evaluations(self) -> int:
        """How often f was called."""
        return self.progress.done

    @property
    def opens_trees(self) -> bool:
        """Whether f comes from an adapter, which opens containers that only f knows."""
        return hasattr(self.f, "open_tree")

    @property
    def reads_only_its_inputs(self) -> bool:
        """Whether an adapter passes all that f depends on as inputs, as for a module."""
        return getattr(self.f, "reads_only_its_inputs", False) is True

    @property
    def gradients_in(self) -> tuple[str, int] | None:
        """The dtype of gradients, if an adapter had to convert them, and how many digits it has."""
        found: tuple[str, int] | None = getattr(self.f, "gradients_in", None)
        return found

    @property
    def combines(self) -> int:
        """How many outputs are in a combination; 0 if each output is judged itself."""
        if self.mix is None or np.count_nonzero(self.mix) == len(self.mix):
            return 0
        return len(self.mix[0])

    @property
    def upstreams(self) -> int:
        """How many random combinations of the outputs there are; 0 if each is judged itself."""
        return len(self.here) if self.combines else 0

    @cached_property
    def precision(self) -> float:
        """The spacing of the shortest dtype of inputs and outputs, relative to the numbers."""
        return max(self.inputs.eps, float(self.outputs.eps.max(initial=0.0)))

    @property
    def work(self) -> Work:
        """All that a call of f needs, here or elsewhere."""
        return Work(self.f, self.inputs, self.outputs)

    def forward(self) -> None:
        """Call f at x once more: a backward pass may use values from the last forward pass.

        The call also shows whether f returns the same value again, and whether it writes to its
        inputs.
        """
        again = self._mixed(self._at_x(self.outputs.flat))
        self.elsewhere = False
        # NaN in either value does not count as a difference.
        self.nondeterminism = np.fmax(self.nondeterminism, np.abs(again - self.first))

    def try_many(self, line: Any) -> None:
        """Test that f.many, if f has it, agrees with f for a batch of x and x; 2 evaluations."""
        if self.mix is not None or not (hasattr(self.f, "many") and self.inputs.size):
            return
        # In this process, because f.many may find out here that it cannot take several points.
        self.progress.tick(2)
        values, _ = self.work.values([(line, 0.0)] * 2)
        first, eps = self.first, self.outputs.eps
        # A function of many points at once may add its terms in another order: this is as much as a
        # sum of 1000 terms of size 1 may differ.
        close = np.isclose(values, first, np.sqrt(eps), 1e3 * eps, equal_nan=True)
        if not close.all():
            self.forward()
        # Some outputs of a random f may be equal by chance, for example under an equal mask.
        if not (close.all() or self.nondeterminism.any()):
            one, two, alone = np.vstack([values, first])[:, np.argmin(close.all(axis=0))]
            raise ValueError(
                "f.many must return the value of f at every point, but for a batch of x and x it "
                f"returned {one:.6g} and {two:.6g}, and f returned {alone:.6g}"
            )
        self.here = values[0]

    def many(self, places: Sequence[Place]) -> Array:
        """Return f at these places, (places, outputs); NaN for values that are not finite."""
        self.elsewhere, work, found = True, self.work, []
        chunks = work.chunks(places, self.progress.seconds)
        own = work.answers(places, chunks)
        for values, outside in self.crew.answers(work, chunks) if self.crew else own:
            self.progress.tick(len(values))
            found.append(values)
            self.outside += outside
        return self._mixed(np.concatenate(found))

    def _mixed(self, values: Array) -> Array:
        return values if self.mix is None else values @ self.mix.T


@contextmanager
def asking(f: Callable[..., Any], inputs: Any, knobs: Knobs, pairs: str = "none") -> Iterator[Ask]:
    """Call f at x, and be ready to call it elsewhere; at the end, stop what was started."""
    named, workers = Inputs(as_function(f, "f"), inputs, knobs.constant), knobs.workers
    # f may keep something for as long as a check runs
    kept = f.while_checked() if hasattr(f, "while_checked") else nullcontext()
    others = nullcontext() if workers is None or workers == 1 else Crew(workers)
    with closing(Progress(knobs.progress)) as progress, kept, others as crew:
        yield Ask(f, named, progress, crew, pairs)
