"""A line holds an object, and a string a real number: what is something else is said so."""

import numpy as np
import pytest

from gradcheck_ref.conversation.messages import (
    LineError,
    read_line,
    real,
    shortened,
    words,
)


def test_a_line_is_an_object():
    assert read_line(b'{"a": "\xc3\xa4"}') == {"a": "ä"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "not JSON"),
        ('{"a": 1}'.encode("utf-16"), "it is UTF-16, not UTF-8"),
        ('{"a": 1}'.encode("utf-16-le"), "it is UTF-16, not UTF-8"),
        (b'{"a": "1\0"}', "byte 9 is zero, and JSON has no such byte"),
        ("{", "; it ends too early, and a message is one line"),
        ('{"a": True}', "; JSON has true, false and null"),
        ("{'a': 1}", "; JSON has double quotes"),
        ("[1]", "not an object, but [1]"),
        ('{"a": NaN}', 'write the string "nan"'),
        ('{"a": 1, "b": {"c": 1, "c": 1}}', 'the key "c" occurs twice'),
        ('{"a": "ä"}'.encode("latin-1"), "not UTF-8"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' + "[" * 60 + "]" * 60 + "}", "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "not portable JSON"),
    ],
    ids=lambda value: shortened(repr(value), 20),
)
def test_a_line_that_is_not_an_object_is_refused(line, said):
    with pytest.raises(LineError) as error:
        read_line(line)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("value", "given", "said"),
    [
        (real("x"), True, "b is true, not a string"),
        (real("x"), 1.5, "b is the number 1.5: reals are written as strings"),
        (words("pass", "fail"), "a", 'b is "a", not pass or fail'),
        (words("pass", "fail"), True, "b is true, not pass or fail"),
    ],
)
def test_a_mistake_is_told_in_the_notation_of_json(value, given, said):
    assert value.wrong(given, "b") == said


@pytest.mark.parametrize("given", ["0.1E+01", ".5", "+1.0", "1.", "1E+100", "-Infinity", "NaN"])
def test_the_notations_of_other_languages_are_reals(given):
    assert not real("x").wrong(given, "b")
    assert np.isfinite(float(given)) == ("n" not in given.lower())
