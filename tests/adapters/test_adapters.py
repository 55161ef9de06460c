"""The adapters without a framework: what they say then.

What they do with torch and JAX is in test_adapters_both.py, test_adapters_torch.py and
test_adapters_jax.py, each of which is skipped, by name, where that is not installed.
"""

import sys

import numpy as np
import pytest
from docstrings import faults_of

from gradcheck_ref.adapters import check_module, from_jax, from_torch


@pytest.mark.parametrize("adapter", [from_torch, from_jax, check_module])
def test_an_adapter_is_documented_in_full(adapter):
    assert faults_of(adapter) == []


ADAPTERS = [("torch", from_torch), ("torch", check_module), ("jax", from_jax)]


@pytest.mark.parametrize(("name", "adapter"), ADAPTERS)
def test_a_missing_framework_is_named_with_the_extra_that_brings_it(monkeypatch, name, adapter):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=rf"pip install 'gradcheck-ref\[{name}\]'"):
        adapter(np.sin)
