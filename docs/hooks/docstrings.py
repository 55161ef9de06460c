"""For the API reference: additions of this project to NumPy's docstring conventions.

An extension of griffe, which reads the docstrings for mkdocstrings; see `mkdocs.yml`.
"""

import re
from itertools import groupby
from typing import Any

from griffe import (
    DocstringParameter,
    DocstringSection,
    DocstringSectionParameters,
    Extension,
    Function,
    Module,
    get_logger,
    parse_numpy,
)

logger = get_logger(__name__)

# A term at the margin and its explanation indented below it, as under *Idea* in every module.
TERM = re.compile(r"^(?P<term>[^\s-].*)\n(?P<text>(?: {4}.*\n(?:\n(?= {4}))?)+)", re.MULTILINE)


class Docstrings(Extension):
    """Writes terms as definition lists, joins parameters, and warns of those that are left out."""

    def on_module(self, *, mod: Module, **_: Any) -> None:
        """Write the terms of a module as a list of definitions."""
        if mod.docstring:
            mod.docstring.value = terms_marked(mod.docstring.value + "\n")

    def on_function(self, *, func: Function, **_: Any) -> None:
        """Warn of parameters, which fails a strict build; griffe itself would not warn.

        A docstring without a section of parameters is only a summary, and is not checked. For
        public names tests/test_architecture.py requires the section.
        """
        if not func.docstring:
            return
        for section in parse_numpy(func.docstring, warnings=False):
            if isinstance(section, DocstringSectionParameters):
                named = {one.name.strip("*") for one in section.value} | {"self", "cls"}
                for name in [one.name for one in func.parameters if one.name not in named]:
                    logger.warning(f"{func.path}: the parameter {name} is not documented")
        # Called for what the site shows; only there may griffe warn.
        func.docstring.parse = lambda *_, **__: read(func)


def read(func: Function) -> list[DocstringSection]:
    """Read a docstring, and join what it explains at once."""
    sections = parse_numpy(func.docstring)
    for section in sections:
        if isinstance(section, DocstringSectionParameters):
            section.value = together(section, func)
    return sections


def together(section: DocstringSectionParameters, func: Function) -> list[DocstringParameter]:
    """Return one entry for names with one explanation, with their default if they share it.

    griffe has an entry for each of them, with the explanation again, and the default of the first.
    """
    entries = []
    for _, group in groupby(section.value, lambda one: one.description):
        entry, *others = group
        names = [entry.name, *(one.name for one in others)]
        defaults = [one.default for one in func.parameters if one.name in names]  # not of *names
        entry.name = ", ".join(names)
        entry.value = defaults[0] if len({*map(str, defaults)}) == 1 else None
        entries.append(entry)
    return entries


def terms_marked(text: str) -> str:
    """Write terms and their explanations in Markdown's form, with a colon (`def_list`)."""
    return TERM.sub(lambda found: f"\n{found['term']}\n:{found['text'][1:]}\n", text)
