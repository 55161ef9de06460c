"""Two implementations in other languages, as examples of adapters: right, small, and breakable."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from gradcheck_ref.oracle.runner import run
from gradcheck_ref.oracle.vectors import load_vectors

ROOT = Path(__file__).parents[1]
JAVASCRIPT = ROOT / "docs" / "assets" / "checker.js"
C = ROOT / "docs" / "examples" / "checker.c"


def javascript(source, folder):
    """Return the command that runs it, if there is a node."""
    node = shutil.which("node") or pytest.skip("needs node")
    program = folder / "checker.js"
    program.write_text(source, encoding="utf-8")
    return [node, str(program)]


def c(source, folder):
    """Compile it, if there is a compiler; return the command."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("needs a C compiler")
    (folder / "checker.c").write_text(source, encoding="utf-8")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2"]
    program = folder / "checker"
    subprocess.run(
        [compiler, *strict, "-o", str(program), str(folder / "checker.c"), "-lm"], check=True
    )
    return [str(program)]


LANGUAGES = [pytest.param(JAVASCRIPT, javascript, id="JavaScript"), pytest.param(C, c, id="C")]


@pytest.mark.parametrize(("path", "made"), LANGUAGES)
def test_a_foreign_implementation_passes(path, made, tmp_path):
    vectors = list(load_vectors("stencil", "compare", "verdict"))
    found = run(made(path.read_text(encoding="utf-8"), tmp_path), vectors)
    wrong = [o for o in found.outcomes if o.status not in ("passed", "ambiguous")]
    assert not wrong
    assert (found.name, found.restarts, found.strays) == (path.name, 0, 0)
    assert {v.kind for v in found.declined} == {"verdict"}
    assert len(found.outcomes) + len(found.declined) == len(vectors)


@pytest.mark.parametrize(
    ("path", "made", "old", "new", "flag", "group"),
    [
        pytest.param(
            JAVASCRIPT,
            javascript,
            "slope(2, 3)",
            "slope(1, 3)",
            "OneSided",
            "stencil/forward",
            id="js",
        ),
        pytest.param(C, c, "&s, 2, 3)", "&s, 1, 3)", "OneSided", "stencil/forward", id="c"),
        pytest.param(
            JAVASCRIPT,
            javascript,
            "v <= rtol",
            "v < rtol",
            "ExactTie",
            "compare/cs231n-max",
            id="js tie",
        ),
        pytest.param(
            C,
            c,
            "error[i] <= rtol",
            "error[i] < rtol",
            "ExactTie",
            "compare/cs231n-max",
            id="c tie",
        ),
    ],
)
def test_a_foreign_mistake_is_caught(path, made, old, new, flag, group, tmp_path):
    source = path.read_text(encoding="utf-8")
    assert old in source
    asked = [v for v in load_vectors(group.split("/")[0]) if v.group == group]
    found = run(made(source.replace(old, new), tmp_path), asked)
    wrong = [o for o in found.outcomes if o.status == "failed"]
    assert flag in {flag for o in wrong for flag in o.vector.flags}


# What a later version of the vectors may ask of a model that is never changed again.
UNKNOWN = [
    {"ask": "magic"},
    {"ask": "compare", "rule": "magic", "analytic": ["1"], "numeric": ["1"]},
    {"ask": "stencil", "formula": "magic", "step": "taken", "x": "1", "h": "1"}
    | {"samples": [[str(x), "0"] for x in range(-1, 4)]},
]


@pytest.mark.parametrize(("path", "made"), LANGUAGES)
def test_a_model_says_so_if_it_does_not_know_the_question(path, made, tmp_path):
    lines = [json.dumps({"id": str(n), **asked}) for n, asked in enumerate(UNKNOWN)]
    done = subprocess.run(
        made(path.read_text(encoding="utf-8"), tmp_path),
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
    )
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [sorted(reply) for reply in replies] == [["id", "problem"]] * len(UNKNOWN)


@pytest.mark.parametrize("path", [JAVASCRIPT, C], ids=lambda path: path.name)
def test_a_model_is_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < 150


def test_a_page_can_load_the_javascript_as_a_plain_script(tmp_path):
    node = shutil.which("node") or pytest.skip("needs node")
    # As a browser has it: no require, no module, no process.
    page = (
        "const vm = require('vm'); const page = vm.createContext({});"
        "vm.runInContext(require('fs').readFileSync(process.argv[1], 'utf8'), page);"
        "const ask = \"gradcheck.compare({rule: 'torch', analytic: [1.5], numeric: [1],"
        ' rtol: 0.5, atol: 0}).close";'
        "console.log(vm.runInContext(ask, page))"
    )
    done = subprocess.run([node, "-e", page, str(JAVASCRIPT)], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("true\n", "")
