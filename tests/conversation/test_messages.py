"""Tables of keys and values: the check, the schema and the page that follow from them agree."""

import json

import jsonschema
import numpy as np
import pytest

from gradcheck_ref.conversation.messages import (
    LineError,
    Message,
    Reply,
    by_name,
    document,
    either,
    listed,
    matching,
    nested,
    no_real,
    numbers,
    plain,
    read_line,
    real,
    record,
    shortened,
    text,
    truth,
    tuple_of,
    words,
)

# Another protocol than the oracle's: a program is asked for values of its function.
REAL = matching("a real", "real", r"-?[0-9]+(\.[0-9]+)?|nan", longest=9, hint=str)
REALS = nested(REAL, "reals", "reals")
ASK = Message({"ask": words("value", "vjp"), "inputs": listed(REALS, "inputs", least=1, most=3)})
SHAPE = plain("a list of sizes", {"type": "array"}, lambda v: isinstance(v, list))
ANSWER = Message({"value": REALS, "shape": SHAPE}, {"exact": truth(), "order": numbers(1, 2)})
REPLY = Reply(ANSWER, {"problem": text("what broke")})
PAIR = Message(
    {"pair": tuple_of(REAL, truth(), said="a pair"), "any": either(REAL, SHAPE, said="")}
)
LINES = {"ask": ASK, "reply": REPLY, "pair": PAIR}
SCHEMA = document("values of a function", LINES, list(LINES))

RIGHT = [
    ("ask", {"ask": "vjp", "inputs": ["1", ["2", ["nan"]]], "more": 1}),
    ("reply", {"value": "1", "shape": []}),
    ("reply", {"value": [], "shape": [0], "exact": None, "order": 2.0}),
    ("reply", {"problem": None, "value": "3", "shape": []}),
    ("pair", {"pair": ["1", True], "any": []}),
]
WRONG = [
    ("ask", {"ask": "jvp", "inputs": ["1"]}, "ask is jvp, not value or vjp"),
    ("ask", {"ask": "vjp", "inputs": []}, "inputs has 0 entries"),
    ("ask", {"ask": "vjp", "inputs": [["1", ["x"]]]}, "inputs[0][1][0] is x"),
    ("reply", {}, "the message has no shape and no value"),
    ("reply", {"value": "1", "shape": [], "exact": 1}, "exact is 1, not true or false"),
    ("reply", {"value": "1", "shape": [], "order": True}, "order is true, not 1 or 2"),
    ("reply", {"value": "1", "shape": 3}, "shape is 3, not a list of sizes"),
    ("reply", {"problem": " "}, 'problem is " ": say it in words, or leave it out'),
    ("reply", {"problem": True, "value": "1", "shape": []}, "problem is true: say it in words"),
    ("reply", {"problem": False}, "the message has no shape and no value"),
    ("pair", {"pair": ["1"], "any": "1"}, 'pair is ["1"], not a list of 2'),
    ("pair", {"pair": ["1", 1], "any": "1"}, "pair[1] is 1, not true or false"),
    ("pair", {"pair": ["1", True], "any": 3}, "any is 3"),
]


def allowed_by_schema(name, message):
    """Tell whether the schema of a message allows this one."""
    part = {"$schema": SCHEMA["$schema"], "$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}
    return jsonschema.Draft202012Validator(part).is_valid(message)


@pytest.mark.parametrize(("name", "message"), RIGHT, ids=str)
def test_a_right_message_is_accepted_by_table_and_schema(name, message):
    assert LINES[name].wrong(message, "the message") == ""
    assert allowed_by_schema(name, message)


@pytest.mark.parametrize(("name", "message", "said"), WRONG, ids=str)
def test_a_wrong_message_is_refused_by_table_and_schema(name, message, said):
    assert LINES[name].wrong(message, "the message").startswith(said)
    assert not allowed_by_schema(name, message)


def test_a_closed_message_has_no_other_keys():
    closed = Message({"a": truth()}, closed=True)
    assert closed.wrong({"a": True, "b": 1}, "it") == 'it has the unknown key "b"'
    assert closed.schema()["additionalProperties"] is False


def test_the_schema_is_valid_and_accepts_each_kind_of_line():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid({"problem": "no"})
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid({"nothing": 1})


def test_a_message_has_a_row_for_the_page():
    assert ANSWER.row() == (
        "`value`: reals; `shape`: a list of sizes; perhaps `exact`: true or false; "
        "perhaps `order`: 1 or 2"
    )


# --- lines -----------------------------------------------------------------------------------


def test_a_line_is_an_object():
    assert read_line(b'{"a": "\xc3\xa4"}') == {"a": "ä"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "not JSON"),
        ('{"a": 1}'.encode("utf-16"), "it is UTF-16, not UTF-8"),
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


# What some language prints, which is no real here: what is said of it.
FOREIGN = {
    "1.0D+00": "has a D in its exponent",
    "1.0+100": "has an exponent without a letter",
    "**********": "a field is too narrow",
    "0,5": "has a comma",
    "1.5f0": "has an f",
    "0x1.8p+1": "is hexadecimal",
    "1.#QNAN": 'write "inf" or "nan"',
    "NA": 'is a missing value: write "nan"',
    "  1.0": "has blanks around it: remove them",
    "1" * 401: "is longer than 400 characters",
    "1\n": "has blanks around it",
    **dict.fromkeys(("one", "", "1_000", "\u0661", "1e", "--1", "nan("), "is not a real number"),
}


@pytest.mark.parametrize("given", FOREIGN, ids=lambda given: given[:20])
def test_a_number_in_another_notation_is_refused_with_the_right_one(given):
    assert real("x").wrong(given, "b") == f"b is {no_real(given)}"
    assert f"{json.dumps(given)[:20]}" in no_real(given)
    assert FOREIGN[given] in no_real(given)


@pytest.mark.parametrize("given", ["0.1E+01", ".5", "+1.0", "1.", "1E+100", "-Infinity", "NaN"])
def test_the_notations_of_other_languages_are_reals(given):
    assert not real("x").wrong(given, "b")
    assert np.isfinite(float(given)) == ("n" not in given.lower())


# What is wrong is said of the kind that was meant: (given, what is said)
BYTES = record(Message({"bytes": text()}, closed=True), "")
MEANT = {
    "a list with a value that is not a real": (["x"], "a[0] is x"),
    "no object": (3, "a is 3"),
    "an object with the key": ({"bytes": 3}, "a.bytes is 3"),
}


@pytest.mark.parametrize("what", MEANT)
def test_an_error_describes_the_kind_that_was_meant(what):
    given, said = MEANT[what]
    for order in ((REALS, BYTES), (BYTES, REALS)):
        assert either(*order, said="").wrong(given, "a").startswith(said)


def test_an_object_is_read_as_names_unless_it_has_the_key_bytes():
    both = either(by_name(REALS, ""), BYTES, said="")
    assert both.wrong({"w": "x"}, "a") == "a.w is x"
    assert both.wrong({"bytes": 3}, "a").startswith("a.bytes is 3: say it in words")
