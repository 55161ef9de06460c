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
Write here, press *Check*, read, write on. *Run the file* shows what your file prints, and draws if
it calls `plot(x, y)`, or `plot(x, y, z, log="xy", names=["y", "z"])`: on this page alone. The file
stays in this browser, and so do its last ten states: after *Check*, *Start again* and *Open files*
you find them under *Earlier versions*. *Download* gives you the file to hand in, *Download all* a
zip file of all exercises and states, and *Open files* takes files in again. *Restart Python*
forgets what a file has changed in NumPy. You can also work
[on your own computer](students.md#begin-on-your-own-computer), where the file is
`work/{name}.py`.""",
    ),
    "zh": (
        "你的文件",
        "在这里写代码，按“检查”，读结果，接着写。“运行文件”显示你的文件打印的内容，"
        '`plot(x, y)` 会画图（只在本页有效）：`plot(x, y, z, log="xy", names=["y", "z"])`。'
        "代码保存在这个浏览器里。每次按“检查”“重新开始”或“打开文件”，当时的代码也会留下，"
        "最近十份在“以前的版本”里。"
        "“下载”得到要交的文件，“全部下载”得到包含所有练习和各个版本的 zip 文件，"
        "“打开文件”可以把它们再读进来。"
        "如果某个文件改动了 NumPy 本身，“重启 Python”可以让它复原。"
        "你也可以[在自己的电脑上](students.md#begin-on-your-own-computer)做，"
        "那里的文件是 `work/{name}.py`。",
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
            how=how.format(name=exercise.name),
            name=exercise.name,
            where=f'data-course="{" ".join(archives)}"',
        )

    return EDITOR.sub(editor, whole(markdown))


def packed(name: str, bundle: Bundle, config: MkDocsConfig) -> Any:
    """Return a bundle as a zip file of the site."""
    return File.generated(config, name, content=zipped(bundle))
