"""Checks of exercise 10. Their reasons are in ``judging.py``."""

from collections import Counter
from hashlib import sha256

import numpy as np

from course import takes_from_the_package
from expect import SUM_OF_SQUARES, Call, Formula, after, shown
from judging import ENOUGH, corpus, score


def check_it_answers(sub):
    """Your checker accepts a right gradient, rejects a wrong one, and returns True or False."""
    full, half = SUM_OF_SQUARES, Formula("sum(x*x) / 2", lambda x: np.sum(x * x) / 2)
    x, each = np.array([1.0, -2.0, 0.5]), "one entry is off by 0.1; every entry has to agree"
    small = "NaN is neither small nor large: ask whether the error is small, not whether large"
    shapes = "the shapes are not the same; NumPy stretches arrays until they fit"
    for f, analytic, right, look_at in (
        (full, 2 * x, True, "the step, and how far you let the two differ"),
        (full, x, False, "every entry is half of what it should be: is anything compared?"),
        (half, x, True, "right for this f, and wrong for the last one: call f"),
        (half, 2 * x, False, "wrong for this f, and right for the last one: call f"),
        (full, np.array([2.0, -4.0, 1.1]), False, each),
        (full, np.array([2.0, -4.0, np.nan]), False, small),
        (full, 2 * x[None], False, shapes),
    ):
        getattr(sub, "__forget__", bool)()  # a process that counts the questions is none that asks
        call = Call(sub, "my_check", f, x, analytic)
        got = call.run()
        if not isinstance(got, bool | np.bool_):
            call.refuse(got, f"{right}", "the return: True or False, and nothing else; see np.all")
        if not got and right and f is full and bool(Call(sub, "my_check", f, x, x).run()):
            look_at = "True is for a gradient that is right: the answers are the opposite"
        if bool(got) != right:
            call.refuse(f"{got}", f"{right}", look_at)


@after(check_it_answers)
def check_inputs_are_left_alone(sub):
    """Your checker changes neither x nor analytic, and takes matrices as well as vectors."""
    for x in (np.array([1.0, -2.0]), np.array([[1.0, 2.0], [-3.0, 0.5]]), np.array(1.5)):
        call = Call(sub, "my_check", SUM_OF_SQUARES, x, 2 * x)
        call.leaves_its_arguments()
        if not call.run():
            call.refuse("False", "True", "np.ndindex(x.shape) walks through arrays of any shape")


@after(check_it_answers)
def check_it_is_your_own(sub):
    """Your checker calls no other checker, and does not look into the zoo."""
    if takes_from_the_package(getattr(sub, "__source__", "")):
        look_at = "write your own: NumPy is enough; the zoo is for the end, where the file is run"
        Call(sub, "my_check").refuse("import of gradcheck_ref", "NumPy and your own code", look_at)
    Call(sub, "my_check", Formula("sum(x)", np.sum), np.ones(2), np.ones(2)).run()


def of_part(name, sentence, *, heldout=False):
    """Make the check of a part."""

    def check(sub):
        judged(sub, name, heldout=heldout)

    check.__name__ = f"{'heldout' if heldout else 'check'}_{name}"
    check.__doc__ = f"{sentence}: right gradients are accepted, and wrong ones rejected."
    return check


check_ordinary = of_part("ordinary", "Ordinary functions")
check_scale = of_part("scale", "Tiny, huge and mixed gradients")
check_steps = of_part("steps", "Functions that need their own step")
check_kinks = of_part("kinks", "At kinks and near them")
check_noise = of_part("noise", "Noisy functions")
heldout_ordinary = of_part("ordinary", "Other ordinary functions", heldout=True)
heldout_scale = of_part("scale", "Other tiny, huge and mixed gradients", heldout=True)
heldout_steps = of_part("steps", "Other functions that need their own step", heldout=True)
heldout_kinks = of_part("kinks", "Other kinks", heldout=True)
heldout_noise = of_part("noise", "Other noisy functions", heldout=True)


def judged(sub, name, *, heldout=False):
    """Refuse a checker that is not good enough for a part; leave it its share of the points."""
    last = []

    def my_check(f, x, analytic):
        call = Call(sub, "my_check", f, x, analytic)
        call.text = "my_check(f, x, analytic)"
        call.where = f"x = {shown(x)}, analytic = {shown(analytic)}"
        last[:] = [call]
        return call.run()

    cases, luck = corpus(name, heldout=heldout), ()
    if forget := getattr(sub, "__forget__", None):
        # A checker that is graded is a stranger, whose luck is fixed by its source.
        source = getattr(sub, "__source__", "")
        seed = sha256(f"{name} {len(cases)} {source}".encode()).digest()
        luck = np.random.default_rng([*seed]), forget
    scored = score(my_check, cases, *luck)
    if scored.enough:
        return
    call = last[0]
    if scored.stopped_at:
        call.where = f"f is {scored.stopped_at.name} of the zoo; {call.where}"
        if heldout:
            call.where = f"f is {', '.join(sorted(scored.stopped_at.tags))}"
        call.refuse("False", "True: this gradient is right", scored.hint)
    call.where = f"all {scored.right} right gradients are accepted"
    kinds = Counter(bug.kind for _, bug in scored.missed)
    missed = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    got = f"{len(scored.caught)} of {scored.planted} wrong gradients rejected; accepted: {missed}"
    call.refuse(got, f"at least {ENOUGH:.0%} rejected", scored.hint, share=scored.share)
