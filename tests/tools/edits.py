"""Small edits that damage the package, drawn at random: do the tests notice?

Run it by hand, with a folder of code and what its tests are::

    python tests/tools/edits.py gradcheck_ref/check tests/check --count 20

Each edit is made alone, in a copy of the repository: a comparison is turned around, a sum is a
difference, a number is larger, a branch is the other one. Then the tests run, until the first that
fails. It prints which one that is, and ends with the number of edits that no test noticed; some of
those change nothing that is promised. With ``--seed`` it draws others.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPIED = ("gradcheck_ref", "tests", "exercises", "docs", "conftest.py", "pyproject.toml")
OTHER = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq}
OTHER |= {ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is}
OTHER |= {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
OTHER |= {ast.And: ast.Or, ast.Or: ast.And}


def edited(node: ast.AST) -> ast.AST | None:
    """Return what stands in the place of a piece of code after an edit; None if it is left."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in OTHER:
            return ast.Compare(node.left, [OTHER[type(op)]()], node.comparators)
        case ast.BinOp(op=op) if type(op) in OTHER and not isinstance(node.left, ast.JoinedStr):
            return ast.BinOp(node.left, OTHER[type(op)](), node.right)
        case ast.BoolOp(op=op):
            return ast.BoolOp(OTHER[type(op)](), node.values)
        case ast.IfExp():
            return ast.IfExp(node.test, node.orelse, node.body)
        case ast.UnaryOp(op=ast.Not()):
            return node.operand
        case ast.Constant(value=bool(value)):
            return ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            return ast.Constant(3 * value + 1)
    return None


def edits_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each edit of a file: where it is and what it does, and the code with it."""
    lines = path.read_bytes().split(b"\n")
    for node in ast.walk(ast.parse(path.read_bytes())):
        other = edited(node)
        if other is not None:
            text = f"({ast.unparse(ast.fix_missing_locations(other))})".replace("\n", " ")
            first, last = node.lineno - 1, node.end_lineno - 1
            before, behind = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
            code = [*lines[:first], before + text.encode() + behind, *lines[last + 1 :]]
            yield f"{path}:{node.lineno}: {text[:60]}", b"\n".join(code).decode()


def noticed_by(file: str, code: str, tests: list[str]) -> str:
    """Return the test that fails first after an edit, or nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for one in COPIED:
            copy = shutil.copytree if (ROOT / one).is_dir() else shutil.copy
            copy(ROOT / one, folder / one)
        (folder / file).write_text(code, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-n", "auto", "-q", "-x", *tests],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
        )
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
        return failed[1] if failed else "" if done.returncode == 0 else done.stdout[-500:]


def main() -> None:
    """Print the edits, and what noticed them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("code")
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    os.chdir(ROOT)
    files = sorted(Path(args.code).rglob("*.py")) or [Path(args.code)]
    every = [(str(path), *edit) for path in files for edit in edits_of(path)]
    drawn = random.Random(args.seed).sample(every, min(args.count, len(every)))
    unnoticed = 0
    for file, what, code in drawn:
        failed = noticed_by(file, code, args.tests)
        unnoticed += not failed
        print(f"{what}  {failed or 'NOT NOTICED'}", flush=True)
    sys.exit(unnoticed)


if __name__ == "__main__":
    main()
