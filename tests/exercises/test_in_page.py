"""An exercise in its page of the site: what is sent there, and what the checks say there.

Here the page's part is played by another Python: it has what a page gets, and NumPy, and nothing of
the course besides.
"""

import ast
import json
import os
import re
import sys
import zipfile
from pathlib import Path

import pytest
from beside import ran
from wrong_submissions import solution_of

from course import read_course
from grader.bundles import exercise_in_a_page, machinery_in_a_page, zipped

ROOT = Path(__file__).parents[2]
COURSE = read_course()
ASKING = {
    page.stem: line
    for page in sorted((ROOT / "docs" / "exercises").glob("*.md"))
    for line in re.findall(r"^<!-- exercise: (\S+) -->$", page.read_text("utf-8"), re.MULTILINE)
}


def test_every_exercise_that_needs_only_numpy_can_be_done_in_its_page():
    assert {e.name: e.name for e in COURSE.everything if not e.package} == ASKING


# --- what is sent there ----------------------------------------------------------------------


@pytest.mark.one_in(6)
@pytest.mark.parametrize("exercise", [COURSE.find(name) for name in ASKING], ids=ASKING)
def test_visible_checks_are_sent_unchanged_but_no_solution_and_no_held_out_check(exercise):
    sent = exercise_in_a_page(exercise)
    folder = f"exercises/{exercise.name}"
    assert set(sent) == {"exercises/course.toml", f"{folder}/checks.py", f"{folder}/starter.py"}
    for content in (*sent.values(), *machinery_in_a_page().values()):
        assert b"def heldout" not in content
        assert b"\nheldout_" not in content
    solution = (exercise.folder / "solution.py").read_text(encoding="utf-8")
    task = re.search(r"# --- your code ---\n(.*?)# --- end ---", solution, re.DOTALL)[1].strip()
    assert not any(task in content.decode() for content in sent.values())
    whole = functions_of((exercise.folder / "checks.py").read_bytes())
    visible = {name: text for name, text in whole.items() if not name.startswith("heldout_")}
    assert functions_of(sent[f"{folder}/checks.py"]) == visible


def functions_of(source):
    """Return the functions of a module, by name, as they are written."""
    tree = ast.parse(source)
    return {f.name: ast.unparse(f) for f in tree.body if isinstance(f, ast.FunctionDef)}


# --- what is said there ----------------------------------------------------------------------

DRIVER = """
import importlib.util, json, sys
if len(sys.argv) > 5: sys.modules[sys.argv[5]] = None  # as if it were not there
spec = importlib.util.spec_from_file_location("driver", sys.argv[1])
driver = importlib.util.module_from_spec(spec)
spec.loader.exec_module(driver)
for source, language in json.loads(sys.argv[4]):
    driver.write(sys.argv[2], {sys.argv[3]: source})
    print("=>", driver.check(sys.argv[2], sys.argv[3], 60, language))
"""


def checked(folder, name, *asked, without=()):
    """Check files, each in a language, as in one page; return (printed, what the checks say)."""
    exercise, packed = COURSE.find(name), folder / "sent.zip"
    for bundle in (machinery_in_a_page(), exercise_in_a_page(exercise)):
        packed.write_bytes(zipped(bundle))
        with zipfile.ZipFile(packed) as archive:
            archive.extractall(folder / "course")
    driver = ROOT / "docs/assets/run/driver.py"
    words = [driver, folder / "course", exercise.name, json.dumps(asked), *without]
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", DRIVER, *words]
    done = ran(*command, cwd=folder, env=env, encoding="utf-8", check=True)
    assert not done.stderr
    said = re.findall(r"(.*?)^=> ([^\n]*)\n", done.stdout, re.DOTALL | re.MULTILINE)
    return [(text, json.loads(answer)) for text, answer in said]


def plain(said):
    """Return a report without its colors."""
    return re.sub(r"\x1b\[\d+m", "", said["report"])


MISTAKE = solution_of(COURSE.find("01"), ("(f(moved) - f_here) / h", "f(moved) - f_here"))


@pytest.mark.slow
def test_a_mistake_is_reported_as_on_a_computer_in_colors_with_advice_for_the_page(tmp_path):
    (printed, said), (_, without) = checked(
        tmp_path, "01", ("print('mine')\n" + MISTAKE, "en"), ("def forward(): pass", "en")
    )
    assert (printed, said["checks"]) == ("mine\n", [0, 6])
    assert "mine" not in said["report"]
    assert "\x1b[31mNO " in said["report"]
    assert plain(said).splitlines()[2:8] == [
        "NO        The slope of x*x at 3 is measured as 6 + h.",
        "",
        "  called    forward_difference(f, [3], h=0.25)",
        "  where     f(x) = sum(x*x)",
        "  got       [1.5625]",
        "  expected  [6.25]",
    ]
    assert plain(said).endswith(
        "next      change the code above, and press Check\n"
        "stuck?    the hints are below, one after the other\n"
    )
    assert "Start again brings the starter back" in " ".join(plain(without).split())
    assert "run.py" not in plain(without)


@pytest.mark.slow
def test_a_report_in_a_page_names_no_file_and_no_command(tmp_path):
    (_, english), (_, chinese) = checked(tmp_path, "project", ("", "en"), ("", "zh"))
    assert "nothing is written in exercise 01" in plain(english)
    assert "  得到      练习 01 里还什么都没有写" in plain(chinese).splitlines()
    for text in (plain(english), plain(chinese)):
        assert "run.py" not in text
        assert "work/" not in text


def test_without_numpy_nothing_is_checked_and_the_page_gets_its_name(tmp_path):
    ((printed, said),) = checked(tmp_path, "01", (MISTAKE, "en"), without=["numpy"])
    assert (printed, said) == ("", {"missing": "numpy"})
