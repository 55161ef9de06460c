"""Runs the examples of a page, inside the reader's browser (see worker.js)."""

import contextlib
import io
import linecache
import sys
import traceback
from collections.abc import Sequence


class Silence(io.TextIOBase):
    """Swallows what is printed."""

    def write(self, text: str) -> int:
        """Take the text, and keep nothing of it."""
        return len(text)


def run(sources: Sequence[str]) -> tuple[str, str]:
    """Run examples from top to bottom, in one new namespace; only the last one is heard.

    Parameters
    ----------
    sources : sequence of str
        The examples.

    Returns
    -------
    error : str
        What ended them: the name of the exception, empty where there was none.
    missing : str
        The module that was not there, if that is what ended them.
    """
    names = {"__name__": "__main__"}
    for number, source in enumerate(sources, 1):
        name = f"<example {number} on this page>"
        lines = source.splitlines(keepends=True)
        linecache.cache[name] = (len(source), None, lines, name)  # for the lines of a traceback
        heard = number == len(sources)
        try:
            with contextlib.nullcontext() if heard else contextlib.redirect_stdout(Silence()):
                exec(compile(source, name, "exec", dont_inherit=True), names)
        except BaseException as error:  # a SystemExit too: there is nobody to catch it
            # The first frame is this function, which is none of the reader's business.
            own, error.__traceback__ = error.__traceback__, None
            traceback.print_exception(error.with_traceback(own.tb_next))
            missing = error.name if isinstance(error, ModuleNotFoundError) else None
            return type(error).__name__, missing or ""
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
    return "", ""
