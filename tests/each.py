"""Tests of many rows that are one test: hundreds of rows would cost seconds before any is tried."""

import functools
import inspect


def each(name, rows):
    """Try a test with each of the rows, as the argument of this name; a failure names its row.

    Parameters
    ----------
    name : str
        The argument.
    rows : callable
        Returns the rows; they have a ``name``.
    """

    def decorate(test):
        parameters = inspect.signature(test).parameters

        @functools.wraps(test)
        def with_each(**given):
            for row in rows():
                try:
                    test(**{name: row}, **given)
                except BaseException as error:
                    error.add_note(f"{name}: {row.name}")
                    raise

        with_each.__signature__ = inspect.Signature(
            [parameter for other, parameter in parameters.items() if other != name]
        )
        return with_each

    return decorate
