"""Judges what is at hand, and stores the runs from which the page *Results* is made.

    python docs/examples/oracle/judge_all.py [--peers PYTHON]

This package, the examples in JavaScript, C and Rust, and the rules of the libraries that PYTHON
has. What cannot be started is left as it was stored.
"""

import argparse
import datetime
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from gradcheck_ref.oracle.pages import stored

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
RESULTS = HERE / "results"


def commands(folder, python):
    """Name the implementations, how to start them, and what they are written in."""
    yield "gradcheck_ref", [sys.executable, "-m", "gradcheck_ref", "oracle", "answer"]
    yield "checker_js", ["node", str(ROOT / "docs" / "assets" / "checker.js")]
    for language, compiler, more in (("c", "cc", ["-lm"]), ("rs", "rustc", [])):
        if shutil.which(compiler):
            program = str(Path(folder) / f"checker_{language}")
            source = str(ROOT / "docs" / "examples" / f"checker.{language}")
            subprocess.run([compiler, "-O", "-o", program, source, *more], check=True)
            yield f"checker_{language}", [program]
    for rule in ("numpy", "torch", "jax", "scipy", "hips"):
        yield rule, [python, str(HERE / "peers.py"), rule]


def main():
    """Judge all, and store what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON")
    python = parser.parse_args().peers
    judge = [sys.executable, "-m", "gradcheck_ref", "oracle", "test", "--json", "--timeout", "60"]
    with tempfile.TemporaryDirectory() as folder:
        for name, command in commands(folder, python):
            done = subprocess.run([*judge, "--", *command], capture_output=True, text=True)
            if done.returncode == 2:
                print(f"{name}: left as it was; {done.stderr.splitlines()[-1]}")
                continue
            run = json.loads(done.stdout)
            today = datetime.date.today().isoformat()
            (RESULTS / f"{name}.json").write_text(stored(run, today), encoding="utf-8")
            print(run["sentence"])


if __name__ == "__main__":
    main()
