"""The messages of a line protocol, described once: for a check, for a schema and for a page.

A ``Value`` describes the values that a key may have: in words for a reader, as JSON Schema for a
machine, and in a sentence for the author of a wrong message. A ``Message`` is a table of keys and
values. Its check, its schema and its row on a page follow from the table, so they cannot disagree.

This module knows no protocol. The oracle's protocol is such a table (``oracle/table.py``), and so
is the protocol for a function in a program (``programs/table.py``).
"""

import json
import math
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Schema = dict[str, Any]

A_REAL = (
    r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?"
    r"|[nN][aA][nN](\([0-9A-Za-z_]*\))?)"
)
LONGEST_REAL = 400  # characters of a number: the largest double, written out, has 309
DEEPEST = 50  # how deep lists and objects may be nested in a line


class LineError(ValueError):
    """A line is not a message."""


# --- lines -----------------------------------------------------------------------------------


def read_line(line: bytes | str) -> dict[str, Any]:
    """Read a line as a JSON object, strictly.

    Parameters
    ----------
    line : bytes or str
        One line; bytes are UTF-8.

    Returns
    -------
    dict

    Raises
    ------
    LineError
        If it is not JSON (NaN and Infinity are not), not UTF-8, not an object, nested too deeply,
        or if a key occurs twice in one object: readers differ in which one counts.

    Examples
    --------
    >>> read_line('{"id": "a", "id": "b"}')
    Traceback (most recent call last):
    gradcheck_ref.conversation.messages.LineError: the key "id" occurs twice in one object
    """
    if isinstance(line, bytes):
        # In UTF-16 about half of the bytes of JSON are zero; in UTF-8 none is.
        if line[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) or 3 * line.count(0) > len(line):
            raise LineError("it is UTF-16, not UTF-8")
        if 0 in line:
            raise LineError(f"byte {line.index(0) + 1} is zero, and JSON has no such byte")
    try:
        text = line if isinstance(line, str) else line.decode("utf-8")
        if text.startswith("\ufeff"):
            raise LineError("it begins with a byte order mark: write UTF-8 without one")
        found = json.loads(
            text, parse_constant=_no_constant, parse_int=_integer, object_pairs_hook=_once
        )
    except UnicodeDecodeError as error:
        raise LineError(f"it is not UTF-8: {error}") from error
    except RecursionError as error:
        raise LineError("it is nested too deeply") from error
    except LineError:
        raise
    except ValueError as error:
        where = text[error.pos :].strip() if isinstance(error, json.JSONDecodeError) else " "
        raise LineError(f"it is not JSON: {error}{_other_notation(where)}") from error
    if not isinstance(found, dict):
        raise LineError(f"it is not an object, but {shortened(found, 60)}")
    if _depth(found) > DEEPEST:
        raise LineError("it is nested too deeply")
    return found


def shortened(said: Any, most: int = 300) -> str:
    """Return a message or a part of it, text unchanged and the rest as JSON, at bounded length."""
    try:
        text = said if isinstance(said, str) else json.dumps(said)
    except RecursionError:
        text = "something nested without end"
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def _other_notation(where: str) -> str:
    """Say what is usually meant where JSON cannot be read on."""
    if not where:
        return "; it ends too early, and a message is one line: do not break it into several"
    if where.startswith("'"):
        return "; JSON has double quotes"
    if where.startswith(("True", "False", "None")):
        return "; JSON has true, false and null"
    return ""


def _no_constant(name: str) -> Any:
    raise LineError(f'it is not JSON: JSON has no {name}, write the string "{name.lower()}"')


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_REAL:
        raise LineError(f"it is not portable JSON: it has an integer of {len(digits)} digits")
    return int(digits)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise LineError(f"the key {shortened(json.dumps(twice), 60)} occurs twice in one object")
    return found


def _depth(value: Any) -> int:
    """Measure how deep lists and objects are nested, without recursion."""
    level, depth = [value], 0
    while level := [part for part in level if isinstance(part, list | dict)]:
        depth += 1
        if depth > DEEPEST:
            break
        level = [v for part in level for v in (part.values() if isinstance(part, dict) else part)]
    return depth


# --- values ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Value:
    """The values that a key may have."""

    said: str  # in words, for a page
    schema: Schema  # as JSON Schema; it may refer to ``defs``
    # Takes a value and its place in the message; returns the mistake, or "".
    wrong: Callable[[Any, str], str]
    defs: dict[str, Schema] = field(default_factory=dict)  # schemas to refer to, by name
    # Guesses whether a value, right or wrong, was meant to be of this kind: 2 if it has one of the
    # keys, 1 if both or neither are objects, 0 otherwise.
    meant: Callable[[Any], int] = lambda given: int(not isinstance(given, dict))


def words(*allowed: str) -> Value:
    """Take one of some words."""

    def wrong(value: Any, where: str) -> str:
        right = isinstance(value, str) and value in allowed
        return "" if right else f"{where} is {_quoted(value)}, not {_listed(allowed)}"

    return Value(_listed([f"`{word}`" for word in allowed]), {"enum": list(allowed)}, wrong)


def numbers(*allowed: int) -> Value:
    """Take one of some whole numbers; 4.0 is 4, and true is not 1."""
    said = _listed([str(number) for number in allowed])

    schema = {"const": allowed[0]} if len(allowed) == 1 else {"enum": list(allowed)}
    return plain(said, schema, lambda value: is_number(value) and value in allowed)


def is_number(value: Any) -> bool:
    """Whether JSON has it as a number: true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def truth() -> Value:
    """Take true or false, in JSON's own words."""
    return plain("true or false", {"type": "boolean"}, lambda value: isinstance(value, bool))


def text(said: str = "words", *, needed: bool = False) -> Value:
    """Take some words, and not only blanks; ``needed`` if they must not be left out."""

    def wrong(value: Any, where: str) -> str:
        right = isinstance(value, str) and re.search(r"\S", value)
        hint = "" if needed else ", or leave it out"
        return "" if right else f"{where} is {_quoted(value)}: say it in words{hint}"

    return Value(said, {"type": "string", "pattern": r"\S"}, wrong)


def matching(
    said: str, name: str, pattern: str, *, longest: int = 0, hint: Callable[[Any], str]
) -> Value:
    """Take text that matches a pattern as a whole; ``hint`` says what is wrong with other text."""
    whole = re.compile(pattern, re.ASCII)
    # Subtle: in Python $ also matches before a newline at the end.
    schema: Schema = {"type": "string", "pattern": rf"^({pattern})$(?!\n)"}
    if longest:
        schema["maxLength"] = longest

    def wrong(value: Any, where: str) -> str:
        fits = isinstance(value, str) and not 0 < longest < len(value) and whole.fullmatch(value)
        return "" if fits else f"{where} is {hint(value)}"

    return Value(said, {"$ref": f"#/$defs/{name}"}, wrong, {name: schema})


def real(name: str) -> Value:
    """Take a real number as text, as C, JavaScript, Julia or Python print it, in either case.

    Some C libraries add to NaN: "-nan(ind)".
    """
    return matching("a real", name, A_REAL, longest=LONGEST_REAL, hint=no_real)


def as_float(real: str) -> float:
    """Return the value of a real; some C libraries add to NaN: "-nan(ind)"."""
    return math.nan if "(" in real else float(real)


# Forms of numbers that only a few languages can read back: the advice by the form.
FOREIGN = {
    r"[+-]?[0-9.]+[dD][+-]?[0-9]+":
        "has a D in its exponent, as in Fortran and Lisp: write an E; in Fortran the format is "
        "ES24.16E3",
    r"[+-]?[0-9.]+[+-][0-9]{3}":
        "has an exponent without a letter: Fortran drops it if the exponent has three digits. Use "
        "the format ES24.16E3",
    r"[*]+": "is Fortran's sign that a field is too narrow: ES24.16E3 is wide enough",
    r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?": "has a comma: the decimal point is a point",
    r"[+-]?[0-9.]+f[+-]?[0-9]*":
        "has an f, as Julia and C write float32: leave it out, or write an e",
    r"[+-]?0[xX][0-9a-fA-F.]+([pP][+-]?[0-9]+)?": "is hexadecimal: use %.17g in C",
    r"[+-]?1\.?#[A-Za-z]+0*": 'comes from an old C library on Windows: write "inf" or "nan"',
    r"[+-](inf|nan)\.0": 'is the notation of Scheme: write "inf" or "nan"',
    r"[+-]?[0-9]+//?[0-9]+":
        "is a fraction: write it as a decimal number, with 17 digits",
    r"NA|missing": 'is a missing value: write "nan"',
}  # fmt: skip


def no_real(given: Any) -> str:
    """Say that something is not a real number, and what to write instead if that is known."""
    if given is None:
        return "null, which is how JavaScript writes NaN: reals are written as strings"
    if is_number(given):
        return f"the number {given}: reals are written as strings"
    if isinstance(given, bool):
        return f"{json.dumps(given)}, not a string"
    if not isinstance(given, str):
        return f"{shortened(given, 60)}, which is not a real number"
    said = f"{_quoted(given, 60)}, which"
    if len(given) > LONGEST_REAL:
        return f"{said} is longer than {LONGEST_REAL} characters"
    for form, what in FOREIGN.items():
        if re.fullmatch(form, given.strip()):
            return f"{said} {what}"
    if given != given.strip() and re.fullmatch(A_REAL, given.strip()):
        return (
            f"{said} has blanks around it: remove them, with trim(adjustl(text)) in Fortran or "
            "format(x, trim = TRUE) in R"
        )
    return f"{said} is not a real number"


def nested(value: Value, name: str, said: str) -> Value:
    """Take a value, or a list of such values, nested to any depth."""
    here = {"$ref": f"#/$defs/{name}"}
    schema = {"anyOf": [value.schema, {"type": "array", "items": here}]}

    def first_wrong(given: Any) -> tuple[list[int], Any] | None:
        """Return the first wrong entry and its place, without naming any other entry."""
        if not isinstance(given, list):
            return ([], given) if value.wrong(given, "") else None
        for i, one in enumerate(given):
            if found := first_wrong(one):
                return [i, *found[0]], found[1]
        return None

    def wrong(given: Any, where: str) -> str:
        found = first_wrong(given)
        return value.wrong(found[1], where + "".join(f"[{i}]" for i in found[0])) if found else ""

    return Value(said, here, wrong, {**value.defs, name: schema})


def listed(value: Value, said: str, *, least: int = 0, most: int = 0) -> Value:
    """Take a list of values."""
    schema: Schema = {"type": "array", "items": value.schema}
    schema |= ({"minItems": least} if least else {}) | ({"maxItems": most} if most else {})

    def wrong(given: Any, where: str) -> str:
        if not isinstance(given, list):
            return f"{where} is {shortened(given, 40)}, not a list"
        if len(given) < least or 0 < most < len(given):
            return f"{where} has {len(given)} entries"
        found = (value.wrong(v, f"{where}[{i}]") for i, v in enumerate(given))
        return next(filter(None, found), "")

    return Value(said, schema, wrong, value.defs)


def tuple_of(*values: Value, said: str) -> Value:
    """Take a list of fixed length, each entry of its own kind."""
    schema = {
        "type": "array",
        "prefixItems": [value.schema for value in values],
        "minItems": len(values),
        "maxItems": len(values),
    }

    def wrong(given: Any, where: str) -> str:
        if not isinstance(given, list) or len(given) != len(values):
            return f"{where} is {shortened(given, 40)}, not a list of {len(values)}"
        pairs = enumerate(zip(values, given, strict=True))
        return next(filter(None, (v.wrong(g, f"{where}[{i}]") for i, (v, g) in pairs)), "")

    return Value(said, schema, wrong, _defs(values))


def either(*values: Value, said: str) -> Value:
    """Take one of several kinds of value; a mistake is described for the kind that was meant."""

    def meant(given: Any) -> int:
        return max(value.meant(given) for value in values)

    def wrong(given: Any, where: str) -> str:
        if not all(value.wrong(given, "") for value in values):
            return ""
        return max(values, key=lambda value: value.meant(given)).wrong(given, where)

    schema = {"anyOf": [value.schema for value in values]}
    return Value(said, schema, wrong, _defs(values), meant)


def plain(said: str, schema: Schema, right: Callable[[Any], bool]) -> Value:
    """Take a value of another kind, by its schema and by a test."""

    def wrong(given: Any, where: str) -> str:
        return "" if right(given) else f"{where} is {_quoted(given)}, not {said}"

    return Value(said, schema, wrong)


NOTHING = plain("null", {"type": "null"}, lambda value: value is None)
ANYTHING = plain("anything", {}, lambda value: True)


def counted(count: int, noun: str) -> str:
    """Write a number and the noun that it counts.

    Examples
    --------
    >>> counted(1, "point"), counted(0, "value")
    ('1 point', '0 values')
    """
    return f"{count} {noun}{'s' * (count != 1)}"


# --- messages --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Message:
    """A table of the keys that a message has."""

    # The keys that it must have and may have. A key whose value is null counts as left out.
    keys: Mapping[str, Value]
    optional: Mapping[str, Value] = field(default_factory=dict)
    closed: bool = False  # whether other keys are forbidden

    def wrong(self, given: Mapping[str, Any], what: str, within: str = "") -> str:
        """Say what is wrong with a message, which is called ``what``; "" if it is right.

        ``within`` stands before the name of a key.
        """
        there = {key: value for key, value in given.items() if value is not None}
        if missing := [key for key in self.keys if key not in there]:
            return f"{what} has no {' and no '.join(sorted(missing))}"
        known = {**self.keys, **self.optional}
        if self.closed and (more := [key for key in given if key not in known]):
            return f"{what} has the unknown key {shortened(json.dumps(more[0]), 40)}"
        found = (
            value.wrong(there[key], within + key) for key, value in known.items() if key in there
        )
        return next(filter(None, found), "")

    def schema(self) -> Schema:
        """Write the table as JSON Schema, which refers to ``defs``."""
        properties = {key: value.schema for key, value in self.keys.items()}
        for key, value in self.optional.items():
            properties[key] = {"anyOf": [value.schema, {"type": "null"}]}
        found: Schema = {"type": "object", "properties": properties, "required": list(self.keys)}
        return found | ({"additionalProperties": False} if self.closed else {})

    @property
    def defs(self) -> dict[str, Schema]:
        """The schemas that the schema refers to."""
        return _defs([*self.keys.values(), *self.optional.values()])

    def row(self) -> str:
        """Write the keys for a page."""
        told = [f"`{key}`: {value.said}" for key, value in self.keys.items()]
        told += [f"perhaps `{key}`: {value.said}" for key, value in self.optional.items()]
        return "; ".join(told)


def record(message: Message, said: str) -> Value:
    """Take an object with the keys of a message."""

    def wrong(given: Any, where: str) -> str:
        if not isinstance(given, dict):
            return f"{where} is {shortened(given, 40)}, not an object"
        return message.wrong(given, where, f"{where}.")

    def meant(given: Any) -> int:
        there = isinstance(given, dict) and any(key in message.keys for key in given)
        return 2 * there

    return Value(said, message.schema(), wrong, message.defs, meant)


def by_name(value: Value, said: str) -> Value:
    """Take an object whose keys are names, with values of one kind; null counts as left out."""

    def wrong(given: Any, where: str) -> str:
        if not isinstance(given, dict):
            return f"{where} is {shortened(given, 40)}, not an object"
        there = {name: one for name, one in given.items() if one is not None}
        found = (value.wrong(one, f"{where}.{name}") for name, one in there.items())
        return next(filter(None, found), "")

    entry = {"anyOf": [value.schema, {"type": "null"}]}
    schema = {"type": "object", "additionalProperties": entry}
    return Value(said, schema, wrong, value.defs, lambda given: int(isinstance(given, dict)))


def excuses(value: Any) -> bool:
    """Whether the value of an excuse says that there is one."""
    return not (value is None or value is False or value == "")


@dataclass(frozen=True)
class Reply:
    """A reply: an answer, or one of the excuses that may replace it.

    An excuse is recognized by its key; other keys beside it do not count. Null, false and an empty
    text are no excuse: languages with typed records write all the fields that a reply may have.
    """

    answer: Message
    excuses: Mapping[str, Value]

    def wrong(self, given: Mapping[str, Any], what: str) -> str:
        """Say what is wrong with a reply; "" if it is right."""
        for key, value in self.excuses.items():
            if excuses(given.get(key)):
                return value.wrong(given[key], key)
        return self.answer.wrong(given, what)

    def schema(self) -> Schema:
        """Write the reply as JSON Schema."""
        found = self.answer.schema()
        for key, value in reversed(list(self.excuses.items())):
            there = {"required": [key], "properties": {key: {"not": {"enum": [None, False, ""]}}}}
            excuse = {"properties": {key: value.schema}}
            found = {"if": there, "then": excuse, "else": found}
        return {"type": "object", **found}

    @property
    def defs(self) -> dict[str, Schema]:
        """The schemas that the schema refers to."""
        return {**self.answer.defs, **_defs(list(self.excuses.values()))}


def document(title: str, defs: Mapping[str, Message | Reply], first: Sequence[str]) -> Schema:
    """Write messages as one schema, by name; a line may be any of ``first``."""
    found: dict[str, Schema] = {}
    for message in defs.values():
        found |= message.defs
    found |= {name: message.schema() for name, message in defs.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in first],
        "$defs": found,
    }


def _defs(values: Sequence[Value]) -> dict[str, Schema]:
    return {name: schema for value in values for name, schema in value.defs.items()}


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]


def _quoted(value: Any, most: int = 40) -> str:
    return shortened(json.dumps(value), most)
