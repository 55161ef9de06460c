"""Draws the pictures of the pages, and writes the data of the zoo for the live figures.

Says whether the stored ones are the same; `python docs/examples/figures.py write` stores them.
"""

import sys
from pathlib import Path

from pictures import (
    calls,
    check,
    chinese,
    course,
    crossing,
    detection,
    digits,
    error_bar,
    flips,
    halving,
    kink,
    ladder,
    learning,
    lectures_layers,
    lectures_numbers,
    lectures_tests,
    lines,
    low_precision,
    museum,
    newton,
    noise,
    repairs,
    report,
    scale,
    search,
    secant,
    stages,
    staircase,
    three_claims,
    tolerance_plane,
    v_curve,
    zoom,
)

FOLDER = Path(__file__).parents[1] / "assets" / "figures"

for picture in (
    v_curve,
    zoom,
    digits,
    kink,
    tolerance_plane,
    flips,
    lines,
    low_precision,
    staircase,
    error_bar,
    newton,
    noise,
    halving,
    search,
    three_claims,
    detection,
    secant,
    stages,
    museum,
    calls,
    ladder,
    check,
    course,
    report,
    repairs,
    crossing,
    scale,
    learning,
    lectures_numbers,
    lectures_layers,
    lectures_tests,
):
    files = picture.files()
    for name in [name for name in files if name in chinese.WORDS]:
        files[chinese.name_of(name)] = chinese.translated(name, files[name])
    for name, content in files.items():
        path = FOLDER / name
        if sys.argv[1:] == ["write"]:
            path.write_text(content, encoding="utf-8")
        same = path.read_text(encoding="utf-8") == content
        print(f"docs/assets/figures/{name} is {'as' if same else 'not as'} drawn here")
