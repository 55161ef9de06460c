"""Checks of exercise 9. The file as it was is asked which layers are wrong, not a list."""

import functools
import inspect
import pickle
from pathlib import Path

import numpy as np

from course import load
from expect import (
    Call,
    Part,
    after,
    builds_on,
    evidence_of,
    rounded,
    same,
    shown,
    shows,
)
from gradcheck_ref import adaptive_difference
from placed import where_wrong

ORIGINAL = load(Path(__file__).with_name("starter.py"))  # nobody has mended anything here
LAYERS = [name.removesuffix("_backward") for name in vars(ORIGINAL) if name.endswith("_backward")]
WORDS = {n: ["upstream", *inspect.signature(getattr(ORIGINAL, n)).parameters] for n in LAYERS}
WRONG = 3
RTOL = 3e-9  # where slopes are so small that the numeric ones are worse, these say how much worse


def check_every_accusation_is_a_call(sub):
    """The evidence is one call of a backward pass for each layer that you accuse."""
    accusations(sub, each=True)


@builds_on(check_every_accusation_is_a_call)
def check_every_accusation_holds(sub):
    """In the original file, each of these calls gives a wrong answer."""
    accused = accusations(sub)
    share = share_of(accused, accused)
    for name, arguments in accused.items():
        report = report_on(name, arguments)
        if not shows(report):
            call = backward_call(ORIGINAL, name, arguments)
            look_at = "try what you have not tried yet: another kind of point, or another layer"
            if report.verdict == "pass":
                got = f"{shown(call.run())}, which is right"
            else:
                got = f"{shown(call.run())}; the report says {report.verdict}, {report.reason}"
                look_at = "read the reason; at a point without it, the call may be evidence"
            if report.reason == "kink":
                look_at = "a kink: any slope between the left and the right one is right there"
            call.refuse(got, "an answer that is surely wrong", look_at, share=share)


@builds_on(check_every_accusation_is_a_call, check_every_accusation_holds)
def check_three_are_accused(sub):
    """You accuse three layers, and all three are wrong."""
    convicted = those_that_hold(accusations(sub))
    if len(convicted) < WRONG:
        got = f"evidence against {', '.join(convicted) or 'nobody at all'}"
        look_at = "the layers whose branches, rows or indices no test has tried"
        share = len(convicted) / WRONG
        Call(sub, "evidence").refuse(got, "evidence against three layers", look_at, share=share)


@builds_on(check_every_accusation_is_a_call, check_three_are_accused)
def check_the_evidence_is_answered(sub):
    """After your repair, the three give the right answer to the calls of your evidence."""
    mended, refusal = 0, None
    for name, arguments in those_that_hold(accusations(sub)).items():
        try:
            is_right(sub, name, arguments, slopes(name, arguments))
            mended += 1
        except Exception as error:
            refusal = refusal or error
    if refusal:
        refusal.share = refusal.kept = mended / WRONG
        raise refusal
    if mended < WRONG:
        check_three_are_accused(sub)


@builds_on(check_every_accusation_is_a_call, check_the_evidence_is_answered)
def check_all_eight_are_right(sub):
    """All eight backward passes are right, at other points too."""
    accusations(sub)
    for name, arguments, numeric in drawn(seed=9):
        is_right(sub, name, arguments, numeric)


@after(check_every_accusation_holds)
def check_the_layers_are_the_same(sub):
    """The layers compute the same as before."""
    for name, (_, *inputs) in calls(seed=9):
        call, right = Call(sub, name, *map(np.copy, inputs)), getattr(ORIGINAL, name)(*inputs)
        got = call.run()
        if not same(got, right):
            call.refuse(got, right, "the layers are right; only backward passes are to be mended")


@after(check_every_accusation_holds)
def check_inputs_are_left_alone(sub):
    """No backward pass changes its arguments."""
    for name, arguments in calls(seed=9):
        backward_call(sub, name, arguments).leaves_its_arguments()


@builds_on(check_every_accusation_is_a_call, check_all_eight_are_right)
def heldout_other_calls(sub):
    """All eight backward passes are right, at hidden points."""
    accusations(sub)
    for name, arguments, numeric in drawn(seed=90):
        is_right(sub, name, arguments, numeric)


def accusations(sub, *, each=False):
    """Return the arguments of the calls given as evidence; refuse what holds none, or ``each``."""
    return evidence_of(sub, WORDS, "name of the layer", as_call, share_of, each=each)


def as_call(name, given):
    """Return the arguments of a call as arrays, and why it cannot be evidence."""
    cannot = f"numbers and shapes: {name} cannot work with them"
    try:
        kinds = [None if word == "ids" else float for word in WORDS[name]]
        arguments = tuple(map(np.asarray, given, kinds))
        upstream, *inputs = map(np.copy, arguments)
        with np.errstate(all="ignore"):
            output = getattr(ORIGINAL, name)(*inputs)
            if np.shape(output) != upstream.shape:
                look_at = f"upstream has the shape of the layer's output, here {np.shape(output)}"
                return arguments, look_at
            gradients = parts_of(getattr(ORIGINAL, f"{name}_backward")(upstream, *inputs))
    except (TypeError, ValueError, IndexError):
        return (), cannot
    finite = all(np.isfinite(array).all() for array in (output, *gradients))
    return arguments, "" if finite else cannot


def those_that_hold(accused):
    """Return those accusations for which the file as it was gives a wrong answer."""
    return {name: call for name, call in accused.items() if shows(report_on(name, call))}


def share_of(accused, given):
    """Return what is left of the points for evidence; nothing if it is a guess at many layers."""
    return len(those_that_hold(accused)) / WRONG if len(given) <= WRONG else 0.0


def report_on(name, arguments):
    """Let the file as it was examine a call, once for all checks of the same evidence."""
    return examined(pickle.dumps((name, *arguments)))


@functools.lru_cache(24)
def examined(call):
    """Examine a call, which is pickled."""
    return ORIGINAL.examine(*pickle.loads(call))


def is_right(sub, name, arguments, numeric):
    """Refuse a backward pass that differs from the finite differences at these arguments."""
    before = parts_of(getattr(ORIGINAL, f"{name}_backward")(*map(np.copy, arguments)))
    for k, (part, slope) in enumerate(numeric.items()):
        size = np.abs(slope.value).max(initial=0)
        rtol = max(RTOL, np.max(slope.error, initial=0) / size) if size else RTOL
        was_right = k < len(before) and same(before[k], slope.value, rtol)
        call = backward_call(sub, name, arguments, part)
        places = where_wrong(call.run(), rounded(slope.value), rtol)
        look_at = f"not right yet: {places or 'no entry is right'}; what do the wrong ones share?"
        unchanged = (
            "this is what it gave before: not mended yet, or what you changed makes no difference "
            "here"
        )
        mistakes = {unchanged: before[k]}
        if was_right:
            look_at, mistakes = "this one was right before you changed it", {}
        call.gives(rounded(slope.value), mistakes, rtol=rtol, otherwise=look_at)


def backward_call(sub, name, arguments, part=None):
    """Prepare the call of a backward pass, to look at the gradient of one input."""
    copies = [np.copy(a) for a in arguments]
    parts = [f"d{word}" for word, _ in movable(name)]
    if part is None or len(parts) == 1:
        return Call(sub, f"{name}_backward", *copies)
    return Part(sub, f"{name}_backward", *copies, part=f"d{part}", parts=parts)


def parts_of(gradients):
    """Return the gradients as a tuple, also where there is only one."""
    return gradients if isinstance(gradients, tuple) else (gradients,)


def slopes(name, arguments):
    """Estimate the gradient by each input that can be moved."""
    layer = getattr(ORIGINAL, name)
    upstream, *inputs = arguments
    found = {}
    for part, k in movable(name):

        def f(moved, k=k):
            return np.sum(upstream * layer(*inputs[:k], moved, *inputs[k + 1 :]))

        found[part] = adaptive_difference(f, np.asarray(inputs[k]))
    return found


def movable(name):
    """Return name and number of each input that has a gradient; ids have none."""
    return [(word, k) for k, word in enumerate(WORDS[name][1:]) if word != "ids"]


@functools.cache
def drawn(seed):
    """Draw calls of all layers, each with its slopes, which are the same for every file."""
    return [(name, arguments, slopes(name, arguments)) for name, arguments in calls(seed)]


def calls(seed):
    """Draw calls of all layers: uneven upstreams, both signs, ids that come twice."""
    rng = np.random.default_rng(seed)

    def draw(*shape):  # no zeros and no two alike: there is no kink, and no tie
        size = int(np.prod(shape))
        return (rng.permutation(4 * size)[:size].reshape(shape) - 2 * size) / 10 + 0.05

    found = []
    # A small upstream shows what is added, or rounded; small entries show what is compared.
    for rows, columns, unit, size in ((3, 4, 1, 1), (5, 2, 2.0**-20, 1), (2, 4, 1, 2.0**-6)):
        x, ids = size * draw(rows, columns), np.array([1, 0, 1, 1, 0])
        others = {
            "affine": (unit * draw(rows, 3), x, draw(columns, 3), draw(3)),
            "max_pool": (unit * draw(rows, columns // 2), x),
            "embedding": (unit * draw(5, columns), x, ids),
            "mean_squared_error": (np.array(0.7 * unit), x, draw(rows, columns)),
        }
        found += [(name, others.get(name) or (unit * draw(rows, columns), x)) for name in LAYERS]
    return found
