"""Exercises as notebooks, made from the same starter, README, hints and checks.

A notebook needs only NumPy and the package: one of its cells holds the checks.
"""

import base64
import io
import textwrap
import zipfile
from pathlib import Path
from typing import Any

from course import HERE, Exercise
from grader.bundles import EPOCH, manifest_of, without_heldout
from grader.cells import OURS

RUNTIME = ("course", "expect", "in_notebook", "judging", "screen")

SETUP = '''\
# Run this cell first. It needs NumPy and the package; on a machine without them, that is one line:
# %pip install gradcheck-ref
import base64, io, sys, tempfile, zipfile

packed = """
{packed}
"""
checks = tempfile.mkdtemp()
zipfile.ZipFile(io.BytesIO(base64.b85decode("".join(packed.split())))).extractall(checks)
sys.path.insert(0, checks)
from in_notebook import check
'''

COLAB = "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({link})"


def notebook(exercise: Exercise, address: str = "") -> Any:
    """Return an exercise as a notebook.

    Parameters
    ----------
    exercise : Exercise
        The exercise.
    address : str
        Where the notebooks will be on GitHub, ``"OWNER/REPOSITORY/blob/main/FOLDER"``. Then each
        has a link that opens it in Colab.
    """
    from nbformat import v4

    def code(source: str, *, ours: bool = False) -> Any:
        return v4.new_code_cell(source.strip(), metadata={"tags": [OURS] if ours else []})

    readme = (exercise.folder / "README.md").read_text(encoding="utf-8")
    if address:
        link = f"https://colab.research.google.com/github/{address}/{exercise.name}.ipynb"
        readme = f"{COLAB.format(link=link)}\n\n{readme}"
    starter = (exercise.folder / "starter.py").read_text(encoding="utf-8")
    functions, _, by_itself = starter.partition('if __name__ == "__main__":\n')
    cells = [
        v4.new_markdown_cell(readme.strip()),
        code(SETUP.format(packed=packed(exercise)), ours=True),
        code(functions),
        code(f'check("{exercise.number}", globals());', ours=True),
        v4.new_markdown_cell((exercise.folder / "hints.md").read_text(encoding="utf-8").strip()),
    ]
    if by_itself:
        cells.insert(4, code(textwrap.dedent(by_itself), ours=True))
    for i, cell in enumerate(cells):
        cell["id"] = f"{exercise.name}-{i}"  # instead of a random one
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def write(exercise: Exercise, folder: Path, address: str = "") -> Path:
    """Write an exercise as a notebook into a folder; return its path."""
    import nbformat

    path = folder / f"{exercise.name}.ipynb"
    made = notebook(exercise, address)
    nbformat.validate(made)
    nbformat.write(made, path)
    return path


def packed(exercise: Exercise) -> str:
    """Return the files that the checks of an exercise need, as text, without held-out checks."""
    files = {f"{name}.py": (HERE / f"{name}.py").read_bytes() for name in RUNTIME}
    files["course.toml"] = manifest_of([exercise], heldout=False).encode()
    checks = without_heldout((exercise.folder / "checks.py").read_bytes())
    files[f"{exercise.name}/checks.py"] = checks
    if exercise.kind == "hunt":  # it is graded with its starter
        files[f"{exercise.name}/starter.py"] = (exercise.folder / "starter.py").read_bytes()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in sorted(files.items()):
            file.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
    return "\n".join(textwrap.wrap(base64.b85encode(out.getvalue()).decode(), 96))
