"""What a submission may try: ``attacks.txt`` behind each wall, and ``hostile.txt`` to be graded."""

from dataclasses import dataclass
from textwrap import dedent, indent

from graded import blocks_of

BUBBLEWRAP, NONE = WALLS = ("bubblewrap", "none")
# By where an attack gets through: the walls.
THROUGH = {"everywhere": WALLS, "nowhere": (), "no wall": (NONE,), "no wall, as root": (NONE,)}


@dataclass(frozen=True)
class Attack:
    """Code that sets ``won`` if it gets through, and the walls where it does."""

    code: str
    through: tuple[str, ...]
    as_root: bool  # whether it is as root only that it gets through where there is no wall


ATTACKS = {
    name: Attack(code, THROUGH[where], "root" in where)
    for heading, code in blocks_of("attacks.txt").items()
    for name, where in [heading.split(" | ")]
}

PROBE = """
import os, sys
import numpy as np

def fork(by):
    child = by()
    if child == 0:
        os._exit(0)
    return child > 0 and os.waitpid(child, 0)

def attempt(code, **known):
    names = {"os": os, "sys": sys, "np": np, "fork": fork, "won": False, **known}
    names["home"] = os.environ["HOME"]
    try:
        exec(code, names)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "won" if names["won"] else "lost"
"""

# --- for exercise 6 ----------------------------------------------------------------------------

RIGHT = """\
import numpy as np
{top}

def relu(x):
    return np.maximum(x, 0)


def relu_backward(x, upstream):
{called}
    return np.where(x > 0, upstream, 0.0)
"""
WRONG = RIGHT.replace("np.where(x > 0, upstream, 0.0)", "0 * x").replace(
    "np.maximum(x, 0)", "0 * x"
)


def at_the_top(code, template=RIGHT):
    """Have it done when the file is loaded."""
    return template.format(top=dedent(code), called="")


@dataclass(frozen=True)
class Hostile:
    """A file, the points it deserves of those of the exercise, and what is said of it."""

    source: str
    deserves: float
    says: str


def _hostile(code, deserves, where, says):
    template = WRONG if "wrong" in where else RIGHT
    called = template.format(top="", called=indent(code, "    "))
    source = called if "called" in where else at_the_top(code, template)
    return Hostile(source, float(deserves), says.removeprefix("-"))


HOSTILE = {
    name: _hostile(code, *told)
    for heading, code in blocks_of("hostile.txt").items()
    for name, *told in [heading.split(" | ")]
}
