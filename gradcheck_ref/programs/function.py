"""A function that lives in a program, as a function of NumPy arrays that the check can call."""

import inspect
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from multiprocessing.util import Finalize
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.crew import Place
from gradcheck_ref.check.words import knob
from gradcheck_ref.programs.asking import Asker
from gradcheck_ref.programs.description import DERIVATIVES, Description, ProgramError
from gradcheck_ref.programs.notes import Notes
from gradcheck_ref.programs.program import FIRST_TIMEOUT, TIMEOUT, Losses, LostError, Program
from gradcheck_ref.programs.team import Spot, Team


def from_command(
    command: Sequence[str],
    *,
    inputs: Sequence[str] | None = None,
    point: Mapping[str, Any] | None = None,
    workers: int = 1,
    timeout: float = TIMEOUT,
    first_timeout: float = FIRST_TIMEOUT,
    tell: Callable[[str], object] | None = None,
) -> "ProgramFunction":
    """Start a program that has a function, and return the function.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments. It follows *Protocol: a function in a program*.
    inputs : sequence of str, optional
        The names of the inputs to differentiate; by default all except the constants. The others
        do not move.
    point : mapping of array_like, optional
        Values of inputs, instead of the program's own defaults. A program that does not describe
        itself needs all of them.
    workers : int
        How many programs to start, for the points around x; -1 for one on each core. The first one
        answers derivatives. The values do not depend on the number of programs. Two cheap programs
        are slower than one: a value should take some milliseconds.
    timeout : float
        Seconds for a value.
    first_timeout : float
        Seconds for the first reply of each kind, because some programs compile then.
    tell : callable, optional
        Called with a sentence, such as ``print``, if the program is silent for some seconds after
        its start. Usually it does not flush its output.

    Returns
    -------
    ProgramFunction
        Call it with the inputs, in order or by name, and it returns the value: a number, an array,
        or a tuple for several outputs. Its attribute ``inputs`` has the inputs that move, and
        ``point`` has the whole point, with the constants. It has ``gradient``, ``vjp`` and ``jvp``
        if the program answers them. It is a context manager, which ends the program.

    Raises
    ------
    ProgramError
        If the program does not start, or does not follow the protocol; in a later call, also if its
        reply cannot be read.
    ValueError
        If inputs or point do not fit the program's description, or another argument is out of
        range.

    Notes
    -----
    Cost: no evaluation of f, but the program starts. It computes a few values twice, which a check
    does not count: in another batch, in another program, with a large point sent as text. Large
    arrays go through files in memory, if the program reads files. The files are removed when the
    program ends, and on Linux also if Python is killed.

    Examples
    --------
    A small program in Python; any language works:

    >>> import sys
    >>> from gradcheck_ref import check_gradient
    >>> program = '''
    ... import json, sys
    ... for line in sys.stdin:
    ...     request = json.loads(line)
    ...     reply = {"id": request["id"]}
    ...     if request["ask"] == "hello":
    ...         reply |= {"protocol": 1, "name": "cube", "answers": ["value", "gradient"]}
    ...     elif request["ask"] == "value":
    ...         reply["values"] = [repr(float(p["whole"]["x"]) ** 3) for p in request["points"]]
    ...     else:
    ...         reply["gradient"] = repr(2 * float(request["point"]["whole"]["x"]) ** 2)
    ...     print(json.dumps(reply), flush=True)
    ... '''
    >>> with from_command([sys.executable, "-c", program], point={"x": 0.5}) as f:
    ...     report = check_gradient(f, f.inputs, f.gradient)
    >>> print(report.verdict, report.worst.analytic, round(report.worst.numeric, 6))
    fail 0.5 0.75
    """
    if isinstance(command, str | os.PathLike) or not command:
        raise ValueError("command must be a list: the program and its arguments")
    for name, seconds in (("timeout", timeout), ("first_timeout", first_timeout)):
        if not 0 < seconds < float("inf"):
            raise ValueError(f"{knob(name)} must be a positive number of seconds, not {seconds!r}")
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < -1 or workers == 0:
        raise ValueError(
            f"{knob('workers')} must be a positive number of programs, or -1, not {workers!r}"
        )
    workers = workers if workers > 0 else os.cpu_count() or 1
    start = (tuple(command), inputs, dict(point or {}), workers, timeout, first_timeout)
    return ProgramFunction(start, tell)


class ProgramFunction:
    """The function of a program, returned by `from_command`.

    Attributes
    ----------
    name : str
        The name that the program gives itself.
    inputs : dict of ndarray
        The point, by the names of the inputs to differentiate. Call it with these. The others,
        which are constants or were not chosen, do not move.
    answers : tuple of str
        Which of ``gradient``, ``vjp`` and ``jvp`` it has.
    company : tuple of str
        How a check asks its vjp again: it reads text, so only what it keeps can matter.
    """

    company = ("another point between",)

    def __init__(self, start: tuple[Any, ...], tell: Callable[[str], object] | None = None) -> None:
        self._start, self._tell = start, tell
        self._noted: list[str] = []  # what was noted before the last check
        self._begin()

    def _begin(self) -> None:
        command, inputs, point, workers, timeout, first_timeout = self._start
        self._process, self._lock = os.getpid(), threading.RLock()
        self._notes, losses = Notes(), Losses()
        programs = [Program(command, timeout, first_timeout, losses) for _ in range(workers)]
        self._close = weakref.finalize(self, _leave, programs)
        first = programs[0]
        first.tell, self._tell = self._tell, None  # once is enough
        try:
            first.start()
            self.description = _described(first, point)
            self.inputs = self.description.moved(inputs)
        except BaseException:
            first.end()
            raise
        self.name = first.hello.name
        self.answers = tuple(name for name in DERIVATIVES if name in first.hello.answers)
        if first.hello.old_forms:
            self._notes.add(first.hello.old_forms)
        with suppress(ValueError):  # a name may be invalid in Python
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            parameters = [inspect.Parameter(name, kind) for name in self.inputs]
            self.__signature__ = inspect.Signature(parameters)
        askers = [Asker(program, self.description, list(self.inputs)) for program in programs]
        self._first, self._team = askers[0], Team(askers, self._notes)

    def _here(self) -> AbstractContextManager[Any]:
        """Keep other threads away; a forked process first starts its own programs.

        Two processes cannot share a program.
        """
        if self._process != os.getpid():
            self._close.detach()
            self._elsewhere = self._team  # a reference, so that this process does not end them
            self._begin()
            Finalize(self, self._close, exitpriority=0)
        return self._lock

    def __reduce__(self) -> tuple[Any, ...]:
        """Let another process start its own programs."""
        return ProgramFunction, (self._start,)

    def __enter__(self) -> "ProgramFunction":
        """Begin."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """End the programs: at once, if something went wrong."""
        if error is not None:
            self._team.stop("it was ended")
        self.close()

    def close(self) -> None:
        """End the programs and their own children."""
        self._close()

    @property
    def point(self) -> dict[str, Array]:
        """The point by the names of all inputs, including those that are not moved."""
        return {name: np.array(value) for name, value in self.description.point.items()}

    @property
    def notes(self) -> list[str]:
        """Remarks about the program, in sentences: points without a value, and why."""
        return self._notes.sentences()

    @contextmanager
    def while_checked(self) -> Iterator[None]:
        """Keep the remarks of a check apart from earlier ones."""
        self._noted = self.notes
        yield

    @property
    def notes_of_check(self) -> list[str]:
        """Remarks since the last check began."""
        return [note for note in self.notes if note not in self._noted]

    # --- values ------------------------------------------------------------------------------

    def __call__(self, /, *inputs: Any, **named: Any) -> Any:
        """Return the value at a point."""
        point = self._point(inputs, named)
        with self._here():
            return self._first.arranged(self._team.at_home(point))

    def many(self, points: Sequence[Any]) -> list[Any]:
        """Return the values at many points, each in the form of the inputs."""
        spots = []
        for given in points:
            named, several = isinstance(given, Mapping), isinstance(given, tuple | list)
            inputs = () if named else tuple(given) if several else (given,)
            spots.append(Spot("x", partial(self._point, inputs, given if named else {})))
        return self._together(spots)

    def at_places(self, places: Sequence[Place]) -> list[Any]:
        """Return the values at steps along directions; each point is made when it is sent."""
        return self._together(
            [Spot(line.where(t) if t else "x", partial(self._moved, line, t)) for line, t in places]
        )

    def _moved(self, line: Any, t: float) -> dict[str, Array]:
        """Return the point after a step along a line."""
        inputs = line.inputs
        names = map(str, inputs.keys) if inputs.by_name else self.inputs
        return {**self.description.point, **dict(zip(names, line.point(t), strict=True))}

    def _together(self, spots: list[Spot]) -> list[Any]:
        with self._here():
            return [self._first.arranged(value) for value in self._team.values(spots)]

    def _point(self, inputs: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Array]:
        """Return all inputs of the program, for a call with those that are differentiated."""
        names, takes = list(self.inputs), f"it takes {', '.join(self.inputs)}"
        if len(inputs) > len(names):
            raise TypeError(f"{takes}, not {len(inputs)} inputs")
        given = dict(zip(names, inputs, strict=False))
        if unknown := [name for name in named if name not in names or name in given]:
            raise TypeError(f"{takes}, but not {', '.join(unknown)}")
        given |= named
        if missing := [name for name in names if name not in given]:
            raise TypeError(f"{takes}; missing: {', '.join(missing)}")
        for name, value in given.items():
            spec = self.description.inputs[name]
            if np.shape(value) != spec.shape:
                raise ValueError(f"{name} has shape {np.shape(value)}, but takes {spec.shape}")
            if np.iscomplexobj(value):
                raise TypeError(f"{name} is complex, but a program takes reals")
        return {**self.description.point, **{n: np.asarray(v) for n, v in given.items()}}

    # --- derivatives -------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return gradient, vjp or jvp, if the program answers it."""
        if name in DERIVATIVES and name in self.__dict__.get("answers", ()):
            return partial(self._derivative, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name}")

    def _derivative(self, what: str, /, *given: Any, **named: Any) -> Any:
        """Ask for a derivative; vjp and jvp take an upstream or a tangent before the inputs."""
        if what != "gradient" and not given:
            raise TypeError(f"{what} takes an upstream or a tangent before the inputs")
        along, inputs = (None, given) if what == "gradient" else (given[0], given[1:])
        point = self._point(inputs, named)
        with self._here():
            found = self._first.derivative(what, point, along)
        if named or what == "jvp":
            return found
        every = tuple(found.get(name) for name in self.inputs)
        return every if len(every) > 1 else every[0]


def _described(program: Program, point: Mapping[str, Any]) -> Description:
    """Return the description of a function, by the program or else by the user."""
    answers = program.hello.answers
    if "value" not in answers:
        raise ProgramError("its hello does not promise value: there is nothing to compare with")
    if "describe" not in answers:
        if not point:
            raise ValueError("it does not describe itself: give a point with all inputs")
        return Description.of_point(point)
    try:
        description = Description.read(program.ask("describe")).at(point)
    except LostError as error:
        raise ProgramError(f"asked to describe itself, it {error}") from None
    outputs = description.outputs
    if "gradient" in answers and (len(outputs) > 1 or any(spec.shape for spec in outputs.values())):
        told = ", ".join(f"{n} of shape {s.shape}" for n, s in outputs.items())
        wanted = 'describe an output of "shape": [], or answer vjp instead'
        raise ProgramError(f"only a number has a gradient, but it describes {told}: {wanted}")
    return description


def _leave(programs: list[Program]) -> None:
    for program in programs:
        program.leave()
