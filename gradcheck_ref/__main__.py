"""The command line: ``python -m gradcheck_ref``, also installed as ``gradcheck-ref``."""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence

from gradcheck_ref import __version__
from gradcheck_ref.tour import told, tour


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tour.

    Parameters
    ----------
    arguments : sequence of str, optional
        The command line; by default that of the process.

    Returns
    -------
    int
        The exit status: 0 if the right gradient passed and the wrong one was caught, else 1.
        (Bad use ends with status 2, from argparse.)
    """
    parser = argparse.ArgumentParser(
        prog="gradcheck-ref",
        description="A tour: five ways to check a gradient, a network checked, a bug caught.",
    )
    parser.add_argument("--json", action="store_true", help="print what the tour saw as data")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    options = parser.parse_args(arguments)

    width = max(shutil.get_terminal_size().columns, 40)
    seen = tour(width=min(width, 88))
    if options.json:
        print(json.dumps(seen, indent=2, allow_nan=False))
    else:
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        print(told(seen, width=width, colour=colour))
    return 0 if seen["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
