"""Implementations in other languages, as examples of adapters: right, small, and breakable."""

import functools
import json
import shutil
import sys
from pathlib import Path

import pytest
from beside import ran
from compilers import c, javascript, rust

from gradcheck_ref.oracle.generate.drawn import draw, drawable
from gradcheck_ref.oracle.runner import run
from gradcheck_ref.oracle.summary import Summary
from gradcheck_ref.oracle.vectors import load_vectors, vector_of

ROOT = Path(__file__).parents[2]
JAVASCRIPT = ROOT / "docs" / "assets" / "checker.js"
PYTHON = ROOT / "docs" / "examples" / "checker.py"
FIRST = ROOT / "docs" / "examples" / "first_client.py"
C = ROOT / "docs" / "examples" / "checker.c"
RUST = ROOT / "docs" / "examples" / "checker.rs"


def started(path, made, folder, slips=()):
    """Tell how to start an implementation, as it is or changed."""
    text = path.read_text(encoding="utf-8")
    for old, new in slips:
        assert old in text
        text = text.replace(old, new)
    (folder / path.name).write_text(text, encoding="utf-8")
    return made(folder / path.name)


def python(source):
    """Return the command that runs it, with what Python itself brings."""
    return [sys.executable, "-I", "-S", str(source)]


LANGUAGES = [
    pytest.param(PYTHON, python, id="Python"),
    pytest.param(JAVASCRIPT, javascript, id="JavaScript"),
    pytest.param(C, c, id="C"),
    pytest.param(RUST, rust, id="Rust"),
]


@functools.cache
def drawn():
    """Draw vectors, which nobody can know by heart."""
    return [vector_of(kind, fields) for kind, fields in draw(drawable(), 600, 31)]


# What a later version of the vectors may ask of a model that is never changed again.
UNKNOWN = [
    {"ask": "magic"},
    {"ask": "compare", "rule": "magic", "analytic": ["1"], "numeric": ["1"]},
    {"ask": "stencil", "formula": "magic", "step": "taken", "x": "1", "h": "1"}
    | {"samples": [[str(x), "0"] for x in range(-1, 4)]},
]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "made"), LANGUAGES)
def test_a_foreign_implementation_passes(path, made, tmp_path):
    vectors = [*load_vectors(), *drawn()]
    command = started(path, made, tmp_path)
    found = run(command, vectors)
    wrong = [o for o in found.outcomes if o.status not in ("passed", "ambiguous")]
    assert not wrong
    assert (found.name, found.restarts, found.strays, found.ending) == (path.name, 0, 0, "")
    assert {v.kind for v in found.declined} == {"verdict", "escalate", "whole"} - set(found.answers)
    assert len(found.outcomes) + len(found.declined) == len(vectors)
    lines = "".join(json.dumps({"id": str(n), **ask}) + "\n" for n, ask in enumerate(UNKNOWN))
    told = ran(*command, input=lines).stdout
    replies = [json.loads(line) for line in told.splitlines()]
    assert [sorted(reply) for reply in replies] == [["id", "problem"]] * len(UNKNOWN)


NOTHING_YET = tuple(
    (f"reply = {name}(request)", 'raise RefusedError("not yet")') for name in ("forward", "torch")
)
IN_SIX_DIGITS = (("repr((float(f_ahead) - float(f_here)) / step)",
                  "'%g' % ((float(f_ahead) - float(f_here)) / step)"),)  # fmt: skip


def test_the_first_client_gets_the_score_on_its_page(tmp_path):
    page = " ".join((ROOT / "docs" / "judge.md").read_text(encoding="utf-8").split())
    for slips in (NOTHING_YET, ()):
        found = run(started(FIRST, python, tmp_path, slips), load_vectors())
        assert (Summary(found).right, Summary(found).sentence in page) == (not slips, True)
    found = run(started(FIRST, python, tmp_path, IN_SIX_DIGITS), load_vectors())
    assert f"the numbers of {len(Summary(found).wrong)} vectors look right to the 6" in page
    assert Summary(found).looks_like.startswith("right to the 6 digits that are written")


def test_a_page_can_load_the_javascript_as_a_plain_script():
    node = shutil.which("node") or pytest.skip("needs node")
    # As a browser has it: no require, no module, no process.
    page = (
        "const vm = require('vm'); const page = vm.createContext({});"
        "vm.runInContext(require('fs').readFileSync(process.argv[1], 'utf8'), page);"
        "const ask = \"gradcheck.compare({rule: 'torch', analytic: [1.5], numeric: [1],"
        ' rtol: 0.5, atol: 0}).close";'
        "console.log(vm.runInContext(ask, page))"
    )
    done = ran(node, "-e", page, JAVASCRIPT)
    assert (done.stdout, done.stderr) == ("true\n", "")
