"""Before a commit and at a push: GitHub takes .github, which does what readers are told to do.

Two linters are skipped by name where they are missing: check-jsonschema, which brings the schemas
of such files, and zizmor, which knows what can be abused. Both come with the extra `workflows`.
"""

import json
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest
from beside import ran

import gradcheck_ref

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml"))
NAMES = ["nightly.yml", "release.yml", "site.yml", "tests.yml"]


def text_of(name):
    """Read a workflow."""
    return (GITHUB / "workflows" / name).read_text(encoding="utf-8")


# --- linters ---------------------------------------------------------------------------------


PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def said_by(linter, *arguments, finds):
    """Return the findings of a linter, which ends with one of these codes if it has any."""
    program = shutil.which(linter, path=PATH)
    if program is None:
        pytest.skip(f"needs {linter}, of the extra workflows")
    done = ran(program, *arguments)
    assert done.returncode in (0, *finds), done.stderr
    return done.stdout if done.returncode else ""


SCHEMAS = {
    "github-workflows": WORKFLOWS,
    "dependabot": [GITHUB / "dependabot.yml"],
    "github-issue-forms": FORMS,
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", SCHEMAS)
def test_what_github_reads_is_valid(name):
    schema = "--builtin-schema", f"vendor.{name}"
    assert said_by("check-jsonschema", *schema, *SCHEMAS[name], finds=[1]) == ""


def test_the_workflows_have_few_permissions_and_no_injection():
    options = "--offline", "--no-progress", "--format=plain"
    assert said_by("zizmor", *options, GITHUB, finds=range(11, 15)) == ""


# --- what they do ----------------------------------------------------------------------------


def test_there_is_no_other_workflow():
    assert [path.name for path in WORKFLOWS] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_action_is_pinned_to_a_commit_and_names_its_version(name):
    used = re.findall(r"uses: (.*)", text_of(name))
    assert used
    pinned = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [action for action in used if not pinned.fullmatch(action)] == []


# {workflow: the commands it runs}, and the one line that is no reader's command.
COMMANDS = {
    "nightly.yml": ["nightly"],
    "tests.yml": ["tour", "tests"],
    "site.yml": ["site", "versions"],
    "release.yml": ["wheel", "nightly"],
}
THE_TAG = 'test -f "dist/gradcheck_ref-${GITHUB_REF_NAME#v}-py3-none-any.whl"'


@pytest.mark.parametrize("name", NAMES)
def test_the_workflows_run_exactly_the_commands_of_the_readme(name):
    does = [line for line in re.findall(r"^ +run: (.*)$", text_of(name), re.M) if line != THE_TAG]
    assert does == [f'eval "$(.ci/readme {command})"' for command in COMMANDS[name]]
    for command in COMMANDS[name]:
        ran(ROOT / ".ci" / "readme", command, check=True)


def test_the_workflows_cover_every_promised_system_and_python():
    text = text_of("tests.yml")
    assert "system: [ubuntu-latest, macos-latest, windows-latest]" in text
    versions = re.findall(r'"(3\.\d+)"', re.search(r"python: \[(.*)\]", text)[1])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f">={versions[0]}" == project["requires-python"]
    assert versions == [f"3.{minor}" for minor in range(11, 15)]


def test_on_windows_a_checkout_keeps_the_line_endings_that_scripts_need():
    attributes = (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()
    assert "* text=auto eol=lf" in attributes
    for name in (".ci/readme", "README.md", "CONTRIBUTING.md"):
        assert b"\r" not in (ROOT / name).read_bytes()


def test_the_site_workflow_sets_the_variables_that_mkdocs_reads():
    configuration = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    asked = set(re.findall(r'!ENV \[(\w+), ""\]', configuration))
    told = set(re.findall(r"^ {6,10}([A-Z_]+): ", text_of("site.yml"), re.MULTILINE))
    assert asked == {"SITE_URL", "REPO_URL", "EDIT_URI", "DOWNLOADS", "VERSIONS"}
    mike = {"VERSION", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"}
    assert told == asked | mike


def test_one_tag_publishes_the_wheel_and_the_site():
    tag = f"v{gradcheck_ref.__version__}"
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"\ngit tag {tag} && git push origin {tag}\n" in contributing
    started = [name for name in NAMES if '\n    tags: ["v*"]\n' in text_of(name)]
    assert started == ["release.yml", "site.yml"]


# --- what contributors meet ------------------------------------------------------------------


def test_the_linters_of_ci_are_run_before_a_commit():
    in_ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    in_ci = re.findall(r"^(?:ruff|mypy|codespell)\b.*", in_ci, re.MULTILINE)
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert len(in_ci) == 4
    prose = "python -m pytest -q tests/docs/test_prose.py"  # in .ci/run it is among the tests
    assert re.findall(r"entry: \.venv/bin/(.*)", hooks) == [*in_ci, prose]


# --- versions of the site --------------------------------------------------------------------


PAGES = {"Home": "index.md", "Exercise 01": "exercises/01_forward.md", "The zoo": "zoo.md"}


@pytest.fixture
def checkout(tmp_path):
    """Clone the repository as a runner does, with an environment and somewhere to push to.

    Of the pages there are three (the Chinese home page names a part of the last one): to build all
    of them twice takes half a minute.
    """
    pytest.importorskip("mike", reason="needs mike, of the extra docs")
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    somebody = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
    for words in (
        ["init", "--quiet", "--bare", origin],
        ["clone", "--quiet", origin, clone],
        ["-C", clone, *somebody, "commit", "--quiet", "--allow-empty", "--message", "First"],
    ):
        ran("git", *words, check=True)
    (clone / ".venv").symlink_to(sys.prefix)
    for name in ("docs", "exercises", "gradcheck_ref"):
        shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
    plugin = ("pytest_gradcheck_ref.py", "pytest_gradcheck_ref_audit.py")
    read = ("README.md", "CHANGELOG.md", "LICENSE")
    for name in ("mkdocs.yml", "mkdocs.zh.yml", "pyproject.toml", *plugin, *read):
        shutil.copy(ROOT / name, clone)
    settings, names = (clone / "mkdocs.yml").read_text(encoding="utf-8"), PAGES.values()
    nav = "".join(f"  - {title}: {name}\n" for title, name in PAGES.items())
    few = re.sub(r"(?<=^nav:\n)(?:[ #].*\n)+", nav, settings, flags=re.MULTILINE)
    others = "".join(f"  {name}\n" for name in ("*.md", *(f"!/{name}" for name in names)))
    few = few.replace("exclude_docs: |\n", f"exclude_docs: |\n{others}")
    (clone / "mkdocs.yml").write_text(few, encoding="utf-8")
    return clone


def publish(checkout, version):
    """Do what the workflow does; return what can then be read."""
    command = ran(ROOT / ".ci" / "readme", "versions", check=True).stdout
    environment = {
        "VERSION": version,
        "SITE_URL": "https://owner.example/repo/",
        "VERSIONS": "mike",
        "NO_MKDOCS_2_WARNING": "1",
        "GIT_COMMITTER_NAME": "somebody",
        "GIT_COMMITTER_EMAIL": "somebody@example.org",
    }
    env = os.environ | environment
    ran("bash", "-euo", "pipefail", "-c", command, cwd=checkout, env=env, check=True)
    return checkout / "build" / "pages"


@pytest.mark.slow
def test_a_release_is_next_to_main_and_is_the_default(checkout):
    pages = publish(checkout, "main")
    assert 'url=main/"' in (pages / "index.html").read_text(encoding="utf-8")
    pages = publish(checkout, "v0.1.0 latest")
    assert 'url=latest/"' in (pages / "index.html").read_text(encoding="utf-8")
    listed = json.loads((pages / "versions.json").read_text(encoding="utf-8"))
    assert {one["version"]: one["aliases"] for one in listed} == {"v0.1.0": ["latest"], "main": []}
    for version in ("main", "v0.1.0", "latest"):
        assert (pages / version / "exercises" / "01_forward" / "index.html").is_file()
    home = (pages / "v0.1.0" / "index.html").read_text(encoding="utf-8")
    assert "https://owner.example/repo/v0.1.0/assets/social/card.png" in home
    assert "https://owner.example/repo/v0.1.0/" in re.search(r"<link rel=.?canonical.*?>", home)[0]
    lost = (pages / "404.html").read_text(encoding="utf-8")
    assert 'href="/repo/v0.1.0/assets/' in lost
