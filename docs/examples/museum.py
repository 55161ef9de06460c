"""Prints the museum of released bugs, as Markdown: a row for each."""

import warnings

from wild import shown

from gradcheck_ref.zoo.wild import WILD

warnings.simplefilter("ignore", RuntimeWarning)

OFTEN = {0: "never", 100: "always"}


def link(where):
    """Return a link to an issue, a pull request or a commit."""
    project, kind, number = where.split()
    folder = {"issue": "issues"}.get(kind, kind)
    return f"[{kind} {number}](https://github.com/{project}/{folder}/{number})"


if __name__ == "__main__":
    print("| bug | source | year | lived | random points show it | why nobody noticed |")
    print("| --- " * 6 + "|")
    for wild in WILD:
        where, year, lived = wild.source
        draws = shown(wild)
        often = OFTEN.get(draws, f"{draws} of 100")
        print(f"| `{wild.id}` | {link(where)} | {year} | {lived} | {often} | {wild.unnoticed} |")
