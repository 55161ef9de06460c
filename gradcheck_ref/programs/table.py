"""The protocol for a function in a program, as tables of keys and values.

The check of a message, the schema and the table of FORMAT.md are made from these tables.
"""

import json
from typing import Any

from gradcheck_ref.conversation.messages import (
    Message,
    Reply,
    Value,
    by_name,
    either,
    is_number,
    listed,
    matching,
    nested,
    numbers,
    plain,
    real,
    record,
    shortened,
    text,
    truth,
    words,
)

PROTOCOL, ROLE = 1, "function"
ASKS = ("describe", "value", "gradient", "vjp", "jvp")

# --- values ----------------------------------------------------------------------------------


def _whole(least: int, said: str) -> Value:
    def right(v: Any) -> bool:
        return is_number(v) and float(v).is_integer() and bool(v >= least)

    return plain(said, {"type": "integer", "minimum": least}, right)


# These names have, or once had, a meaning elsewhere in a reply.
NAME = matching(
    "a name",
    "name",
    r"(?!(base64|file|refused)$)[^\s,\x00-\x1f\x7f]+",
    longest=100,
    hint=lambda given: f"{shortened(json.dumps(given), 40)}, which cannot be a name",
)
FILE = record(Message({"file": text("path", needed=True)}, closed=True), '`{"file": path}`')
ARRAY = either(
    nested(real("reply_real"), "reals", "reals"),
    FILE,
    said='reals, row by row, nested or not; or `{"file": path}`',
)
NAMED = by_name(ARRAY, "an array for each name")
SHAPE = listed(_whole(0, "a size"), "a list of sizes; `[]` for a number")
DTYPE = words("float64", "float32", "int64", "int32")  # integers are constants
MAYBE = {"dtype": DTYPE, "default": ARRAY, "constant": truth()}
INPUT = Message({"name": NAME, "shape": SHAPE}, MAYBE)
OUTPUT = Message({"name": NAME, "shape": SHAPE}, {"dtype": words("float64", "float32")})
REFUSED = record(Message({"refused": text("why")}), '`{"refused": why}`')
OUTPUTS = either(ARRAY, NAMED, said="an array; for several outputs an array for each name")
VALUE = either(OUTPUTS, REFUSED, said='an array, or one for each output; or `{"refused": why}`')
SLOPES = either(NAMED, ARRAY, said="an array for each input; for one input just the array")

POINT = record(Message({"whole": NAMED}, closed=True), '`{"whole": …}`, an array for each name')
FOLDER = {"folder": text("where a reply may put files", needed=True)}

# --- requests and replies --------------------------------------------------------------------

ID = text("as in the request", needed=True)
ASKED: dict[str, Message] = {
    "hello": Message({"protocol": numbers(PROTOCOL), "role": words(ROLE)}),
    "describe": Message({}),
    "value": Message({"points": listed(POINT, "a list of points", least=1)}, FOLDER),
    "gradient": Message({"point": POINT}, FOLDER),
    "vjp": Message({"point": POINT, "upstream": OUTPUTS}, FOLDER),
    "jvp": Message({"point": POINT, "tangent": NAMED}, FOLDER),
}
ANSWERS: dict[str, Message] = {
    "hello": Message(
        {
            "protocol": numbers(PROTOCOL),
            "name": text("its name and version", needed=True),
            "answers": listed(words(*ASKS), "the requests it answers", least=1),
        },
        {"batch": _whole(1, "how many points it takes at a time; 1 if left out"), "files": truth()},
    ),
    "describe": Message(
        {"inputs": listed(record(INPUT, "an input"), "a list of inputs", least=1)},
        {"outputs": listed(record(OUTPUT, "an output"), "a list of outputs", least=1)},
    ),
    "value": Message({"values": listed(VALUE, f"a list with, for each point, {VALUE.said}")}),
    "gradient": Message({"gradient": SLOPES}),
    "vjp": Message({"vjp": SLOPES}),
    "jvp": Message({"jvp": OUTPUTS}),
}
EXCUSES = {
    "problem": text("why the program cannot answer"),
    "refused": text("why the function has no value there"),
}
REPLIES = {name: Reply(answer, EXCUSES) for name, answer in ANSWERS.items()}
