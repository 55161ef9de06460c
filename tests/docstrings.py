"""What the docstring of a public function has to say."""

import ast
import functools
import inspect
import re


@functools.cache
def parsed(source):
    """Parse a source once, for all tests that look through the package."""
    return ast.parse(source)


def section(docstring, title):
    """Return the text of a NumPy docstring's section, None if there is none."""
    found = re.search(
        rf"^{title}\n-{{{len(title)}}}\n(.*?)(?=^\w+\n-+\n|\Z)", docstring, re.M | re.S
    )
    return found and found[1]


def names_in(content):
    """Return the names a section describes: `x : float`, or several, `rtol, atol : float`."""
    described = re.findall(r"^([\w, *]+?) :", content or "", re.MULTILINE)
    return re.findall(r"\w+", " ".join(described))


def faults_of(function):
    """Return one sentence for everything a public function's docstring lacks."""
    text = inspect.getdoc(function) or ""
    sections = {
        title: section(text, title)
        for title in ("Parameters", "Returns", "Raises", "Notes", "Examples")
    }
    faults = [f"has no section {title}" for title, content in sections.items() if not content]
    named = names_in(sections["Parameters"])
    if named != list(inspect.signature(function).parameters):
        faults.append(f"describes the parameters {named} of {inspect.signature(function)}")
    if "Cost" not in (sections["Notes"] or ""):
        faults.append("does not say in its Notes what it costs: 'Cost: ... evaluations of f'")
    if ">>> " not in (sections["Examples"] or ""):
        faults.append("has no example that is run")
    return faults
