"""Put an exercise's words and its editor into its page, at a line `<!-- exercise: 01_forward -->`.

The page shows the starter itself. *Check* runs the course's own modules and the exercise's own
checks, except for the held-out ones. The words are in exercise_text.py; a translation has its own.
"""

import re
from typing import Any

from exercise_text import EDITOR, found, whole
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from grader.bundles import (
    Bundle,
    exercise_in_a_page,
    machinery_in_a_page,
    with_needs,
    zipped,
)

FOLDER = "assets/run/course"
BLOCK = """\
## {heading} {{ #your-file data-search-exclude }}

{how}

<div class="exercise" data-exercise="{name}" {where} markdown="1">

```{{.python .starter}}
--8<-- "exercises/{name}/starter.py"
```

</div>
"""
WORDS = {
    "en": (
        "Your file",
        """\
Write here, and press *Check*. [The other buttons, and your own
computer](students.md#begin-in-the-browser)""",
    ),
    "zh": (
        "你的文件",
        "在这里写代码，按“检查”。"
        "[其他按钮的用法，以及怎样在自己的电脑上做](students.md#begin-in-the-browser)",
    ),
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files that all exercises need in a page."""
    files.append(packed(f"{FOLDER}/course.zip", machinery_in_a_page(), config))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the parts of an exercise into its page, and add the files that check it."""

    def editor(line: re.Match[str]) -> str:
        exercise = found(line[1])
        archive = packed(f"{FOLDER}/{exercise.name}.zip", exercise_in_a_page(exercise), config)
        files.append(archive)
        names = ["course", *(needed.name for needed in with_needs(exercise))]
        up = config.extra["above"]
        archives = [up + get_relative_url(f"{FOLDER}/{name}.zip", page.url) for name in names]
        heading, how = WORDS[config.theme["language"]]
        return BLOCK.format(
            heading=heading,
            how=how,
            name=exercise.name,
            where=f'data-course="{" ".join(archives)}"',
        )

    return EDITOR.sub(editor, whole(markdown))


def packed(name: str, bundle: Bundle, config: MkDocsConfig) -> Any:
    """Return a bundle as a zip file of the site."""
    return File.generated(config, name, content=zipped(bundle))
