"""The oracle's protocol and its vector files, as tables of keys and values.

The judge, the two schemas that ``oracle export`` writes and the tables of FORMAT.md come from here.
"""

from typing import Any

from gradcheck_ref.conversation.messages import (
    ANYTHING,
    NOTHING,
    Message,
    Reply,
    Schema,
    document,
    either,
    listed,
    matching,
    nested,
    no_real,
    numbers,
    plain,
    real,
    shortened,
    text,
    truth,
    tuple_of,
    words,
)

PROTOCOL = 1
KINDS = ("stencil", "compare", "escalate", "verdict", "whole")

# --- values ----------------------------------------------------------------------------------


# Numbers in the vector files: one notation for each.
REAL = matching("a real", "real", r"-?([0-9]+(\.[0-9]+)?(e-?[0-9]+)?|inf|nan)", hint=no_real)
REALS = nested(REAL, "reals", "a real, or a nested list of reals")
SAID = real("reply_real")  # a reply may use any notation
SAID_REALS = nested(SAID, "reply_reals", "a real, or reals nested as `analytic` is")
WHOLE = plain("an integer", {"type": "integer"}, lambda given: type(given) is int)
INPUT = either(
    REALS, listed(WHOLE, "integers"), said="reals, or a list of integers, which is a constant"
)
CLAIM = either(REALS, NOTHING, said="reals; null for a constant")
SAMPLES = listed(
    tuple_of(REAL, REALS, said="a place and its value"), "five of `[place, value]`", least=5, most=5
)
FORMULA = words("forward", "central", "five-point")
STEP = words("taken", "nominal")
RULES = words(
    *("reference", "numpy", "torch", "warp", "tvm", "cs231n-max", "cs231n-sum"),
    *("cs231n-unguarded", "jax", "hips", "scipy", "ceres"),
)
ORDER = numbers(1, 2, 4)
ID = text("as in the request")

# --- requests and replies --------------------------------------------------------------------

ASKED: dict[str, Message] = {
    "stencil": Message(
        {"formula": FORMULA, "step": STEP, "x": REAL, "h": REAL, "samples": SAMPLES},
        {"upstream": REALS},
    ),
    "compare": Message(
        {"rule": RULES, "analytic": REALS, "numeric": REALS, "rtol": REAL, "atol": REAL},
        {"floor": REAL},
    ),
    "escalate": Message(
        {"step": STEP, "x": REAL, "h": REAL, "samples": SAMPLES}
        | {"claimed": REAL, "rtol": REAL, "atol": REAL}
    ),
    "verdict": Message(
        {"function": text("the name of the function")}
        | {"inputs": listed(INPUT, "a list of inputs", least=1), "upstream": REALS}
        | {"claimed": listed(CLAIM, "a gradient for each input", least=1), "rtol": REAL}
    ),
}
ASKED["whole"] = Message(
    {
        "steps": listed(REAL, "two steps", least=2, most=2),
        "lines": listed(
            listed(REAL, "claim and samples", least=5, most=5),
            "lists of `[claimed, f(-h1), f(h1), f(-h2), f(h2)]`",
        ),
    }
)
COMPARED = {"close": truth(), "error": SAID_REALS}
# The keys of each question and reply; two rules of compare have one more.
ANSWERS: dict[str, Message] = {
    "stencil": Message({"slope": SAID}),
    "compare": Message(COMPARED),
    "compare/warp": Message({**COMPARED, "relative": SAID_REALS}),
    "compare/tvm": Message({**COMPARED, "percent": SAID_REALS}),
    "escalate": Message({"order": ORDER, "slope": SAID}),
    "verdict": Message({"verdict": words("pass", "fail", "unsure")}),
    "whole": Message({"error": SAID, "spread": SAID}),
}
EXCUSES = {
    "problem": text("the implementation cannot answer, or broke, and why. Counts as an error"),
    "refused": text("these arguments are bad, or cannot be compared, and why"),
}
REPLIES = {name: Reply(answer, EXCUSES) for name, answer in ANSWERS.items()}
SAY_HELLO = {"id": "hello", "ask": "hello", "protocol": PROTOCOL}
HELLO = Message({"id": words("hello"), "ask": words("hello"), "protocol": numbers(PROTOCOL)})
HELLO_REPLY = Message(
    {
        "id": words("hello"),
        "protocol": numbers(PROTOCOL),
        "name": text("its name and version"),
        "answers": listed(text("a kind or a group"), "kinds and groups", least=1),
    }
)


def reply_to(kind: str, request: dict[str, Any]) -> Reply:
    """Describe the replies to a request."""
    return REPLIES.get(f"{kind}/{request.get('rule')}", REPLIES[kind])


def _with_id(name: str, message: Message) -> Message:
    return Message({"id": ID, "ask": words(name), **message.keys}, message.optional, closed=True)


def _said_by_id(reply: Reply) -> Reply:
    answer = reply.answer
    return Reply(Message({"id": ID, **answer.keys}, answer.optional), reply.excuses)


def protocol_schema() -> Schema:
    """Write one line of the conversation as JSON Schema."""
    requests = {f"ask_{name}": _with_id(name, asked) for name, asked in ASKED.items()}
    replies = {f"reply_{n.replace('/', '_')}": _said_by_id(r) for n, r in REPLIES.items()}
    lines: dict[str, Message | Reply] = {
        "ask_hello": HELLO, **requests, "reply_hello": HELLO_REPLY, **replies,
    }  # fmt: skip
    whole = document(f"gradcheck-ref protocol {PROTOCOL}: one line of it", lines, list(lines))
    for side in ("ask", "reply"):
        names = [name for name in lines if name.startswith(f"{side}_")]
        whole["$defs"][side] = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in names]}
    return whole


# --- vector files ----------------------------------------------------------------------------

REALS_OR_NULL = nested(either(REAL, NOTHING, said=""), "reals_or_null", "reals; null: left open")
SLOPE = either(REAL, words("nonfinite"), said="a real, or `nonfinite`")
SHARED = {  # by the tests of a group
    "stencil": {"formula": FORMULA, "step": STEP},
    "compare": {"rule": RULES, "says": text("the rule, in words")},
    "escalate": {"step": STEP},
    "verdict": {"function": text("its name"), "formula": text("the function, in words")},
    "whole": {"says": text("the rule, in words")},
}
IN_WORDS = {
    "compare": "says",
    "verdict": "formula",
    "whole": "says",
}  # the key of a group with its question
WITHIN = plain("a distance for each", {"type": "object"}, lambda given: isinstance(given, dict))
EXPECTED = {
    "stencil": {"slope": SLOPE, "within": REAL},
    "compare": {"close": truth(), "error": REALS_OR_NULL, "relative": REALS_OR_NULL}
    | {"percent": REALS_OR_NULL, "within": WITHIN},
    "escalate": {"order": ORDER, "slope": SLOPE, "within": REAL},
    "verdict": {},
    "whole": {"error": SLOPE, "spread": SLOPE, "within": WITHIN},
}
NEEDED = {  # of the expected reply, unless the test must be refused
    "stencil": ("slope",),
    "compare": ("close", "error", "within"),
    "escalate": ("order", "slope"),
    "verdict": (),
    "whole": ("error", "spread", "within"),
}
DESCRIPTION = plain(
    "a statement of fact",
    {"type": "string", "minLength": 1, "maxLength": 70},
    lambda given: isinstance(given, str) and 0 < len(given) <= 70,
)


def vector_table(kind: str) -> Message:
    """Describe the tests of a kind."""
    shared = SHARED[kind]
    inputs = {key: value for key, value in ASKED[kind].keys.items() if key not in shared}
    keys = {
        "id": matching("its id", "id", rf"({'|'.join(KINDS)})-[0-9]{{3,}}", hint=_quoted),
        "description": DESCRIPTION,
        "flags": listed(text("a flag"), "flags"),
        "result": words("valid", "invalid", "acceptable"),
        **inputs,
    }
    more = {**ASKED[kind].optional, **EXPECTED[kind]}
    if kind != "verdict":
        more["refused"] = plain("true", {"const": True}, lambda given: given is True)
    return Message(keys, more, closed=True)


def _quoted(value: Any) -> str:
    return f"{shortened(value, 40)}, which is no id"


def vectors_schema() -> Schema:
    """Write the vector files as JSON Schema."""
    defs: dict[str, Schema] = {}
    branches = []
    for kind in KINDS:
        test = vector_table(kind)
        defs |= test.defs
        # In a file only the listed values may be null.
        schema = test.schema()
        schema["properties"] |= {k: v.schema for k, v in test.optional.items()}
        if NEEDED[kind]:
            schema["oneOf"] = [{"required": ["refused"]}, {"required": list(NEEDED[kind])}]
        defs[f"{kind}_test"] = schema
        tests = {"type": "array", "minItems": 1, "items": {"$ref": f"#/$defs/{kind}_test"}}
        group = Message({"group": text(), "source": text(), **SHARED[kind], "tests": ANYTHING})
        defs |= group.defs
        defs[f"{kind}_group"] = {**group.schema(), "additionalProperties": False}
        defs[f"{kind}_group"]["properties"] |= {"tests": tests, "optional": {"const": True}}
        groups = {"groups": {"items": {"$ref": f"#/$defs/{kind}_group"}}}
        this_kind = {"properties": {"kind": {"const": kind}}}
        branches.append({"if": this_kind, "then": {"properties": groups}})
    flag_class = matching("a class", "class", "[A-Z]+", hint=str)
    note = Message({"class": flag_class, "description": text(), "effect": text()}, closed=True)
    count = plain("a count", {"type": "integer", "minimum": 1}, lambda v: v >= 1)
    head = {"format_version": numbers(1), "kind": words(*KINDS), "header": text(), "count": count}
    file = Message({**head, "notes": ANYTHING, "groups": ANYTHING}, closed=True)
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", **file.schema()}
    whole["title"] = "gradcheck-ref vectors, format version 1"
    whole["properties"]["notes"] = {"type": "object", "additionalProperties": note.schema()}
    whole["properties"]["groups"] = {"type": "array", "minItems": 1}
    return {**whole, "allOf": branches, "$defs": {**defs, **note.defs, **file.defs}}
