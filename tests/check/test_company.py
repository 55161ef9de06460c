"""Products of NumPy arrays that are right alone, and wrong in company; beside each, a right one."""

import warnings

import numpy as np
import pytest

from gradcheck_ref import check_vjp

A, B = np.random.default_rng(0).normal(size=(2, 3, 4))
V = np.array([0.3, -0.7, 1.1, 0.4])


def square(x):
    return x * x


def product(x, y):
    return x * y


def memory(a):
    """Read the numbers in the order of the memory."""
    return a.ravel(order="K").reshape(a.shape)


def buffer(a):
    """Read as many numbers as there are from the buffer behind a view, as a C function may."""
    base = a if a.base is None else a.base
    return np.resize(base.ravel(), a.shape)


def only(is_it, misread):
    return lambda a: misread(a) if is_it(a) else a


def in_steps(a):
    return min(a.strides) > a.itemsize


def rows_apart(a):
    return a.strides[-1] == a.itemsize and not a.flags.c_contiguous and a.shape[0] > 1


def is_backwards(a):
    return min(a.strides) < 0


def to_the_end(a):
    """Read from the lowest address on."""
    return a[(slice(None, None, -1),) * a.ndim]


def counted(a):
    return np.arange(a.size).reshape(a.shape)


def of_upstream(read):
    return square, lambda u, x: 2 * x * read(u), [A]


def of_inputs(read):
    return square, lambda u, x: 2 * read(x) * u, [A]


def kept_from(call):
    seen = []

    def vjp(u, x):
        seen.append(x.copy())
        return 2 * u * seen[max(-len(seen), call)]

    return square, vjp, [V]


def into(make):
    work = np.zeros(4)
    return square, lambda u, x: np.multiply(2 * x, u, out=make(work)), [V]


def twice(same):
    return product, lambda u, x, y: (u * y, 0 * x if same(x, y) else u * x), [A, B]


def three(same):
    def vjp(u, x, y, z):
        return u * y * z, u * x * z, 0 * x if same(y, z) else u * x * y

    return lambda x, y, z: x * y * z, vjp, [A, B, A + B]


# circumstance: (wrong, right), each (f, vjp, inputs). Nothing of it shows when it is checked alone.
ROWS = {
    "the upstream is stored column by column": (
        of_upstream(only(lambda a: a.flags.f_contiguous and a.ndim > 1, memory)),
        of_upstream(np.ascontiguousarray)),
    "an input is stored column by column": (of_inputs(memory), of_inputs(np.ascontiguousarray)),
    "the upstream is a slice of a larger array": (
        of_upstream(only(in_steps, buffer)), of_upstream(np.array)),
    "an input is a slice of a larger array": (
        of_inputs(only(in_steps, buffer)), of_inputs(np.array)),
    "the upstream is a slice of a larger array | columns": (
        of_upstream(only(rows_apart, buffer)), of_upstream(np.array)),
    "an input is a slice of a larger array | columns": (
        of_inputs(only(rows_apart, buffer)), of_inputs(np.array)),
    "the upstream is stored column by column | beside a plain input": (
        (square, lambda u, x: 2 * x * (memory(u) if x.flags.c_contiguous else u), [A]),
        of_upstream(np.array)),
    "the upstream is a reversed view": (
        of_upstream(only(is_backwards, to_the_end)), of_upstream(np.array)),
    "an input is a reversed view": (of_inputs(only(is_backwards, to_the_end)), of_inputs(np.array)),
    "the upstream is one number": (
        of_upstream(only(lambda a: 0 in a.strides, counted)), of_upstream(np.array)),
    "vjp is called at another point": (kept_from(-2), kept_from(-1)),
    "vjp is called again": (into(lambda work: work), into(np.copy)),
    "f(x, x) gets one array": (
        twice(lambda x, y: x is y), twice(lambda x, y: False)),
    "f(x, x) gets one array | the last of three": (
        three(lambda y, z: y is z), three(lambda y, z: False)),
}  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize("circumstance", ROWS)
def test_a_vjp_that_is_right_alone_fails_in_one_circumstance(circumstance):
    (f, wrong, inputs), (_, right, _) = ROWS[circumstance]
    report = check_vjp(f, inputs, wrong)
    assert (report.verdict, report.reason) == ("fail", "company")
    assert report.faults[0].sentence.startswith(
        f"they change if {circumstance.partition(' | ')[0]}"
    )
    assert check_vjp(f, inputs, wrong, company=False)
    report = check_vjp(f, inputs, right)
    assert (report.verdict, report.notes, len(report.company)) == ("pass", (), 12)


def reads_a_pointer(u, x):
    if not u.flags.writeable:
        raise ValueError("buffer source array is read-only")
    return 2 * x * u


def test_an_error_is_a_note():
    report = check_vjp(square, [A], reads_a_pointer)
    assert report
    assert report.notes == (
        "vjp raises if the upstream is read-only, as a broadcast array or one of JAX is: "
        "ValueError: buffer source array is read-only",
    )


def test_what_code_says_of_a_read_only_array_does_not_reach_the_caller():
    def vjp(u, x):
        if not u.flags.writeable:
            warnings.warn("not writable", stacklevel=2)
        return 2 * x * u

    with warnings.catch_warnings(record=True) as said:
        assert check_vjp(square, [A], vjp).notes == ()
    assert said == []


def test_the_report_and_its_data_say_what_was_tried():
    f, wrong, inputs = into(lambda work: work)
    report = check_vjp(f, inputs, wrong)
    assert " ".join(report.text(100).split()).startswith(
        "FAIL the numbers agree (16 compared), but they change if vjp is called again before the "
        "gradient is used, as when gradients add up: return a new array each time, not the same "
        "buffer"
    )
    data = report.to_dict()
    assert data["faults"][0]["reason"] == "company"
    assert data["company"][:2] == ["upstream by columns", "inputs by columns"]
    assert check_vjp(f, inputs, wrong, company=False).to_dict()["company"] == []


@pytest.mark.parametrize("company", [1.5, "some", None])
def test_company_is_true_false_or_all(company):
    with pytest.raises(ValueError, match="company must be True, False or"):
        check_vjp(square, [A], lambda u, x: 2 * u * x, company=company)


def test_nothing_is_asked_if_the_budget_is_spent_or_the_numbers_are_wrong():
    assert check_vjp(square, [A], lambda u, x: 2 * u * x, max_evaluations=12).company == ()
    assert check_vjp(square, [A], lambda u, x: 3 * u * x).company == ()
