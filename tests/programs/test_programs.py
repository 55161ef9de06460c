"""A function in a program is checked as any other, whatever forms the program understands."""

import json
import math
import pickle
import re
import stat
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from program_child import check, child, large_child, noting, products_child, vector_child

from gradcheck_ref import check_gradient, check_jvp, check_vjp
from gradcheck_ref.adapters import from_command
from gradcheck_ref.compat.torch import GradcheckError, gradcheck
from gradcheck_ref.conversation import left_behind
from gradcheck_ref.conversation.messages import Message, Reply, document, words
from gradcheck_ref.programs import asking, table
from gradcheck_ref.programs.description import ProgramError
from gradcheck_ref.programs.table import ASKED, REPLIES

PROGRAMS = Path(table.__file__).parent


def schema():
    """Write the conversation as JSON Schema: one line of it."""
    lines = {}
    for name, asked in ASKED.items():
        keys = {"id": table.ID, "ask": words(name), **asked.keys}
        lines[f"ask_{name}"] = Message(keys, asked.optional, closed=True)
    for name, reply in REPLIES.items():
        answer = Message({"id": table.ID, **reply.answer.keys}, reply.answer.optional)
        lines[f"reply_{name}"] = Reply(answer, reply.excuses)
    title = f"gradcheck-ref {table.ROLE} protocol {table.PROTOCOL}: one line of it"
    return document(title, lines, list(lines))


SCHEMA = schema()


CHECKS = {
    "gradient": lambda f: check_gradient(f, f.inputs, f.gradient),
    "vjp": lambda f: check_vjp(f, f.inputs),
    "jvp": lambda f: check_jvp(f, f.inputs),
}


def checked(command, **how):
    """Return the report of a check of the gradient, and what was noted."""
    with from_command(command, **how) as f:
        return CHECKS["gradient"](f), f.notes


# --- one table -------------------------------------------------------------------------------


def test_the_schema_matches_the_table(request):
    path = PROGRAMS / "schemas" / "function.schema.json"
    said = json.dumps(SCHEMA, indent=2) + "\n"
    if request.config.getoption("--update-examples"):
        path.write_text(said, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == said
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_page_matches_the_table(request):
    page = PROGRAMS / "FORMAT.md"
    text = page.read_text(encoding="utf-8")
    begin, end = "<!-- made: messages -->\n", "<!-- end -->\n"
    before, rest = text.split(begin)
    filled = f"{before}{begin}\n{messages()}\n\n{end}{rest.split(end)[1]}"
    if request.config.getoption("--update-examples"):
        page.write_text(filled, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == filled


def messages():
    """List what is asked and what is replied, key by key, as on the page."""
    lines = [
        "| ask | request, besides `id` and `ask` | reply, besides `id` |",
        "| --- | --- | --- |",
    ]
    for ask, asked in ASKED.items():
        lines.append(f"| `{ask}` | {asked.row() or 'nothing'} | {table.ANSWERS[ask].row()} |")
    excuses = [f"`{key}`: {value.said}" for key, value in table.EXCUSES.items()]
    lines.append(f"| any | | instead: {'; or '.join(excuses)} |")
    parts = {"an input": table.INPUT, "an output": table.OUTPUT}
    lines += [f"| {part} | | {message.row()} |" for part, message in parts.items()]
    return "\n".join(lines)


def test_the_conversation_on_the_page_matches_the_schema():
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


@pytest.fixture
def by_file(monkeypatch):
    """Send arrays in files that would go as text: those of more than 20 numbers."""
    monkeypatch.setattr(asking, "MOST_AS_TEXT", 20)


def asked_in(log):
    """Return the requests that were noted."""
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()]


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("by_file")
@pytest.mark.parametrize("made", [child, large_child, products_child])
def test_requests_match_the_schema(made, tmp_path):
    log = tmp_path / "log"
    with from_command(noting(log, made())) as f:
        for what in f.answers:
            CHECKS[what](f)
        asks = {"hello", "describe", "value", *f.answers}
    said = {(r["ask"], *map(str, r.get("points", [""])[0])): r for r in asked_in(log)}
    assert {ask for ask, *_ in said} == asks
    for (ask, *_), request in said.items():
        told = {key: value for key, value in request.items() if key not in ("id", "ask")}
        assert ASKED[ask].wrong(told, "it") == ""
        validator(f"ask_{ask}").validate(request)


WRONG_REPLIES = {
    "a value that is a number": ("value", {"values": [1.5]}, "reals are written as strings"),
    "a name that means something": (
        "describe", {"inputs": [{"name": "file", "shape": []}]}, "cannot be a name"),
    "a size that is not whole": (
        "describe", {"inputs": [{"name": "w", "shape": [1.5]}]}, "shape[0] is 1.5, not a size"),
    "an unknown dtype": (
        "describe", {"inputs": [{"name": "w", "shape": [], "dtype": "float16"}]}, "dtype is"),
    "no inputs": ("describe", {"inputs": []}, "inputs has 0 entries"),
    "an empty batch": (
        "hello", {"protocol": 1, "name": "a", "answers": ["value"], "batch": 0}, "batch is 0"),
    "another protocol": ("hello", {"protocol": 2, "name": "a", "answers": ["value"]}, "not 1"),
    "a list with a word": ("value", {"values": [["x"]]}, 'values[0][0] is "x"'),
    "a word for an output": ("value", {"values": [{"y": "x"}]}, 'values[0].y is "x"'),
    "a number for a file": ("value", {"values": [{"file": 3}]}, "values[0].file is 3"),
    "no values": ("value", {}, "the reply has no values"),
    "a blank refusal": ("value", {"refused": " "}, 'refused is " ": say it in words'),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "reply", "said"), WRONG_REPLIES.values(), ids=WRONG_REPLIES)
def test_a_wrong_reply_is_refused_by_table_and_schema(kind, reply, said):
    assert said in REPLIES[kind].wrong(reply, "the reply")
    assert not validator(f"reply_{kind}").is_valid({"id": "1", **reply})


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
        for inputs in (f.inputs, tuple(f.inputs.values())):
            assert check_gradient(f, inputs, f.gradient).verdict == "pass"


def test_the_compat_functions_accept_a_program():
    with from_command(products_child()) as f:
        x = f.inputs["x"]
        gradcheck(f, (x,), vjp=f.vjp, jvp=f.jvp, check_forward_ad=True, eps=1e-3, atol=1e-3)
    with from_command(products_child(wrong=1)) as f, pytest.raises(GradcheckError):
        gradcheck(f, (x,), vjp=f.vjp, eps=1e-3, atol=1e-3)


def numbers(report):
    """All numbers of a report."""
    return json.dumps(report.to_dict(entries=True))


# --- files -----------------------------------------------------------------------------------

MAPPED = """
import mmap
maps = {}
def read(said):
    if isinstance(said, list):
        return [float(v) for v in said]
    if said["file"] not in maps:
        with open(said["file"], "rb") as file:
            maps[said["file"]] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return struct.unpack("<%dd" % N, maps[said["file"]])

def written("""


@pytest.mark.slow
@pytest.mark.usefixtures("by_file")
def test_files_give_the_same_numbers_as_text_though_a_program_keeps_them_mapped():
    text, _ = checked(large_child(files=False))
    assert text.certificate is not None
    for slips in ([], [("def written(", MAPPED)]):
        files, notes = checked(large_child(slips=slips))
        assert (numbers(files), notes) == (numbers(text), [])


def forms(requests):
    """Return for each point that was asked for whether its w was in a file."""
    points = [p for request in requests for p in request.get("points", [])]
    return ["file" in point["whole"]["w"] for point in points]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "reads", "expected"),
    [(10_001, True, True), (10_001, False, False), (10_000, True, False)],
)
def test_only_large_arrays_are_in_files_for_a_program_that_reads_them(
    size, reads, expected, tmp_path
):
    log = tmp_path / "log"
    with from_command(noting(log, large_child(reads, size=size))) as f:
        f(**f.inputs)
        f.many([(f.inputs["w"] + 1,)])
    first, *others = forms(asked_in(log))
    assert first is expected
    assert others == ([False, True] if expected else [False])  # the first as text as well, once


SWAPPED = ('unpack("<', 'unpack(">')
LIMITED = ("c * math.tanh(v)", "c * math.acos(min(v, 1.5) / 2)")


def noisy(noise):
    """Return the changes that add noise to f."""
    return [("import json", "import random, json"), ("return sum(", f"return {noise} + sum(")]


# How a program reads a file, and its f: (what is changed; the exit status; what is said)
READ = {
    "misread": ([SWAPPED], 2, "it misreads files: it gives .* first with w.* A file has"),
    "misread, and no value": (
        [SWAPPED, LIMITED], 2, "no value at the first point: .* little-endian numbers"),
    "noise": (noisy("1e-2 * random.random()"), 3, "UNSURE"),
    "noise in the last digits": (noisy("1e-12 * random.randint(0, 1)"), 0, "PASS"),
}  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("by_file")
@pytest.mark.parametrize("what", READ)
def test_a_program_that_misreads_files_is_detected_and_noise_is_no_mistake(what, capsys):
    slips, status, said = READ[what]
    assert check(large_child(slips=slips)) == status
    told = " ".join("".join(capsys.readouterr()).split())
    assert re.search(said, told)
    assert ("misreads" in told) == (what == "misread")


@pytest.mark.usefixtures("by_file")
def test_files_are_private_and_gone_when_the_function_is_closed(tmp_path):
    logs = tmp_path / "one", tmp_path / "other"
    one, other = (from_command(noting(log, large_child())) for log in logs)
    with one as f, other as g:
        assert f(**f.inputs) == g(**g.inputs)
        requests = [request for log in logs for request in asked_in(log)]
        in_files = [r["points"][0]["whole"]["w"] for r in requests if forms([r]) == [True]]
        paths = {Path(w["file"]) for w in in_files}
        assert len({path.parent for path in paths}) == 2  # one of each
        for path in paths:
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not any(path.parent.exists() for path in paths)


@pytest.mark.usefixtures("by_file")
def test_without_shared_memory_files_are_in_the_temporary_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(left_behind, "MEMORY", str(tmp_path / "none"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with from_command(large_child()) as f:
        f(**f.inputs)
        (folder,) = tmp_path.iterdir()
        assert list(folder.iterdir()) != []
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ProgramError, match="ended"):
        checked(large_child(slips=[("[c / math.cosh", "os._exit(3) or [c / math.cosh")]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_the_folder_is_removed_if_python_is_killed(tmp_path):
    log = tmp_path / "log"
    source = (
        "import os, sys; from gradcheck_ref.programs import asking; asking.MOST_AS_TEXT = 20;"
        "from gradcheck_ref.adapters import from_command;"
        "f = from_command(sys.argv[1:]); f(**f.inputs); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", source, *noting(log, large_child())])
    (first, *_) = [r for r in asked_in(log) if forms([r]) == [True]]
    folder = Path(first["points"][0]["whole"]["w"]["file"]).parent
    until = time.monotonic() + 10
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert folder.name.startswith("gradcheck-ref-")
    assert not folder.exists()


@pytest.mark.usefixtures("by_file")
def test_numbers_in_a_file_have_the_dtype_of_the_input():
    single = ('"shape": [N]', '"shape": [N], "dtype": "float32"')
    reads = [single, ('unpack("<%dd"', 'unpack("<%df"')]
    text = large_child(files=False, slips=[single])
    with from_command(large_child(slips=reads)) as f, from_command(text) as g:
        assert f.inputs["w"].dtype == np.float32
        assert f(**f.inputs) == g(**g.inputs)


@pytest.mark.slow
@pytest.mark.usefixtures("by_file")
@pytest.mark.parametrize("wrong", [1, 2])
def test_values_upstreams_and_tangents_come_and_go_in_files(wrong):
    with from_command(vector_child(wrong)) as f:
        w = f.inputs["w"]
        np.testing.assert_allclose(f(w), w * np.sin(w), rtol=1e-15)
        reports = [CHECKS[what](f) for what in f.answers]
    expected = "pass" if wrong == 1 else "fail"
    assert [report.verdict for report in reports] == [expected] * 2


# --- a team ----------------------------------------------------------------------------------


def test_a_program_that_lists_old_forms_gets_a_note_and_is_checked():
    old = ('"batch": ', '"encodings": ["text", "base64"], "points": ["lines"], "batch": ')
    report, (note,) = checked(large_child(files=False, slips=[old]))
    assert report.verdict == "pass"
    assert note.startswith("its hello lists base64 and lines, no longer in use. Large")


@pytest.mark.slow
def test_any_number_of_programs_gives_the_same_numbers():
    one, _ = checked(large_child(batch=4))
    many, notes = checked(large_child(batch=4), workers=3)
    assert numbers(one) == numbers(many)
    assert notes == []


def test_programs_that_disagree_are_detected():
    # Not by process numbers: two of them may have the same last digits.
    random = "C = [c + int.from_bytes(os.urandom(4), 'big') / 2**32 for c in C]"
    with pytest.raises(ProgramError, match="two processes of the program give"):
        checked(child(before=random), workers=2)


def test_chosen_inputs_are_moved_and_others_stay():
    wrong_b = child(gradient="db += 1")
    report, _ = checked(wrong_b, inputs=["w"])
    assert (report.verdict, report.entries) == ("pass", 6)
    report, _ = checked(wrong_b, inputs=["b"])
    assert (report.verdict, report.entries) == ("fail", 1)


def test_another_point_may_be_given_and_goes_along_to_another_process():
    with from_command(child(), point={"b": 2.0}) as f:
        assert f(**f.inputs) == pytest.approx(here(W, 2.0), rel=1e-15)
        assert f.inputs["b"] == 2.0
        with from_command(child(), inputs=["w"], point=f.point) as held:
            assert list(held.inputs) == ["w"]
            assert held(W) == f(W, 2.0)
        with pickle.loads(pickle.dumps(f)) as again:  # which starts a program of its own
            assert (again(W, B), again.inputs["b"]) == (f(W, B), 2.0)


def test_a_constant_is_accepted_unchanged_or_refused():
    whole = child(describe="w['dtype'] = 'int32'; w['default'] = [str(k) for k in range(6)]")
    w = np.arange(6.0).reshape(2, 3)
    with from_command(whole, point={"w": w}) as f:
        assert f(0.5) == pytest.approx(here(w, 0.5), rel=1e-15)
    for other in (2.5, 3e9, math.nan):
        w[0, 1] = other
        with pytest.raises(ValueError, match="w holds a value that does not fit in int32"):
            from_command(whole, point={"w": w})


def test_a_program_need_not_describe_itself():
    silent = child(hello="reply['answers'] = ['value', 'gradient']")
    report, _ = checked(silent, point={"w": W.tolist(), "b": 1})
    assert (report.verdict, report.entries) == ("pass", 7)
    with pytest.raises(ValueError, match="give a point"):
        from_command(silent)


@pytest.mark.slow
@pytest.mark.forks
@pytest.mark.parametrize("workers", [2, ThreadPoolExecutor(2)], ids=["processes", "threads"])
def test_the_workers_of_the_check_may_call_it_too(workers):
    here, _ = checked(large_child(batch=4))
    with from_command(large_child(batch=4)) as f:
        assert numbers(check_gradient(f, f.inputs, f.gradient, workers=workers)) == numbers(here)
        assert f(**f.inputs) == f(**f.inputs)


BAD_ARGUMENTS = {
    "a string": ({"command": "./program"}, "command must be a list"),
    "an unknown input": ({"inputs": ["v"]}, "no input is called v: there are w, b"),
    "a point with an unknown name": ({"point": {"v": 1.0}}, "the point has v, but the inputs are"),
    "a point that is not finite": ({"point": {"b": np.nan}}, "b must be finite"),
    "a complex point": ({"point": {"b": 1j}}, "b is complex, but a program takes reals"),
    "no time": ({"timeout": 0}, "timeout must be a positive number"),
    "no workers": ({"workers": 0}, "workers must be a positive number"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("given", "said"), BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS)
def test_bad_arguments_are_refused(given, said):
    with pytest.raises(ValueError, match=said):
        from_command(**{"command": child(), **given})


def test_a_wrong_call_is_refused():
    with from_command(child()) as f:
        with pytest.raises(TypeError, match="missing: b"):
            f(W)
        with pytest.raises(TypeError, match="not 3 inputs"):
            f(W, B, B)
        with pytest.raises(ValueError, match=r"w has shape \(3,\), but takes \(2, 3\)"):
            f(W[0], B)
        with pytest.raises(AttributeError, match="no attribute jvp"):
            f.jvp()


# --- vjp and jvp, constants, several outputs -------------------------------------------------


def test_products_of_several_outputs_are_checked():
    with from_command(products_child()) as f:
        assert f.answers == ("vjp", "jvp")
        value = f(**f.inputs)
        assert (value._fields, pickle.loads(pickle.dumps(value))._fields) == (("y", "z"),) * 2
        assert [np.shape(part) for part in value] == [(2,), ()]
        assert value[0].dtype == np.float32
        assert list(f.inputs) == ["x"]  # the table is a constant
        assert f.point["table"].tolist() == [2, 1, 3]
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
