"""What is promised about installing, testing, citing: the same thing wherever it is said."""

import os
import re
import stat
import warnings
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import pytest
from beside import ran

import gradcheck_ref

ROOT = Path(__file__).parents[1]
SET_UP = "python3 -m venv .venv && .venv/bin/pip install"
COMMANDS = {
    "tour": f"{SET_UP} . && .venv/bin/python -m gradcheck_ref",
    "tests": f"{SET_UP} '.[test]' && .venv/bin/python -m pytest -n auto",
    "site": f"{SET_UP} '.[docs]' && .venv/bin/mkdocs build --strict",
}


def text_of(name):
    """Read a file of the project."""
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["tour", "tests"])
def test_ci_runs_the_command_of_the_readme(name):
    assert f"$(.ci/readme {name})" in text_of(".ci/run")
    assert COMMANDS[name] not in text_of(".ci/run"), "the README has it; a copy would drift"


def command_of(name, **environment):
    """Return the command of that name as `.ci/readme` prints it, and what it complains of."""
    done = ran(ROOT / ".ci" / "readme", name, env={"PATH": os.environ["PATH"], **environment})
    assert done.returncode == (1 if done.stderr else 0)
    return done.stdout.rstrip("\n"), done.stderr


def test_a_command_is_found_in_the_readme_and_uses_the_scripts_folder_on_windows():
    for name, command in COMMANDS.items():
        assert command_of(name) == (command, "")
    command, _ = command_of("tour", OS="Windows_NT")
    assert command.count(".venv/Scripts/") == 2
    assert command == COMMANDS["tour"].replace(".venv/bin/", ".venv/Scripts/")


def test_a_missing_command_is_noticed():
    said = "neither README.md nor CONTRIBUTING.md has a command after '<!-- command: unknown -->'\n"
    assert command_of("unknown") == ("", said)


def test_ci_can_be_executed_and_stops_at_the_first_failure():
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & stat.S_IXUSR
    assert "\nset -euo pipefail\n" in text_of(".ci/run")
    ran("bash", "-n", script, check=True)


def test_ci_compares_with_the_versions_that_the_pages_name():
    installed = re.search(r"^peers=\((.*)\)$", text_of(".ci/run"), re.MULTILINE)[1]
    pinned = dict(re.findall(r"([\w-]+)==(\d+\.\d+)", installed))
    named = dict(re.findall(r'"(TVM|torch|Warp) ([\d.]+)"', text_of("docs/examples/rules.py")))
    packages = {"TVM": "apache-tvm", "torch": "torch", "Warp": "warp-lang"}
    assert {packages[peer]: version for peer, version in named.items()} == {
        package: version for package, version in pinned.items() if package in packages.values()
    }


def installed(ask):
    """Ask about the installed package, or skip the test where it only lies on the path."""
    try:
        return ask("gradcheck-ref")
    except PackageNotFoundError:
        pytest.skip("gradcheck-ref is not installed in this environment")


def test_the_version_and_its_date_are_the_same_everywhere():
    version_of_code, cited = gradcheck_ref.__version__, citation()
    assert cited["version"] == version_of_code
    newest = re.search(r"^## (.*)$", text_of("CHANGELOG.md"), re.MULTILINE)[1]
    assert newest == f"[{version_of_code}] - {cited['date-released']}"
    assert installed(version) == version_of_code, "installed from another checkout?"


def test_numpy_is_the_only_run_time_dependency():
    needed = [wanted for wanted in installed(requires) if "extra ==" not in wanted]
    assert needed == ["numpy>=2.0"]


def citation():
    """Return the top-level `key: value` lines of CITATION.cff."""
    return dict(re.findall(r"^([\w-]+): *(.*)$", text_of("CITATION.cff"), re.MULTILINE))


def test_the_citation_has_what_a_citation_needs():
    fields = citation()
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= set(fields)
    said = [fields[key] for key in ("cff-version", "title", "type")]
    assert said == ["1.2.0", "gradcheck_ref", "software"]
    assert fields["license"] in text_of("LICENSE").splitlines()[0]
    assert "\nauthors:\n  - name: The gradcheck_ref maintainers\n" in text_of("CITATION.cff")


@pytest.mark.slow
def test_a_warning_fails_a_test_and_so_does_a_misspelt_mark(pytestconfig, pytester):
    assert pytestconfig.getini("strict") is True
    with pytest.raises(UserWarning, match="old"):
        warnings.warn("old", stacklevel=1)
    pytester.makepyprojecttoml(text_of("pyproject.toml"))
    pytester.makepyfile("import pytest\n\n@pytest.mark.slwo\ndef test_nothing():\n    pass")
    result = pytester.runpytest_inprocess(pytester.path)
    result.stdout.fnmatch_lines(["*'slwo' not found in `markers`*"])
