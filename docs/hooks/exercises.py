"""Put an exercise's editor into its page, at a line `<!-- exercise: 01_forward -->`.

The page shows the starter itself. *Check* runs the course's own modules and the exercise's own
checks, except for the held-out ones.
"""

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

from course import read_course  # noqa: E402
from grader.bundles import (  # noqa: E402
    Bundle,
    exercise_in_a_page,
    machinery_in_a_page,
    with_needs,
    zipped,
)

LINE = re.compile(r"^<!-- exercise: (\S+) -->$", re.MULTILINE)
FOLDER = "assets/run/course"
EDITOR = """\
## Your file

Here, or on your own computer, where it is `work/{name}.py` ([how](students.md)): write, press
*Check*, read, write on. *Run the file* shows what it prints, as `python -m work.{name}` does there.
What you write stays in this browser, until you press *Start again*. *Download* gives you the file
to hand in, *Download all* a zip file of all exercises, and *Open files* takes files in again.

<div class="exercise" data-exercise="{name}" {where} markdown="1">

```{{.python .starter}}
--8<-- "exercises/{name}/starter.py"
```

</div>
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files that all exercises need in a page."""
    files.append(packed(f"{FOLDER}/course.zip", machinery_in_a_page(), config))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the editor of an exercise into its page, and add the files that check it."""

    def editor(line: re.Match[str]) -> str:
        exercise = read_course().find(line[1])
        assert exercise, line[1]
        archive = packed(f"{FOLDER}/{exercise.name}.zip", exercise_in_a_page(exercise), config)
        files.append(archive)
        names = ["course", *(needed.name for needed in with_needs(exercise))]
        archives = [get_relative_url(f"{FOLDER}/{name}.zip", page.url) for name in names]
        return EDITOR.format(name=exercise.name, where=f'data-course="{" ".join(archives)}"')

    return LINE.sub(editor, markdown)


def packed(name: str, bundle: Bundle, config: MkDocsConfig) -> Any:
    """Return a bundle as a zip file of the site."""
    return File.generated(config, name, content=zipped(bundle))
