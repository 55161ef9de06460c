"""Names of files that are nearly that of an exercise: ``relu.py``, ``06-relu.py``."""

import functools
import re
from pathlib import PurePath

from course import Exercise

CODE = (".py", ".ipynb")
LONGEST = 255  # letters of a name; in a zip file it may have 65,535, which take a pattern minutes


@functools.cache
def _pattern(name: str) -> re.Pattern[str]:
    number, _, words = name.partition("_")
    return re.compile(
        rf"(?:(?P<who>.*?[^\W_])[\W_]+)??(?P<number>0*{int(number)}[\W_]*)?"
        + words.replace("_", r"[\W_]*")
        # What systems and people put behind: 06_relu (1), 06_relu-1, 06_relu_final_v2.
        + r"(?:[\W_]*(?:copy|final|v))*[\W_]*(?P<nth>\d{1,4})?\W*",
        re.IGNORECASE,
    )


def names(exercise: Exercise) -> re.Pattern[str]:
    """Return the pattern of names, without the ending, that can mean an exercise.

    Its groups are ``who`` is named before it, its ``number``, and the ``nth`` behind it.
    """
    return _pattern(exercise.name)


def likeness(file: str, exercise: Exercise) -> tuple[int, int] | None:
    """Return how well the name of a file fits an exercise; None if it does not.

    It is 0 for the very name and 1 for one that is nearly it, and then the number behind, of which
    the highest is the latest. ``leaky_relu.py`` is not ``06_relu.py``: another word needs the
    number, as in ``ada_06_relu.py``.
    """
    long = len(file.rpartition("/")[2]) > LONGEST
    if long or not file.lower().endswith((".txt", *CODE)):
        return None
    path = named = PurePath(file)
    while path.suffix.lower() in (".txt", *CODE) and PurePath(path.stem).suffix.lower() in CODE:
        path = PurePath(path.stem)  # an editor has put its own ending behind: 06_relu.py.txt
    if path.suffix.lower() not in CODE:
        return None
    if path.stem.lower() == exercise.name and path is named:
        return 0, 0
    found = names(exercise).fullmatch(path.stem)
    if not found or (found["who"] and not found["number"]):
        return None
    return 1, -int(found["nth"] or 0)
