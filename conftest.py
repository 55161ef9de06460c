"""The setup of every test run: repeatable property tests, and the Markdown pages as tests.

A fence on a page is run, in page order and with one namespace per page, if it is

- ``python``: a ``text`` fence right after it shows its exact output; a ``console`` fence shows its
  output except for differences between machines (error bars and line breaks); without either it
  must print nothing;
- ``pycon``: a session with ``>>>``, compared line by line.

A fence that imports a missing framework, or whose page begins so, is skipped, with its name: torch,
triton, jax, tvm, warp, dask.
A fence that holds a snippet (``--8<--``) shows a file that is tested elsewhere, and is not run.
"""

import collections
import contextlib
import difflib
import functools
import gc
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from sybil import Document, Example, Region, Sybil
from sybil.integration.pytest import SybilItem
from sybil.parsers.abstract.doctest import DocTestStringParser

pytest_plugins = ["pytester"]

# The workers of -n share the processors, and the matrices are small, so threads of BLAS would only
# wait for each other. The variable must be set before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Without a GPU, kernels run in Triton's interpreter. Some other test may import Triton first.
if not shutil.which("nvidia-smi"):
    os.environ.setdefault("TRITON_INTERPRET", "1")

# Many container images forbid Python to store compiled files. The tests start hundreds of
# processes, and each would compile the package again: a quarter of the time of such tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Fifteen thousand tests are collected: to look for garbage among them as often as usual takes an
# eighth of the time of that.
gc.set_threshold(100_000)

# On GitHub, the errors that tests make on purpose are none to annotate.
os.environ.pop("GITHUB_ACTIONS", None)

# The same examples on every machine, and no deadline that a busy machine might miss.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

FENCE = re.compile(
    r"^(?P<indent>[ \t]*)(?P<ticks>`{3,}|~{3,})[ \t]*(?P<language>[^\s`]*)[^\n`]*\n"
    r"(?P<source>.*?)"
    r"^(?P=indent)(?P=ticks)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
SNIPPET = "--8<--"
QUESTION = re.compile(r'<div class="predict".*?</div>', re.DOTALL)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that rewrites the stored outputs of docs/examples."""
    parser.addoption(
        "--update-examples",
        action="store_true",
        help="write the output of docs/examples/*.py to the files beside them",
    )


# Tests that need the same results: the verdicts of the check and the stages on the zoo, parsed
# sources, the tour, an imported Matplotlib. In one process they are computed once.
TOGETHER = {
    "pictures": ("tests/check/test_plot.py", "tests/compat/test_warp_plot.py"),
    "tour": ("tests/test_main.py", "tests/test_tour.py"),
    "sources": ("tests/docs/test_prose.py", "tests/test_architecture.py"),
    "zoo": (
        "tests/check/test_check.py",
        "tests/docs/test_docs.py::test_an_example_of_the_zoo",
        "tests/docs/test_docs.py::test_the_stored_detections_of_the_zoo",
        "tests/test_staircase.py",
    ),
}


# Long tables of cases that share nothing: each case goes to a worker of its own choice.
LONG = ("tests/check/test_corpus.py", "tests/check/test_scales.py")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """With ``-n``, give a whole file to one worker, or a case of a long table.

    The fences of a page share their names, and tests of a module share results.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            together = (name for name, tests in TOGETHER.items() if nodeid.startswith(tests))
            alone = nodeid if nodeid.startswith(LONG) else None
            return next(together, None) or alone or super()._split_scope(nodeid)

    return Scheduling(config, log)


@pytest.fixture
def matplotlib() -> Any:
    """Draw to no window; skip the test if Matplotlib is not installed."""
    found = pytest.importorskip("matplotlib")
    found.use("Agg")
    return found


@pytest.fixture(scope="session")
def seen() -> dict[str, Any]:
    """Make the tour once, for all to whom only matters what is made of it."""
    from gradcheck_ref.tour import tour

    return tour()


A_CHILD = "GRADCHECK_REF_TESTS_IN_A_CHILD"


@functools.cache
def passed_in_a_child(path: str, which: str) -> tuple[frozenset[str], str]:
    """Run a file in its own process; return the tests that passed there, and the output."""
    pytest_itself = [sys.executable, "-m", "pytest", "-n", "0", "-rA", "-p", "no:cacheprovider"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment[A_CHILD] = "yes"
    done = subprocess.run(
        [*pytest_itself, "-m", which, path],
        cwd=Path(__file__).parent,
        env=environment,
        capture_output=True,
        text=True,
    )
    lines = done.stdout.splitlines()
    return frozenset(line[7:] for line in lines if line.startswith("PASSED ")), done.stdout


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run tests that fork in a process without JAX: a fork of its threads may hang for ever.

    JAX warns about it, and a warning is an error here. All such tests of a file share one child.
    """
    alone = "jax" not in sys.modules or A_CHILD in os.environ
    if alone or not pyfuncitem.get_closest_marker("forks"):
        return None
    path = pyfuncitem.nodeid.split("::")[0]
    passed, said = passed_in_a_child(path, pyfuncitem.config.option.markexpr)
    assert pyfuncitem.nodeid in passed, said[-5000:]
    return True


# In a copy of the repository git cannot count: whoever makes the copy says the number.
TURN = "GRADCHECK_REF_TESTS_TURN"


def turn() -> int:
    """Return the number of commits so far, or what the environment says; 0 where git knows none."""
    if TURN in os.environ:
        return int(os.environ[TURN])
    counting = ["git", "rev-list", "--count", "HEAD"]
    with contextlib.suppress(OSError):
        done = subprocess.run(counting, cwd=Path(__file__).parent, capture_output=True, text=True)
        return int(done.stdout or 0)
    return 0


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all but one in n cases of a table (``one_in(n)``) as slow, or (``sweep(n)``) as nightly.

    Which ones changes from commit to commit. A sweep is slow, but for what ``one_in`` leaves.
    """
    before, now = collections.Counter[str](), turn()
    rests: dict[str, dict[str, int]] = {}  # of a table, for all its cases have its marks
    for item in items:
        table = item.nodeid.split("[")[0]
        if table not in rests:
            marks = {"slow": item.get_closest_marker("one_in")}
            marks["nightly"] = item.get_closest_marker("sweep")
            rests[table] = {rest: mark.args[0] for rest, mark in marks.items() if mark}
        for rest, n in rests[table].items():
            if (before[table] + now) % n:
                item.add_marker(rest)
        if [*rests[table]] == ["nightly"]:
            item.add_marker("slow")
        before[table] += 1


def pytest_collection_finish() -> None:
    """Never look for garbage among the collected tests, which stay to the end."""
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip an example that imports a missing framework, or whose page begins so, with its name."""
    skip_without_frameworks(source_of(item))
    if isinstance(item, SybilItem) and (first := FENCE.search(item.example.document.text)):
        skip_without_frameworks(lines_of(first))


def skip_without_frameworks(source: str) -> None:
    """Skip a test of code that imports a missing framework."""
    for framework in re.findall(
        r"^import (torch|triton|jax|tvm|warp|dask)\b", source, re.MULTILINE
    ):
        pytest.importorskip(framework)


def source_of(item: pytest.Item) -> str:
    """Return the code of a docstring's example, or of a python fence; "" for other tests."""
    if isinstance(item, pytest.DoctestItem) and item.dtest is not None:
        return "".join(example.source for example in item.dtest.examples)
    if isinstance(item, SybilItem) and isinstance(item.example.parsed, tuple):
        return item.example.parsed[0]
    return ""


def examples_on(page: Document) -> Iterator[Region]:
    """Find the fences of a page that must be run."""
    fences = list(FENCE.finditer(page.text))
    for fence, following in zip_longest(fences, fences[1:]):
        if SNIPPET in fence["source"]:
            continue
        if fence["language"] == "python":
            example = (lines_of(fence), *output_shown(page, fence, following))
            yield Region(fence.start(), fence.end(), example, run_and_compare)
        elif fence["language"] == "pycon":
            for line in DocTestStringParser()(fence["source"], page.path):
                line.start += fence.start("source")
                line.end += fence.start("source")
                yield line


def lines_of(fence: re.Match[str]) -> str:
    """Return the inside of a fence, without the indentation of the fence itself."""
    return re.sub(f"^{fence['indent']}", "", fence["source"], flags=re.MULTILINE)


def to_the_letter(printed: str) -> str:
    """Return the output unchanged."""
    return printed


def noise_hidden(printed: str) -> str:
    """Return a report, one word per line, without small numbers, which differ between machines."""
    return "\n".join(re.sub(r"\d(\.\d)?e-\d+", "#", printed).split())


OUTPUT = {"text": to_the_letter, "console": noise_hidden}


def output_shown(
    page: Document, fence: re.Match[str], following: re.Match[str] | None
) -> tuple[str, Callable[[str], str]]:
    """Return the output that a page shows right after a fence, and the function that reads it.

    Between the two there may be a question.
    """
    if following is None or following["language"] not in OUTPUT:
        return "", to_the_letter
    if QUESTION.sub("", page.text[fence.end() : following.start()]).strip():
        return "", to_the_letter
    return lines_of(following), OUTPUT[following["language"]]


def run_and_compare(example: Example) -> str | None:
    """Run a python fence; return its difference from the output on the page, or None."""
    source, shown, read = example.parsed
    # Blank lines in front give the code the line numbers it has on the page.
    code = compile("\n" * example.line + source, example.path, "exec", dont_inherit=True)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, example.namespace)
    difference = difflib.unified_diff(
        read(shown).splitlines(),
        read(printed.getvalue()).splitlines(),
        "shown on the page",
        "printed by the code",
        lineterm="",
    )
    return "\n".join(difference) or None


pytest_collect_file = Sybil(parsers=[examples_on], patterns=["*.md"]).pytest()
