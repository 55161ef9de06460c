"""Another Python in the place of Pyodide: with NumPy, where that of browsers is not to be had.

The page, its scripts and the driver are the real ones. Only what takes a task to Python, and brings
back what is printed, is played: by a process of this machine.
"""

import io
import json
import os
import subprocess
import sys
import zipfile
from urllib.parse import unquote, urlparse

from .conftest import ROOT, numpy_for_browsers

MODULE = """
const ask = (task) => {
  const request = new XMLHttpRequest();
  request.open("POST", new URL("ask", import.meta.url), false);
  request.send(JSON.stringify(task));
  return JSON.parse(request.responseText);
};
export async function loadPyodide() {
  let out, files;
  let archives = [];
  const answer = (task) => {
    const { said, value } = ask(task);
    out.write(new TextEncoder().encode(said));
    return { toJs: () => value };
  };
  return {
    setStdout: (writer) => (out = writer), setStderr() {}, setStdin() {}, async loadPackage() {},
    unpackArchive(bytes, _, { extractDir }) {
      if (extractDir === "/course") archives.push([...new Uint8Array(bytes)]);
    },
    FS: { writeFile() {} }, runPython() {}, setInterruptBuffer() {},
    toPy: (data) => data,
    pyimport: () => ({
      tell_what_runs() {},
      write: (_, given) => (files = given),
      run: (sources) => answer({ sources }),
      drawn: () => "[]",
      check(_, exercise, columns, language) {
        const task = { archives, files, exercise, columns, language };
        archives = [];
        return answer(task).toJs();
      },
    }),
  };
}
"""

ANSWER = """
import json, sys
sys.path[:0] = sys.argv[1:]
import driver
task = json.load(sys.stdin)
if "sources" in task:
    value = driver.run(task["sources"])
else:
    driver.write(sys.argv[3], task["files"])
    value = driver.check(sys.argv[3], task["exercise"], task["columns"], task["language"])
print("=>", json.dumps(value))
"""


def give_numpy(context, folder):
    """Give a window NumPy: the browser's own Python, where it can be, and another one elsewhere."""
    if wheel := numpy_for_browsers():
        context.route("**/numpy-*.whl", lambda route: route.fulfill(path=wheel))
    else:
        play_pyodide(context, folder)


def play_pyodide(context, folder):
    """Have a window's Run buttons ask a Python of this machine; it works in the folder."""

    def answer(route):
        task = json.loads(route.request.post_data)
        paths = [ROOT / "docs/assets/run", ROOT, folder]
        for archive in task.pop("archives", ()):
            with zipfile.ZipFile(io.BytesIO(bytes(archive))) as opened:
                opened.extractall(folder)
        done = subprocess.run(
            [sys.executable, "-c", ANSWER, *map(str, paths)],
            input=json.dumps(task),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONIOENCODING": "utf-8"},
            encoding="utf-8",
            check=False,
        )
        said, _, value = done.stdout.rpartition("=> ")
        route.fulfill(json={"said": said, "value": json.loads(value)})

    def serve(route):
        name = unquote(urlparse(route.request.url).path).rsplit("/", 1)[1]
        if name == "ask":
            answer(route)
        else:
            route.fulfill(body=MODULE, content_type="text/javascript")

    context.route("**/pyodide/**", serve)
