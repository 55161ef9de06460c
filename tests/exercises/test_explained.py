"""NumPy's errors in the words of a learner, with the place and the shapes there."""

import linecache

import numpy as np
import pytest
from graded import ORDINARY, RELU, best_wall, said

from explained import look_at, message_of, place
from grader.grading import grade, load_checks

A, B, V = np.ones((2, 3)), np.ones((3, 2)), np.ones(2)

# An expression | what is said of its error, in part
ERRORS = """
A @ A | `@` needs as many columns on its left as rows on its right; here 3 and 2 (shapes: A (2, 3))
A.T @ B | here 2 and 3 (shapes: A.T (3, 2), B (3, 2))
np.dot(A, A) | here 3 and 2
A @ 2.0 | a single number takes *
A + V | (2, 3) and (2,) do not fit, entry by entry: the last axes have 3 and 2 entries
B + np.ones((4, 2)) | (3, 2) and (4, 2) do not fit, entry by entry: axes -2 have 3 and 4 entries
np.where(A > 0, 0, V) | (2, 3) and (2,) do not fit, entry by entry
A / A.sum(axis=1) | keepdims=True keeps the axis of a sum or a mean
A[np.arange(6), np.array([0, 1])] | both need the same length; here (6,) and (2,)
A[2] | axis 0 has the indices 0 to 1; 2 is none of them (shapes: A (2, 3))
np.ones(0)[0] | axis 0 has no entries, so there is no index 0
V[0, 0] | an array with 1 axis takes 1 index, and here are 2 (shapes: V (2,))
V[0.5] | an index is a whole number
L[0, 1] | a list takes one index
A.sum(axis=2) | the array has 2 axes, 0 to 1; there is no axis 2
V.sum(axis=1) | the array has one axis, 0; there is no axis 1
V.reshape(3, 2) | an array of 2 entries cannot have the shape (3, 2)
V.__setitem__(0, A) | an array is put where one number belongs
V.__setitem__(slice(2), np.ones(3)) | shape (3,) is put where one of shape (2,) is
V if V > 0 else 0 | want one answer for the whole array
max(A, 0) | want one answer for the whole array
np.add(V, V, 1e-8) | a third argument, as in np.maximum(a, b, c), is where the result goes
np.ones(0).max() | an array without entries has no largest
np.arange(2) ** -1 | write the number as a float, 2.0 and not 2
np.array([[1], [1, 2]]) | the rows have different lengths
np.add(np.arange(2), 0.5, out=np.arange(2)) | use dtype=float
np.ldexp(np.arange(2), V) | are its arguments in the right order?
[1] - [1] | make arrays of them
None + V | something here is None
__import__("nump") | did you mean numpy?
__import__("maths") | did you mean math?
__import__("sklearn_extra") | put your own code into this file
(lambda a, b: a)(1) | does it have the default of the starter?
(lambda f: f(f))(lambda f: f(f)) | a function calls itself without an end
(_ for _ in ()).throw(OSError(29, "I/O error")) | write the value in place of input()
"""


def explained(source, path="/nowhere/learner.py", **names):
    """Run a file, and return its error: the message, the place, and what to look at."""
    linecache.cache[path] = len(source), None, source.splitlines(keepends=True), path
    with pytest.raises(Exception) as error:  # noqa: PT011
        exec(compile(source, path, "exec"), names)
    found = dict(place(error.value, path))
    what = message_of(error.value)
    return what, found, *look_at(what, found["at"], found.get("shapes", ""))


@pytest.mark.parametrize("row", ERRORS.strip().splitlines())
def test_an_error_of_numpy_is_translated(row):
    code, says = row.split(" | ")
    what, found, look = explained(f"x = {code}\n", np=np, A=A, B=B, V=V.copy(), L=[1])
    assert says in look
    assert found["at"].startswith("line 1: x = ")
    assert "gufunc" not in what


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("if 1:\n\tx = 1\n        y = 2\n", "some lines begin with tabs and others with spaces"),
        ("x = 1 +\u00a02\n", "a no-break space, as web pages have it"),
        ("x = (1\uff0c 2)\n", "this character only looks like one of Python's"),
    ],
    ids=["tabs", "no-break space", "Chinese comma"],
)
def test_a_file_that_is_no_python_is_explained(source, says):
    with pytest.raises(SyntaxError) as error:
        compile(source, "/nowhere/learner.py", "exec")
    assert says in next(look_at(message_of(error.value), "", ""))


def test_an_error_that_is_plain_already_has_no_translation():
    what, found = explained("x = 1\ny = x + unknown\n")
    assert what == "NameError: name 'unknown' is not defined"
    assert found == {"at": "line 2: y = x + unknown"}


def test_only_the_arrays_of_the_expression_that_failed_are_told():
    _, found, _ = explained("x = (A + A) * (\n    V @ A.T + B)\n", A=A, B=B, V=V)
    assert found["shapes"] == "V (2,), A.T (3, 2)"


def test_an_error_in_a_helper_says_which_line_called_it():
    source = "def helper(p, q):\n    return p @ q\n\n\nx = helper(A, V)\n"
    _, found, look = explained(source, A=A, V=V)
    assert found["at"] == "line 2, called in line 5: return p @ q"
    assert "(shapes: p (2, 3), q (2,))" in look


@pytest.mark.slow
def test_the_grader_says_the_same(tmp_path):
    wrong = "import numpy as np\n\n\ndef relu(x):\n    return np.maximum(x, 0) + np.ones(5)\n"
    (tmp_path / "06_relu.py").write_text(wrong, encoding="utf-8")
    with best_wall() as wall:
        report = grade(tmp_path, load_checks([RELU]), wall, ORDINARY)
    assert "at: line 5: return np.maximum(x, 0) + np.ones(5)" in said(report)
    assert "look at: (2, 3) and (5,) do not fit, entry by entry" in said(report)
    assert "(shapes: x (2, 3))" in said(report)
    assert "\nshapes: " not in said(report)
