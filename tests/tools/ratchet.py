"""Compare what the check says of the corpus with what is stored, or store it.

Run it by hand: ``python tests/tools/ratchet.py``, which takes some minutes, lists each claim of
which the check says something else than what is stored, and counts *better, worse, other*. With
``--write`` it stores what the check says now. With words it asks, and stores, only rows with one of
them in their names. With ``--since COMMIT`` it compares what is stored
now with what was stored in that commit, which takes no time.
"""

import argparse
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS), str(TESTS / "check"), str(TESTS / "tools")]

import corpus  # noqa: E402
from corpus import ratchet  # noqa: E402


def measured(name):
    """Return the name of a row, and what the check says of its claims."""
    return name, ratchet.measured(lambda: corpus.row_named(name))


def all_measured(words):
    names = [name for name in corpus.names() if not words or any(word in name for word in words)]
    with ProcessPoolExecutor() as pool:
        return dict(pool.map(measured, names, chunksize=4))


def stored_in(commit):
    path = ratchet.FILE.relative_to(TESTS.parent)
    shown = subprocess.run(
        ["git", "show", f"{commit}:{path}"],
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
    )
    if shown.returncode:
        sys.exit(f"{commit} has nothing stored: {shown.stderr.strip()}")
    return ratchet.read(shown.stdout)


def list_changes(before, now, loose=ratchet.LOOSE):
    """Print each claim that is judged otherwise, and the counts."""
    counts = Counter()
    for name, claims in now.items():
        for claim, answer in claims.items():
            if claim not in before.get(name, {}):
                counts["new"] += 1
                continue
            right = ratchet.is_right(corpus.row_named(name), claim)
            how = ratchet.compared(before[name][claim], answer, right, loose)
            counts[how] += 1
            if how != "same":
                print(f"{how}: {name}, {claim}:", *before[name][claim], "->", *answer)
    gone = [
        f"{name}, {claim}"
        for name in before
        for claim in before[name].keys() - now.get(name, {}).keys()
    ]
    for one in gone:
        print(f"gone: {one}")
    counts["gone"] = len(gone)
    kinds = ("better", "worse", "other", "same", "new", "gone")
    print(", ".join(f"{counts[how]} {how}" for how in kinds))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="store what the check says now")
    parser.add_argument("--since", metavar="COMMIT", help="compare what is stored with a commit")
    parser.add_argument("words", nargs="*", metavar="WORD", help="a part of the name of a row")
    args = parser.parse_args()
    if args.since:
        list_changes(stored_in(args.since), ratchet.stored(), loose=0)
        return
    stored, now = ratchet.stored(), all_measured(args.words)
    kept = {name: stored[name] for name in corpus.names() if name in stored}
    list_changes({name: stored[name] for name in stored if name in now or name not in kept}, now)
    if args.write:
        ratchet.FILE.write_text(ratchet.written(kept | now), encoding="utf-8")


if __name__ == "__main__":
    main()
