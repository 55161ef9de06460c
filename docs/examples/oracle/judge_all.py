"""Judges what is at hand, stores the runs, and makes the table of the page *Results* of them.

    python docs/examples/oracle/judge_all.py [--peers PYTHON] [NAME ...]

This package, the examples in Python, JavaScript, C and Rust, and the rules and the checkers of the
libraries that PYTHON has; or those with these names alone. What cannot be started is left as it was
stored. Ends with 1 if one that ought to be right is not; the checkers of the libraries are not.
"""

import argparse
import datetime
import json
import math
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gradcheck_ref.oracle.vectors import load_optional

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
RESULTS = HERE / "results"
CHECKERS = runpy.run_path(str(HERE / "verdicts.py"))["CHECKERS"]
# These rows had two questions more on one machine than on another; all others had the same.
BY_MACHINE = ("check_grad", "approx_fprime")
PARTS = {"float64": "score", "low": "optional_score"}  # of a run, and where its score stands
LOW = load_optional()
TOLD = 3  # flags in a cell


def commands(folder, python):
    """Name the implementations, how to start them, and what they are written in."""
    yield "gradcheck_ref", [sys.executable, "-m", "gradcheck_ref", "oracle", "answer"]
    yield "checker_py", [sys.executable, str(ROOT / "docs" / "examples" / "checker.py")]
    yield "checker_js", ["node", str(ROOT / "docs" / "assets" / "checker.js")]
    for language, compiler, more in (("c", "cc", ["-lm"]), ("rs", "rustc", [])):
        if shutil.which(compiler):
            program = str(Path(folder) / f"checker_{language}")
            source = str(ROOT / "docs" / "examples" / f"checker.{language}")
            subprocess.run([compiler, "-O", "-o", program, source, *more], check=True)
            yield f"checker_{language}", [program]
    for rule in ("numpy", "torch", "jax", "scipy", "hips"):
        yield rule, [python, str(HERE / "peers.py"), rule]


def stored(run, date):
    """Shorten what ``oracle test --json`` prints to what is kept of a run."""
    groups = {group: [c["passed"], c["of"]] for group, c in run["groups"].items()}
    kept = {key: run[key] for key in ("implementation", "vectors", "passed", "of", "whole_groups")}
    kept["score"] = math.floor(100 * run["score"])
    return json.dumps({**kept, "date": date, "groups": groups}, indent=1) + "\n"


def stored_verdicts(run, date):
    """Shorten the run of a checker: its counts in float64 and in low precision, and its mistakes.

    The mistakes are the right claims that it refuses and the wrong ones that it passes, in float64.
    """
    wrong = {"refuses": Counter(), "lets_pass": Counter()}
    counts = dict.fromkeys(wrong, 0)
    for outcome in run["outcomes"]:
        if outcome["status"] in ("failed", "error") and outcome["group"] not in LOW:
            way = "refuses" if outcome["expected"]["result"] == "valid" else "lets_pass"
            counts[way] += 1
            wrong[way].update(set(outcome["flags"]) - {"Truth", "RoundedClaim"})
    kept = {"implementation": run["implementation"], "vectors": run["vectors"], "date": date}
    for part, score in PARTS.items():
        groups = [c for g, c in run["groups"].items() if (g in LOW) == (part == "low")]
        kept[part] = {key: sum(c[key] for c in groups) for key in ("passed", "of", "guessed")}
        kept[part]["score"] = math.floor(100 * run[score])
    kept |= counts
    for way, flags in wrong.items():
        most = sorted(flags.items(), key=lambda flag: (-flag[1], flag[0]))[:TOLD]
        kept.setdefault("flags", {})[way] = dict(most)
    return json.dumps(kept, indent=1) + "\n"


def verdict_results(folder):
    """Tell the stored runs of the checkers as a table."""
    head = "| checker | version | float64: passed | score | low precision: passed | score "
    lines = [head + "| refuses right ones | lets wrong ones pass |", "| --- " * 8 + "|"]
    runs = [(name, json.loads((folder / f"{name}.json").read_text("utf-8"))) for name in CHECKERS]
    for name, run in sorted(runs, key=lambda pair: -pair[1]["float64"]["score"]):
        version = " ".join(run["implementation"].split()[:2])
        cells = [CHECKERS[name].name + " (1)" * (name in BY_MACHINE), version]
        for part in PARTS:
            c = run[part]
            cells += [f"{c['passed']} of {c['of']} ({c['guessed']})", f"{c['score']} %"]
        for way in ("refuses", "lets_pass"):
            flags = [f"{flag} {n}" for flag, n in run["flags"][way].items()]
            cells.append(f"{run[way]}: {flags[0]}" if run[way] else "0")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def calls():
    """Tell how each checker is called, in one line."""
    return "\n".join(f"- `{name}`, {c.name}: `{c.called}`" for name, c in CHECKERS.items())


def results(folder):
    """Tell stored runs as a table.

    A stored run is what ``oracle test --json`` prints, shortened to what ``stored`` keeps.
    """
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    runs.sort(key=lambda run: (-run["passed"], run["implementation"]))
    lines = ["| implementation | vectors | date | passed | groups whole | score |"]
    lines.append("| --- " * 6 + "|")
    lines += [
        f"| {run['implementation']} | {run['vectors']} | {run['date']} | {run['passed']} of "
        f"{run['of']} | {run['whole_groups']} of {len(run['groups'])} | {run['score']} % |"
        for run in runs
    ]
    return "\n".join(lines)


def judged(command):
    """Judge one client."""
    test = [sys.executable, "-m", "gradcheck_ref", "oracle", "test", "--json", "--timeout", "60"]
    # A library that works with several threads would only wait for the clients beside it.
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run([*test, "--", *command], capture_output=True, text=True, env=alone)


def main():
    """Judge all, store what came of it, and make the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON")
    parser.add_argument("names", nargs="*", metavar="NAME", help="judge these alone")
    options = parser.parse_args()
    python, today, wrong = options.peers, datetime.date.today().isoformat(), 0
    clients = [
        (RESULTS / "verdicts" / f"{name}.json", [python, str(HERE / "verdicts.py"), name])
        for name in CHECKERS
    ]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as beside:
        clients += [(RESULTS / f"{name}.json", c) for name, c in commands(folder, python)]
        if options.names:
            clients = [client for client in clients if client[0].stem in options.names]
        runs = list(beside.map(judged, [command for _, command in clients]))
    for (path, _), done in zip(clients, runs, strict=True):
        if done.returncode == 2:
            print(f"{path.stem}: left as it was; {done.stderr.splitlines()[-1]}")
            continue
        run = json.loads(done.stdout)
        print(run["sentence"])
        is_checker = path.parent != RESULTS
        text = (stored_verdicts if is_checker else stored)(run, today)
        path.write_text(text, encoding="utf-8")
        wrong += not is_checker and not run["right"]
    (HERE / "results.txt").write_text(results(RESULTS) + "\n", encoding="utf-8")
    table = verdict_results(RESULTS / "verdicts")
    (HERE / "verdict_results.txt").write_text(table + "\n", encoding="utf-8")
    (HERE / "verdict_calls.txt").write_text(calls() + "\n", encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
