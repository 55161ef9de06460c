"""The adapters without a framework: what they say then, and how they arrange a call.

What they do with torch and JAX is in test_adapters_both.py, test_adapters_torch.py and
test_adapters_jax.py, each of which is skipped, by name, where that is not installed.
"""

import subprocess
import sys

import numpy as np
import pytest
from docstrings import faults_of

from gradcheck_ref.adapters import check_module, from_jax, from_torch
from gradcheck_ref.adapters.calls import Arguments


@pytest.mark.parametrize("adapter", [from_torch, from_jax, check_module])
def test_an_adapter_is_documented_in_full(adapter):
    assert faults_of(adapter) == []


ADAPTERS = [("torch", from_torch), ("torch", check_module), ("jax", from_jax)]


@pytest.mark.parametrize(("name", "adapter"), ADAPTERS)
def test_a_missing_framework_is_named_with_the_extra_that_brings_it(monkeypatch, name, adapter):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=rf"pip install 'gradcheck-ref\[{name}\]'"):
        adapter(np.sin)


def test_the_adapters_import_a_framework_only_when_it_is_needed():
    code = (
        "import sys, gradcheck_ref.adapters\nsys.exit(({'torch', 'jax'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


POINT = np.array([1.0, 2.0])


PAIR = {"w": POINT, "b": POINT + 1}


@pytest.mark.parametrize(
    ("named", "given"),
    [
        ({"p": PAIR}, PAIR),
        ({"p": PAIR}, {"p": PAIR}),
        ({"w": PAIR}, PAIR),
        ({"w": PAIR}, {"w": PAIR}),
        ({"params": {"params": PAIR}}, {"params": PAIR}),
        ({"params": {"params": PAIR}}, {"params": {"params": PAIR}}),
    ],
    ids=["itself", "by name", "its key", "its key, by name", "its own name", "both by name"],
)
def test_a_tree_that_came_by_name_has_its_tangent_with_and_without_the_name(named, given):
    listed = Arguments((), named).listed(given, "tangent")
    assert [one.tolist() for one in listed] == [[1, 2], [2, 3]]


@pytest.mark.parametrize(
    ("inputs", "named", "given", "said"),
    [
        ((), {"w": POINT, "b": POINT}, {"w": POINT, "B": POINT}, r"'B', .* names \['w', 'b'\]"),
        ((POINT, POINT), {}, {"w": POINT, "b": POINT}, "'w', 'b', .* passed in order"),
        ((POINT,), {"b": POINT}, {"b": POINT}, "'b', .* passed in order"),
        ((POINT, 3), {}, (POINT,), "is for 1 inputs, but there are 2"),
        ((), {"p": PAIR}, {"P": PAIR}, r"'P', .* names \['p'\]"),
        ((), {"p": PAIR}, {"w": POINT, "B": POINT}, r"'w', 'B', .* names \['p'\]"),
    ],
    ids=[
        "a slip in a name",
        "names for inputs in order",
        "names for some",
        "too few",
        "a slip in the name of a tree",
        "a slip in a tree",
    ],
)
def test_a_tangent_that_would_be_lost_is_refused(inputs, named, given, said):
    with pytest.raises(ValueError, match=f"^tangent .*{said}"):
        Arguments(inputs, named).listed(given, "tangent")
