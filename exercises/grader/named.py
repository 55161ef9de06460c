"""Names of files that are nearly that of an exercise: ``relu.py``, ``06-relu.py``."""

import functools
import re
import unicodedata
from pathlib import PurePath

from course import Exercise

CODE = (".py", ".ipynb")
TEXT = ".txt"  # which an editor or a mail program has put behind, or in the place of .py
LONGEST = 255  # letters of a name; in a zip file it may have 65,535, which take a pattern minutes
# What systems and people put behind: 06_relu (1), 06_relu-1, 06_relu_final_v2, 06_relu - Kopie.
USUAL = r"(?:[\W_]*(?:copy|kopie|final|new|neu|v|副本|新))*[\W_]*(?P<nth>\d{1,4})?\W*"
EXACT, NEARLY, WITH_MORE = range(3)
# Folders in which programs keep the code of others; and those of what does not count any more.
OF_OTHERS = re.compile(r"__MACOSX|\.?v?env|site-packages|node_modules|\.git", re.IGNORECASE)
LAST = re.compile(
    r"\..+|__\w+|(?:.*[\W_])?(?:feedback attachment|old|alt|backups?|bak|旧|备份)(?:[\W\d_].*)?",
    re.IGNORECASE,
)
# What people put before a number: ex06_relu.
BEFORE = r"(?:(?:ex|exercise|task|aufgabe|übung|练习|作业)[\W_]*)?"


@functools.cache
def _patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    number, _, words = name.partition("_")
    begin = rf"(?:(?P<who>.*?[^\W_])[\W_]+)??(?P<number>{BEFORE}0*{int(number)}[\W_]*)"
    words = words.replace("_", r"[\W_]*")
    return (
        re.compile(rf"{begin}?{words}(?P<behind>){USUAL}", re.IGNORECASE),
        re.compile(
            rf"{begin}{words}(?: *\((?P<nth>\d{{1,4}})\))?(?:[\W_]+|(?![a-z\d]))(?P<behind>\w.*)",
            re.IGNORECASE,
        ),
    )


def fit(stem: str, exercise: Exercise) -> re.Match[str] | None:
    """Match a name, without the ending, that can mean an exercise.

    The groups are ``who`` is named before it, its ``number``, the ``nth`` behind it, or any other
    text ``behind``. ``leaky_relu`` is not ``06_relu``: other words need the number, as in
    ``ada_06_relu``.
    """
    nearly, with_more = _patterns(exercise.name)
    found = nearly.fullmatch(stem)
    if found and (found["number"] or not found["who"]):
        return found
    return with_more.fullmatch(stem)


def likeness(file: str, exercise: Exercise) -> tuple[int, int] | None:
    """Return how well the name of a file fits an exercise; None if it does not.

    It is ``EXACT``, ``NEARLY`` or ``WITH_MORE`` behind, and then the number behind, of which the
    highest is the latest.
    """
    if any(map(OF_OTHERS.fullmatch, PurePath(file).parts[:-1])):
        return None
    path = PurePath(half_width(PurePath(file).name))
    if len(path.name) > LONGEST or path.suffix.lower() not in (TEXT, *CODE):
        return None
    if path.name.lower() in [exercise.name + kind for kind in CODE]:
        return EXACT, 0
    is_text, stem = path.suffix.lower() == TEXT, path.stem
    while PurePath(stem).suffix.lower() in (TEXT, *CODE):  # 06_relu.py.txt
        is_text, stem = is_text and PurePath(stem).suffix.lower() == TEXT, PurePath(stem).stem
    if re.fullmatch(rf"{BEFORE}0*{int(exercise.number)}", stem, re.IGNORECASE):
        return None if is_text else (WITH_MORE, 0)
    found = fit(stem, exercise)
    if not found or (is_text and (found["behind"] or not found["number"])):
        return None
    return WITH_MORE if found["behind"] or is_text else NEARLY, -int(found["nth"] or 0)


def half_width(name: str) -> str:
    """Write a name with ordinary letters, digits and full stops: ``０６_relu．py``."""
    return unicodedata.normalize("NFKC", name).replace("/", "_")


def comes_last(file: str) -> bool:
    """Whether a file is in a folder of what does not count any more: ``old/``."""
    return any(map(LAST.fullmatch, PurePath(file).parts[:-1]))
