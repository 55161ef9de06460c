"""The pytest plugin: the fixture ``gradcheck``, a line that counts, and a report for programs.

Idea
    Only pytest imports this module, by its entry point, in every test run of an environment. So it
    is outside the package, and imports the package only when the fixture is used: NumPy is imported
    as late as without the plugin, after the settings of a conftest.py.
With xdist
    A worker attaches the checks of its tests to the reports of their teardown. The process that
    collects those reports counts the checks.
"""

import importlib.util
import json
import sys
import zlib
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from gradcheck_ref import Report

# The version of the file of `--gradcheck-report`: raised when the meaning of a key changes.
VERSION = 1

# The keys of a test's fixture in its stash, of the checks that failed without it, and of all its
# checks in its report; and of the line for GitHub.
FIXTURE, WITHOUT = pytest.StashKey["Gradcheck"](), pytest.StashKey[list[dict[str, Any]]]()
SENT, ANNOTATED = "gradcheck_ref", "gradcheck_ref_annotation"
WITHOUT_FIXTURE = "assertion"


class Gradcheck:
    """The assertions of gradcheck_ref in one test, with a count; see the fixture.

    Parameters
    ----------
    seed : int
        The seed of checks that are called without one.
    unsure : str
        The result of an unsure check in assertions that are called without ``unsure=``.

    Attributes
    ----------
    seed : int
        The seed: different for every test, the same in every run.
    checked : list of dict
        The checks so far, as data.
    last : Report or None
        The report of the last one.
    not_passed : list of Report
        The reports of those that did not pass.
    """

    def __init__(self, seed: int, unsure: str) -> None:
        self.seed, self.checked = seed, list[dict[str, Any]]()
        self.last: Report | None = None
        self.not_passed = list["Report"]()
        self._unsure = unsure

    def assert_gradient(self, /, *arguments: Any, **knobs: Any) -> "Report":
        """Call `gradcheck_ref.assert_gradient` with the seed of this test."""
        __tracebackhide__ = True
        from gradcheck_ref.check.report import insist

        report, *means = self._check("gradient", arguments, knobs)
        return insist.insist(report, *means)

    def assert_vjp(self, /, *arguments: Any, **knobs: Any) -> "Report":
        """Call `gradcheck_ref.assert_vjp` with the seed of this test."""
        __tracebackhide__ = True
        from gradcheck_ref.check.report import insist

        report, *means = self._check("vjp", arguments, knobs)
        return insist.insist(report, *means)

    def assert_jvp(self, /, *arguments: Any, **knobs: Any) -> "Report":
        """Call `gradcheck_ref.assert_jvp` with the seed of this test."""
        __tracebackhide__ = True
        from gradcheck_ref.check.report import insist

        report, *means = self._check("jvp", arguments, knobs)
        return insist.insist(report, *means)

    def assert_jacobian(self, /, *arguments: Any, **knobs: Any) -> "Report":
        """Call `gradcheck_ref.assert_jacobian` with the seed of this test."""
        __tracebackhide__ = True
        from gradcheck_ref.check.report import insist

        report, *means = self._check("jacobian", arguments, knobs)
        return insist.insist(report, *means)

    def insist(
        self, report: "Report", unsure: str | None = None, empty: str = "unsure"
    ) -> "Report":
        """Count a report that was made elsewhere, and assert that it passes."""
        __tracebackhide__ = True
        from gradcheck_ref.check.report import insist

        unsure = self._unsure if unsure is None else unsure
        insist.check_unsure(unsure, empty)
        self._count("report", report)
        return insist.insist(report, unsure, empty)

    def _check(
        self, kind: str, arguments: tuple[Any, ...], knobs: dict[str, Any]
    ) -> tuple["Report", str, str]:
        __tracebackhide__ = True
        import gradcheck_ref
        from gradcheck_ref.check.report import insist

        unsure, empty = knobs.pop("unsure", self._unsure), knobs.pop("empty", "unsure")
        insist.check_unsure(unsure, empty)
        check = getattr(gradcheck_ref, f"check_{kind}")
        report: Report = check(*arguments, **{"seed": self.seed} | knobs)
        self._count(kind, report)
        return report, unsure, empty

    def _count(self, kind: str, report: "Report") -> None:
        self.last = report
        self.not_passed += [report] * (not report)
        self.checked.append({"check": kind, "report": report.to_dict()})


class Tally:
    """Counts the checks of all tests, in the process that collects their reports.

    Parameters
    ----------
    path : str or None
        The file to write.
    """

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.checks: list[dict[str, Any]] = []
        self.annotations: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the checks of a test from its report."""
        self.checks += [{"test": report.nodeid, **one} for one in getattr(report, SENT, ())]
        self.annotations += filter(None, [getattr(report, ANNOTATED, None)])

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of checks, of entries, and of each verdict."""
        reports = [one["report"] for one in self.checks]
        verdicts = Counter(
            "empty" if report["reason"] == "empty" else report["verdict"] for report in reports
        )
        entries = sum(report["compared"] for report in reports)
        each = {verdict: verdicts[verdict] for verdict in ("pass", "fail", "unsure", "empty")}
        return {"checks": len(reports), "entries": entries} | each

    def pytest_sessionfinish(self) -> None:
        """Write the file, sorted by the names of the tests."""
        if self.path:
            checks = sorted(self.checks, key=lambda one: str(one["test"]))
            data = {"version": VERSION, **self.counts, "tests": checks}
            Path(self.path).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write one line about the checks, if there were any, and what GitHub reads."""
        for line in self.annotations:
            terminalreporter.write_line(line)
        if self.checks:
            counts = self.counts
            empty = f", {counts['empty']} empty" if counts["empty"] else ""
            failures = all(one["check"] == WITHOUT_FIXTURE for one in self.checks)
            only = "; failures only: the fixture gradcheck counts all" if failures else ""
            terminalreporter.write_line(
                f"gradcheck: {_counted(counts['checks'], 'check')} of "
                f"{_counted(counts['entries'], 'entry', 'entries')}, "
                f"{counts['fail']} wrong, {counts['unsure']} unsure{empty}{only}"
            )


def _counted(count: int, one: str, several: str = "") -> str:
    return f"{count} {one if count == 1 else several or f'{one}s'}"


@pytest.fixture
def gradcheck(request: pytest.FixtureRequest) -> Gradcheck:
    """Provide counted assertions, such as assert_gradient and assert_vjp, and insist(report).

    The random lines have the seed of the test, ``gradcheck.seed``. If a check is unsure, the
    assertion's own ``unsure=`` decides; otherwise the nearest mark of the test,
    ``@pytest.mark.gradcheck(unsure="fail")``; otherwise ``gradcheck_unsure`` in the configuration.
    """
    from gradcheck_ref.check.report.insist import check_unsure

    unsure, where = _unsure_of(request)
    try:
        check_unsure(unsure)
    except ValueError as error:
        raise pytest.UsageError(f"{where}: {error}") from None
    fixture = Gradcheck(zlib.crc32(request.node.nodeid.encode()), unsure)
    request.node.stash[FIXTURE] = fixture
    return fixture


def _unsure_of(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Return what a test does if a check is unsure, and where that is set."""
    for mark in request.node.iter_markers("gradcheck"):
        if mark.args or mark.kwargs.keys() - {"unsure"}:
            raise pytest.UsageError(
                f"{request.node.nodeid}: the mark gradcheck takes only unsure, as in "
                '@pytest.mark.gradcheck(unsure="fail")'
            )
        if mark.kwargs:
            return mark.kwargs["unsure"], f"the mark gradcheck of {request.node.nodeid}"
    where = request.config.inipath or "the configuration"
    return request.config.getini("gradcheck_unsure"), f"gradcheck_unsure in {where}"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, and the setting for unsure checks."""
    group = parser.getgroup("gradcheck")
    group.addoption(
        "--gradcheck-report",
        metavar="FILE",
        help="write the checks of the fixture gradcheck to FILE, as JSON",
    )
    group.addoption(
        "--gradcheck-audit",
        nargs="?",
        const="list",
        type=_how_strict,
        metavar="strict",
        help="list the mistakes in gradients that the tests would not have noticed; with =strict "
        "the run fails if there are any",
    )
    group.addoption(
        "--gradcheck-audit-functions",
        metavar="PACKAGE",
        help="make each torch.autograd.Function of PACKAGE wrong in turn, repeat the tests that "
        "called it, and list the mistakes that no test noticed",
    )
    parser.addini(
        "gradcheck_unsure",
        "what the fixture gradcheck does when a check is unsure: warn, fail or pass",
        default="warn",
    )


def _how_strict(value: str) -> str:
    if value not in ("list", "strict"):  # pytest --gradcheck-audit tests
        raise pytest.UsageError(
            f"--gradcheck-audit takes only strict, not {value!r}: write names of tests before it"
        )
    return value


def _register_audits(config: pytest.Config) -> None:
    """Plant mistakes if an option asks for them, in workers of xdist, too."""
    audit = config.getoption("--gradcheck-audit")
    package = config.getoption("--gradcheck-audit-functions")
    if package and not importlib.util.find_spec("torch"):
        raise pytest.UsageError(
            "--gradcheck-audit-functions needs torch, which is not installed: "
            "pip install 'gradcheck-ref[torch]'"
        )
    if audit or package:
        from pytest_gradcheck_ref_audit import ClaimAudit, FunctionAudit

        if audit:
            config.pluginmanager.register(ClaimAudit(audit == "strict", may_be_empty=bool(package)))
        if package:
            config.pluginmanager.register(FunctionAudit(package, audit == "strict"))


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark, and count in the process that collects reports, not in xdist workers."""
    config.addinivalue_line(
        "markers",
        "gradcheck(unsure): what the fixture gradcheck does in this test when a check is unsure: "
        "warn, fail or pass",
    )
    path = config.getoption("--gradcheck-report")
    _register_audits(config)
    if hasattr(config, "workerinput"):
        return
    if path and not Path(path).absolute().parent.is_dir():
        raise pytest.UsageError(f"--gradcheck-report={path}: there is no such folder")
    # Absolute, since a test may change the working directory.
    config.pluginmanager.register(Tally(path and str(Path(path).absolute())))


def _reports_in(error: BaseException | None) -> Iterator["Report"]:
    """Yield the reports that an error carries: several, if it is a group, as from hypothesis."""
    insisting: Any = sys.modules.get("gradcheck_ref.check.report.insist")
    if insisting and isinstance(error, insisting.GradientError):
        yield error.report
    for one in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
        yield from _reports_in(one)


def _put_first(report: pytest.TestReport, failed: list["Report"]) -> None:
    """Let the short summary show the verdict, and GitHub an annotation at the test."""
    from gradcheck_ref.check.report.annotation import annotation, on_github
    from gradcheck_ref.check.report.text import first_sentence

    said = "; ".join(dict.fromkeys(first_sentence(str(one)) for one in failed))
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash:
        crash.message = said
    if on_github():
        file, line, _ = report.location
        vars(report)[ANNOTATED] = annotation(said, file, (line or 0) + 1)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the checks of a test to its last report; name the hard point where it failed."""
    report = yield
    fixture = item.stash.get(FIXTURE, None)
    without = item.stash.setdefault(WITHOUT, [])
    # A report that failed a test counts, also if it is of gradcheck_ref.assert_gradient itself.
    failed = list(_reports_in(call.excinfo and call.excinfo.value))
    counted = {*map(id, fixture.not_passed if fixture else ())}
    without += [
        {"check": WITHOUT_FIXTURE, "report": one.to_dict()}
        for one in failed
        if id(one) not in counted
    ]
    if failed and report.failed:
        _put_first(report, failed)
    if call.when == "teardown" and (fixture or without):
        vars(report)[SENT] = [*(fixture.checked if fixture else ()), *without]
    known: Any = sys.modules.get("gradcheck_ref.check.hides.running")
    if known:
        test = known.running()
        if call.when == "call" and report.failed and test.reached:
            said = f"the loop over hard_points ended at the point {test.reached!r}"
            report.sections.append(("gradcheck", said))
        test.reached = None  # so that the next test does not report it
    return report
