"""The protocol of a function that lives in a program, as tables of keys and values.

The judge of a message, the schema and the tables of FORMAT.md come from here.
"""

import json
from typing import Any

from gradcheck_ref.messages import (
    Message,
    Reply,
    Schema,
    Value,
    by_name,
    document,
    either,
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
    tuple_of,
    words,
)

PROTOCOL, ROLE = 1, "function"
ASKS = ("describe", "value", "gradient", "vjp", "jvp")
# What an array is made of. Integers are constants.
DTYPES = ("float64", "float32", "int64", "int32")

# --- values ----------------------------------------------------------------------------------


def _whole(least: int, said: str) -> Value:
    return plain(
        said,
        {"type": "integer", "minimum": least},
        lambda v: (
            isinstance(v, int | float)
            and not isinstance(v, bool)
            and float(v).is_integer()
            and v >= least
        ),
    )


# Two names would be taken for what they mean elsewhere in a reply.
NAME = matching(
    "a name",
    "name",
    r"(?!(base64|refused)$)[^\s,\x00-\x1f\x7f]+",
    longest=100,
    hint=lambda given: f"{shortened(json.dumps(given), 40)}, which cannot be a name",
)
BYTES = plain(
    "the text of bytes, in base64", {"type": "string"}, lambda value: isinstance(value, str)
)  # perhaps none
ENCODED = record(Message({"base64": BYTES}, closed=True), '`{"base64": bytes}`')
ARRAY = either(
    nested(real("reply_real"), "reals", "reals"),
    ENCODED,
    said='reals, row by row, nested or not; or `{"base64": bytes}`',
)
NAMED = by_name(ARRAY, "an array for each name")
SHAPE = listed(_whole(0, "a size"), "a list of sizes; `[]` of a number")
DTYPE = words(*DTYPES)
INPUT = Message(
    {"name": NAME, "shape": SHAPE},
    {"dtype": DTYPE, "default": ARRAY, "constant": truth()},
)
OUTPUT = Message({"name": NAME, "shape": SHAPE}, {"dtype": words("float64", "float32")})
REFUSED = record(Message({"refused": text("why")}), '`{"refused": why}`')
OUTPUTS = either(ARRAY, NAMED, said="an array; of several outputs an array for each name")
VALUE = either(OUTPUTS, REFUSED, said='an array, or one for each output; or `{"refused": why}`')
SLOPES = either(NAMED, ARRAY, said="an array for each input; of one input the array will do")

BITS = by_name(ENCODED, "bits by the name of an input")
ENTRY = tuple_of(NAME, _whole(0, "a place"), real("reply_real"), said="`[name, place, value]`")
POINT = either(
    record(Message({"whole": NAMED}, closed=True), ""),
    record(Message({"entries": listed(ENTRY, "entries")}, closed=True), ""),
    record(Message({"step": real("reply_real")}, closed=True), ""),
    said='`{"whole": …}`, `{"entries": …}` or `{"step": …}`',
)

# --- requests and replies --------------------------------------------------------------------

ID = text("as in the request", needed=True)
ASKED: dict[str, Message] = {
    "hello": Message({"protocol": numbers(PROTOCOL), "role": words(ROLE)}),
    "describe": Message({}),
    "keep": Message({}, {"point": NAMED, "scale": NAMED, "forward": BITS, "backward": BITS}),
    "value": Message({"points": listed(POINT, "a list of points", least=1)}),
    "gradient": Message({"point": POINT}),
    "vjp": Message({"point": POINT, "upstream": OUTPUTS}),
    "jvp": Message({"point": POINT, "tangent": NAMED}),
}
ANSWERS: dict[str, Message] = {
    "hello": Message(
        {
            "protocol": numbers(PROTOCOL),
            "name": text("its name and version", needed=True),
            "answers": listed(words(*ASKS), "what it can be asked", least=1),
        },
        {
            "batch": _whole(1, "how many points it takes at a time; 1 if left out"),
            "encodings": listed(words("text", "base64"), "`text`, `base64`; text if left out"),
            "points": listed(
                words("whole", "entries", "lines"),
                "`whole`, `entries`, `lines`; whole if left out",
            ),
            "deterministic": truth(),
        },
    ),
    "describe": Message(
        {"inputs": listed(record(INPUT, "an input"), "a list of inputs", least=1)},
        {"outputs": listed(record(OUTPUT, "an output"), "a list of outputs", least=1)},
    ),
    "keep": Message({"kept": truth()}),
    "value": Message({"values": listed(VALUE, f"a list with, for each point, {VALUE.said}")}),
    "gradient": Message({"gradient": SLOPES}),
    "vjp": Message({"vjp": SLOPES}),
    "jvp": Message({"jvp": OUTPUTS}),
}
EXCUSES = {
    "problem": text("the program cannot answer, or broke, and why"),
    "refused": text("the function has no value there, and why"),
}
REPLIES = {name: Reply(answer, EXCUSES) for name, answer in ANSWERS.items()}
PARTS = {"an input": INPUT, "an output": OUTPUT}


def schema() -> Schema:
    """Write the conversation as JSON Schema: one line of it."""
    lines: dict[str, Message | Reply] = {}
    for name, asked in ASKED.items():
        keys: dict[str, Any] = {"id": ID, "ask": words(name), **asked.keys}
        lines[f"ask_{name}"] = Message(keys, asked.optional, closed=True)
    for name, reply in REPLIES.items():
        answer = Message({"id": ID, **reply.answer.keys}, reply.answer.optional)
        lines[f"reply_{name}"] = Reply(answer, reply.excuses)
    return document(f"gradcheck-ref {ROLE} protocol {PROTOCOL}: one line of it", lines, list(lines))
