"""Put an exercise's editor into its page, at a line `<!-- exercise: 01_forward -->`.

The page shows the starter itself. *Check* runs the course's own modules and the exercise's own
checks, except for the held-out ones. The README of the exercise is for a terminal, too, and loses
the words for it. Before it the page has a question on an earlier exercise, and last the closing
question with its answer.
"""

import ast
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

COURSE = Path(__file__).parents[2] / "exercises"
sys.path.append(str(COURSE))  # the course is not a package

from course import Exercise, read_course  # noqa: E402
from grader.bundles import (  # noqa: E402
    Bundle,
    exercise_in_a_page,
    machinery_in_a_page,
    with_needs,
    zipped,
)

LINE = re.compile(r"^<!-- exercise: (\S+) -->$", re.MULTILINE)
README = re.compile(r"^--8<--\nexercises/(\w+)/README\.md\n--8<--\n", re.MULTILINE)
HINTS = re.compile(r"^--8<--\nexercises/(\w+)/hints\.md\n--8<--\n", re.MULTILINE)
NOT_FOUND = " { data-search-exclude }\n"  # for a heading: the search must not give answers away
FOLDER = "assets/run/course"
EDITOR = """\
## Your file {{ data-search-exclude }}

Write here, press *Check*, read, write on. *Run the file* shows what your file prints. It stays in
this browser until you press *Start again*. *Download* gives you the file to hand in, *Download all*
a zip file of all exercises, and *Open files* takes files in again. *Restart Python* forgets what a
file has changed in NumPy. You can also work
[on your own computer](students.md#begin-on-your-own-computer), where the file is `work/{name}.py`.

<div class="exercise" data-exercise="{name}" {where} markdown="1">

```{{.python .starter}}
--8<-- "exercises/{name}/starter.py"
```

</div>
"""
# What a README says of a terminal, and what its page says.
IN_A_PAGE = {
    r"^- .*`python (-m work|exercises/)\S+ ?\S*` .*\n": "",
    r"Run (your|the) file: `python -m work\.\w+`": r"Press *Run the file*",
    r"\bIn `work/\w+\.py`, write": "Write",
    r"^`work/\w+\.py` ": "The file below ",
}
QUESTION = """\
<div class="predict" data-name="{name}" markdown="1">

{question}

<details markdown="1">
<summary>{summary}</summary>

{answer}

</details>
</div>
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files that all exercises need in a page."""
    files.append(packed(f"{FOLDER}/course.zip", machinery_in_a_page(), config))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the parts of an exercise into its page, and add the files that check it."""

    def editor(line: re.Match[str]) -> str:
        exercise = read_course().find(line[1])
        assert exercise, line[1]
        archive = packed(f"{FOLDER}/{exercise.name}.zip", exercise_in_a_page(exercise), config)
        files.append(archive)
        names = ["course", *(needed.name for needed in with_needs(exercise))]
        archives = [get_relative_url(f"{FOLDER}/{name}.zip", page.url) for name in names]
        return EDITOR.format(name=exercise.name, where=f'data-course="{" ".join(archives)}"')

    def readme(snippet: re.Match[str]) -> str:
        exercise = read_course().find(snippet[1])
        assert exercise, snippet[1]
        return beginning(exercise, in_a_page=bool(LINE.search(markdown)))

    if shown := README.search(markdown):
        exercise = read_course().find(shown[1])
        assert exercise, shown[1]
        markdown += "\n" + ending(exercise, in_a_page=bool(LINE.search(markdown)))
    return LINE.sub(editor, HINTS.sub(hints, README.sub(readme, markdown)))


def hints(snippet: re.Match[str]) -> str:
    """Return the hints of an exercise."""
    text = (COURSE / snippet[1] / "hints.md").read_text(encoding="utf-8")
    return text.replace("## Hints\n", f"## Hints{NOT_FOUND}")


def beginning(exercise: Exercise, *, in_a_page: bool) -> str:
    """Return the README, with a question on an earlier exercise after its head."""
    text = (exercise.folder / "README.md").read_text(encoding="utf-8")
    for words, here in IN_A_PAGE.items() if in_a_page else ():
        text = re.sub(words, here, text, flags=re.MULTILINE)
    if not exercise.recall:
        return text
    question, answer = exercise.recall
    name, question = f"{exercise.name}_recall", f"**Do you remember?** {question}"
    block = QUESTION.format(name=name, question=question, summary="Answer", answer=answer)
    return re.sub(r"(\*\*Time\*\*.*\n\n)", lambda head: head[1] + block + "\n", text, count=1)


def ending(exercise: Exercise, *, in_a_page: bool) -> str:
    """Return the closing question with its answer, and what the grading also tries."""
    text = f"## When every check passes{NOT_FOUND}\n"
    if tried := heldout_of(exercise):
        text += (
            "The grading also tries what *Check* does not. Does your answer hold there, too?\n\n"
        )
        text += "".join(f"- {sentence}\n" for sentence in tried) + "\n"
    where = " (Below your functions, and *Run the file* shows what it prints.)" * in_a_page
    return text + QUESTION.format(
        name=f"{exercise.name}_try",
        question=f"**Try** {exercise.experiment}{where}",
        summary="One answer",
        answer=answer_of(exercise),
    )


def heldout_of(exercise: Exercise) -> list[str]:
    """Return the sentences of the held-out checks."""
    source = (exercise.folder / "checks.py").read_text(encoding="utf-8")
    return [
        " ".join((ast.get_docstring(node) or "").split())
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("heldout_")
    ]


def answer_of(exercise: Exercise) -> str:
    """Return the answer to the closing question."""
    text = (COURSE / "answers.md").read_text(encoding="utf-8")
    answers = dict(re.findall(r"^## (.*)\n\n((?:(?!## ).*\n)+)", text, re.MULTILINE))
    return answers[f"{exercise.number} {exercise.title}"].strip()


def packed(name: str, bundle: Bundle, config: MkDocsConfig) -> Any:
    """Return a bundle as a zip file of the site."""
    return File.generated(config, name, content=zipped(bundle))
