"""For the API reference: additions of this project to NumPy's docstring conventions.

An extension of griffe, which reads the docstrings for mkdocstrings; see `mkdocs.yml`.
"""

import re
from typing import Any

from griffe import DocstringSectionKind, Extension, Function, Module, get_logger, parse_numpy

logger = get_logger(__name__)

# A term at the margin and its explanation indented below it, as under *Idea* in every module.
TERM = re.compile(r"^(?P<term>[^\s-].*)\n(?P<text>(?: {4}.*\n(?:\n(?= {4}))?)+)", re.MULTILINE)


class Docstrings(Extension):
    """Writes terms as definition lists, and warns of parameters without an explanation."""

    def on_module(self, *, mod: Module, **_: Any) -> None:
        """Write the terms of a module as a list of definitions."""
        if mod.docstring:
            mod.docstring.value = terms_marked(mod.docstring.value + "\n")

    def on_function(self, *, func: Function, **_: Any) -> None:
        """Warn of parameters, which fails a strict build; griffe itself would not warn."""
        for name in undocumented(func):
            logger.warning(f"{func.path}: the parameter {name} is not documented")


def terms_marked(text: str) -> str:
    """Write terms and their explanations in Markdown's form, with a colon (`def_list`)."""
    return TERM.sub(lambda found: f"\n{found['term']}\n:{found['text'][1:]}\n", text)


def undocumented(function: Function) -> list[str]:
    """Return the parameters that the docstring does not explain.

    A docstring without a section of parameters is only a summary, and is not checked. For public
    names tests/test_architecture.py requires the section.
    """
    if not function.docstring:
        return []
    sections = parse_numpy(function.docstring, warnings=False)
    described = [s.value for s in sections if s.kind is DocstringSectionKind.parameters]
    if not described:
        return []
    named = {name.strip("*") for item in described[0] for name in item.name.split(", ")}
    wanted = [p.name for p in function.parameters if p.name not in ("self", "cls")]
    return [name for name in wanted if name not in named]
