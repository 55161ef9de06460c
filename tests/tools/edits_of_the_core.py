"""Edits that damage the core of the check: do the quick tests notice?

Run it by hand: ``python tests/tools/edits_of_the_core.py``, which takes half an hour on two
processors; with words it tries only the edits that have one of them in their names, and with
``--together`` the first eleven at once. Each edit is made in a copy of the repository, where the
quick tests of the check then run until the first that fails. It prints which one that is, and ends
with the number of edits that no test noticed. An edit whose line is gone is an error: the table
changes with the core.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
CHECK = "gradcheck_ref/check/"
COPIED = ("gradcheck_ref", "tests", "exercises", "conftest.py", "pyproject.toml", "docs")
QUICK_TESTS = ("tests/check",)


class Edit(NamedTuple):
    """What the check does wrong after an edit, the file, the code, and what stands there then."""

    name: str
    file: str
    old: str
    new: str


EDITS = [
    # Eleven that went unnoticed once, all of them at the same time.
    Edit("unequal steps are not corrected", "measure/witness.py",
         "    unequal = (places", "    unequal = 0 * (places"),
    Edit("slopes from far away count", "judge/rule.py", "FARTHEST = 32.0", "FARTHEST = 96.0"),
    Edit("witnesses of the claim do not contradict", "judge/rule.py",
         "(sides & (between - off > TOUCHING * bars)).any(axis=0)", "np.zeros_like(found)"),
    Edit("coarser values count as smooth", "judge/rule.py", "STAIRS = 3e4", "STAIRS = 1e4"),
    Edit("no line is looked at between the rungs", "judge/evidence.py",
         "wanted = np.where(nearly[:, None], found._between(), far)", "wanted = far"),
    Edit("more rounding is taken for zero", "judge/tolerance.py",
         "ROUNDING_LEFT = 256.0", "ROUNDING_LEFT = 768.0"),
    Edit("an error may shrink to a quarter", "judge/whole.py", "STAYS = 0.7", "STAYS = 0.7 / 3"),
    Edit("no third step before an input is refused", "judge/whole.py",
         "if closer.error + doubt < STAYS * found.error:",
         "if closer.error < 0:"),
    Edit("lines in one stair are quiet", "measure/witness.py",
         " & (noise.stairs == 0)", ""),
    Edit("the bound forgets the error bars", "judge/together.py",
         "off = np.abs(self.evidence.residual) + best.bar",
         "off = np.abs(self.evidence.residual)"),
    Edit("smaller jumps are jumps", "judge/jumps.py", "LARGER = 20.0", "LARGER = 20.0 / 3"),
    # The bars of a slope.
    Edit("a slope is divided by the step that was meant", "measure/witness.py",
         "/ apart\n    bend", "/ (2 * steps)\n    bend"),
    Edit("noise counts a tenth", "measure/witness.py",
         "NOISE_IN_SLOPE = 4 *", "NOISE_IN_SLOPE = 0.4 *"),
    Edit("no kink is in the bar", "measure/witness.py",
         "    kink = np.where(shows,", "    kink = 0 * np.where(shows,"),
    Edit("truncation counts a hundredth", "measure/witness.py",
         "truncation = fourth *", "truncation = 0.01 * fourth *"),
    Edit("slopes at an edge settle always", "measure/witness.py",
         "settles = second <= 0.5 * first", "settles = second <= 75 * first"),
    Edit("several features in a step are smooth", "measure/witness.py",
         "nothing = witnesses.truncation > 0.1 *", "nothing = witnesses.truncation > 1e9 *"),
    Edit("noise is not looked for", "measure/pilot.py",
         "        level = np.where(plateau, np.fmax(level, sigma[k]), level)\n", ""),
    # The rule.
    Edit("a refusal takes one bar", "results.py", "FAIL_BARS = 3.0", "FAIL_BARS = 1.0"),
    Edit("witnesses that share values refuse", "judge/rule.py",
         "found = refuses[a] & refuses[b] & apart", "found = refuses[a] & refuses[b]"),
    Edit("witnesses that disagree refuse", "judge/rule.py",
         "agree = np.abs(slope[a] - slope[b]) <= TOUCHING * (bar[a] + bar[b])",
         "agree = np.ones(off.shape[1:], bool)"),
    Edit("a shorter step refuses in vain", "judge/rule.py",
         "passes = accepts & (step <= closest_refusal)", "passes = accepts"),
    Edit("ties are not asked", "judge/rule.py",
         "doubted = (facts.tied | facts.doubted)", "doubted = facts.doubted"),
    Edit("the claim's own rounding does not count", "judge/rule.py",
         "> allowed + facts.own_rounding", "> allowed"),
    # Tolerances, lines, wholes, the order of things.
    Edit("small entries are allowed more", "knobs.py",
         "ATOL_FRACTION = 1e-4", "ATOL_FRACTION = 1e-2"),
    Edit("five lines instead of twenty", "judge/together.py", "LINES = 20", "LINES = 5"),
    Edit("all lines have the same signs", "measure/lines.py",
         "np.random.default_rng(seed).bytes", "np.random.default_rng(0).bytes"),
    Edit("wrong entries are looked for in the right half", "judge/localise.py",
         "in_first = abs(ours) >= abs(residual - ours)",
         "in_first = abs(ours) < abs(residual - ours)"),
    Edit("an input may be off by three times as much", "judge/whole.py",
         "NOISES, MOST_ALLOWED = 1e-3, 20.0, 4096.0, 0.1",
         "NOISES, MOST_ALLOWED = 3e-3, 60.0, 4096.0, 0.3"),
    Edit("identities allow a thousand times more", "claim/identities.py",
         "ROUNDINGS_OF_PRODUCT = 64.0", "ROUNDINGS_OF_PRODUCT = 6.4e4"),
]  # fmt: skip


def copy_of_the_repository(folder):
    for name in COPIED:
        source, there = ROOT / name, folder / name
        there.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, there, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, there)


def make(edit, folder):
    path = folder / CHECK / edit.file
    code = path.read_text(encoding="utf-8")
    if code.count(edit.old) != 1:
        sys.exit(f"{edit.name}: {edit.file} has this {code.count(edit.old)} times: {edit.old}")
    path.write_text(code.replace(edit.old, edit.new), encoding="utf-8")


def noticed_by(edits, until_first=True):
    """Return the tests that fail after some edits, and the seconds that they took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_of_the_repository(folder)
        for edit in edits:
            make(edit, folder)
        stop = ["-x"] if until_first else []
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-n", "auto", "-q", *stop, *QUICK_TESTS],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
        )
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+(?:\[.*?\])?)", done.stdout, re.MULTILINE)
        # With workers, the first failure ends pytest with 2.
        if done.returncode not in (0, 1, 2) or bool(failed) != bool(done.returncode):
            sys.exit(done.stdout + done.stderr)
        return failed, time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="a part of the name of an edit")
    parser.add_argument("--together", action="store_true", help="make the first eleven at once")
    args = parser.parse_args()
    if args.together:
        failed, seconds = noticed_by(EDITS[:11], until_first=False)
        print(*failed, f"{len(failed)} tests fail, {seconds:.0f} s", sep="\n")
        return
    unnoticed = 0
    for edit in EDITS:
        if args.words and not any(word in edit.name for word in args.words):
            continue
        failed, seconds = noticed_by([edit])
        unnoticed += not failed
        print(
            f"{edit.name}: {failed[0] if failed else 'NOT NOTICED'} ({seconds:.0f} s)", flush=True
        )
    sys.exit(unnoticed)


if __name__ == "__main__":
    main()
