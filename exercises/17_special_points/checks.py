"""Checks of exercise 17. The file as it was is asked which gradients are wrong, and where."""

import inspect
from pathlib import Path

import numpy as np

from course import load
from expect import Call, CrashError, WrongAnswerError, after, builds_on, evidence_of, shown, shows

ORIGINAL = load(Path(__file__).with_name("starter.py"))  # nobody has mended anything here
NAMES = list(ORIGINAL.AUTHORS_POINTS)
WORDS = {name: [*inspect.signature(getattr(ORIGINAL, name)).parameters] for name in NAMES}
MATRIX = np.array([[2.0, -1.0], [0.5, 3.0]])


def check_each_point_is_a_point(sub):
    """The evidence is one point for each function that it names."""
    points(sub, each=True)


@builds_on(check_each_point_is_a_point)
def check_all_three_are_shown(sub):
    """At its point each of the three gradients is wrong."""
    right, refusal = 0, None
    for name, point in points(sub).items():
        report = ORIGINAL.examine(name, *map(np.copy, point))
        if shows(report):
            right += 1
            continue
        got = f"{name}: {report.verdict} ({report.reason}) at {shown(point)}"
        look_at = "the reason in the report; another point may be clearer"
        if report.reason in ("ok", "zero"):
            look_at = "there the gradient is right: what is still special about the point?"
        refusal = refusal or (got, look_at)
    if right < len(NAMES):
        of = Call(sub, "evidence")
        got, look_at = refusal or (f"evidence for {right}", "one point for each function")
        of.refuse(got, "a fail for each of the three", look_at, share=right / len(NAMES))


def check_an_ordinary_array(sub):
    """Most arrays are not special; every word that applies is in the list."""
    says(sub, np.zeros(3), ["zeros", "equal"])
    says(sub, np.array([2.0, 3.0]), ["one sign"])
    says(sub, MATRIX, [])
    says(sub, np.array([0.0, 1.0, -2.0, 1.0]), [])


ZERO_OR_ONE = "zeros", "ones"
EXAMPLES = (
    # These words are at stake | an array | all words that apply to it
    (ZERO_OR_ONE, [0.0, 0.0, -1.0], []),
    (ZERO_OR_ONE, [1.0, 1.0, -1.0], []),
    (ZERO_OR_ONE, np.zeros((2, 3)), ["zeros", "equal"]),
    (ZERO_OR_ONE, np.ones(3), ["ones", "equal", "one sign"]),
    (("equal",), np.ones(3), ["ones", "equal", "one sign"]),
    (("equal",), np.full((3, 2), -0.5), ["equal", "one sign"]),
    (("equal",), [0.7, 0.7, -0.7], []),
    (("equal",), [-0.7], []),
    (("equal",), [-0.7, -0.7], ["equal", "one sign"]),
    (("symmetric",), MATRIX + MATRIX.T, ["symmetric"]),
    (("symmetric",), [[1.0, 2.0, -1.0], [2.0, 0.0, 3.0], [1.0, 3.0, 4.0]], []),
    (("symmetric",), [[1.0, -2.0, 3.0], [-2.0, 5.0, 6.0]], []),
    (("symmetric",), [1.0, -2.0, 1.0], []),
    (("one sign",), [0.1, 2.0, 3.0], ["one sign"]),
    (("one sign",), [[-0.1, -2.0], [-4.0, -3.0]], ["one sign"]),
    (("one sign",), [0.0, 2.0, 3.0], []),
    (("one sign",), [2.0], []),
    (("one row",), [[1.0, -2.0, 3.0]], ["one row"]),
    (("one row",), [[1.0], [-2.0], [3.0]], []),
    (("one row",), [1.0, -2.0, 3.0], []),
    (("one row",), [2.0], []),
)


def check_each_word(sub):
    """Each word is in the list where it applies, and nowhere else."""
    refusals = {}
    for at_stake, x, words in EXAMPLES:
        try:
            says(sub, np.array(x), words, at_stake)
        except (WrongAnswerError, CrashError) as error:
            refusals.setdefault(at_stake, error)
    if refusals:
        first, *_ = refusals.values()
        first.share = 1 - len(refusals) / len({at_stake for at_stake, *_ in EXAMPLES})
        raise first


@after(check_an_ordinary_array)
def check_inputs_are_left_alone(sub):
    """The array is not changed."""
    for x in (MATRIX, np.ones((1, 3)), np.array([3.0, 1.0, 2.0])):
        Call(sub, "special", x).leaves_its_arguments()


@builds_on(check_an_ordinary_array)
def heldout_other_arrays(sub):
    """Every word is right for an array of any shape, of one entry and of three axes, too."""
    says(sub, np.array([[1.0]]), ["ones", "one row"])
    says(sub, np.full((2, 2), 3.0), ["equal", "symmetric", "one sign"])
    says(sub, np.zeros((1, 4)), ["zeros", "equal", "one row"])
    says(sub, np.eye(3) - 0.5, ["symmetric"])
    says(sub, np.arange(1.0, 9.0).reshape(2, 2, 2), ["one sign"])
    says(sub, np.zeros((2, 2, 2)), ["zeros", "equal"])
    says(sub, np.array([[0.5, -1.0, 2.0]] * 3), [])


def points(sub, *, each=False):
    """Return the points given as evidence; refuse what holds none, or ``each``."""

    def share(found, given):
        right = [shows(ORIGINAL.examine(name, *point)) for name, point in found.items()]
        return sum(right) / max(len(given), len(NAMES))

    return evidence_of(sub, WORDS, "name of the function", as_point, share, each=each)


def as_point(name, given):
    """Return a point as arrays, and why it cannot be evidence."""
    cannot = f"numbers and shapes: {name} and its gradient cannot work with them"
    try:
        with np.errstate(all="ignore"):
            arrays = tuple(np.asarray(one, float) for one in given)
            value = getattr(ORIGINAL, name)(*map(np.copy, arrays))
            gradients = getattr(ORIGINAL, f"{name}_gradient")(*map(np.copy, arrays))
    except (TypeError, ValueError):
        return (), cannot
    shapes = [np.shape(one) for one in gradients] == [one.shape for one in arrays]
    usable = shapes and np.ndim(value) == 0 and all(one.size for one in arrays)
    return arrays, "" if usable and np.isfinite(value) else cannot


LOOK_AT = {
    "zeros": "every entry is 0, not only one",
    "ones": "every entry is 1, not only one",
    "equal": "two entries or more, and all the same",
    "symmetric": "a square matrix with two rows or more, and its own transpose",
    "one sign": "two entries or more, all positive or all negative; 0 has no sign",
    "one row": "a matrix, which has two axes, with one row",
}


def says(sub, x, words, about=tuple(LOOK_AT)):
    """Refuse what special says of an array, if a word lacks or is too many; look only at some."""
    call = Call(sub, "special", x)
    got = call.run()
    if not isinstance(got, list | tuple) or not all(isinstance(one, str) for one in got):
        got = repr(got) if isinstance(got, str) else got
        call.refuse(got, "a list of words", "an empty list, to which words are appended")
    for one in got:
        if one not in LOOK_AT and len(about) == len(LOOK_AT):
            call.refuse(repr(one), f"words among {', '.join(LOOK_AT)}", "the spelling", known=True)
    wrong = [one for one in about if (one in got) != (one in words)]
    if wrong:
        fault = "is there" if wrong[0] in got else "is missing"
        look_at = f'"{wrong[0]}" {fault}: {LOOK_AT[wrong[0]]}'
        call.refuse(sorted(got), sorted(words), look_at, known=len(wrong) == 1)
