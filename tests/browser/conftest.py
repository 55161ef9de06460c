"""The built site in a real browser: headless Chromium, driven by Playwright.

What is missing is skipped by name: Playwright and MkDocs (extras `browser` and `docs`), Chromium
(from the system), Pyodide's core and axe-core (`npm install --prefix tests/browser`). Without
Playwright nothing is collected, and no site built; nor where SITE is one that was, with
PYODIDE=pyodide/. NumPy's wheel for Pyodide is on no index; where it was laid into `node_modules`
(CONTRIBUTING.md says where to get it), the exercises are checked by the browser's own Python.
"""

import contextlib
import functools
import hashlib
import http.server
import io
import json
import os
import shutil
import sys
import threading
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from beside import ran

ROOT = Path(__file__).parents[2]
MODULES = Path(os.environ.get("NODE_MODULES", Path(__file__).parent / "node_modules"))

# Chromium talks to its makers unless told not to; and in a container it has no sandbox.
QUIET = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]


# How long to wait for anything, in milliseconds. Python, the slowest, is there after a few seconds
# on a machine that is not busy; on one that is, this costs nothing but where a test fails.
PATIENCE = 180_000


def node_module(name):
    """Return the folder of an npm package, or skip the test."""
    if not (MODULES / name).is_dir():
        pytest.skip(f"needs the npm package {name}: npm install --prefix tests/browser")
    return MODULES / name


def build(folder, **settings):
    """Build the site, or skip the test."""
    for module in ("mkdocs", "material", "mkdocstrings", "hatchling"):
        if find_spec(module) is None:
            pytest.skip(f"needs {module}, of the extra docs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    done = ran(*command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"} | settings)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Return the folder of the site, which looks for Python beside its pages."""
    if "SITE" in os.environ:
        return Path(os.environ["SITE"])
    folder = tmp_path_factory.mktemp("site")
    build(folder, PYODIDE="pyodide/")
    return folder


WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 360, "height": 740}


class Silent(http.server.SimpleHTTPRequestHandler):
    """Serves files, and says nothing about it."""

    def log_message(self, *_):
        """Say nothing."""


class BesideModules(Silent):
    """Serves a folder, and beside its files two npm packages: Python's runtime, and axe-core."""

    def translate_path(self, path):
        """Return the file."""
        if path.startswith(("/pyodide/", "/axe-core/")):
            self.directory = str(MODULES)
        return super().translate_path(path)


@contextlib.contextmanager
def served(handler, folder):
    """Serve a folder on a free port of this machine; return its address."""
    handler = functools.partial(handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def address(site):
    """Serve the site; return its address."""
    with served(BesideModules, site) as address:
        yield address


@pytest.fixture(scope="module")
def chromium():
    """Start the browser, anew for each module: hundreds of windows wear it out."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=QUIET, timeout=PATIENCE)
        yield browser
        browser.close()


SAYS = """() => [...document.querySelectorAll("[role=status], .run-output")]
                 .filter((one) => one.checkVisibility() && one.innerText.trim())
                 .map((one) => one.innerText.trim().slice(-2000))"""


def state_of(tab):
    """Return what an open page says of what it does, and what it printed."""
    from playwright.sync_api import Error

    try:
        said = tab.wait_for_function(SAYS, timeout=10_000).json_value()
    except Error as error:  # it is no page yet, or is too busy to be asked
        said = [str(error)]
    return "\n".join([tab.url, *said])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Show with a failure what the pages said instead of what was waited for."""
    report = yield
    if report.failed and (browser := item.funcargs.get("chromium")):
        tabs = [tab for window in browser.contexts for tab in window.pages]
        report.sections.append(("the open pages", "\n\n".join(map(state_of, tabs))))
    return report


def numpy_of_one_line():
    """Return a wheel in the place of NumPy's, which no index has, and the list that names it."""
    wheel, about = io.BytesIO(), "numpy-1.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("numpy/__init__.py", "ndarray, maximum = object, max")
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: numpy\nVersion: 1\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    lock = json.loads((MODULES / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    lock["packages"]["numpy"]["sha256"] = hashlib.sha256(wheel.getvalue()).hexdigest()
    return wheel.getvalue(), lock


def route_numpy_of_one_line(context):
    """Give the real Python of a browser this NumPy."""
    wheel, lock = numpy_of_one_line()
    context.route("**/pyodide-lock.json", lambda route: route.fulfill(json=lock))
    context.route("**/numpy-*.whl", lambda route: route.fulfill(body=wheel))


def numpy_for_browsers():
    """Return NumPy's wheel for Pyodide, or None: no index has it."""
    return next(MODULES.glob("numpy-*wasm32.whl"), None)


class Watch:
    """What happened in the browser that a reader should never meet, and what was fetched.

    Attributes
    ----------
    complaints : list of str
        Errors and warnings on the console, errors of scripts, failed requests, requests that leave
        the site.
    fetched : list of str
        All requests, without the address of the site.
    """

    def __init__(self, context, address):
        self.address = address
        self.complaints = []
        self.fetched = []
        context.on("console", self.spoke)
        context.on("weberror", lambda error: self.complaints.append(f"script: {error.error}"))
        context.on("request", self.asked)
        context.on("response", self.answered)

    def forget(self):
        """Return the complaints so far, and begin anew."""
        complaints, self.complaints = self.complaints, []
        self.fetched.clear()
        return complaints

    def spoke(self, message):
        """Note an error or a warning."""
        if message.type in ("error", "warning"):
            self.complaints.append(f"console: {message.text}")

    def asked(self, request):
        """Note what is fetched, and whether it leaves the site."""
        if request.url.startswith(self.address):
            self.fetched.append(request.url.removeprefix(self.address))
        elif not request.url.startswith(("data:", "blob:")):
            self.complaints.append(f"leaves the site: {request.url}")

    def answered(self, response):
        """Note what is not there."""
        if response.status >= 400:
            self.complaints.append(f"{response.status}: {response.url}")


def window(chromium, **options):
    """Open a window of a desktop's width."""
    context = chromium.new_context(viewport=WIDE, **options)
    context.set_default_timeout(PATIENCE)
    return context


@pytest.fixture
def context(chromium):
    """Open a window without a past."""
    with window(chromium) as context:
        yield context


@pytest.fixture(scope="module")
def tab(chromium):
    """Open the tab in which a module reads: what was fetched once is not fetched again."""
    with window(chromium) as context:
        yield context.new_page()


@pytest.fixture(scope="module")
def module_watch(tab, address):
    """Watch the tab of a module."""
    return Watch(tab.context, address)


@pytest.fixture
def watch(module_watch):
    """Watch what happens; in the end there must be no complaint, unless the test removed it."""
    yield module_watch
    assert module_watch.forget() == []


# As if the question of the page were answered.
UNFOLD = "document.querySelector('.predict.folds')?.classList.remove('folds')"


@pytest.fixture
def page(tab, address, watch):
    """Return a function that opens a page of the site, with all that follows its question."""
    tab.set_viewport_size(WIDE)

    def open_page(path, *, folded=False):
        tab.goto(address + path)
        if not folded:
            tab.evaluate(UNFOLD)
        return tab

    return open_page


def first_found(tab, name, words, wanted):
    """Search for words in the box of this name until a page is found; return the first three."""
    box = tab.get_by_placeholder(name)
    results = tab.locator(".md-search-result__item")
    box.press("Control+a")
    box.press("Delete")
    results.first.wait_for(state="detached")
    box.fill(words)
    box.press("End")  # the one key after which it searches: no results of the first letters
    results.locator(f"a[href^='{wanted}']").first.wait_for()
    links = results.locator(".md-search-result__link").evaluate_all(
        "all => all.map((one) => one.href.split('?')[0])"
    )
    return [link for link in links if "#" not in link][:3]
