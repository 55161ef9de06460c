"""The words of an exercise's page: its README, its hints, and its questions, in one text.

The README of an exercise is for a terminal, too, and loses the words for it on a page with an
editor. Before it the page has a question on an earlier exercise, and last the closing question with
its answer.
"""

import ast
import re
import sys
from pathlib import Path

COURSE = Path(__file__).parents[2] / "exercises"
sys.path.append(str(COURSE))  # the course is not a package

from course import Exercise, read_course  # noqa: E402

EDITOR = re.compile(r"^<!-- exercise: (\S+) -->$", re.MULTILINE)
README = re.compile(r"^--8<--\nexercises/(\w+)/README\.md\n--8<--\n", re.MULTILINE)
HINTS = re.compile(r"^--8<--\nexercises/(\w+)/hints\.md\n--8<--\n", re.MULTILINE)
NOT_FOUND = " { data-search-exclude }\n"  # for a heading: the search must not give answers away
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


def whole(markdown: str) -> str:
    """Return a page with the words of its exercise, if it has one; the editor's line stays."""

    def readme(snippet: re.Match[str]) -> str:
        return beginning(found(snippet[1]), in_a_page=in_a_page)

    in_a_page = bool(EDITOR.search(markdown))
    if shown := README.search(markdown):
        markdown += "\n" + ending(found(shown[1]), in_a_page=in_a_page)
    return HINTS.sub(hints, README.sub(readme, markdown))


def found(name: str) -> Exercise:
    """Return an exercise that must exist."""
    exercise = read_course().find(name)
    assert exercise, name
    return exercise


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
        text += "The grading also tries what *Check* does not:\n\n"
        text += "".join(f"- {sentence}\n" for sentence in tried) + "\n"
    first = in_a_page and exercise.number == "01"
    where = " (Below your functions, and *Run the file* shows what it prints.)" * first
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
