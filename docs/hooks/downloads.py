"""Replace a line `<!-- downloads -->` on a page by links to the downloads.

`mkdocs.yml` has their address (`extra.downloads`); without it, no page shows a link. If the address
is a folder of the site itself, the files are put there. The archive of the oracle's vectors is
always in the English site: it needs nothing else.

`[words](repository)` leads to the repository, where its address is known.
"""

import posixpath
import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.append(str(Path(__file__).parents[2] / "exercises"))  # the course is not a package

from edition import ENGLISH

from course import read_course
from gradcheck_ref.oracle.export import exported
from gradcheck_ref.oracle.vectors import VERSION
from grader.bundles import students, zipped

LINE = re.compile(r"^<!-- downloads -->\n", re.MULTILINE)
REPOSITORY = re.compile(r"\[([^]]+)\]\(repository\)")
COURSE = "course-for-students.zip"
VECTORS = f"assets/gradcheck-ref-vectors-{VERSION}.zip"
LINKS = {
    "en": """\
To download: [the course for students]({course}), a folder to unpack, which needs only NumPy; and
[the package]({wheel}), a wheel for `pip install`.
""",
    "zh": (
        "下载：[学生版课程]({course})，解压即可使用，只需要 NumPy；"
        "以及用于 `pip install` 的[本包 wheel 文件]({wheel})。\n"
    ),
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Put the vectors into the site, and the course for students if it is downloaded from there."""
    if config.theme["language"] == "en":
        files.append(File.generated(config, VECTORS, content=zipped(exported())))
    place = config.extra["downloads"]
    if place and "://" not in place:
        archive = zipped(students(read_course().everything))
        files.append(File.generated(config, place + COURSE, content=archive))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Write the links, or nothing."""
    place, repository = config.extra["downloads"], config.repo_url
    markdown = REPOSITORY.sub(rf"[\1]({repository})" if repository else r"\1", markdown)
    if not place:
        return LINE.sub("", markdown)
    (wheel,) = {Path(file.src_uri).name for file in files if file.src_uri.endswith(".whl")}
    links = {"course": place + COURSE, "wheel": place + wheel}
    if "://" not in place:
        here = posixpath.dirname(page.file.src_uri) or "."
        for name, path in links.items():
            shared = config.extra["above"]  # the files are in the English site
            links[name] = ENGLISH + path if shared else posixpath.relpath(path, here)
    return LINE.sub(lambda _: LINKS[config.theme["language"]].format(**links), markdown)
