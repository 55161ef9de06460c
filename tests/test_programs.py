"""A function in a program is checked as any other, whatever forms the program understands."""

import json
import math
import pickle
import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from program_child import child, many_inputs_child, products_child, short_child

from gradcheck_ref import check_gradient, check_jvp, check_vjp
from gradcheck_ref.adapters import from_command
from gradcheck_ref.child import Child
from gradcheck_ref.compat import cs231n
from gradcheck_ref.compat.torch import GradcheckError, gradcheck
from gradcheck_ref.compat.tvm import check_numerical_grads
from gradcheck_ref.programs import pages
from gradcheck_ref.programs.arrays import ArrayError, Spec, encoded
from gradcheck_ref.programs.description import ProgramError
from gradcheck_ref.programs.program import Program
from gradcheck_ref.programs.table import ASKED, REPLIES, schema

PROGRAMS = Path(pages.__file__).parent
SCHEMA = schema()


def checked(command, **how):
    """Return the report of a check of the gradient, and what was noted."""
    with from_command(command, **how) as f:
        return check_gradient(f, f.inputs, f.gradient), f.notes


# --- one table -------------------------------------------------------------------------------


def test_the_schema_is_what_the_table_says(request):
    path = PROGRAMS / "schemas" / "function.schema.json"
    said = json.dumps(SCHEMA, indent=2) + "\n"
    if request.config.getoption("--update-examples"):
        path.write_text(said, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == said
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_page_says_what_the_table_says(request):
    page = PROGRAMS / "FORMAT.md"
    text = page.read_text(encoding="utf-8")
    if request.config.getoption("--update-examples"):
        page.write_text(pages.filled(text), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == pages.filled(text)


def test_the_conversation_on_the_page_keeps_the_schema():
    page = (PROGRAMS / "FORMAT.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    lines = [json.loads(line) for line in block.replace("\n ", " ").splitlines()]
    assert len(lines) == 8
    for asked, reply in zip(lines[::2], lines[1::2], strict=True):
        validator(f"ask_{asked['ask']}").validate(asked)
        validator(f"reply_{asked['ask']}").validate(reply)
        assert REPLIES[asked["ask"]].wrong(reply, "it") == ""


def validator(part):
    whole = {"$ref": f"#/$defs/{part}", "$defs": SCHEMA["$defs"]}
    return jsonschema.Draft202012Validator(whole)


FORMS = {
    "whole": (child, ["gradient"]),
    "short": (short_child, ["gradient", "keep"]),
    "products": (products_child, ["vjp", "jvp"]),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_said_keeps_the_schema(form, monkeypatch):
    said, say = {}, Child.say

    def note(self, line):
        request = json.loads(line)
        said.setdefault((request["ask"], *map(str, request.get("points", [""])[0])), request)
        say(self, line)

    monkeypatch.setattr(Child, "say", note)
    command, asks = FORMS[form]
    with from_command(command()) as f:
        products = [name for name in ("vjp", "jvp") if name in f.answers]
        for check in [check_vjp, check_jvp] if products else []:
            check(f, f.inputs)
        if not products:
            check_gradient(f, f.inputs, f.gradient)
    assert {kind for kind, *_ in said} == {"hello", "describe", "value", *asks}
    for (kind, *_), request in said.items():
        told = {key: value for key, value in request.items() if key not in ("id", "ask")}
        assert ASKED[kind].wrong(told, "it") == ""
        validator(f"ask_{kind}").validate(request)


WRONG_REPLIES = {
    "a value that is a number": ("value", {"values": [1.5]}, "reals are written as strings"),
    "words for a value": ("value", {"values": ["one"]}, "is no real number"),
    "no values": ("value", {"value": ["1"]}, "has no values"),
    "a name that means something": (
        "describe", {"inputs": [{"name": "base64", "shape": []}]}, "cannot be a name"),
    "a size that is not whole": (
        "describe", {"inputs": [{"name": "w", "shape": [1.5]}]}, "shape[0] is 1.5, and not a size"),
    "a size that is a truth": ("describe", {"inputs": [{"name": "w", "shape": [True]}]}, "not a s"),
    "a negative size": ("describe", {"inputs": [{"name": "w", "shape": [-1]}]}, "not a size"),
    "an unknown dtype": (
        "describe", {"inputs": [{"name": "w", "shape": [], "dtype": "float16"}]}, "dtype is"),
    "no inputs": ("describe", {"inputs": []}, "inputs has 0 entries"),
    "an empty batch": (
        "hello", {"protocol": 1, "name": "a", "answers": ["value"], "batch": 0}, "batch is 0"),
    "an unknown answer": (
        "hello", {"protocol": 1, "name": "a", "answers": ["hessian"]}, "hessian"),
    "another protocol": ("hello", {"protocol": 2, "name": "a", "answers": ["value"]}, "not 1"),
    "gradients in a list of lists of words": ("gradient", {"gradient": {"w": [["x"]]}}, "gradient"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG_REPLIES)
def test_a_wrong_reply_is_refused_by_table_and_schema(what):
    kind, reply, said = WRONG_REPLIES[what]
    assert said in REPLIES[kind].wrong(reply, "the reply")
    assert not validator(f"reply_{kind}").is_valid({"id": "1", **reply})


def test_a_whole_number_may_be_written_as_a_float():
    # As where a language has no other numbers. JSON Schema takes it for an integer, too.
    describe = {"inputs": [{"name": "w", "shape": [2.0, 3.0]}]}
    hello = {"protocol": 1.0, "name": "a", "answers": ["value"], "batch": 4.0}
    for kind, reply in (("describe", describe), ("hello", hello)):
        assert REPLIES[kind].wrong(reply, "the reply") == ""
        assert validator(f"reply_{kind}").is_valid({"id": "1", **reply})
    floats = child(hello="reply['batch'] = 4.0", describe="w['shape'] = [2.0, 3.0]")
    report, notes = checked(floats)
    assert (report.verdict, report.compared, notes) == ("pass", 7, [])


def test_a_name_that_is_needed_is_not_to_be_left_out():
    said = REPLIES["hello"].wrong({"protocol": 1, "name": "", "answers": ["value"]}, "it")
    assert said == 'name is "": say it in words'


def test_the_bytes_of_no_numbers_are_none():
    nothing = {"base64": ""}
    reply = {"inputs": [{"name": "w", "shape": [0], "default": nothing}]}
    assert REPLIES["describe"].wrong(reply, "it") == ""
    assert validator("reply_describe").is_valid({"id": "1", **reply})
    assert Spec("w", (0,)).read(nothing).shape == (0,)


# --- the same check --------------------------------------------------------------------------

W, B = np.array([[0.25, -0.5, 0.75], [1.25, -1.0, 0.5]]), np.array(0.5)
C = np.array([[0.5, -1.25, 2.0], [0.75, -0.5, 1.5]])


def here(w, b):
    """The function of the child, here."""
    return float(b * np.sin(C * w).sum() + b * b)


def test_a_right_program_passes_and_its_values_are_those_of_the_function():
    with from_command(child()) as f:
        assert f.name == "child 1"
        assert {name: array.shape for name, array in f.inputs.items()} == {"w": (2, 3), "b": ()}
        assert f(W, B) == pytest.approx(here(W, B), rel=1e-15)
        assert f(w=2 * W, b=B) == f(2 * W, B) == f.many([(W, B), {"w": 2 * W, "b": B}])[1]
        np.testing.assert_allclose(f.gradient(W, B)[0], B * C * np.cos(C * W), rtol=1e-15)
        report = check_gradient(f, f.inputs, f.gradient)
        again = check_gradient(f, tuple(f.inputs.values()), f.gradient)
        single = cs231n.eval_numerical_gradient(lambda w: f(w, B), W.copy())
    assert report.verdict == again.verdict == "pass"
    np.testing.assert_allclose(single, B * C * np.cos(C * W), rtol=1e-6)


def test_the_functions_of_the_peers_take_a_program():
    with from_command(products_child()) as f:
        x = f.inputs["x"]
        gradcheck(f, (x,), vjp=f.vjp, jvp=f.jvp, check_forward_ad=True, eps=1e-3, atol=1e-3)
    with from_command(products_child(wrong=1)) as f, pytest.raises(GradcheckError):
        gradcheck(f, (x,), vjp=f.vjp, eps=1e-3, atol=1e-3)
    with from_command(child()) as f:
        check_numerical_grads(f, [W, B], f.gradient(W, B))


def numbers(report):
    """All numbers of a report."""
    return json.dumps(report.to_dict(entries=True))


def test_every_form_of_points_gives_the_same_numbers():
    """A line that a program works out itself is the same line, to the last bit."""
    (whole, _), (short, _) = checked(short_child(points=["whole"])), checked(short_child())
    (entries, _) = checked(short_child(points=["entries"], batch=3))
    assert numbers(whole) == numbers(short) == numbers(entries)
    assert whole.certificate is not None


def test_a_point_along_a_line_is_sent_as_a_number(monkeypatch):
    sent, say = [], Child.say
    monkeypatch.setattr(Child, "say", lambda self, line: (sent.append(len(line)), say(self, line)))
    report, _ = checked(short_child(batch=1))
    whole = 11 * 100  # bytes of base64, of 100 entries
    assert report.evaluations > 120
    assert np.median(sent) < 120
    assert sum(size > whole for size in sent) < 7


# What is misread: (what stands in the program and what stands there instead; what is said)
MISREAD = {
    "a place too high": ("w[place] =", "w[(place + 1) % N] =", "it reads the place one too high"),
    "a place too low": ("w[place] =", "w[place - 1] =", "it reads the place one too low"),
    "what is to be added": ("w[place] =", "w[place] +=", "as what is added to the kept one"),
    "no entry": ("w[place] =", "_ =", "it reads the kept point, without the entry"),
    "entries that stay": (
        'w = list(kept["point"])',
        'w = kept["point"] = list(kept["point"])',
        "as entries, and gives .* sent whole. An entry is",
    ),
    "a crash": ("w[place] = ", "w[place] = 1 / 0 * ", "asked there again, as entries, it ended"),
    "nothing kept": ('reply["kept"] = True', 'reply["problem"] = "no room"',
                     "asked to keep point, it replies .*no room"),
    "not kept": ('reply["kept"] = True', 'reply["kept"] = False', "to keep point, it replies"),
    "the sign": ("(f - b)", "(b - f)", "forward and backward the wrong way round"),
    "the order of bits": (">> (i & 7)", ">> (7 - (i & 7))", "bits of a byte in the other order"),
    "bits too early": ("for i in range(N)]\n\ndef read", "for i in range(1, N + 1)]\n\ndef read",
                       "it reads every bit as that of the entry before"),
    "forward only": ("(f - b)", "f", "it reads forward only"),
    "both forward": ("(f - b)", "(f + b)", "it reads backward as if it were forward"),
    "no step": ('float(point["step"])', "0.0", "it reads the kept point, without the step"),
    "half a step": ('float(point["step"])', 'float(point["step"]) / 2', r"whole. .* is x \+ t d"),
}  # fmt: skip


# How bytes are read: (what stands in the program and what stands there instead; what is said)
MISREAD_BYTES = {
    "big-endian": ([('unpack("<', 'unpack(">')], "It reads the bytes as big-endian, and"),
    "big-endian, where it is not defined": (
        [('unpack("<', 'unpack(">'), ("c * math.tanh(v)", "c * math.acos(min(v, 1.5) / 2)")],
        "no value where w is sent as base64, and .* text. It reads the bytes as big-endian",
    ),
    "big-endian, where it is not a number": (
        [('unpack("<', 'unpack(">'), ("c * math.tanh(v)", "c * (v if abs(v) < 9 else math.nan)")],
        "no value where w is sent as base64, and .* text. It reads the bytes as big-endian",
    ),
    "as integers": ([('unpack("<%dd"', 'unpack("<%dq"')], "They are the bytes of little"),
}  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize("what", MISREAD_BYTES)
def test_a_program_that_misreads_base64_is_told_how(what):
    slips, said = MISREAD_BYTES[what]
    with pytest.raises(ProgramError, match=f"it misreads base64: at x it gives .*{said}"):
        checked(short_child(slips=slips))


def test_who_is_silent_at_the_point_itself_is_not_waited_for_twice(monkeypatch):
    asked, say = [], Child.say
    monkeypatch.setattr(Child, "say", lambda self, line: (asked.append(line), say(self, line)))
    monkeypatch.setattr(Program, "_patience", lambda self, what, _: 0.2 if what == "value" else 30)
    silent = [('    elif ask == "value":', '    elif ask == "value":\n        sys.stdin.read()')]
    with pytest.raises(ProgramError, match=r"gave no reply within 0\.2 s"):
        checked(short_child(slips=silent))
    assert sum(b'"value"' in line for line in asked) == 1


@pytest.mark.one_in(3)
@pytest.mark.parametrize("what", MISREAD)
def test_a_program_that_misreads_a_short_form_is_told_which_and_how(what):
    *slip, said = MISREAD[what]
    few = "place" in slip[0] or "kept" in slip[0]
    # Few entries are moved each by itself, many along lines.
    with pytest.raises(ProgramError, match=f"(?s){said}"):
        checked(short_child(size=20 if few else 100, slips=[slip]))


# How a program may round x + t d in another way: what stands there, for x, the step and d.
ROUNDED = {
    "up": "math.nextafter(x + {} * d, math.inf)",
    "in single precision": "single(single(x) + single({}) * single(d))",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("steep", ["0", "1e-9 * math.sin(1e14 * v)"], ids=["even", "steep"])
@pytest.mark.parametrize("how", ROUNDED)
def test_a_point_along_a_line_may_be_rounded_in_another_way(how, steep):
    step = 'float(point["step"])'
    single = "kept = {}; single = lambda v: struct.unpack('f', struct.pack('f', v))[0]"
    slips = [(f"x + {step} * d", ROUNDED[how].format(step)), ("kept = {}", single)]
    slips += [("c * math.tanh(v)", f"(c * math.tanh(v) + {steep})")]
    for size in (20, 100):
        _, notes = checked(short_child(size=size, slips=slips))
        assert notes == []


# A program of two inputs, of which one is a matrix, that takes entries.
TAKES_ENTRIES = """
kept = {}
def read(point):
    if "w" in point:
        kept.update(point)
    at = point.get("whole", kept)
    w, b = [float(v) for v in at["w"]], float(at["b"])
    for name, p, value in point.get("entries", ()):
        if name == "b":
            b = float(value)
        else:
            w[%s] = float(value)
    return w, b
"""
# (The place in w of which it moves the entry; what is said.)
MOVED = {
    "column by column": ("p % 2 * 3 + p // 2", "w.*: it reads the place, or whole points, column"),
    "into columns": (
        "p % 3 * 2 + p // 3",
        "at x with w.*that is sent as entries, and .* sent whole",
    ),
    "as it should": ("p", None),
}


@pytest.mark.parametrize("how", MOVED)
def test_entries_of_every_input_are_compared_with_whole_points(how):
    place, said = MOVED[how]
    command = child(
        before=TAKES_ENTRIES % place,
        hello='reply["points"] = ["whole", "entries"]',
        reply='reply["kept"] = True',
    )
    with nullcontext() if said is None else pytest.raises(ProgramError, match=said):
        report, notes = checked(command)
        assert (report.verdict, notes) == ("pass", [])


# (How many inputs it has; what it reads; what is said.)
READING = {
    "all": (13, "True", None),
    "none of the eleventh input": (13, "i != 10", r"with a10\[1\] moved .*, without the entry"),
    "none of the last": (13, "i != 12", r"with a12\[1\] moved .*, without the entry"),
    "the first of several": (
        13,
        "number == 0",
        "3 entries moved .* the first of several entries on",
    ),
    "one, where more are never sent": (10, "number == 0", None),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("how", READING)
def test_entries_of_any_number_of_inputs_are_compared_with_whole_points(how, monkeypatch):
    many, reads, said = READING[how]
    sent, say = [], Child.say
    monkeypatch.setattr(Child, "say", lambda self, line: (sent.append(line), say(self, line)))
    with nullcontext() if said is None else pytest.raises(ProgramError, match=said):
        report, notes = checked(many_inputs_child(many, reads))
        assert (report.verdict, notes) == ("pass", [])
        whole = [line for line in sent if b'"value"' in line and b'"whole"' in line]
        assert len(whole) == 10 + (many > 10)


def test_points_in_short_are_compared_with_whole_ones_once(monkeypatch):
    sent, say = [], Child.say
    monkeypatch.setattr(Child, "say", lambda self, line: (sent.append(line), say(self, line)))
    checked(short_child(), workers=2)
    whole = [line for line in sent if b'"value"' in line and b'"whole"' in line]
    assert len(whole) == 2  # along a line, and at x as text, for the rest is base64
    assert sum(b'"base64"' in line for line in whole) == 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize("noise", ["1e-4 * random.random()", "1e-12 * random.randint(0, 1)"])
def test_noise_is_not_taken_for_a_misreading(noise):
    noisy = [('"values"] = [repr(sum', f'"values"] = [repr({noise} + sum')]
    noisy += [("import base64", "import random; random.seed(1); import base64")]
    for size in (20, 100):
        report, notes = checked(
            short_child(size=size, slips=[*noisy, ('"deterministic": True, ', "")])
        )
        assert report.verdict in ("unsure", "pass")
        assert notes == []


@pytest.mark.one_in(2)
@pytest.mark.parametrize("workers", [2, 3])
def test_any_number_of_programs_gives_the_same_numbers(workers):
    one, _ = checked(short_child(batch=4))
    many, notes = checked(short_child(batch=4), workers=workers)
    assert numbers(one) == numbers(many)
    assert notes == []


def test_programs_that_disagree_are_told():
    random = "C = [c + 1e-3 * (os.getpid() % 1000) for c in C]"
    with pytest.raises(ProgramError, match="two programs that were started give"):
        checked(child(before=random), workers=2)


def test_chosen_inputs_are_moved_and_others_stay():
    wrong_b = child(gradient="db += 1")
    report, _ = checked(wrong_b, inputs=["w"])
    assert (report.verdict, report.entries) == ("pass", 6)
    report, _ = checked(wrong_b, inputs=["b"])
    assert (report.verdict, report.entries) == ("fail", 1)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", ["lambda", "self", "upstream", "f", "points", "0", "b-1", "θ"])
def test_an_input_may_have_any_name(name):
    command = child(
        describe=f"b['name'] = {name!r}",
        before=f"read = lambda p: ([*map(float, p['whole']['w'])], float(p['whole'][{name!r}]))",
        reply=f"reply['gradient'][{name!r}] = reply['gradient'].pop('b')",
    )
    report, notes = checked(command)
    assert (report.verdict, report.compared, notes) == ("pass", 7, [])


def test_another_point_may_be_given():
    with from_command(child(), point={"b": 2.0}) as f:
        assert f(**f.inputs) == pytest.approx(here(W, 2.0), rel=1e-15)
        assert f.inputs["b"] == 2.0
        with from_command(child(), inputs=["w"], point=f.point) as held:
            assert list(held.inputs) == ["w"]
            assert held(W) == f(W, 2.0)


WHOLE = child(describe="w['dtype'] = 'int32'; w['default'] = [str(k) for k in range(6)]")
NOT_WHOLE = {"a fraction": 2.5, "too large": 3e9, "no number": math.nan}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("what", NOT_WHOLE)
def test_a_constant_is_taken_as_it_is_or_not_at_all(what):
    w = np.arange(6.0).reshape(2, 3)
    with from_command(WHOLE, point={"w": w}) as f:
        assert f(0.5) == pytest.approx(here(w, 0.5), rel=1e-15)
    w[0, 1] = NOT_WHOLE[what]
    with pytest.raises(ValueError, match="w holds what is no integer, or is too large for int32"):
        from_command(WHOLE, point={"w": w})


def test_the_first_reply_may_have_less_time_than_others():
    begun = time.monotonic()
    with pytest.raises(ProgramError, match=r"gave no reply within 0\.3 s"):
        from_command(child(before="time.sleep(60)"), first_timeout=0.3)
    assert time.monotonic() - begun < 30


OBJECTS = {
    "an object": ("[{'f': values[0]}]", None),
    "two numbers": ("[[values[0], '1']]", "its value of f has 2 numbers, but should have 1"),
    "other names": ("[{'a': '1', 'b': '2'}]", "its value is an object with a, b"),
}


@pytest.mark.parametrize("what", OBJECTS)
def test_more_than_one_number_takes_a_description(what):
    values, said = OBJECTS[what]
    command = child(value=f"reply['values'] = {values} * len(points)")
    if said is None:
        assert checked(command)[0].verdict == "pass"
        return
    with pytest.raises(ProgramError, match=said) as error:
        checked(command)
    assert "describe the outputs" in str(error.value)


def test_a_program_need_not_describe_itself():
    silent = child(hello="reply['answers'] = ['value', 'gradient']")
    report, _ = checked(silent, point={"w": W.tolist(), "b": 1})
    assert (report.verdict, report.entries) == ("pass", 7)
    with pytest.raises(ValueError, match="give a point"):
        from_command(silent)


def test_the_function_can_be_sent_to_another_process_which_starts_its_own():
    with from_command(child(), point={"b": 2.0}) as f, pickle.loads(pickle.dumps(f)) as again:
        assert again(W, B) == f(W, B)
        assert again.inputs["b"] == 2.0


WORKERS = {"processes": lambda: nullcontext(2), "threads": lambda: ThreadPoolExecutor(2)}


@pytest.mark.slow
@pytest.mark.forks
@pytest.mark.parametrize("who", WORKERS)
def test_the_workers_of_the_check_may_call_it_too(who):
    here, _ = checked(short_child(batch=4))
    with from_command(short_child(batch=4)) as f, WORKERS[who]() as workers:
        assert numbers(check_gradient(f, f.inputs, f.gradient, workers=workers)) == numbers(here)
        assert f(**f.inputs) == f(**f.inputs)


BAD_ARGUMENTS = {
    "a string": ({"command": "./program"}, "command must be a list"),
    "a path": ({"command": Path("program")}, "command must be a list"),
    "an unknown input": ({"inputs": ["v"]}, "there is no input v; the inputs are w, b"),
    "a point with another shape": (
        {"point": {"w": [1.0]}},
        r"w has shape \(1,\), but is described",
    ),
    "a point with an unknown name": ({"point": {"v": 1.0}}, "the point has v, but the inputs are"),
    "a point that is not finite": ({"point": {"b": np.nan}}, "b must be finite"),
    "a complex point": ({"point": {"b": 1j}}, "b is complex, but a program takes reals"),
    "no time": ({"timeout": 0}, "timeout must be a positive number"),
    "no workers": ({"workers": 0}, "workers must be a positive number"),
}


@pytest.mark.parametrize("what", BAD_ARGUMENTS)
def test_bad_arguments_are_refused(what):
    given, said = BAD_ARGUMENTS[what]
    with pytest.raises(ValueError, match=said):
        from_command(**{"command": child(), **given})


CALLS = {
    "too few": (lambda f: f(W), "missing: b"),
    "too many": (lambda f: f(W, B, B), "not 3 inputs"),
    "an unknown name": (lambda f: f(W, B, v=1), "not v"),
    "another shape": (lambda f: f(W[0], B), r"w has shape \(3,\), but takes \(2, 3\)"),
    "complex numbers": (lambda f: f(W + 1j, B), "w is complex, but a program takes reals"),
    "what it does not answer": (lambda f: f.jvp, "no attribute jvp"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("what", CALLS)
def test_a_wrong_call_is_refused(what):
    call, said = CALLS[what]
    with (
        from_command(child()) as f,
        pytest.raises((TypeError, ValueError, AttributeError), match=said),
    ):
        call(f)


BIG, LITTLE = ">", "<"
WIDE, SHORT = "f8", "f4"
# Numbers as bytes: (the order, the dtype, the numbers; whether they are refused)
ORDERS = {
    "big-endian": (BIG, WIDE, [0.1, -2.5, 3.75, 0.0], True),
    "big-endian, float32": (BIG, SHORT, [1 / n for n in range(3, 40)], True),
    "little-endian": (LITTLE, WIDE, [0.1, -2.5, 3.75, 0.0], False),
    "tiny": (LITTLE, WIDE, [1.3e-200, -2.7e-210, 1e-190, 5e-300], False),
    "subnormal": (LITTLE, WIDE, [5e-324, 1e-322, 2e-321, 0.0], False),
    "huge": (LITTLE, WIDE, [1e200, -3e250, 7e180, 1e300], False),
    "no numbers": (LITTLE, WIDE, [np.nan, np.inf, -np.inf, np.nan], False),
    "too few to tell": (BIG, WIDE, [0.1, 0.1, 0.1, 0.1], False),
    "zeros": (LITTLE, WIDE, [0.0] * 4, False),
    "tiny, float32": (LITTLE, SHORT, [1e-20, 2e-25, 3e-22, 1.1e-30, 5e-28, 3e-19], False),
}


@pytest.mark.parametrize("what", ORDERS)
def test_bytes_in_the_other_order_are_told(what):
    order, kind, numbers, refused = ORDERS[what]
    spec = Spec("w", (len(numbers),), np.dtype(kind))
    content = encoded(np.array(numbers, order + kind).tobytes())
    with pytest.raises(ArrayError, match="w is big-endian") if refused else nullcontext():
        spec.read({"base64": content})


def test_bytes_at_random_are_seldom_taken_for_the_other_order():
    rng = np.random.default_rng(0)
    for size in (3, 4, 10):
        for _ in range(300):
            Spec("w", (size,)).read({"base64": encoded(rng.bytes(8 * size))})


# --- vjp and jvp, constants, several outputs -------------------------------------------------


def test_products_of_several_outputs_are_checked():
    with from_command(products_child()) as f:
        assert f.answers == ("vjp", "jvp")
        value = f(**f.inputs)
        assert (value._fields, pickle.loads(pickle.dumps(value))._fields) == (("y", "z"),) * 2
        assert [np.shape(part) for part in value] == [(2,), ()]
        assert value[0].dtype == np.float32
        assert list(f.inputs) == ["x"]  # the table is a constant
        assert {name: value.tolist() for name, value in f.point.items()} == {
            "x": [0.5, -1.25],
            "table": [2, 1, 3],
        }
        assert check_vjp(f, f.inputs).verdict == "pass"
        assert check_jvp(f, f.inputs).verdict == "pass"
        with pytest.raises(ValueError, match="tangent is for 2 inputs, but there are 1"):
            f.jvp((np.ones(2), np.ones(3)), **f.inputs)
    with from_command(products_child(wrong=1)) as f:
        report = check_vjp(f, f.inputs)
        assert report.verdict == "fail"
        assert report.worst.name == "d y[1] / d x[0]"  # by the names that the program describes
        assert report.pairs[-1].output.name == "z"
        assert check_jvp(f, f.inputs, vjp=f.vjp).verdict == "fail"  # not adjoint


# What is replied to jvp: (the statement; what is said)
WRONG_JVP = {
    "too few numbers": ("reply['jvp']['y'] = ['1']", "gives shape (1,), () instead of (2,), ()"),
    "an output forgotten": ("del reply['jvp']['y']", "gives shape () instead of (2,), ()"),
    "a strange output": ("reply['jvp']['w'] = '1'", "shape (2,), (), () instead of (2,), ()"),
    "a matrix": ("reply['jvp']['y'] = [['1', '2']]", "gives shape (1, 2), () instead"),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("what", WRONG_JVP)
def test_a_jvp_of_another_shape_is_a_wrong_one_as_a_gradient_is(what):
    does, said = WRONG_JVP[what]
    with from_command(products_child(jvp=does)) as f:
        report = check_jvp(f, f.inputs)
    assert (report.verdict, report.reason) == ("fail", "shape")
    assert said in " ".join(str(report).split())
