"""The architecture, as tests: who may import whom, what mirrors what, which names are public."""

import ast
import functools
import graphlib
import inspect
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from docstrings import faults_of, names_in, section
from road import length_of

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
KNOBS = "check.knobs check.words check.decimals check.results"
CALL = f"{KNOBS} check.call check.call.*"
MEASURE = f"{CALL} check.measure check.measure.*"
CLAIM = f"{MEASURE} check.claim check.claim.*"
JUDGE = f"{CLAIM} check.judge check.judge.*"
MISTAKES = "check.mistakes check.mistakes.*"
DIAGNOSE = f"{MISTAKES} check.diagnose check.diagnose.*"
HIDES = "check.hides check.hides.*"
REPORT = "check.report check.report.*"
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
    Row("check.words", "", others="", because="every sentence of the check may need it"),
    Row(KNOBS, f"{GROUND} check.words", because="every room of the check may stand on it"),
    Row("check.call check.call.*", f"{GROUND} {CALL}",
        because="f is called before anything is known of lines or claims"),
    Row("check.measure check.measure.*", f"{GROUND} stage?_* {MEASURE}",
        because="what is measured knows of no claim"),
    Row("check.claim check.claim.*", f"{GROUND} {CLAIM}",
        because="what is claimed is known before it is judged"),
    Row("check.judge check.judge.*", f"{GROUND} stage?_* {JUDGE}",
        because="what is judged has been measured, and is not worded yet"),
    Row(MISTAKES, MISTAKES,
        because="a table of mistakes is about arrays, whoever judges them"),
    Row("check.diagnose check.diagnose.*", f"{GROUND} {KNOBS} {DIAGNOSE} check.judge.looks",
        because="a diagnosis is made of results, and calls nothing"),
    Row("check.hides.running", "", others="", because="the plugin may look at it at any time"),
    Row(HIDES, f"{GROUND} {JUDGE} {DIAGNOSE} {HIDES}",
        because="what may hide is judged by what was measured, and calls nothing"),
    Row(REPORT, f"{GROUND} {KNOBS} {DIAGNOSE} {HIDES} {REPORT}",
        inside_functions="matplotlib",
        because="a report words what was judged and diagnosed, and calls nothing"),
    Row("check.combinations", f"{GROUND} {JUDGE}",
        because="combinations of outputs are judged as outputs are"),
    Row("check.examine", f"{GROUND} {JUDGE} {HIDES} {REPORT} check.combinations",
        because="the order of events is above all that happens"),
    Row("check.gradient check.products check.jacobian", f"{GROUND} {CLAIM} {REPORT} check.examine",
        because="what people call is above all rooms"),
    Row("check", f"check.gradient check.products check.jacobian {HIDES} {REPORT}",
        because="it only gives the names"),
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
    found, waiting = [], [(ast.parse(source), False)]
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
    *("zoo.case", "zoo.iris", "adapters", "check.call.ask", "check.judge.rule"),
    "check.report.report",
}


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("stage1_forward", "import numpy as np\nfrom collections.abc import Callable"),
        ("stage3_relative", "from . import around, stage2_central"),
        ("zoo.iris", "from .case import Case\nfrom gradcheck_ref.zoo import case"),
        ("adapters", "def from_torch(fn):\n    import torch"),
        ("check.judge.rule", "from gradcheck_ref.check.call import ask"),
    ],
)
def test_the_law_allows_these_imports(module, source):
    assert violations(module, source, A_PACKAGE) == []


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
        ("check.judge.rule", "from ..report.report import Report", "check.report.report"),
        ("helpers", "", "fits no row"),
    ],
)
def test_the_law_forbids_these_imports(module, source, named):
    (sentence,) = violations(module, source, A_PACKAGE)
    assert named in sentence.split(";")[0]


# --- the road through the check --------------------------------------------------------------

# lines -> samples -> witnesses -> rulings -> results -> report: one direction, and one place for
# each decision. The order of the rooms is in LAW.
ROADS = [name for name in SOURCES if fits(name, CHECK)]


def names_in_chain(node):
    """Yield the names in `pair.verdict[0].reason`, from right to left."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        if isinstance(node, ast.Attribute):
            yield node.attr
        node = node.value
    yield getattr(node, "id", "")


def sets_a_verdict(source):
    """Return the lines that write into an array of verdicts, or make one."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            sets = "verdict" in names_in_chain(node)
        elif isinstance(node, ast.AugAssign):
            sets = "verdict" in names_in_chain(node.target)
        elif isinstance(node, ast.Call):
            written = [node.func, *node.args[:1]]  # verdict.fill(2), np.copyto(verdict, 2)
            in_place = called(node) in ("fill", "put", "copyto", "putmask", "place")
            sets = in_place and any("verdict" in names_in_chain(one) for one in written)
            makes = called(node) in ("replace", "_replace", "Pair", "Ruling", "Certificate")
            sets = sets or (makes and any(one.arg == "verdict" for one in node.keywords))
        else:
            continue
        found += [node.lineno] * sets
    return found


def calls_f(source):
    """Return the lines that call f, or take it from the object that calls it."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Call) and called(node) == "f")
        or (isinstance(node, ast.Attribute) and node.attr == "f")
    ]


def calls_for_the_inputs(source):
    """Return the lines that have the inputs call something."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [node.lineno for node in calls if called(node) in ("call", "caller")]


def has_state(source):
    """Return the lines that keep or change the state of a module.

    Tables in capitals are constants.
    """
    tree, mutable = ast.parse(source), ast.List | ast.Dict | ast.Set | ast.Call
    found = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Global)]
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, mutable):
            names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and
                     isinstance(n.ctx, ast.Store)]  # fmt: skip
            found += [node.lineno] * any(not name.isupper() and name != "__all__" for name in names)
    return found


ROOMS_FOR = [
    (sets_a_verdict, "check.judge.*"),
    (calls_f, "check.call.*"),
    (calls_for_the_inputs, "check.call.* check.claim.*"),  # claim has them call the gradient
    # The events in a test; who reads the sentences; and a worker process, which has nothing else.
    (has_state, "check.hides.running check.words check.call.crew"),
]


@pytest.mark.parametrize(("lines", "rooms"), ROOMS_FOR, ids=[f.__name__ for f, _ in ROOMS_FOR])
def test_a_thing_is_done_in_its_room_only(lines, rooms):
    found = {module: lines(source_of(module)) for module in ROADS if not fits(module, rooms)}
    assert {module: where for module, where in found.items() if where} == {}


@pytest.mark.parametrize(
    ("lines", "source"),
    [
        (sets_a_verdict, "verdict[mine] = 2"),
        (sets_a_verdict, "verdict[0], other = 2, 1"),
        (sets_a_verdict, "pair.verdict[0][1] = 0"),
        (sets_a_verdict, "self.ruling.verdict[0] |= 2"),
        (sets_a_verdict, "verdict |= 2"),
        (sets_a_verdict, "pair.verdict.fill(0)"),
        (sets_a_verdict, "np.copyto(verdict, 2)"),
        (sets_a_verdict, "replace(pair, verdict=2)"),
        (calls_f, "def check(f):\n    return f(1)"),
        (calls_f, "g = ask.f\ng(x)"),
        (calls_f, "ask.f.many([x])"),
        (calls_f, "class A:\n    def __init__(self, f):\n        self.x, self.f = 1, f"),
        (calls_for_the_inputs, "self.ask.inputs.call(g, values)"),
        (calls_for_the_inputs, "i = ask.inputs\ni.caller(g)(x)"),
        (has_state, "def f():\n    global reached"),
        (has_state, "seen = {}"),
        (has_state, "_running = ContextVar('running')"),
    ],
)
def test_what_is_done_outside_its_room_is_found(lines, source):
    assert lines(source)


def classes_of(module):
    """Return the classes that a module defines."""
    return [node for node in ast.parse(source_of(module)).body if isinstance(node, ast.ClassDef)]


def attributes_of(definition):
    """Return the names of the attributes of a class: its fields, and what its methods set."""
    fields = [n.target.id for n in definition.body if isinstance(n, ast.AnnAssign)]
    is_set = [
        node.attr
        for node in ast.walk(definition)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and getattr(node.value, "id", "") == "self"
    ]
    return {*fields, *is_set}


def test_a_class_of_the_check_has_a_name_of_its_own():
    named = [(one.name, module) for module in SOURCES for one in classes_of(module)]
    twice = {
        name: sorted(module for other, module in named if other == name)
        for name, module in named
        if fits(module, CHECK)
    }
    assert {name: modules for name, modules in twice.items() if len(modules) > 1} == {}


def test_a_class_of_the_check_has_at_most_12_attributes():
    many = {
        one.name: sorted(attributes_of(one))
        for module in ROADS
        for one in classes_of(module)
        if len(attributes_of(one)) > 12
    }
    assert many == {}


def test_a_check_has_few_steps():
    path = PACKAGE / "check" / "examine.py"
    assert length_of(path, "examine") <= 40
    [examine] = [n for n in ast.parse(path.read_text(encoding="utf-8")).body
                 if getattr(n, "name", "") == "examine"]  # fmt: skip
    steps = [node for node in ast.walk(examine) if isinstance(node, ast.Call)]
    assert len(steps) <= 7


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


@pytest.mark.parametrize("name", sorted(PUBLIC_NAMES))
def test_a_public_name_does_not_mention_a_stage_or_a_module(name):
    assert "stage" not in name.lower()
    assert name not in {module.split(".")[-1] for module in SOURCES}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_public_function_is_documented_in_full(name):
    assert faults_of(public(name)) == []


@pytest.mark.parametrize("name", sorted(PUBLIC_NAMES - FUNCTIONS))
def test_a_public_class_documents_its_attributes(name):
    described = names_in(section(inspect.getdoc(public(name)) or "", "Attributes"))
    bases = public(name).__mro__
    assert {field for base in bases for field in inspect.get_annotations(base)} <= set(described)


def test_missing_parts_of_a_docstring_are_found():
    def double(f, x):
        """Double it.

        Parameters
        ----------
        f : callable
            What to call.

        Notes
        -----
        None.
        """

    lacking = [fault.split()[-1] for fault in faults_of(double)]
    assert lacking == ["Returns", "Raises", "Examples", "x)", "f'", "run"]


# --- importing and printing ------------------------------------------------------------------


def test_importing_the_package_prints_nothing_and_imports_no_extra():
    code = (
        "import sys, gradcheck_ref\n"
        "extra = {'pytest', 'matplotlib', 'torch', 'jax', 'scipy'} & set(sys.modules)\n"
        "sys.exit(f'imported: {extra}' if extra else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True
    )
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
SPOKEN = "__main__ compat.* check.call.progress conversation.child"
SILENT = [name for name in SOURCES if not fits(name, SPOKEN)]


def test_the_library_prints_nothing():
    printing = {module: lines_that_print(source_of(module)) for module in SILENT}
    assert {module: lines for module, lines in printing.items() if lines} == {}


def test_a_line_that_prints_is_found():
    source = "import sys\nprint(1)\nlist(map(print, []))\nsys.stderr.write('x')\nx = 'print(1)'"
    assert lines_that_print(source) == [2, 3, 4]
