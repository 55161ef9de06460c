"""The random programs of ``tests/tools``, for tests that need one of them."""

import importlib.util
import sys
from pathlib import Path


def checks(kind, seed):
    """Yield the checks of one program: what is done to its gradient, and a call that checks it."""
    if "random_programs" not in sys.modules:
        path = Path(__file__).parents[1] / "tools" / "random_programs.py"
        spec = importlib.util.spec_from_file_location("random_programs", path)
        sys.modules["random_programs"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["random_programs"])
    return sys.modules["random_programs"].checks(kind, seed)
