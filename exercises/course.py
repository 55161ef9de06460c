"""The course: its exercises, the learner's copies, and the results of the checks.

Only the standard library is needed to list, to copy and to give hints. The checks need NumPy and
the package; nothing here imports them before a check does.
"""

import ast
import contextlib
import importlib.util
import io
import itertools
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from catalogue import ENGLISH, languages
from explained import look_at, message_of, place

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
FILES = ("README.md", "hints.md", "starter.py", "checks.py", "solution.py")

# In a checkout the package is next to the course and need not be installed. It is last on the path,
# so an installed package counts first.
if (ROOT / "gradcheck_ref").is_dir() and str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))


# --- exercises ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exercise:
    """One exercise of the manifest, and where its files are."""

    name: str  # "06_relu": the name of its folder, of the learner's copy and of its page
    title: str
    kind: str  # build (a stage), check (a gradient), hunt (a bug), judge (a checker), or project
    minutes: int
    needs: Sequence[str]  # exercises whose ideas it uses
    points: dict[str, int]  # for each check, in the order of checks.py
    experiment: str  # a question to play with once it is done
    whole: int = 0  # points for passing all checks; if one fails, none of them are earned
    cases: Sequence[str] = ()  # of the zoo; the checks must catch each of their bugs
    optional: bool = False  # whether the course is complete without it: it counts only if named
    package: str = ""  # another package that it needs, such as "torch"
    recall: Sequence[str] = ()  # a question on an earlier exercise, in one line, and its answer
    home: Path = HERE

    @property
    def number(self) -> str:
        """The two digits, as text; for a project the word."""
        return "project" if self.kind == "project" else self.name[:2]

    @property
    def worth(self) -> int:
        """The points for everything."""
        return sum(self.points.values()) + self.whole

    @property
    def folder(self) -> Path:
        """Where its five files are."""
        return self.home / self.name

    @property
    def work(self) -> Path:
        """The learner's copy, which git ignores."""
        return self.home.parent / "work" / f"{self.name}.py"

    @property
    def begun(self) -> bool:
        """Whether there is a learner's copy."""
        return self.work.exists()

    def begin(self) -> None:
        """Copy the starter."""
        self.work.parent.mkdir(exist_ok=True)
        shutil.copyfile(self.folder / "starter.py", self.work)

    def reset(self) -> Path | None:
        """Copy the starter again; return where the learner's file is kept, None if unchanged."""
        kept = None
        if self.begun and self.work.read_bytes() != (self.folder / "starter.py").read_bytes():
            names = (self.work.with_suffix(f".before_reset{n or ''}.py") for n in itertools.count())
            kept = next(path for path in names if not path.exists())
            self.work.replace(kept)
        self.begin()
        return kept

    def hints(self, language: str = ENGLISH) -> list[tuple[str, str]]:
        """Return (heading, text) of each rung; those in another language are on its page."""
        rungs = _rungs(self.folder / "hints.md")
        page = self.page(language)
        if not page.exists():
            return rungs
        both = zip(_rungs(page), rungs, strict=True)
        return [(heading, _with_code(text, original)) for (heading, text), (_, original) in both]

    def page(self, language: str) -> Path:
        """Where its page in another language is, if there is one."""
        return self.home.parent / "docs" / language / "exercises" / f"{self.name}.md"


def _rungs(path: Path) -> list[tuple[str, str]]:
    text = path.read_text(encoding="utf-8")
    rungs = re.findall(r"<summary>(\d\..*?)</summary>(.*?)</details>", text, re.DOTALL)
    # Code is indented, and may be the first line.
    return [(heading.strip(), body.strip("\n").rstrip()) for heading, body in rungs]


def _with_code(translation: str, original: str) -> str:
    """Put the code of a text into its translation, which has only its places."""
    blocks = iter(re.findall(r"^ {4}.*(?:\n+ {4}.*)*", original, re.MULTILINE))
    return re.sub(re.escape("[[block]]"), lambda _: next(blocks), translation)


@dataclass(frozen=True)
class Course:
    """The manifest ``course.toml``; a project is an exercise that earns no points."""

    welcome: str
    farewell: str
    exercises: tuple[Exercise, ...]
    projects: tuple[Exercise, ...] = ()
    language: str = ENGLISH  # of what it says
    late: Mapping[str, Any] = field(default_factory=dict, hash=False)  # for the grader

    @property
    def everything(self) -> tuple[Exercise, ...]:
        """The exercises, and the projects."""
        return (*self.exercises, *self.projects)

    def find(self, text: str) -> Exercise | None:
        """Return the exercise called ``06``, ``6``, ``relu`` or ``work/06_relu.py``."""
        name = Path(text).stem.lower().zfill(2)
        for exercise in self.everything:
            if name in (exercise.name, exercise.number, exercise.name.partition("_")[2]):
                return exercise
        return None

    def choose(self, texts: Sequence[str]) -> list[Exercise]:
        """Return the exercises with these names; without a name all except the optional ones."""
        found = [self.find(text) for text in texts]
        for text, exercise in zip(texts, found, strict=True):
            if exercise not in self.exercises:
                raise ValueError(f"there is no exercise {text!r}" + " with points" * bool(exercise))
        if texts:
            return [exercise for exercise in self.exercises if exercise in found]
        return [e for e in self.exercises if not e.optional] or list(self.exercises)


def read_course(home: Path = HERE) -> Course:
    """Read the manifest; it must have this version, and no field may be missing or unknown."""
    data = tomllib.loads((home / "course.toml").read_text(encoding="utf-8"))
    if data.get("format_version") != 1:
        raise ValueError("course.toml: format_version must be 1")
    exercises = tuple(_exercise(fields, home) for fields in data.get("exercise", ()))
    projects = tuple(_exercise({"points": {}, **one}, home) for one in data.get("project", ()))
    language = data.get("language", ENGLISH)
    if language not in languages():
        choice = " or ".join(f'"{one}"' for one in languages())
        raise ValueError(f"course.toml: there is no language {language!r}; choose {choice}")
    late = data.get("late", {})
    return Course(data["welcome"], data["farewell"], exercises, projects, language, late)


def _exercise(fields: dict[str, Any], home: Path) -> Exercise:
    try:
        return Exercise(**fields, home=home)
    except TypeError as error:
        raise ValueError(f"course.toml: {fields.get('name')}: {error}") from None


# --- loading -----------------------------------------------------------------------------------


def load(path: Path, source: bytes = b"") -> ModuleType:
    """Load a file by its path, with this source or its own.

    Python's own import would keep bytecode, and compares it only by size and second: a learner may
    save twice in one second. And ten files called ``starter.py`` cannot share a name to import.
    """
    module = ModuleType(f"_course_{path.parent.name}_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look up their module
    source = source or path.read_bytes()
    code = compile(source, str(path), "exec")
    vars(module)["__source__"] = importlib.util.decode_source(source)
    exec(code, vars(module))
    return module


def missing(exercise: Exercise | None = None) -> list[str]:
    """Return which of the packages that the checks need, or those of one exercise, are absent."""
    needed = {"numpy": "NumPy", "gradcheck_ref": "gradcheck_ref"}
    if exercise and exercise.package:
        needed[exercise.package] = exercise.package
    return [title for name, title in needed.items() if importlib.util.find_spec(name) is None]


IMPORT = re.compile(r"^\s*(from|import)\b.*\bgradcheck_ref\b", re.MULTILINE)
COMPLEX = re.compile(r"complex(64|128|256|floating)?|c(single|double|longdouble)|imag")
MAGIC = re.compile(r"^([ \t]*)[%!].*$", re.MULTILINE)  # a line for the kernel of a notebook
COMPLEX_TYPE = re.compile(r"[<>=]?(D|G|c\d+|complex\w*)")


def takes_from_the_package(source: str) -> bool:
    """Whether a file imports the package, outside its ``__main__`` block."""
    for node in _code_of(source):
        match node:
            case (
                ast.alias(name=name)
                | ast.ImportFrom(module=str(name))
                | ast.Constant(value=str(name))  # for import_module("gradcheck_ref.zoo")
            ) if name.partition(".")[0] == "gradcheck_ref":
                return True
    return False


def has_complex_numbers(source: str) -> bool:
    """Whether a file calculates with complex numbers, outside its ``__main__`` block."""
    for node in _code_of(source):
        match node:
            case ast.Constant(value=complex()):
                return True
            case ast.Attribute(attr=word) | ast.Name(id=word) if COMPLEX.fullmatch(word):
                return True
            case ast.Call() | ast.keyword(arg="dtype"):  # as text: x.astype("D")
                for given in ast.iter_child_nodes(node):
                    match given:
                        case ast.Constant(value=str(text)) if COMPLEX_TYPE.fullmatch(text):
                            return True
    return False


def _code_of(source: str) -> Iterator[ast.AST]:
    """Yield the syntax nodes of a file, without its ``__main__`` block."""
    for cell in re.split("^# %%$", source, flags=re.MULTILINE):
        try:
            tree = ast.parse(MAGIC.sub(r"\1pass", cell.removeprefix("\ufeff")))
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # as with %time in it
            tree = ast.parse("import gradcheck_ref" if IMPORT.search(cell) else "")
        blocks, sets_its_name = [], False
        for node in ast.walk(tree):
            match node:
                case ast.If() if ast.unparse(node.test) == "__name__ == '__main__'":
                    blocks.append(node)
                case ast.Name(id="__name__", ctx=ast.Store()) | ast.Constant(value="__name__"):
                    sets_its_name = True
        for block in blocks:
            block.body = block.body if sets_its_name else []
        yield from ast.walk(tree)


# --- checking ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """The result of one check."""

    check: str  # the name of its function; "import" for a file that cannot be imported
    sentence: str  # what it checks
    # "passed", "failed", "todo" (not written yet) or "not run", which is also the status of a check
    # that depends on a failed one, and so cannot be judged.
    status: str
    # Labels and texts: called, got, expected, look at; called, raised, at, look at; or not judged.
    lines: tuple[tuple[str, str], ...] = ()
    share: float = 0.0  # of its points: 1 if passed; a check that fails may leave some


@dataclass(frozen=True)
class Outcome:
    """The results of the checks of an exercise on one file."""

    exercise: Exercise
    path: Path
    results: tuple[Result, ...]

    @property
    def passed(self) -> int:
        """How many checks passed."""
        return sum(result.status == "passed" for result in self.results)

    @property
    def total(self) -> int:
        """How many checks there are."""
        return sum(result.check != "import" for result in self.results)

    @property
    def done(self) -> bool:
        """Whether all checks passed."""
        return self.passed == self.total

    @property
    def first_failing(self) -> Result | None:
        """The first check that did not pass."""
        return next((r for r in self.results if r.status in ("failed", "todo")), None)


def checks_of(exercise: Exercise, *, heldout: bool = False) -> list[Any]:
    """Load the check functions in the order of the file, the held-out ones on request."""
    module = load(exercise.folder / "checks.py")
    prefixes = ("check_", "heldout_") if heldout else ("check_",)
    return [
        thing
        for name, thing in vars(module).items()
        if name.startswith(prefixes) and getattr(thing, "__module__", "") == module.__name__
    ]


def judge(
    exercise: Exercise,
    path: Path,
    *,
    to_the_end: bool = False,
    checks: Sequence[Any] | None = None,
    load: Callable[[Path], Any] = load,
) -> Outcome:
    """Run checks of an exercise on a file, by default the visible ones.

    There is one result for each check, and one more in front if the file cannot be imported. After
    the first failure the rest is *not run*, unless it goes on ``to_the_end``. ``load`` returns a
    module, or any object that has the functions.
    """
    checks = checks_of(exercise) if checks is None else checks
    try:
        submission = load(path)
    except (Exception, SystemExit) as error:
        lines = _explained(error, path)
        if path == exercise.work and not isinstance(error, SyntaxError | ImportError):
            lines = (*lines, ("look at", ONLY_HERE))
        failed = Result("import", "Your file can be imported.", "failed", lines)
        return Outcome(exercise, path, (failed, *(not_run(check) for check in checks)))
    results: list[Result] = []
    habits: set[str] = set()
    for check in checks:
        wrong = [result.check for result in results if result.status != "passed"]
        going_on = to_the_end or not wrong
        results.append(
            _result(check, submission, path, wrong, habits) if going_on else not_run(check)
        )
    return Outcome(exercise, path, tuple(results))


def not_run(check: Any) -> Result:
    """Return the result of a check that was not run."""
    sentence = " ".join((check.__doc__ or check.__name__).split())
    return Result(check.__name__, sentence, "not run")


def _result(
    check: Any, submission: Any, path: Path, wrong: Sequence[str], habits: set[str]
) -> Result:
    """Run a check; ``wrong`` are the checks before it that did not pass.

    A slip in ``habits`` has cost points, and costs no more.
    """
    result = not_run(check)
    try:
        check(submission)
    except NotImplementedError as todo:
        return replace(result, status="todo", lines=(("to do", str(todo)),))
    except (Exception, SystemExit) as error:
        rests_on = getattr(error, "rests_on", "")
        status = "not run" if rests_on in wrong else "failed"
        # If the check it depends on passed before, and fails now, no report has said so.
        told = error.__cause__ if rests_on and status == "failed" and error.__cause__ else error
        lines, share = _explained(told, path), getattr(told, "share", 0.0)
        if habit := getattr(told, "habit", ""):
            if habit in habits:
                share = 1.0
                lines = (*lines, ("not judged", "this has cost points above, and costs no more"))
            habits.add(habit)
        return replace(result, status=status, lines=lines, share=share)
    return replace(result, status="passed", share=1.0)


ONLY_HERE = (
    "the grader skips this line and goes on, but the checks here stop at it; a trial of your own "
    "belongs below `if __name__`"
)


class StoppedError(Exception):
    """The process of a submission has ended, or was stopped; the message says why."""


def _explained(error: BaseException, path: Path) -> tuple[tuple[str, str], ...]:
    """Turn an exception into labeled lines: a refusal has its own, a crash says where."""
    if hasattr(error, "lines"):
        return tuple(error.lines)
    told = ((label, getattr(error, label, "")) for label in ("called", "where"))
    called = tuple((label, text) for label, text in told if text)
    cause = error.__cause__ if called and error.__cause__ is not None else error
    if isinstance(cause, StoppedError):
        return (*called, ("stopped", str(cause)))
    what, found = message_of(cause), dict(place(cause, str(path)))
    looks = [
        ("look at", hint) for hint in look_at(what, found.get("at", ""), found.pop("shapes", ""))
    ]
    return (*called, ("raised", what), *found.items(), *looks)


def quietly_judge(exercise: Exercise) -> Outcome:
    """Run the checks on the learner's copy, and hide what it prints."""
    with contextlib.redirect_stdout(io.StringIO()):
        return judge(exercise, exercise.work)
