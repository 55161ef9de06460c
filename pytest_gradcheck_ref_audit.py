"""Is a test suite any good? Plant mistakes, and list at the end those that no test noticed.

Idea
    ``--gradcheck-audit`` plants mistakes in the claims of assertions, and judges them by the same
    evidence. ``--gradcheck-audit-functions`` plants mistakes in the backward of each
    torch.autograd.Function, and runs the tests that called it again.
With xdist
    The first sends its results with the reports of tests, the second when a worker ends.
"""

import textwrap
import warnings
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import runtestprotocol  # can be called again, as pytest-rerunfailures does

if TYPE_CHECKING:
    from gradcheck_ref.adapters.torch_mistakes import Planter

# Keys: a test's assertions and whether it passed, and the results that a report or a worker sends.
ASSERTED, PASSED = pytest.StashKey[list[Any]](), pytest.StashKey[bool]()
SENT = "gradcheck_audit"

# The reasons why a mistake would not have been noticed, and what to do.
MEANING = {
    "the point": "the mistake changes nothing there. Check at another point, too",
    "the tolerance": "it allows the change that the mistake makes. Give a smaller one",
    "the error bars": "f is noisy, kinked or rounded there. Check where it is smooth, too",
    "nothing to compare": "there is no entry. Check another shape, too",
}

# A row names at most so many inputs with a mistake, so that it stays short for a large model.
MOST_NAMED = 3

# Names, and a text for each.
Rows = list[tuple[str, str]]

STRICT = "The exit status is 1 because of --gradcheck-audit=strict"


class Audit:
    """The common part of both audits: tests that passed, a table, and the exit status.

    Parameters
    ----------
    strict : bool
        Whether the run fails if a mistake is not noticed, or none was planted.
    may_be_empty : bool, default False
        Whether a strict run passes if no mistake was planted.
    """

    def __init__(self, strict: bool, may_be_empty: bool = False) -> None:
        self.strict, self.may_be_empty = strict, may_be_empty
        self.found: dict[str, Any] = {}  # by test, or by function
        self.has_failed_the_run = False

    def table(self) -> tuple[str, Rows]:
        """Return a heading, and the mistakes that would not be noticed."""
        raise NotImplementedError

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note whether a test has passed so far, including its subtests: each has a report."""
        report = yield
        item.stash[PASSED] = report.passed and (call.when == "setup" or item.stash[PASSED])
        return report

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a strict run, but not in a worker of xdist."""
        here = not hasattr(session.config, "workerinput")
        if self.strict and here and session.exitstatus == pytest.ExitCode.OK:
            is_empty = not (self.found or self.may_be_empty)
            self.has_failed_the_run = is_empty or bool(self.table()[1])
        if self.has_failed_the_run:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the table: texts beside the names if there is room, otherwise below."""
        heading, rows = self.table()
        width = terminalreporter.config.get_terminal_writer().fullwidth
        longest = max((len(name) for name, _ in rows), default=0) + 2
        indent = longest if longest <= width / 2 else 4
        lines = _wrapped(heading, width)
        for name, text in rows:
            first, *more = _wrapped(text, width - indent)
            lines += [f"{name:{indent}}{first}"] if indent == longest else [name, f"    {first}"]
            lines += [" " * indent + line for line in more]
        for why, meaning in MEANING.items():
            if any(f"({why})" in text for _, text in rows):
                lines += _wrapped(f"- {why}: {meaning}", width)
        lines += _wrapped(STRICT, width) if self.has_failed_the_run else []
        terminalreporter.write_sep("=", "gradcheck audit")
        for line in lines:
            terminalreporter.write_line(line)


class ClaimAudit(Audit):
    """Plants mistakes in the claims of all assertions."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Plant while a test runs."""
        from gradcheck_ref.check.hides.running import running

        test = running()
        before, test.asserted = test.asserted, item.stash.setdefault(ASSERTED, [])
        try:
            return (yield)
        finally:
            test.asserted = before

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the unnoticed mistakes to the report of a test that asserts and has passed."""
        report = yield from super().pytest_runtest_makereport(item, call)
        planted = [one for asserted in item.stash.get(ASSERTED, ()) for one in asserted.planted]
        if item.stash[PASSED] and call.when == "teardown" and planted:
            vars(report)[SENT] = _missed(planted)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the unnoticed mistakes of a test from its report."""
        if hasattr(report, SENT):
            self.found[report.nodeid] = getattr(report, SENT)

    def table(self) -> tuple[str, Rows]:
        """Return a row for each test; parameters that miss the same mistakes share a row."""
        if not self.found:
            which = "assert_gradient, assert_vjp, assert_jvp or assert_jacobian"
            return f"no passing test called {which}", []
        tests, same = _counted(len(self.found), "test"), dict[tuple[str, str], list[str]]()
        missing = {test: text for test, text in sorted(self.found.items()) if text}
        for test, text in missing.items():
            same.setdefault((test.split("[")[0], text), []).append(test)
        if not same:
            return f"{tests} would notice every mistake that was planted", []
        heading = f"{len(missing)} of {tests} would also pass with these mistakes in the gradient:"
        return heading, [
            (like[0] + (f" and {len(like) - 1} more" if len(like) > 1 else ""), text)
            for (_, text), like in same.items()
        ]


def _missed(planted: Iterable[Any]) -> str:
    """List the mistakes that no check of the same function noticed, and why."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for one in planted:
        whys = found.setdefault((one.function, one.input), {})
        whys[one.mistake] = one.why and whys.get(one.mistake, one.why)
    by_why: dict[str, dict[str, list[str]]] = {}
    for (_, name), whys in found.items():
        if len(whys) > 1 and len(set(whys.values())) == 1:
            whys = {"any mistake": next(iter(whys.values()))}
        for mistake, why in whys.items():
            by_why.setdefault(why, {}).setdefault(mistake, []).append(name)
    by_why.pop("", None)
    return "; ".join(
        f"{', '.join(_in(names, mistake) for mistake, names in made.items())} ({why})"
        for why, made in by_why.items()
    )


def _in(names: list[str], mistake: str) -> str:
    """Say in which inputs a mistake is, two of many; a function of one input needs no name."""
    if "" in names:
        return mistake
    *first, last = dict.fromkeys(names)
    if len(first) > MOST_NAMED - 1:
        first, last = first[: MOST_NAMED - 1], f"{len(first) + 2 - MOST_NAMED} more"
    return f"{mistake} in {', '.join(first)}{' and ' if first else ''}{last}"


class FunctionAudit(Audit):
    """Plants mistakes in the backward of every torch.autograd.Function of a package.

    Parameters
    ----------
    package : str
        Its name.
    strict : bool
        As for `Audit`.
    """

    def __init__(self, package: str, strict: bool) -> None:
        super().__init__(strict)
        self.package = package
        self.planter: Planter
        # For each function: the tests that were repeated, and the mistakes that a test noticed.
        self.found: dict[str, tuple[list[str], list[str]]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, Any, Any]:
        """Wrap every backward while the tests run; an xdist worker outputs its results."""
        from gradcheck_ref.adapters.torch_mistakes import Planter

        try:
            with Planter(self.package) as self.planter:
                return (yield)
        finally:
            for name in self.planter.names:
                self.found.setdefault(name, ([], []))
            if hasattr(session.config, "workeroutput"):
                session.config.workeroutput[SENT] = self.found

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, Any, Any]:
        """Repeat a test with each mistake in a function it calls, until a test has noticed it."""
        from gradcheck_ref.adapters.torch_mistakes import MISTAKES

        called, planted = self.planter.called, self.planter.planted
        called.clear()
        result = yield
        for name in sorted(called) if item.stash.get(PASSED, False) else ():
            tests, noticed = self.found.setdefault(name, ([], []))
            for mistake in [one for one in MISTAKES if one not in noticed]:
                called.clear()
                planted[name] = mistake
                fails = _fails(item, nextitem)
                planted.clear()
                # A shared fixture may keep a right gradient, and then the backward is not called.
                tests += [item.nodeid] if name in called else []
                noticed += [mistake] if fails else []
        return result

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the results of an xdist worker."""
        for name, known in getattr(node, "workeroutput", {}).get(SENT, {}).items():
            for mine, more in zip(self.found.setdefault(name, ([], [])), known, strict=True):
                mine.extend(more)

    def table(self) -> tuple[str, Rows]:
        """Return a row for each function that can be wrong."""
        from gradcheck_ref.adapters.torch_mistakes import MISTAKES

        rows = []
        for name, (tests, noticed) in sorted(self.found.items()):
            missed = ", ".join(mistake for mistake in MISTAKES if mistake not in noticed)
            by = f"{missed}: not noticed by {', '.join(dict.fromkeys(tests))}"
            rows += [(name, by if tests else "no test calls its backward")] if missed else []
        functions = _counted(len(self.found), "torch.autograd.Function")
        if rows:
            heading = f"{len(rows)} of {functions} in {self.package} can be wrong while tests pass:"
        elif self.found:
            heading = f"a test notices every mistake in {functions} in {self.package}"
        else:
            heading = f"{self.package} has no torch.autograd.Function that the tests have imported"
        return heading, rows


class Quiet:
    """The hooks of pytest, but without reports of a test or its subtests."""

    def __init__(self, hooks: Any) -> None:
        self._hooks, self.failed = hooks, False

    def __getattr__(self, name: str) -> Any:
        """Return any other hook unchanged."""
        return getattr(self._hooks, name)

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Note a failure, but report success, because pytest counts subtests that fail."""
        report = self._hooks.pytest_runtest_makereport(item=item, call=call)
        self.failed = self.failed or report.failed
        if call.when == "call":
            report.outcome = "passed"
        return report

    def pytest_runtest_logreport(self, **_: Any) -> None:
        """Show and count nothing."""

    def pytest_exception_interact(self, **_: Any) -> None:
        """Start no debugger."""


def _fails(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test again without showing its warnings, and return whether it fails."""
    quiet = Quiet(item.ihook)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True):
        patch.setattr(item.session, "gethookproxy", lambda path: quiet)
        runtestprotocol(item, nextitem=nextitem)
    return quiet.failed


def _counted(count: int, one: str) -> str:
    return f"{count} {one}{'s' * (count != 1)}"


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)
