"""Prints, as Markdown, the public names of each module, and the parameters of its functions."""

import importlib
from inspect import isfunction, signature

from gradcheck_ref.check.knobs import Options

MODULES = (
    *("gradcheck_ref", "gradcheck_ref.adapters", "gradcheck_ref.zoo"),
    *(f"gradcheck_ref.compat.{peer}" for peer in ("cs231n", "torch", "tvm", "warp")),
)


def names_of(module):
    """Return the public names: those in `__all__`, or the functions that the module defines."""
    own = (name for name, one in vars(module).items() if isfunction(one))
    written = (name for name in own if vars(module)[name].__module__ == module.__name__)
    return sorted(getattr(module, "__all__", (name for name in written if name[0] != "_")))


def called(module, name):
    """Return the name with its parameters; the twin of a check has two more, and hands some on."""
    one = getattr(module, name)
    if not isfunction(one) or ".compat." in module.__name__:  # with the parameters of its peer
        return f"`{name}`"
    parameters = list(signature(one).parameters)
    if name.startswith("assert_"):
        check = signature(getattr(module, name.replace("assert_", "check_"))).parameters
        own = [parameter for parameter in check if parameter not in Options.__annotations__]
        assert parameters == [*own, "unsure", "empty", "options"]
        assert Options.__annotations__.keys() <= check.keys()
        return f"`{name}`"
    return f"`{name}({', '.join(parameters)})`"


for path in MODULES:
    module = importlib.import_module(path)
    print(f"- **{path}**: {', '.join(called(module, name) for name in names_of(module))}.")
