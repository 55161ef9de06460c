"""Checks of exercise 18."""

import numpy as np

from expect import SMALL, AnyOf, Call, Formula, Part, after, builds_on, same, shown

DIGITS = np.array([[3.14159, -0.1, 1002.7], [0.0, 1.5, -2e-5]])
IN_BFLOAT16 = np.array([[3.140625, -0.10009765625, 1004.0], [0.0, 1.5, -2.002716064453125e-05]])

CUBES = Formula("x*x*x, entry by entry", lambda x: x * x * x)
H = 0.25
X, V, U = np.array([1.0, 2.0]), np.array([1.0, -1.0]), np.array([2.0, 1.0])  # x + h*v is exact
ERRORS = np.array([0.5, -1.0])
CLAIMED = U * 3 * X**2 + ERRORS

BETWEEN = 0.375  # a combination is larger or smaller, and so is a place on a line from there

R = np.array([[3.0, 2.0, -2.0], [1.0, -2.0, -4.0]])
CLAIMS = np.array([4.0, -2.0, 3.0])


def check_eight_digits(sub):
    """A bfloat16 keeps eight binary digits, of large numbers and of small ones."""
    slips = {
        "that is the digit below; round to the nearest": AnyOf(
            kept(DIGITS, 8, np.floor), kept(DIGITS, 8, np.trunc)
        ),
        "that is the digit above; round to the nearest": kept(DIGITS, 8, np.ceil),
        "that is seven digits; m has none before the point": kept(DIGITS, 7),
        "that is nine digits; m has none before the point": kept(DIGITS, 9),
        "that is m; ldexp puts m and e together": np.frexp(IN_BFLOAT16)[0],
    }
    float16 = DIGITS.astype(np.float16).astype(float)
    mistakes = {
        "digits are counted from the first one that is not 0, not from the point": AnyOf(
            np.round(256 * DIGITS) / 256, np.round(128 * DIGITS) / 128
        ),
        "those are decimal digits": AnyOf(*(np.round(DIGITS, k) for k in range(9))),
        "that is float16, which has 11 digits": float16,
    }
    Call(sub, "bfloat16", DIGITS).gives(IN_BFLOAT16, slips | mistakes, stand_in=rounded)


@builds_on(check_eight_digits)
def check_the_residual(sub):
    """Without rounding, the residual is the mistake, minus the truncation of the difference."""
    claimed, cubic = CLAIMED @ V, H * H * U @ V**3
    measured = (CLAIMED - ERRORS) @ V + cubic
    right = claimed - measured
    by_axes = (CLAIMED - ERRORS).sum() + H * H * U.sum()
    ahead_only = U @ (CUBES.f(X + H * V) - CUBES.f(X)) / H
    slips = {
        "the claim times the step taken: ahead minus behind": (
            (np.sum(CLAIMED * 2 * X) - 2 * H * measured) / (2 * H)
        ),
        "u weights f ahead and f behind, both": claimed
        - np.sum(U * CUBES.f(X + H * V) - CUBES.f(X - H * V)) / (2 * H),
        "one place is x itself, and you divide by 2*h; step to both sides": (
            (claimed - ahead_only) / 2
        ),
        "the measured slope is subtracted, not added": claimed + measured,
        "divide the predicted difference by 2*h, too": 2 * H * claimed - measured,
        "the two places are 2*h apart, not h": AnyOf(2 * right, claimed - 2 * measured),
        "that is / 2 * h, which multiplies by h; add parentheses": AnyOf(
            right * H * H, claimed - measured * H * H
        ),
        "the difference is not divided by anything": 2 * H * right,
        "that is the claimed slope; subtract the measured one": claimed,
        "that is the measured slope; subtract it from the claimed one": measured,
        "that is a forward difference; step to both sides": claimed - ahead_only,
    }
    mistakes = {
        "where is the combination u? it weights the outputs of f": AnyOf(
            claimed - (measured_alone := (3 * X**2 + H * H) @ V),
            CLAIMED * V - (3 * X**2 + H * H) * V,
        ),
        "u is in claimed already: vjp(u) has it": AnyOf(
            (U * CLAIMED) @ V - measured, (U * CLAIMED) @ V - measured_alone
        ),
        "x moves along v, not every entry by h": AnyOf(claimed - by_axes, CLAIMED.sum() - by_axes),
        "the claim is multiplied by v, too": CLAIMED.sum() - measured,
        "one number: the sum over all entries": ERRORS * V - H * H * U * V**3,
    }
    Call(sub, "residual", CUBES, X, CLAIMED, V, U, H).gives(
        right, slips | mistakes, stand_in=residual
    )
    call = Call(sub, "residual", CUBES, X, CLAIMED - 2 * ERRORS, V, U, H)
    right -= 2 * ERRORS @ V
    call.gives(right, {"keep the sign: a product needs it": -right})
    call.gives_in_any_size(right, 1, 0, 1)


@builds_on(check_eight_digits, check_the_residual)
def check_the_step_taken(sub):
    """A right claim has no residual, wherever rounding puts the two places."""
    f = Formula("x in bfloat16", rounded)
    x, v, u = np.array([1.0, -3.0]), np.array([1.0, 0.5]), np.array([1.0, 1.0])
    taken = (rounded(x + 0.01 * v) - rounded(x - 0.01 * v)) / 0.02
    slips = {
        "divide by 2*h, and let the claim predict the step taken: ahead - behind": AnyOf(
            np.sum(v) - np.sum(taken), np.sum(v - taken) * 0.02
        )
    }
    call = Call(sub, "residual", f, x, np.array([1.0, 1.0]), v, u, 0.01)
    call.gives(0.0, slips, otherwise="the claim times (ahead - behind), both in bfloat16")
    seen = Seen("x")
    call = Call(sub, "residual", seen, x, np.array([1.0, 1.0]), v, u, 0.01)
    call.run()
    if not all(np.array_equal(x, rounded(x)) for x in seen.given):
        at = max(seen.given, key=lambda x: np.abs(x - rounded(x)).max())
        call.refuse(
            f"f called at {shown(at, 9)}", "f called at bfloat16 numbers", "round both places"
        )


@builds_on(check_the_residual, check_the_step_taken)
def check_a_line_is_shared(sub):
    """Both steps have the same lines and combinations, so the mistake is the same at both."""
    call, (r, claims), lines, combinations = measured(sub, seed=1)
    for drawn, what in ((lines, "line"), (combinations, "combination")):
        if len({(place > BETWEEN).tobytes() for place in drawn.given}) < len(claims):
            look_at = f"each column has its own {what}: draw(rng, ...) once more, with the same rng"
            call.refuse(f"a {what} that comes again", f"{len(claims)} of them", look_at)
    if not np.ptp(r, axis=1).all():
        call.refuse(
            r,
            "another residual for each line",
            "is each residual stored, r[i, k], for its own line?",
        )
    alike = np.corrcoef(r)[0, 1]
    if not alike > 0.9:
        expected = "for each line the same mistake at both steps"
        look_at = "draw line and combination once, before the loop over the steps, not inside it"
        call.refuse(f"residuals at two steps with the correlation {alike:.1f}", expected, look_at)
    size = np.mean(claims**2) / (9 * 30)  # of a Jacobian with 30 threes
    if np.abs(claims - 1.5 * r[0]).max() > 0.1 * np.sqrt(np.mean(claims**2)):
        look_at = "sum(vjp(u) * v), which is 3/2 of the residual here, except for rounding"
        call.refuse(
            f"claims {shown(claims[:3], 3)} ...", f"{shown(1.5 * r[0, :3], 3)} ...", look_at
        )
    if not 0.5 < size < 2:
        look_at = "is every line, and every combination, drawn by draw?"
        call.refuse(f"a mean square of the claims of {270 * size:.0f}", "about 270", look_at)


@after(check_a_line_is_shared)
def check_the_seed(sub):
    """The same seed gives the same lines, and another seed gives others."""
    _, (_, first), *_ = measured(sub, seed=1)
    again, (_, second), *_ = measured(sub, seed=1)
    if not np.array_equal(first, second):
        look_at = "where does chance come from? np.random.default_rng(seed)"
        again.refuse("other lines than before, with the same seed", "the same lines", look_at)
    other, (_, third), *_ = measured(sub, seed=2)
    if np.array_equal(first, third):
        other.refuse("the lines of seed 1", "other lines", "does the seed enter?")


def check_the_mean_square_is_split(sub):
    """The mean product is the mistake, and the rest of the mean square is noise."""
    for r in (R, np.array([[1.0, -2.0, 0.5], [-3.0, 1.5, 2.0]])):
        (a, b), right = r, np.mean(r[0] * r[1])
        mistakes = {
            "one row squared has its noise in it, squared; multiply two rows": AnyOf(
                np.mean(a**2), np.mean(b**2)
            ),
            "that is the mean square, noise included": np.mean(r**2),
            "the mean of the products, not the product of the means": a.mean() * b.mean(),
            "multiply the two rows, r[0] and r[1]; those are columns": np.mean(r[:, 0] * r[:, 1]),
            "no absolute values: products of noise cancel only if they keep their signs": AnyOf(
                np.mean(np.abs(a * b)), abs(right)
            ),
            "it may be negative, if it is small and noisy; leave it": 0.0,
        }
        slips = {"the mean over the lines, not the sum": np.sum(a * b)}
        part("mistake", sub, r).gives(right, slips | mistakes)
        rest = np.mean((a - b) ** 2)
        mistakes = {
            "square each difference, then take the mean": AnyOf(
                np.mean(a - b) ** 2 / 2, np.mean(np.abs(a - b)) / 2
            ),
            "the difference of the two rows, not each row": np.mean(r**2),
            "square the difference as it is; np.var takes its mean off": np.var(a - b) / 2,
            "the difference of the two rows, not their sum": np.mean((a + b) ** 2) / 2,
        }
        slips = {
            "half of it: two rows are in each difference": rest,
            "the mean over the lines, not the sum": rest / 2 * len(a),
        }
        part("noise", sub, r).gives(rest / 2, slips | mistakes)


def check_the_whole(sub):
    """The mistake is compared with the claimed slopes, and has a standard error."""
    products, size, k = R[0] * R[1], np.mean(CLAIMS**2), R.shape[1]
    mean, spread = products.mean(), products.std(ddof=1)
    mistakes = {
        "divide by the mean square of the claims, not of the residuals": mean / np.mean(R**2),
        "one row squared has its noise in it, squared; multiply two rows": AnyOf(
            np.mean(R[0] ** 2) / size, np.mean(R[1] ** 2) / size, np.mean(R**2) / size
        ),
        "the mean of the squares of the claims, not the square of their mean": AnyOf(
            mean / np.mean(CLAIMS) ** 2, mean / np.mean(np.abs(CLAIMS)) ** 2
        ),
        "divide mean by mean; one claim alone may be nearly 0": np.mean(products / CLAIMS**2),
        "a square is divided by a square: the mean of claims**2": AnyOf(
            mean / np.mean(CLAIMS), mean / np.mean(np.abs(CLAIMS)), mean / np.sqrt(size)
        ),
    }
    slips = {
        "where are the claimed slopes? divide by their mean square": mean,
        "divide by the mean square of the claims once": mean / size**2,
        "the products of the two rows, not their sums": np.mean(R[0] + R[1]) / size,
        "the sum of claims**2 grows with the number of lines; take the mean": mean / size / k,
    }
    part("square", sub, R, CLAIMS).gives(mean / size, slips | mistakes)
    mistakes = {
        "the products spread, not the claims": CLAIMS.std(ddof=1) / np.sqrt(k) / size,
        "the spread of the products, not of the residuals": AnyOf(
            *(row.std(ddof=1) / np.sqrt(k) / size for row in R)
        ),
    }
    slips = {
        "the mean of k products is more certain than one: divide by the root of k": spread / size,
        "k is the number of lines, not of steps": spread / np.sqrt(len(R)) / size,
        "divide by the root of k, not by k": spread / k / size,
        "std divides by k; use ddof=1, as the mean comes from the same products": (
            products.std() / np.sqrt(k) / size
        ),
        "divide it by the mean square of the claims, too": spread / np.sqrt(k),
        "the standard deviation, not its square": spread**2 / k / size,
    }
    part("margin", sub, R, CLAIMS).gives(spread / np.sqrt(k) / size, slips | mistakes)
    mistakes = {"a negative square is no mistake; return it": AnyOf(0.0, np.nan, mean / size)}
    part("square", sub, R * [[1], [-1]], CLAIMS).gives(-mean / size, mistakes)


NO_EVIDENCE = "a NaN is no evidence, and max(0, NaN) is 0"
ROWS = (
    # square | margin | tolerance | verdict | what to look at
    (0.0004, 0.0001, 0.05, "pass", "0.0004 + 3 * 0.0001 is at most 0.05**2, which is 0.0025"),
    (0.0100, 0.0001, 0.05, "fail", "0.01 - 3 * 0.0001 is above 0.05**2, which is 0.0025"),
    (0.0015, 0.0004, 0.05, "unsure", "0.0015 is below 0.0025, with three margins more it is above"),
    (0.0035, 0.0004, 0.05, "unsure", "0.0035 is above 0.0025, with three margins less it is below"),
    (0.0400, 0.0010, 0.50, "pass", "0.04 + 3 * 0.001 is at most 0.5**2, which is 0.25"),
    (0.0012, 0.0004, 0.05, "pass", "0.0012 + 3 * 0.0004 is 0.0024, which is at most 0.0025"),
    (0.0038, 0.0004, 0.05, "fail", "0.0038 - 3 * 0.0004 is 0.0026, which is above 0.0025"),
    (4e-10, 1e-10, 2e-5, "unsure", "4e-10 with three margins of 1e-10 more or less, and 4e-10"),
    (9.9e-11, 1e-13, 1e-5, "pass", "9.9e-11 + 3 * 1e-13 is at most 1e-5**2, which is 1e-10"),
    (-0.0010, 0.0001, 0.05, "pass", "a square below 0 counts as 0, and 3 * 0.0001 is below 0.0025"),
    (
        -0.0100,
        0.0040,
        0.05,
        "unsure",
        "a square below 0 counts as 0, and 3 * 0.004 is above 0.0025",
    ),
    (np.nan, 0.0001, 0.05, "unsure", NO_EVIDENCE),
    (0.0004, np.nan, 0.05, "unsure", NO_EVIDENCE),
)


def check_the_verdict(sub):
    """The verdict is sure, or it is unsure."""
    for square, margin, tolerance, right, look_at in ROWS:
        call = Call(sub, "verdict", square, margin, tolerance)
        call.gives(right, otherwise=look_at)


@builds_on(check_the_residual, check_a_line_is_shared, check_the_whole, check_the_verdict)
def check_a_wrong_gradient_is_seen(sub):
    """In bfloat16 a right gradient passes at 5 percent, and a doubled one fails."""
    rng = np.random.default_rng(5)
    a, x = rounded(rng.normal(size=(6, 8)) / np.sqrt(8)), rounded(rng.normal(size=8))
    f = Formula("tanh(A @ x), in bfloat16", lambda x: rounded(np.tanh(rounded(a @ x))))
    for factor, right in ((1, "pass"), (2, "fail")):
        text = "the gradient" if factor == 1 else "twice the gradient"
        vjp = Formula(text, lambda u, c=factor: c * (u * (1 - np.tanh(a @ x) ** 2)) @ a)
        call, (r, claims) = residuals(sub, f, vjp, x, (0.1, 0.05), 60, 7)
        told = part("square", sub, r, claims).answers()
        got = Call(sub, "verdict", told["square"], told["margin"], 0.05).run()
        if got != right:
            call.refuse(f"{got}, at 0.05", right, "each function alone passed: what is given on?")


@after(check_the_residual, check_the_mean_square_is_split, check_the_whole)
def check_inputs_are_left_alone(sub):
    """No function changes its arguments."""
    Call(sub, "bfloat16", DIGITS).leaves_its_arguments()
    Call(sub, "residual", CUBES, X, CLAIMED, V, U, H).leaves_its_arguments()
    part("mistake", sub, R).leaves_its_arguments()
    part("square", sub, R, CLAIMS).leaves_its_arguments()


@builds_on(check_the_residual, check_the_whole, check_the_mean_square_is_split)
def heldout_other_numbers(sub):
    """The input may be a matrix, and the output may have another size."""
    a, x = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 1.0]]), np.array([[1.0, -2.0], [0.5, 4.0]])
    v, u = np.array([[1.0, 1.0], [-2.0, 1.0]]), np.array([[1.0, -1.0], [2.0, 1.0], [0.0, 3.0]])
    f = Formula("A @ x", lambda x: a @ x)
    Call(sub, "residual", f, x, a.T @ u + 1, v, u, 0.5).gives(v.sum())
    r, claims = np.array([[0.5, -1.0, 2.0, 0.0], [1.5, -2.0, 1.0, 3.0]]), np.array([1.0, 3, -1, 2])
    part("square", sub, r, claims).gives(4.75 / 15)
    part("noise", sub, r).gives(12 / 8)
    _, (_, claims), *_ = measured(sub, seed=3)
    call, (_, small), *_ = measured(sub, seed=3, unit=1e-12)
    if not same(small, 1e-12 * claims):
        call.refuse(f"claims {shown(small[:3], 3)} ...", shown(1e-12 * claims[:3], 3), SMALL)


def kept(x, digits, how=np.round):
    """Keep this many binary digits of each number."""
    spacing = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(x), 1e-300))) + 1 - digits)
    return spacing * how(x / spacing)


def rounded(x):
    """Round to bfloat16."""
    return kept(x, 8)


def residual(f, x, claimed, v, u, h):
    """Stand in for the learner's, where another function is judged."""
    ahead, behind = rounded(x + h * v), rounded(x - h * v)
    measured = np.sum(u * (f(ahead) - f(behind)))
    return (np.sum(claimed * (ahead - behind)) - measured) / (2 * h)


class Seen(Formula):
    """A formula that remembers what it was given."""

    def __init__(self, text, factor=1.0):
        super().__init__(text, self.remembered)
        self.factor, self.given = factor, []

    def remembered(self, x):
        """Return a multiple of x."""
        self.given.append(np.array(x, float))
        return self.factor * x


def residuals(sub, f, vjp, x, steps, count, seed):
    """Call residuals; refuse what is not two arrays of the right shapes."""
    call = Part(sub, "residuals", f, vjp, x, steps, count, seed, part="r", parts=("r", "claims"))
    call.text = f"residuals(f, vjp, x, {steps}, {count}, {seed})"
    call.where = f"f(x) = {f.text}, vjp(u) = {vjp.text}, x of shape {x.shape}"
    got = call.answers()
    for name, shape in (("r", (len(steps), count)), ("claims", (count,))):
        if np.shape(got[name]) != shape:
            look_at = "r has a row for each step and a column for each line; claims has no rows"
            call.refuse(f"{name} of shape {np.shape(got[name])}", f"shape {shape}", look_at)
    return call, [np.asarray(got[name], float) for name in ("r", "claims")]


def measured(sub, seed, unit=1.0):
    """Measure the residuals of f(x) = x, claimed to be 3 * x; the mistake is 2/3 of the claim."""
    of_unit = f"{unit:g} * " if unit < 1 else ""
    f, vjp = Seen(f"{of_unit}x", unit), Seen(f"{of_unit}3 * u", 3.0 * unit)
    x = np.full((5, 6), BETWEEN)
    return *residuals(sub, f, vjp, x, (0.5, 0.25), 60, seed), f, vjp


def part(name, sub, *arguments):
    """Prepare a call, to look at one of its two numbers."""
    function, names = "split", ("mistake", "noise")
    if len(arguments) == 2:
        function, names = "whole", ("square", "margin")
    return Part(sub, function, *arguments, part=name, parts=names)
