"""The site without a network: pages that are opened as files, or served with Python beside them."""

import json
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from .conftest import ROOT, UNFOLD, Watch, build, node_module, numpy_of_one_line

pytest.importorskip("playwright", reason="needs playwright, of the extra browser")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Build the site as it is handed out in a zip."""
    folder = tmp_path_factory.mktemp("files")
    build(folder, OFFLINE="true", PYODIDE="pyodide/")
    return folder


def test_the_zip_is_small(folder):
    sizes = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    pages = [size for path, size in sizes.items() if path.suffix == ".html"]
    # Two indexes of a language: a script for files, and data where start.py serves them.
    indexes = [size for path, size in sizes.items() if path.parent.name == "search"]
    assert sum(pages) / len(pages) < 51e3  # each page lists all pages
    assert len(indexes) == 4
    assert max(indexes) / len(pages) < 8.5e3
    pictures = [size for path, size in sizes.items() if path.suffix == ".svg"]
    assert sum(pictures) / len(pictures) < 6e3  # each page has its own
    rest = sum(sizes.values()) - sum(pages) - sum(indexes) - sum(pictures)
    assert rest < 1.8e6  # a third is the package, and the questions of the oracle


def test_pages_and_search_work_without_a_server_in_both_languages(context, folder):
    watch = Watch(context, folder.as_uri())
    tab = context.new_page()
    tab.goto((folder / "index.html").as_uri())
    tab.get_by_placeholder("Search").press_sequentially("glossary")
    tab.locator(".md-search-result__link").first.wait_for()
    tab.goto((folder / "stages/stage2_central.html").as_uri())
    tab.locator(".katex").first.wait_for()
    tab.evaluate(UNFOLD)
    tab.locator(".figure-live").first.wait_for()
    tab.locator(".md-header a[hreflang=zh]").click()
    tab.wait_for_url((folder / "zh/stages/stage2_central.html").as_uri())
    tab.evaluate(UNFOLD)
    tab.locator(".figure-live").last.wait_for()
    tab.get_by_placeholder("搜索").press_sequentially("上游梯度")
    tab.locator(".md-search-result__link[href*=central]").first.wait_for()
    assert watch.complaints == []


def test_run_says_that_it_needs_a_server(context, folder):
    watch = Watch(context, folder.as_uri())
    tab = context.new_page()
    tab.goto((folder / "check/kinks.html").as_uri())
    tab.locator(".run-button").first.click()
    tab.locator(".run-status").filter(has_text="python3 -m http.server").wait_for()
    assert watch.complaints == []


# --- with Python beside it -------------------------------------------------------------------

sys.path.append(str(ROOT / "docs" / "hooks"))
import offline  # noqa: E402, as there: the hooks are no package

SUMS = offline.checksums((ROOT / "docs/hooks/pyodide.sha256").read_text(encoding="utf-8"))


def test_the_checksums_are_those_of_the_pyodide_that_is_tested():
    found = offline.found_in(node_module("pyodide"), SUMS)
    assert list(offline.vouched_for(found, SUMS)) == list(SUMS)


@pytest.fixture(scope="module")
def started(folder, tmp_path_factory):
    """Make the zip, with the real Pyodide and another NumPy; unpack and start it, and say where."""
    shutil.copytree(node_module("pyodide"), pyodide := tmp_path_factory.mktemp("pyodide") / "core")
    wheel, lock = numpy_of_one_line()
    (pyodide / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    (pyodide / lock["packages"]["numpy"]["file_name"]).write_bytes(wheel)
    core = {name: (pyodide / name).read_bytes() for name in SUMS}
    sums = {name: offline.hashlib.sha256(content).hexdigest() for name, content in core.items()}
    unpacked = tmp_path_factory.mktemp("unpacked")
    offline.pack(folder, offline.runtime(pyodide, None, sums), unpacked / "site.zip")
    with zipfile.ZipFile(unpacked / "site.zip") as archive:
        archive.extractall(unpacked)
    with subprocess.Popen(
        [sys.executable, unpacked / "site" / "start.py"],
        env={"BROWSER": "true", "PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        yield re.match(r"http://127\.0\.0\.1:\d+/", server.stdout.readline())[0]
        server.terminate()


def test_from_the_zip_run_and_search_work_without_a_network(context, started):
    watch = Watch(context, started)
    tab = context.new_page()
    tab.goto(f"{started}index.html")
    tab.get_by_placeholder("Search").press_sequentially("glossary")
    tab.locator(".md-search-result__link").first.wait_for()
    tab.goto(f"{started}exercises/01_forward.html")
    block = tab.locator(".exercise")
    block.locator("code").first.press("Control+a")
    tab.keyboard.insert_text("import numpy\nprint(numpy.maximum(6, 7))")
    block.get_by_role("button", name="Run the file").click()
    block.locator(".run-status").filter(has_text="Done.").wait_for()
    assert block.locator(".run-output:not(.run-report)").inner_text() == "7\n"
    block.get_by_role("button", name="Check").click()
    block.locator(".run-status").filter(has_text="0 of 6 checks passed.").wait_for()
    assert watch.complaints == []
