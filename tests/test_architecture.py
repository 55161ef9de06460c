"""The architecture, as tests: who may import whom, what mirrors what, which names are public."""

import ast
import functools
import graphlib
import inspect
import re
import sys
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from beside import ran
from docstrings import faults_of, names_in, parsed, section

import gradcheck_ref

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gradcheck_ref"

# --- the import law --------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """What some modules may import, besides the standard library.

    Modules are named without ``gradcheck_ref.``; the package itself is ``__init__``. Patterns as in
    a shell, separated by blanks; the first row that fits a module is its row.
    """

    modules: str
    ours: str
    others: str = "numpy"
    inside_functions: str = ""  # imported only when they are needed: the optional extras
    because: str = "a stage may use the stages before it"


GROUND = "arguments around structure structure.*"
CHECK = "check check.*"
TALK = "conversation conversation.*"
ORACLE = f"{TALK} oracle.* oracle.generate.*"
LAW = [
    Row("arguments", "", because="everything may stand on it"),
    Row("conversation conversation.*", TALK, others="", because="any protocol may stand on it"),
    Row("around", "arguments", because="every stage may stand on it"),
    Row("structure structure.*", "arguments structure.*",
        because="everything above the stages may stand on it"),
    Row("stage1_*", GROUND),
    Row("stage2_*", f"{GROUND} stage1_*"),
    Row("stage3_*", f"{GROUND} stage[12]_*"),
    Row("stage4_*", f"{GROUND} stage[123]_*"),
    Row("stage5_*", f"{GROUND} stage[1234]_*"),
    Row("staircase", "arguments stage?_* zoo zoo.*",
        because="it turns the stages into judges, of the zoo"),
    Row("check.mistakes check.mistakes.*", "check.mistakes check.mistakes.*",
        because="a table of mistakes is about arrays, whoever judges them"),
    Row(CHECK, f"{GROUND} stage?_* {CHECK}", inside_functions="matplotlib",
        because="the check is built on the stages, and knows nothing that is built on it"),
    Row("compat compat.*", f"{GROUND} stage?_* {CHECK} compat compat.*",
        inside_functions="matplotlib", because="the peers' functions are built on the check"),
    Row("programs programs.*", f"{GROUND} {CHECK} {TALK} programs.*",
        because="a program's function is handed to the check"),
    Row("adapters adapters.*", f"{GROUND} stage?_* {CHECK} programs.* adapters adapters.*",
        inside_functions="torch jax",
        because="an adapter hands a framework's function to the check"),
    Row("zoo zoo.*", "zoo zoo.*", because="the stages and the check are judged on it"),
    Row("oracle.generate oracle.generate.*", "oracle.generate oracle.generate.*", others="",
        because="the oracle is never computed by what it judges"),
    Row("oracle oracle.*", f"{GROUND} stage?_* {CHECK} compat compat.* zoo zoo.* {ORACLE}",
        because="the oracle's protocol and runner serve what is below them"),
    Row("tour", f"stage?_* staircase zoo zoo.* {CHECK}",
        because="it shows everything that is below it"),
    Row("__init__", f"stage?_* {CHECK}", others="", because="it only gives the names to the world"),
    Row("__main__", "__init__ tour oracle oracle.* programs programs.*", others="",
        because="it reads the command line and hands over"),
]  # fmt: skip


def fits(name, patterns):
    """Tell whether the name fits one of the patterns."""
    return any(fnmatchcase(name, pattern) for pattern in patterns.split())


def module_name(path):
    """Return the name of a file's module as the law has it: `zoo/iris.py` is `zoo.iris`."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "__init__"


SOURCES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@functools.cache
def source_of(module):
    """Read a module of the package."""
    return SOURCES[module].read_text(encoding="utf-8")


def absolute(target, module, level, modules):
    """Turn `from ..target import` (level dots) inside a module into an absolute name."""
    if level == 0:
        return target
    here = ["gradcheck_ref"] + ([] if module == "__init__" else module.split("."))
    is_package = module == "__init__" or any(name.startswith(f"{module}.") for name in modules)
    base = here[: len(here) - level + is_package]
    return ".".join([*base, target] if target else base)


# What the laws look for inside of expressions. In a source that has no such word nothing there
# matters, and most of a source is expressions.
WORDS = re.compile(r"import_module|__import__|print|stdout|stderr")


@functools.cache
def nodes_of(source):
    """Return (node, whether inside a function) of what may matter in a source, parsed once."""
    found, waiting = [], [(parsed(source), False)]
    skipped = () if WORDS.search(source) else ast.expr
    for node, inside in waiting:
        found.append((node, inside))
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        children = ast.iter_child_nodes(node)
        waiting += [(child, inside) for child in children if not isinstance(child, skipped)]
    return found


def called(node):
    """Return the name of what is called, the last one of `a.b.c(...)`; nothing if it has none."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def imports_of(module, source, modules):
    """Yield (dotted name, line, whether inside a function) of everything the source imports.

    In words: ``import a.b``; ``from a import b``, which may name a module or something in one; and
    by call, ``import_module("a.b")`` and ``__import__("a.b")``, which yield ``None`` when the name
    is computed.
    """
    for node, inside in nodes_of(source):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node.module or "", module, node.level, modules)
            names = [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and called(node) in ("import_module", "__import__"):
            argument = node.args[0] if node.args else None
            names = [argument.value if isinstance(argument, ast.Constant) else None]
        for name in names:
            yield name, node.lineno, inside


def our_module(name, modules):
    """Return the module of the package that `gradcheck_ref.some.name` is, or is defined in."""
    parts = name.split(".")[1:]
    while parts and ".".join(parts) not in modules:
        parts.pop()
    return ".".join(parts) or "__init__"


def violations(module, source, modules):
    """Return one sentence for every import that the law forbids, in a package of these modules."""
    row = next((row for row in LAW if fits(module, row.modules)), None)
    if row is None:
        return [f"{module} fits no row of LAW: say there what it may import"]
    broken = []
    for name, line, inside in imports_of(module, source, modules):
        top = (name or "").split(".")[0]
        if not top:
            wrong = "a computed or relative name"
        elif top == "gradcheck_ref":
            target = our_module(name, modules)
            wrong = None if fits(target, row.ours) else target
        elif top in sys.stdlib_module_names or fits(top, row.others):
            wrong = None
        elif fits(top, row.inside_functions):
            wrong = None if inside else f"{top} at the top, where it is not optional"
        else:
            wrong = top
        if wrong:
            allowed = " ".join(["stdlib", row.others, row.ours])
            broken.append(
                f"{module}, line {line}, imports {wrong}; allowed: {allowed} ({row.because})"
            )
    return broken


def circle_in(sources):
    """Return modules that import each other in a circle, wherever they do it; empty if none do.

    A package gives the names of its modules to the world: to import a module is not to use it.
    """
    graph = {
        module: {
            our_module(name, sources)
            for name, _, _ in imports_of(module, source, sources)
            if name and name.split(".")[0] == "gradcheck_ref"
        }
        - {module}
        for module, source in sources.items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def test_no_modules_import_each_other_in_a_circle():
    assert circle_in({module: source_of(module) for module in SOURCES}) == []


@pytest.mark.parametrize(
    "there",
    ["from .b import x", "def f():\n    from . import b", "import gradcheck_ref.a.b",
     "if TYPE_CHECKING:\n    from gradcheck_ref.a.b import x"],
)  # fmt: skip
def test_a_hidden_circle_is_found(there):
    back = "from gradcheck_ref.a.c import y"
    package = {"a": "from .b import x", "a.b": back, "a.c": ""}
    assert circle_in(package) == []
    assert set(circle_in(package | {"a.c": there})) == {"a.b", "a.c"}


def test_every_module_imports_only_allowed_modules():
    broken = [violations(module, source_of(module), SOURCES) for module in SOURCES]
    assert [sentence for sentences in broken for sentence in sentences] == []


A_PACKAGE = {
    *("__init__", "around", "stage1_forward", "stage2_central", "stage3_relative", "tour", "zoo"),
    *("zoo.case", "zoo.iris", "adapters", "check.gradient", "check.mistakes", "compat"),
}


@pytest.mark.parametrize(
    ("module", "source", "named"),
    [
        ("stage2_central", "from .stage3_relative import band", "stage3_relative"),
        ("stage2_central", "from gradcheck_ref import band", "__init__"),
        ("stage2_central", "import scipy.optimize", "scipy"),
        ("adapters", "import torch", "torch at the top"),
        ("zoo.iris", "import importlib\nimportlib.import_module('gradcheck_ref.tour')", "tour"),
        ("zoo.iris", "def f(name):\n    return __import__(name)", "a computed or relative name"),
        ("zoo.iris", "import_module('..tour', __package__)", "a computed or relative name"),
        ("tour", "from exercises import run", "exercises"),
        ("check.gradient", "from ..compat import torch", "compat"),
        ("check.gradient", "from ..zoo import iris", "zoo"),
        ("check.mistakes", "from .gradient import check", "check.gradient"),
        ("zoo.iris", "from ..check import mistakes", "check.mistakes"),
        ("helpers", "", "fits no row"),
    ],
)
def test_the_law_forbids_these_imports(module, source, named):
    (sentence,) = violations(module, source, A_PACKAGE)
    assert named in sentence.split(";")[0]


# --- one place that calls f ------------------------------------------------------------------


def lines_that_call_f(source):
    """Return the lines that call f, or take it from the object that calls it."""
    return [
        node.lineno
        for node in ast.walk(parsed(source))
        if (isinstance(node, ast.Call) and called(node) == "f")
        or (isinstance(node, ast.Attribute) and node.attr == "f")
    ]


def test_the_check_calls_f_in_one_place():
    check = [name for name in SOURCES if fits(name, CHECK) and not fits(name, "check.call.*")]
    found = {module: lines_that_call_f(source_of(module)) for module in check}
    assert {module: lines for module, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "source", ["def check(f):\n    return f(1)", "g = ask.f\ng(x)", "ask.f.many([x])"]
)
def test_a_call_of_f_is_found(source):
    assert lines_that_call_f(source)


# --- what was judged is never changed ----------------------------------------------------------


def lines_that_change_others(source):
    """Return the lines that assign to an attribute of something else than self."""
    attributes = (node for node in ast.walk(parsed(source)) if isinstance(node, ast.Attribute))
    stored = (node for node in attributes if isinstance(node.ctx, ast.Store))
    return [node.lineno for node in stored if ast.unparse(node.value) != "self"]


@pytest.mark.parametrize("module", [name for name in SOURCES if fits(name, "check.judge.*")])
def test_the_judge_changes_no_object_from_outside(module):
    assert not lines_that_change_others(source_of(module))
    assert "rejudge" not in source_of(module)


def test_a_change_from_outside_is_found():
    assert lines_that_change_others("evidence.doubts = doubts\nself.doubts = doubts") == [1]


# --- one number, one word --------------------------------------------------------------------

STAGES = [name for name in SOURCES if re.fullmatch(r"stage\d_\w+", name)]


def test_every_stage_has_its_page_in_the_navigation_and_every_page_its_stage():
    assert [name[:6] for name in STAGES] == [f"stage{number}" for number in range(1, 6)]
    assert sorted(page.stem for page in (ROOT / "docs" / "stages").glob("*.md")) == STAGES
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [name for name in STAGES if f"stages/{name}.md" not in navigation] == []


def test_the_exercise_that_builds_a_stage_has_its_number_and_its_word():
    manifest = tomllib.loads((ROOT / "exercises" / "course.toml").read_text(encoding="utf-8"))
    built = [e["name"].split("_") for e in manifest["exercise"] if e["kind"] == "build"]
    assert [f"stage{int(number)}_{word}" for number, word in built] == STAGES


# Of the package itself, this one.
@pytest.mark.parametrize("module", [m for m in SOURCES if "." not in m and m != "__init__"])
def test_a_module_has_its_test_file_and_a_room_its_folder(module):
    is_room = SOURCES[module].name == "__init__.py"
    name = f"{module}/test_*.py" if is_room else f"test_{module.strip('_')}.py"
    assert [*(ROOT / "tests").glob(name)]


# --- public names ----------------------------------------------------------------------------

PUBLIC_NAMES = {
    *("nearby", "hard_points", "forward_difference", "central_difference", "relative_error"),
    *("band", "allclose", "five_point_difference", "escalating_difference"),
    *("adaptive_difference", "Comparison", "Estimate", "check_gradient", "check_vjp"),
    *("check_jvp", "assert_gradient", "assert_vjp", "assert_jvp", "Report", "GradientError"),
    *("check_jacobian", "assert_jacobian", "GradientWarning"),
}
FUNCTIONS = {name for name in PUBLIC_NAMES if name.islower()}


def public(name):
    """Return what a public name stands for."""
    return getattr(gradcheck_ref, name)


def test_the_public_names_are_exactly_these():
    assert sorted(gradcheck_ref.__all__) == sorted(PUBLIC_NAMES)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_public_function_is_documented_in_full(name):
    assert faults_of(public(name)) == []


@pytest.mark.parametrize("name", sorted(PUBLIC_NAMES - FUNCTIONS))
def test_a_public_class_documents_its_attributes(name):
    described = names_in(section(inspect.getdoc(public(name)) or "", "Attributes"))
    bases = public(name).__mro__
    assert {field for base in bases for field in inspect.get_annotations(base)} <= set(described)


# --- importing and printing ------------------------------------------------------------------


def test_importing_the_package_and_the_adapters_prints_nothing_and_imports_no_extra():
    code = (
        "import sys, gradcheck_ref.adapters\n"
        "extra = {'pytest', 'matplotlib', 'torch', 'jax', 'scipy'} & set(sys.modules)\n"
        "sys.exit(f'imported: {extra}' if extra else 0)"
    )
    done = ran(sys.executable, "-W", "error", "-c", code, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def lines_that_print(source):
    """Return the lines that name `print` or the standard streams."""
    return [
        node.lineno
        for node, _ in nodes_of(source)
        if (isinstance(node, ast.Name) and node.id == "print")
        or (isinstance(node, ast.Attribute) and node.attr in {"stdout", "stderr"})
    ]


# The peers print where their contract says so; a long check shows a line on a terminal; the oracle
# reads the output of a child.
SPOKEN = "__main__ compat.* check.call.* conversation.child"
SILENT = [name for name in SOURCES if not fits(name, SPOKEN)]


def test_the_library_prints_nothing():
    printing = {module: lines_that_print(source_of(module)) for module in SILENT}
    assert {module: lines for module, lines in printing.items() if lines} == {}


def test_a_line_that_prints_is_found():
    source = "import sys\nprint(1)\nlist(map(print, []))\nsys.stderr.write('x')\nx = 'print(1)'"
    assert lines_that_print(source) == [2, 3, 4]
