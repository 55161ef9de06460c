"""Exercises as notebooks, made from the same starter, README, hints and checks.

A notebook needs only NumPy and the package: one of its cells holds the checks.
"""

import base64
import io
import textwrap
from pathlib import Path
from typing import Any

from course import Exercise
from grader.bundles import exercise_in_a_page, machinery_in_a_page, write_zip
from grader.handed_in import OURS

SETUP = '''\
# Run this cell first. It needs NumPy and the package; on a machine without them, that is one line:
# %pip install gradcheck-ref
import base64, io, sys, tempfile, zipfile

packed = """
{packed}
"""
checks = tempfile.mkdtemp()
zipfile.ZipFile(io.BytesIO(base64.b85decode("".join(packed.split())))).extractall(checks)
sys.path.insert(0, checks + "/exercises")
from in_notebook import check
'''

COLAB = "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({link})"


def notebook(exercise: Exercise, address: str = "") -> Any:
    """Return an exercise as a notebook.

    ``address`` is where the notebooks will be on GitHub, ``"OWNER/REPOSITORY/blob/main/FOLDER"``:
    then each has a link that opens it in Colab.
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
    out = io.BytesIO()
    bundle = machinery_in_a_page("in_notebook") | exercise_in_a_page(exercise)
    write_zip(bundle, out, compressed=True)
    return "\n".join(textwrap.wrap(base64.b85encode(out.getvalue()).decode(), 96))
