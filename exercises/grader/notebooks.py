"""Exercises as notebooks, made from the same starter, README, hints and checks."""

import base64
import textwrap
from pathlib import Path
from typing import Any

from course import Exercise, read_course
from grader.bundles import MESSAGES, exercise_in_a_page, machinery_in_a_page, zipped
from grader.handed_in import OURS

SETUP = '''\
# Run this cell first. It needs NumPy and the package; on a machine without them, that is one line:
# %pip install gradcheck-ref
import base64, io, sys, tempfile, zipfile

packed = """
{packed}
"""
checks = tempfile.mkdtemp()
zipfile.ZipFile(io.BytesIO(base64.b64decode(packed))).extractall(checks)
sys.path.insert(0, checks + "/exercises")
from in_notebook import check
'''

COLAB = "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({link})"


def notebook(exercise: Exercise, address: str = "") -> dict[str, Any]:
    """Return an exercise as a notebook, in the format 4.5.

    ``address`` is where the notebooks will be on GitHub, ``"OWNER/REPOSITORY/blob/main/FOLDER"``:
    then each has a link that opens it in Colab.
    """
    readme, hints, starter = (
        (exercise.folder / name).read_text(encoding="utf-8")
        for name in ("README.md", "hints.md", "starter.py")
    )
    if address:
        link = f"https://colab.research.google.com/github/{address}/{exercise.name}.ipynb"
        readme = f"{COLAB.format(link=link)}\n\n{readme}"
    functions, _, by_itself = starter.partition('if __name__ == "__main__":\n')
    check = f'check("{exercise.number}", globals());'
    messages = [name for name in MESSAGES if Path(name).stem == read_course().language]
    machinery = machinery_in_a_page("in_notebook", messages)
    archive = zipped(machinery | exercise_in_a_page(exercise))
    # Subtle: not base 85, as IPython takes `>>>` at the beginning of any line for a prompt.
    packed = "\n".join(textwrap.wrap(base64.b64encode(archive).decode(), 96))
    cells = [
        _text(readme),
        _code(SETUP.format(packed=packed), OURS),
        _code(functions),
        _code(check, OURS),
        *([_code(textwrap.dedent(by_itself), OURS)] if by_itself else []),
        _text(hints),
    ]
    for i, cell in enumerate(cells):
        cell["id"] = f"{exercise.name}-{i}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source.strip()}


def _code(source: str, *tags: str) -> dict[str, Any]:
    not_run: dict[str, Any] = {"cell_type": "code", "execution_count": None, "outputs": []}
    return _text(source) | not_run | {"metadata": {"tags": [*tags]}}
