"""Every file in the folder of a class, and what became of it."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from catalogue import told
from course import Exercise
from grader.collected import Submission, belonging_to_nobody
from grader.handed_in import File, HandedIn, NotTakenError, look
from grader.named import likeness
from grader.report import clean_name

HEAD = ["file", "submission", "what became of it"]


def manifest(
    folder: Path,
    submissions: Iterable[Submission],
    left_out: Sequence[Path],
    exercises: Sequence[Exercise],
    course: Sequence[Exercise],
) -> Iterator[list[str]]:
    """Yield a row for each file, the head first; ``exercises`` of the course are graded."""
    yield HEAD
    for submission in submissions:
        handed_in = look(submission)
        verdicts = {e.name: _verdict(handed_in, e) for e in exercises if handed_in.called(e)}
        best = {e.name: handed_in.called(e)[0] for e in exercises if e.name in verdicts}
        for file in handed_in.files:
            name = file.path.relative_to(folder).joinpath(*file.members)
            yield [
                clean_name(str(name)),
                clean_name(submission.name),
                told(file.fault)
                or "; ".join(map(told, _became(file, exercises, course, verdicts, best))),
            ]
        for trouble in handed_in.troubles:
            yield ["", clean_name(submission.name), told(trouble)]
    for path, why in belonging_to_nobody(left_out):
        yield [clean_name(path.name), "", told(why)]


def _verdict(handed_in: HandedIn, exercise: Exercise) -> str:
    try:
        handed_in.read(exercise)
    except NotTakenError as error:
        return f"not graded: {error}"
    return f"graded as {exercise.name}"


def _became(
    file: File,
    exercises: Sequence[Exercise],
    course: Sequence[Exercise],
    verdicts: dict[str, str],
    best: dict[str, File],
) -> Iterator[str]:
    fitting = [one for one in course if likeness(file.name, one)]
    for exercise in fitting:
        if exercise not in exercises:
            yield f"{exercise.name} was not to be graded"
        elif file is best[exercise.name]:
            yield verdicts[exercise.name]
        else:
            yield f"another file counts for {exercise.name}"
    if not fitting:
        yield "not the name of an exercise"
