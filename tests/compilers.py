"""How a program in another language is started: found, or compiled, or skipped by name."""

import shutil
import subprocess

import pytest


def javascript(source):
    """Return the command that runs it, if there is a node."""
    node = shutil.which("node") or pytest.skip("needs node")
    return [node, str(source)]


def c(source):
    """Compile it, if there is a compiler; return the command."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        pytest.skip("needs a C compiler")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
    return compiled([compiler, *strict, "-o", "checker", source.name, "-lm"], source)


def rust(source):
    """Compile it, if there is a compiler; return the command."""
    compiler = shutil.which("rustc") or pytest.skip("needs rustc")
    return compiled([compiler, "-D", "warnings", "-o", "checker", source.name], source)


def fortran(source):
    """Compile it, if there is a compiler; return the command."""
    compiler = shutil.which("gfortran") or pytest.skip("needs gfortran")
    strict = ["-std=f2008", "-Wall", "-Wextra", "-Werror"]
    return compiled([compiler, *strict, "-o", "checker", source.name], source)


def compiled(command, source):
    """Compile where the source stands."""
    program = source.with_name("checker")
    if not program.exists():
        subprocess.run(command, cwd=source.parent, check=True)
    return [str(program)]
