"""The cases of the zoo and of the museum, and the public complaints, as rows."""

import functools
import itertools

import numpy as np
from complaints import ROWS as COMPLAINTS

from gradcheck_ref import check_vjp
from gradcheck_ref.check.mistakes.table import KINDS
from gradcheck_ref.zoo import all_cases
from gradcheck_ref.zoo.wild import wild_cases

from .row import Row, each_part

# What the right gradient of a case with a tag may get besides a pass, and why.
EXCUSES = {
    "kink": "unsure:kink",
    "tie": "unsure:kink",
    "jump": "unsure:kink",
    "domain-edge": "unsure:kink unsure:domain-edge unsure:noise",
    "float32": "unsure:noise unsure:stairs",
    "noise": "unsure:noise unsure:kink",  # of pseudo-random digits: each look finds another slope
    "offset": "unsure:noise",  # 1e6 + 1e-3 sin x: rounding of the pedestal is noise like any other
}

# The kinds for which the zoo has no word: it calls such a bug unknown. What a formula does not show
# is a local derivative at best.
BEYOND = KINDS.keys() - {bug.diagnosis for case in all_cases() for bug in case.bugs}
UNKNOWN = " ".join(["none", "local-derivative", *sorted(BEYOND)])

# Bugs that look like something else: beside a tie, hidden by rounding, at one entry, or where two
# kinds fit.
LOOKS = {
    "none": "cube/step-of-1e-12 pints/noise-exponent stan/negative-binomial-cdf",
    "single-entries": "relu_at_zero/mask-dropped unrolled_rnn/truncated pints/eight-schools "
    "leaky_memory/inputs-for-memory leaky_memory/decay-direct-only",
    "some-entries": "exponentialfamily/normal exponentialfamily/log-normal openturns/laplace "
    "neon/convolution zygote/real-fft",
    "some-outputs": "quack/pre-norm",
    "row-or-column": "max_pooling_with_tie/to-all",
    "factor": "maximum_with_tie/to-all",
    "sign": "ngboost/laplace",
    "phase": "chainrules/arcsecant",
    "zero": "autodiff/hypot-second",
    "not-zero": "torch/constant",
    "missing-sum": "oneflow/fmod",
    "extra-sum": "hips/repeat",
    "constant-term": "openturns/frank-copula",
    "mean-and-spread": "crypten/batch-norm",
    "upstream-ignored": "chainer/huber-loss k2/total-score nd4j/softplus mlpack/log-softmax "
    "autograd.jl/log-to-a-base tensorflow.net/squared-difference",
    "inner-factor": "autodiff/asin scikit-optimize/hamming statsmodels/log-dispersion "
    "solve/right-hand-side-for-solution axes_permuted/scale-squared elman_cell/tanh-forgotten "
    "elman_cell/new-state-for-old gru_cell/reset-forgotten float32_layer/tanh-forgotten",
    "local-derivative": "autodiff/asinh calculus.jl/quotient openturns/parameter-set tt-metal/rpow "
    "statsmodels/cdf-link statsmodels/binomial-variance paddle/shared-layer hips/normal-cdf "
    "distributions.jl/logit-normal",
}

# A derivative of 0 stays 0, so nothing shows that it is too large.
ZERO = {"a comparison"}


def diagnosis_of(bug):
    """Return the kinds of which a bug must get one."""
    looks = next((kind for kind, bugs in LOOKS.items() if bug.id in bugs.split()), bug.diagnosis)
    return UNKNOWN if looks == "unknown" else looks


def of_case(case):
    """Return a case of the zoo as a row, with its bugs."""
    excuses = [EXCUSES[tag] for tag in sorted(case.tags & EXCUSES.keys())]
    return Row(
        name=f"zoo: {case.name}",
        f=case.f,
        at=case.inputs if len(case.inputs) > 1 else case.inputs[0],
        right=case.vjp,
        want="unsure:kink" if "kink" in case.tags else " ".join(["pass", *excuses]),
        edits="",
        wrong={bug.id: bug.vjp for bug in case.bugs},
        kind={"right": "none"} | {bug.id: diagnosis_of(bug) for bug in case.bugs},
        check=check_vjp,
    )


def of_complaint(complaint):
    """Return a complaint as a row; a right derivative has a wrong one that is 30 % too large."""
    wrong = complaint.verdict == "pass" and complaint.name not in ZERO
    return Row(
        name=f"complaint: {complaint.name}",
        f=complaint.f,
        at=complaint.at,
        right=complaint.claim,
        want=complaint.verdict,
        edits="",
        wrong={"30 % too large": too_large(complaint.claim)} if wrong else {},
        says=complaint.said,
        check=functools.partial(as_told, complaint),
        source=complaint.address,
    )


def as_told(complaint, f, at, claim, **_):
    """Check a claim as it was told; some functions keep a state, so the first report counts."""
    return complaint.report if claim is complaint.claim else complaint.check(f, at, claim)


def too_large(claim):
    """Return the claim, or what it returns, 30 % too large."""
    if callable(claim):
        return lambda *given: too_large(claim(*given))
    return each_part(lambda part: np.multiply(part, np.asarray(part).dtype.type(1.3)), claim)


def cases():
    """Yield all cases, built anew."""
    return itertools.chain(all_cases(), wild_cases())


@functools.cache
def names():
    """Return the names of the rows."""
    of_cases = [of_case(case).name for case in cases()]
    return [*of_cases, *(of_complaint(complaint).name for complaint in COMPLAINTS)]


def row_named(name):
    """Return a row, built anew."""
    rows = itertools.chain(map(of_case, cases()), map(of_complaint, COMPLAINTS))
    return next(row for row in rows if row.name == name)
