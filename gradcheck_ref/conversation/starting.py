"""Say why a program did not start, and what to do; the system says little or nothing."""

import contextlib
import errno
import os
import shlex
import shutil
from collections.abc import Sequence

# The program that runs a file, by the end of the file's name.
RUN_BY = {".py": "python3", ".js": "node", ".jl": "julia", ".rb": "ruby", ".pl": "perl"}
# Files that must be compiled first.
SOURCES = (".c", ".cc", ".cpp", ".rs", ".f90", ".f", ".go", ".java", ".cs", ".hs", ".swift")
LONGEST_NAME = 200  # bytes to read of a first line


def why_not_started(command: Sequence[str], error: Exception) -> str:
    """Say why a command does not start.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    error : Exception
        The error of the attempt to start it.
    """
    return f"cannot start {command[0]}: {_why(command[0], command, error)}"


def _why(program: str, command: Sequence[str], error: Exception) -> str:
    found = program if os.path.dirname(program) else shutil.which(program)
    run_by = next((by for end, by in RUN_BY.items() if program.endswith(end)), "INTERPRETER")
    by = f"{run_by} {shlex.quote(program)}"
    number = error.errno if isinstance(error, OSError) else None
    if not program.strip():
        return "its name is empty"
    if os.path.isdir(program):
        return "it is a directory: give the program in it"
    if not found and os.path.isfile(program):
        return f"start a program in this directory with ./, as in {shlex.quote(f'./{program}')}"
    if not found or not os.path.exists(found):
        quoted = " " in program and len(command) == 1
        hint = f" Or should it be written without quotes: {program}" if quoted else ""
        return f"there is no such program: is it built, and is this its directory?{hint}"
    if program.endswith(SOURCES):
        return "it is source code: compile it, and give the compiled program"
    if number == errno.ENOENT and (interpreter := _interpreter(found)):
        return (
            f"its first line asks for {interpreter}, which does not exist. Does the line end with "
            "a Windows line break, or is the interpreter elsewhere? #!/usr/bin/env NAME finds it"
        )
    if number == errno.ENOEXEC:
        return f"a script needs a first line with #! and its interpreter; or run it with {by}"
    if number == errno.EACCES and not os.access(found, os.X_OK):
        return f"it is not executable: chmod +x {shlex.quote(program)}, or run it with {by}"
    return str(error)


def _interpreter(path: str) -> str:
    """Return the interpreter that the first line of a script names; "" if it is not a script."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        first = file.read(LONGEST_NAME).split(b"\n")[0]
        return first[2:].strip().decode(errors="replace") if first.startswith(b"#!") else ""
    return ""
