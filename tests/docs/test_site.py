"""What builds the site (docs/hooks), and what runs the examples in it (docs/assets/run)."""

import contextlib
import hashlib
import importlib
import importlib.util
import io
import json
import logging
import re
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import gradcheck_ref

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


def loaded(path):
    """Load a file of docs, which is no package."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / "docs" / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- the API reference -----------------------------------------------------------------------


def test_the_reference_has_every_public_name():
    text = "".join(page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md"))
    names = gradcheck_ref.__all__
    assert [name for name in names if f"::: gradcheck_ref.{name}\n" not in text] == []


@pytest.fixture
def warnings_about(tmp_path, caplog):
    """Let griffe read a module, given as text, with our extension; return what it warns of."""
    griffe = pytest.importorskip("griffe", reason="comes with the extra docs")

    def read(source):
        (tmp_path / "example.py").write_text(source, encoding="utf-8")
        extensions = griffe.load_extensions(loaded("hooks/docstrings.py").Docstrings())
        with caplog.at_level(logging.WARNING):
            module = griffe.load("example", search_paths=[tmp_path], extensions=extensions)
        return module, [record.getMessage() for record in caplog.records]

    return read


DOUBLE = '''
def double(x, *, rtol, atol, h=1):
    """Double it.

    Parameters
    ----------
    x : float
        The number.
    rtol, atol : float
        Two at once.
    """
'''


def test_an_undocumented_parameter_gives_a_warning(warnings_about):
    said = ["example.double: the parameter h is not documented"]
    assert warnings_about(DOUBLE)[1] == said


def test_terms_become_a_list_of_definitions(warnings_about):
    text = '"""Stage.\n\nIdea\n    Move ``x``,\n    a little.\nMisses\n    All.\n\nEnd.\n"""\n'
    module, said = warnings_about(text)
    terms = ["Idea\n:   Move ``x``,\n    a little.", "Misses\n:   All."]
    found = [part.strip() for part in module.docstring.value.split("\n\n")]
    assert (found, said) == (["Stage.", *terms, "End."], [])


# --- what a page says of itself ---------------------------------------------------------------

BEGINNINGS = {
    "A short one. " + "And more. " * 12: "A short one." + " And more." * 9,
    "What is 0.5 of f(x)? " + "A" * 100 + ". No more.": "What is 0.5 of f(x)? " + "A" * 100 + ".",
    "Short. " + "Too long " * 30 + ".": "Short.",
    "No end, e.g. here:": "No end, e.g. here:",
    "它不到 1.5。" + "汉字" * 22 + "。“还有吗？”" * 3: "它不到 1.5。" + "汉字" * 22 + "。",
}


@pytest.mark.parametrize(("text", "said"), BEGINNINGS.items())
def test_a_page_is_described_by_its_first_sentences(text, said):
    pytest.importorskip("mkdocs", reason="comes with the extra docs")
    assert loaded("hooks/describe.py").beginning(text) == said


def test_a_description_has_no_markup():
    pytest.importorskip("mkdocs", reason="comes with the extra docs")
    html = 'Chooses <span class="arithmatex">\\(h\\)</span> &lt; 1,\n<a href="x">well</a>.'
    assert loaded("hooks/describe.py").words(html) == "Chooses h < 1, well."


def test_the_social_card_has_the_required_size_and_is_small():
    card = (ROOT / "docs/assets/social/card.png").read_bytes()
    assert card[1:4] == b"PNG"
    assert [int.from_bytes(card[at : at + 4], "big") for at in (16, 20)] == [1200, 630]
    assert len(card) < 50_000


# --- links that nobody writes -----------------------------------------------------------------


NAME, CODE = '<span class="n">nearby</span>', "<code>nearby</code>"
USES = {
    "the first in prose": (f"<pre>{NAME}</pre>{{}} {CODE}", "<code>nearby(x)</code>"),
    "in code, if there is none in prose": ("<pre>{}</pre>", NAME),
    "no heading, no link": (f"<h2>{CODE}</h2><a>{CODE}</a>{{}}", CODE),
    "no name of another library": ("<code>np.nearby</code><code>allclose</code>{}", ""),
}


@pytest.mark.parametrize(("html", "use"), USES.values(), ids=USES)
def test_the_first_use_of_a_public_name_leads_to_the_api(html, use):
    assert api_linked(html.format(use)) == html.format(use and link_to("check", "nearby", use))


def test_a_name_that_others_have_too_is_linked_where_it_is_imported_from_here():
    used, imported = "<code>allclose</code>", "from gradcheck_ref import allclose, nearby\n"
    assert api_linked(used) == api_linked(used, "from numpy import allclose\n") == used
    assert api_linked(used, imported) == link_to("stages", "allclose", used)


def api_linked(html, markdown=""):
    """Return the HTML of a page of the check, with the links that the hook adds."""
    pytest.importorskip("mkdocs", reason="comes with the extra docs")
    file = SimpleNamespace(src_uri="check/kinks.md")
    page = SimpleNamespace(url="check/kinks/", file=file, markdown=markdown)
    config = SimpleNamespace(use_directory_urls=True, extra={"above": ""})
    return loaded("hooks/api.py").on_page_content(html, page, config)


def link_to(page, name, shown):
    return f'<a class="api" href="../../reference/{page}/#gradcheck_ref.{name}">{shown}</a>'


# --- the scripts of a page -------------------------------------------------------------------

NEEDED = {
    "no figure": ("<p>text</p>", ["kit"]),
    "one": ('<img data-figure="secant">', ["kit", "secant"]),
    "one that uses the numbers of another": ("<img data-figure=zoom>", ["kit", "v_curve", "zoom"]),
    "one with data": ('<div data-figure="staircase">', ["kit", "kill_matrix", "staircase"]),
}


@pytest.mark.parametrize(("body", "names"), NEEDED.values(), ids=NEEDED)
def test_a_page_loads_only_the_figures_that_it_has(body, names):
    tags = {
        path.stem: f'<script src="../assets/figures/{path.name}"></script>'
        for path in sorted((ROOT / "docs/assets/figures").glob("*.js"))
    }
    other = '<script src="../assets/checker.js"></script>'
    left = loaded("hooks/figures.py").on_post_page(body + other + "".join(tags.values()))
    assert left == body + other + "".join(tag for name, tag in tags.items() if name in names)


# --- the Run button --------------------------------------------------------------------------

FENCES = {
    "an example": ("```python\na = 1\n```\n", [True]),
    "in a list": ("  ```python\n  a\n  ```\n", [True]),
    "an included file": ("```python\n--8<--\na.py\n--8<--\n```\n", [False]),
    "a program": ('```python\nf = from_command(["./program"])\n```\n', [False]),
    "a session": ("```pycon\n>>> 1\n1\n```\n", [False]),
    "a fence about fences": ("````markdown\n```python\na = 1\n```\n````\n", [False, False]),
    "a framework": (
        "```python\nimport torch\nimport numpy as np\n```\n"
        "```python\nnp.ones(2)\n```\n```python\nb = 1\n```\n",
        [False, False, True],
    ),
    "pytest, defined again": (
        "```python\nimport pytest\ndef f(): pass\n```\n```python\nf()\n```\n"
        "```python\ndef f(): pass\n```\n```python\nf()\n```\n",
        [False, False, True, True],
    ),
    "the vectors": (
        "```python\nx = load_vectors()\n```\n```python\ndef show(i): x[i]\n```\n"
        "```python\nshow(1)\n```\n",
        [False, False, False],
    ),
}


@pytest.mark.parametrize(("page", "run"), FENCES.values(), ids=FENCES)
def test_an_example_has_a_run_button_if_a_browser_has_all_that_it_uses(page, run):
    pytest.importorskip("mkdocs", reason="comes with the extra docs")
    marked = loaded("hooks/run.py").on_page_markdown(f"Before.\n\n{page}\nAfter.\n")
    opened = re.findall(r"^ *```+(\S.+)$", marked, re.MULTILINE)
    assert [".run" in opening for opening in opened] == run
    assert marked.replace("{.python .run}", "python") == f"Before.\n\n{page}\nAfter.\n"


def run(*sources):
    """Run examples as the reader's browser does; return what they say, and what ended them."""
    driver = loaded("assets/run/driver.py")
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        ended = driver.run(sources)
    return said.getvalue().splitlines(), *ended


def test_only_the_last_example_prints_and_it_knows_the_names_above():
    assert run("a = 1\nprint(a)", "print(a + 1)") == (["2"], "", "")
    assert run("print('a' in globals(), __name__)") == (["False __main__"], "", "")


def test_plot_keeps_the_points_that_can_be_drawn_and_the_range_of_both_axes():
    driver = loaded("assets/run/driver.py")
    driver.plot([1.0, 2.0, 3.0], [1.0, float("nan"), 0.0], [5.0, 5.0, 5.0], names=["mine"])
    driver.plot([0.0, 2.0], [1.0, 1.0], log="x")
    two, level = json.loads(driver.drawn())
    assert [one.get("name") for one in two["series"]] == ["mine", None]
    assert [one["points"] for one in two["series"]] == [[[1, 1], [3, 0]], [[1, 5], [2, 5], [3, 5]]]
    assert two["up"] == {"label": "y", "from": 0.0, "to": 5.0, "log": False}
    assert level["series"][0]["points"] == [[2, 1]]
    assert level["up"]["from"] < 1 < level["up"]["to"]
    assert json.loads(driver.drawn()) == []
    for lines in ((), ([1.0],) * 4):
        with pytest.raises(ValueError, match="one to 3 lines"):
            driver.plot([1.0], *lines)


ERRORS = {
    "an error": (["1 / 0"], "<example 1 on this page>", "ZeroDivisionError: division by zero", ""),
    "a slip": (["1", "1 +"], "<example 2 on this page>", "SyntaxError: invalid syntax", ""),
    "the end": (["raise SystemExit(2)"], "<example 1 on this page>", "SystemExit: 2", ""),
    "a missing module": (["import no_such"], "<example 1 on", "ModuleNotFoundError", "no_such"),
}


@pytest.mark.parametrize(("sources", "where", "what", "missing"), ERRORS.values(), ids=ERRORS)
def test_an_error_names_its_example(sources, where, what, missing):
    said, error, named = run(*sources)
    assert any(where in line for line in said)
    assert said[-1].startswith(what)
    assert (error, named) == (what.split(":")[0], missing)
    assert "driver.py" not in "".join(said)


def test_readers_get_the_core_that_the_browser_tests_use():
    package = json.loads((ROOT / "tests/browser/package.json").read_text(encoding="utf-8"))
    version = package["dependencies"]["pyodide"]
    assert f"/pyodide/v{version}/full/" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


# --- a zip for a room without a network ------------------------------------------------------

CORE = {"pyodide.mjs": b"script", "python_stdlib.zip": b"library"}
WHEEL = "numpy-1-wasm32.whl"


@pytest.fixture
def archive(tmp_path):
    """Write a stand-in for Pyodide's archive; return its path and the checksums."""
    sha256 = hashlib.sha256(b"numpy").hexdigest()
    listed = {"packages": {"numpy": {"file_name": WHEEL, "sha256": sha256}}}
    files = CORE | {"pyodide-lock.json": json.dumps(listed).encode()}

    def write(suffix="tgz", **more):
        path = tmp_path / f"pyodide.{suffix}"
        with tarfile.open(path, "w:bz2" if suffix == "tar.bz2" else "w:gz") as opened:
            for name, content in (files | more | {"README.md": b"more"}).items():
                member = tarfile.TarInfo(f"package/{name}")
                member.size = len(content)
                opened.addfile(member, io.BytesIO(content))
        return path, {name: hashlib.sha256(files[name]).hexdigest() for name in files}

    return write


@pytest.mark.parametrize("suffix", ["tgz", "tar.bz2"])
def test_the_files_for_run_are_taken_from_the_archives(tmp_path, archive, suffix):
    offline = loaded("hooks/offline.py")
    expected = {*CORE, "pyodide-lock.json", WHEEL}
    path, sums = archive(suffix)
    (tmp_path / "wheel.whl").write_bytes(b"numpy")
    assert set(offline.runtime(path, tmp_path / "wheel.whl", sums)) == expected
    path, sums = archive(suffix, **{WHEEL: b"numpy"})
    assert set(offline.runtime(path, None, sums)) == expected
    with tarfile.open(path) as opened:
        opened.extractall(tmp_path, filter="data")
    assert set(offline.runtime(tmp_path / "package", None, sums)) == expected


def test_a_wrong_archive_or_wheel_is_refused(tmp_path, archive):
    offline = loaded("hooks/offline.py")
    path, sums = archive()
    with pytest.raises(ValueError, match=f"NumPy is not in pyodide.tgz: give its wheel, {WHEEL}"):
        offline.runtime(path, None, sums)
    (tmp_path / "wheel.whl").write_bytes(b"another")
    with pytest.raises(ValueError, match=f"{WHEEL} is not the right file"):
        offline.runtime(path, tmp_path / "wheel.whl", sums)
    with pytest.raises(ValueError, match="no such file is missing"):
        offline.runtime(path, None, sums | {"no such file": "0"})
    path, _ = archive(**{"pyodide.mjs": b"another"})
    with pytest.raises(ValueError, match=r"pyodide\.mjs is not the right file"):
        offline.runtime(path, None, sums)


def test_the_command_says_what_is_wrong_and_fails(tmp_path, capsys):
    offline = loaded("hooks/offline.py")
    (tmp_path / "text.tgz").write_bytes(b"no archive")
    for name in ("none.tgz", "text.tgz"):
        assert offline.main([str(tmp_path / name), "--to", str(tmp_path / "site.zip")]) == 1
        assert capsys.readouterr().err


def test_the_checksums_are_of_every_file_that_a_page_asks_for():
    text = (ROOT / "docs/hooks/pyodide.sha256").read_text(encoding="utf-8")
    sums = loaded("hooks/offline.py").checksums(text)
    names = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"]
    assert set(sums) == {*names, "pyodide-lock.json"}
