"""Prepare the Run button: marked examples, an address.

`mkdocs.yml` has the address of Python (`extra.pyodide`), `docs/assets/run` has the rest.
"""

import ast
import re
import textwrap
from html import escape
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

# Run is for the same fences that the tests run (see conftest.py): Python code, without included
# files. A browser has no frameworks and no programs, and its package has no vectors, so fences that
# need them are left out, and those that use a name of such a fence.
FENCE = re.compile(
    r"^(?P<indent>[ \t]*)(?P<ticks>`{3,})(?P<language>\w*)(?P<options>[^\n`]*)\n"
    r"(?P<source>.*?)"
    r"^(?P=indent)(?P=ticks)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
NOT_HERE = re.compile(
    r"--8<--|^[ \t]*import (torch|triton|jax|tvm|warp|dask|pytest)\b"
    r"|\b(from_command|load_vectors)\(",
    re.MULTILINE,
)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Give each example that can be run the class `run`."""
    missing: set[str] = set()  # names of the fences so far that cannot be run

    def marked(fence: re.Match[str]) -> str:
        if fence["language"] != "python":
            return fence[0]
        bound, used = names_in(textwrap.dedent(fence["source"]))
        if NOT_HERE.search(fence["source"]) or used & missing:
            missing.update(bound)
            return fence[0]
        missing.difference_update(bound)
        opening = f"{fence['indent']}{fence['ticks']}{{.python .run{fence['options'].rstrip()}}}\n"
        return opening + fence[0].split("\n", 1)[1]

    return FENCE.sub(marked, markdown)


def names_in(source: str) -> tuple[set[str], set[str]]:
    """Return the names that a fence binds, and those that it takes from the fences before it."""
    bound, used = set(), set()
    try:
        nodes = [*ast.walk(ast.parse(source))]
    except SyntaxError:  # an included file
        return bound, used
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                bound.add(name)
            case ast.alias(name=name, asname=other):
                bound.add((other or name).partition(".")[0])
            case ast.Name(id=name, ctx=context):
                (used if isinstance(context, ast.Load) else bound).add(name)
    return bound, used - bound


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Add the addresses that the scripts of the page need."""
    (wheel,) = [file.url for file in files if file.src_uri.startswith("assets/run/gradcheck_ref-")]
    data = {
        "root": config.extra["above"] + get_relative_url("./", page.url),
        "package": wheel,
        "pyodide": config.extra["pyodide"],
    }
    attributes = "".join(f' data-{key}="{escape(value)}"' for key, value in data.items())
    return f'{html}\n<div id="run-python" hidden{attributes}></div>'
