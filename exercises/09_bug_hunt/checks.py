"""Checks of exercise 9.

They know which layers are wrong only from the evidence: the file as it was is asked, not a list.
"""

import functools
import inspect
from pathlib import Path

import numpy as np

from course import load
from expect import Call, Part, builds_on, rounded, same, shown
from gradcheck_ref import adaptive_difference

ORIGINAL = load(Path(__file__).with_name("starter.py"))  # nobody has mended anything here
LAYERS = [name.removesuffix("_backward") for name in vars(ORIGINAL) if name.endswith("_backward")]
WRONG = 3
REPORTS, MOST_REPORTS = {}, 24  # of the calls that were examined last
RTOL = 1e-6  # where slopes are so small that the numeric ones are worse, these say how much worse


def check_every_accusation_is_a_call(sub):
    """The evidence is one call of a backward pass for each layer that you accuse."""
    accusations(sub, each=True)


@builds_on(check_every_accusation_is_a_call)
def check_every_accusation_holds(sub):
    """In the original file, each of these calls gives a wrong answer."""
    accused = accusations(sub)
    share = share_of(accused)
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
    convicted = guilty(sub)
    if len(convicted) < WRONG:
        Call(sub, "evidence").refuse(
            f"evidence against {', '.join(convicted) or 'nobody'}",
            "evidence against three layers",
            "the layers whose branches, rows or indices no test has tried",
            share=len(convicted) / WRONG,
        )


@builds_on(check_every_accusation_is_a_call, check_three_are_accused)
def check_the_evidence_is_answered(sub):
    """After your repair, the three give the right answer to the calls of your evidence."""
    mended = 0
    refusal = None
    for name, arguments in guilty(sub).items():
        try:
            is_right(sub, name, arguments, slopes(name, arguments))
            mended += 1
        except Exception as error:
            refusal = refusal or error
    if refusal:
        refusal.share = mended / WRONG
        raise refusal
    if mended < WRONG:
        check_three_are_accused(sub)


@builds_on(check_every_accusation_is_a_call, check_the_evidence_is_answered)
def check_all_eight_are_right(sub):
    """All eight backward passes are right, at other points too."""
    accusations(sub)
    for name, arguments, numeric in drawn(seed=9):
        is_right(sub, name, arguments, numeric)


@builds_on(check_every_accusation_is_a_call, check_every_accusation_holds)
def check_the_layers_are_the_same(sub):
    """The layers compute the same as before."""
    some_hold(sub)
    for name, (_, *inputs) in calls(seed=9):
        call, right = Call(sub, name, *map(np.copy, inputs)), getattr(ORIGINAL, name)(*inputs)
        got = call.run()
        if not same(got, right):
            call.refuse(got, right, "the layers are right; only backward passes are to be mended")


@builds_on(check_every_accusation_is_a_call, check_every_accusation_holds)
def check_inputs_are_left_alone(sub):
    """No backward pass changes its arguments."""
    some_hold(sub)
    for name, arguments in calls(seed=9):
        backward_call(sub, name, arguments).leaves_its_arguments()


@builds_on(check_every_accusation_is_a_call, check_all_eight_are_right)
def heldout_other_calls(sub):
    """All eight backward passes are right, at hidden points."""
    accusations(sub)
    for name, arguments, numeric in drawn(seed=90):
        is_right(sub, name, arguments, numeric)


# --- evidence ----------------------------------------------------------------------------------


def accusations(sub, *, each=False):
    """Return the arguments of the calls given as evidence; refuse what holds none, or ``each``."""
    call = Call(sub, "evidence")
    got = call.run()
    if not isinstance(got, dict) or not got:
        form = '{"name of the layer": (upstream, x, ...), ...}'
        call.refuse(got, form, "what evidence() returns; one layer will do for a start")
    found, refusal = {}, None
    for name, given in got.items():
        try:
            found[name] = accusation(call, name, given)
        except AssertionError as error:
            refusal = refusal or error
    if refusal and (each or not found):
        refusal.share = share_of(found) if len(got) <= WRONG else 0.0
        raise refusal
    return found


def accusation(call, name, given):
    """Return the arguments of one call given as evidence; refuse what is no such call."""
    if name not in LAYERS:
        call.refuse(f"an accusation of {name!r}", f"one of {', '.join(LAYERS)}", "the spelling")
    names = ["upstream", *inspect.signature(getattr(ORIGINAL, name)).parameters]
    wanted = f"{name}: ({', '.join(names)})"
    if not isinstance(given, tuple | list) or len(given) != len(names):
        call.refuse(f"{name}: {shown(given)}", wanted, "the arguments of the backward pass")
    arguments = {n: as_array(n, a) for n, a in zip(names, given, strict=True)}
    output = output_of(name, arguments.values())
    shapes = ", ".join(f"{n} {np.shape(array)}" for n, array in arguments.items())
    if output is None:
        look_at = f"numbers and shapes: {name} cannot work with them"
        call.refuse(f"{name}: shapes {shapes}", wanted, look_at)
    if np.shape(output) != np.shape(arguments["upstream"]):
        look_at = f"upstream has the shape of the layer's output, here {np.shape(output)}"
        call.refuse(f"{name}: shapes {shapes}", wanted, look_at)
    return tuple(arguments.values())


def as_array(name, given):
    """Make an array of floats of an argument, unless it is one of indices, or none at all."""
    try:
        return np.asarray(given) if name == "ids" else np.asarray(given, float)
    except (TypeError, ValueError):
        return given


def output_of(name, arguments):
    """Return what the layer gives, None if it or its backward pass gives no finite numbers."""
    upstream, *inputs = map(np.copy, arguments)
    try:
        with np.errstate(all="ignore"):
            output = getattr(ORIGINAL, name)(*inputs)
            there = upstream if np.shape(upstream) == np.shape(output) else np.ones_like(output)
            gradients = parts_of(getattr(ORIGINAL, f"{name}_backward")(there, *inputs))
            finite = all(np.isfinite(array).all() for array in (output, *gradients))
    except (TypeError, ValueError, IndexError):
        return None
    return output if finite else None


def shows(report):
    """Whether a report shows that the answer is wrong: surely, and in its numbers."""
    return report.verdict == "fail" and report.reason == "wrong"


def guilty(sub):
    """Return the accusations that hold."""
    return those_that_hold(accusations(sub))


def some_hold(sub):
    """Refuse evidence of which nothing holds: until then no other merit counts."""
    if not guilty(sub):
        check_every_accusation_holds(sub)


def those_that_hold(accused):
    """Return those accusations for which the file as it was gives a wrong answer."""
    return {name: call for name, call in accused.items() if shows(report_on(name, call))}


def share_of(accused):
    """Return what is left of the points for evidence; nothing if it is a guess at many layers."""
    return len(those_that_hold(accused)) / WRONG if len(accused) <= WRONG else 0.0


def report_on(name, arguments):
    """Let the file as it was examine a call, once for all checks of the same evidence."""
    key = name, *((a.shape, a.dtype.str, a.tobytes()) for a in map(np.asarray, arguments))
    if key not in REPORTS:
        if len(REPORTS) == MOST_REPORTS:
            REPORTS.clear()
        REPORTS[key] = ORIGINAL.examine(name, *arguments)
    return REPORTS[key]


# --- backward passes ---------------------------------------------------------------------------


def is_right(sub, name, arguments, numeric):
    """Refuse a backward pass that differs from the finite differences at these arguments."""
    before = parts_of(getattr(ORIGINAL, f"{name}_backward")(*map(np.copy, arguments)))
    for k, (part, slope) in enumerate(numeric.items()):
        size = np.abs(slope.value).max(initial=0)
        rtol = max(RTOL, np.max(slope.error, initial=0) / size) if size else RTOL
        was_right = k < len(before) and same(before[k], slope.value, rtol)
        unchanged = "this is what it gave before: not mended yet, or what you changed makes no "
        unchanged += "difference here"
        mistakes = {} if was_right else {unchanged: before[k]}
        backward_call(sub, name, arguments, part).gives(
            rounded(slope.value),
            mistakes,
            rtol=rtol,
            otherwise="this one was right before you changed it"
            if was_right
            else "not right yet: which entries still differ, and what do they have in common?",
        )


def backward_call(sub, name, arguments, part=None):
    """Prepare the call of a backward pass, to look at the gradient of one input."""
    copies = [np.copy(a) for a in arguments]
    parts = [word for word, _ in movable(name, arguments)]
    if part is None or len(parts) == 1:
        return Call(sub, f"{name}_backward", *copies)
    return Part(sub, f"{name}_backward", *copies, part=f"d{part}", parts=[f"d{p}" for p in parts])


def parts_of(gradients):
    """Return the gradients as a tuple, also where there is only one."""
    return gradients if isinstance(gradients, tuple) else (gradients,)


def slopes(name, arguments):
    """Estimate the gradient by each input that can be moved."""
    layer = getattr(ORIGINAL, name)
    upstream, *inputs = arguments
    found = {}
    for part, k in movable(name, arguments):

        def f(moved, k=k):
            return np.sum(upstream * layer(*inputs[:k], moved, *inputs[k + 1 :]))

        found[part] = adaptive_difference(f, np.asarray(inputs[k]))
    return found


def movable(name, arguments):
    """Return name and number of each input that has a gradient; ids have none."""
    _, *inputs = arguments
    words = inspect.signature(getattr(ORIGINAL, name)).parameters
    return [(w, k) for k, w in enumerate(words) if np.asarray(inputs[k]).dtype.kind == "f"]


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
    for rows, columns in ((3, 4), (5, 2)):
        x = draw(rows, columns)
        for name in ("leaky_relu", "elu", "softmax", "batch_norm"):
            found.append((name, (draw(rows, columns), x)))
        found.append(("affine", (draw(rows, 3), x, draw(columns, 3), draw(3))))
        found.append(("max_pool", (draw(rows, columns // 2), x)))
        ids = np.array([1, 0, 1, 2, 2])
        found.append(("embedding", (draw(5, columns), x, ids)))
        found.append(("mean_squared_error", (np.array(0.7), x, draw(rows, columns))))
    return sorted(found, key=lambda call: LAYERS.index(call[0]))
