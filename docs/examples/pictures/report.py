"""A report as a map: the network of the page, with the verdict on each weight and each gate."""

import contextlib
import io
import re
from pathlib import Path

from pictures import drawing

PAGE = Path(__file__).parents[2] / "check" / "reading_a_report.md"
FONT = 20  # so that a phone, half as wide as the picture, shows it at 10
DATA, HIDDEN, OUT = 90, 340, 600  # the columns of the network
UNITS = [75, 195, 315]
INPUTS = [135, 255]
OUTPUT = 195


def names_of_the_page():
    """Run the examples of the page up to its report; return their names."""
    names = {}
    fences = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    with contextlib.redirect_stdout(io.StringIO()):
        for fence in fences[:3]:
            exec(fence, names)
    return names


def verdicts(report):
    """Return {input: the verdict on each of its entries, in order}."""
    pairs = report.to_dict(entries=True)["pairs"]
    return {pair["input"]["name"]: [row[0] for row in pair["verdict"]] for pair in pairs}


def ink(verdict):
    """Return the colour and the dashes of a verdict."""
    return (drawing.RED, "9 5") if verdict == "fail" else (drawing.GREEN, "")


def edge(start, end, verdict):
    """Draw a weight between two columns."""
    colour, dashes = ink(verdict)
    return drawing.line(*start, *end, colour, dashes, width=3)


def unit(x, y, words, verdict=None):
    """Draw a unit, with a name in it."""
    colour, dashes = ink(verdict) if verdict else (drawing.GREY, "")
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    circle = f'<circle cx="{x}" cy="{y}" r="21" fill="#ffffff" stroke="{colour}" stroke-width="3"'
    return [f"{circle}{dashed}/>", drawing.text(x, y + 7, words)]


def gates(x, y, opened):
    """Draw a dot for each row of data: filled where the ReLU is open."""
    shape = '<circle cx="{x}" cy="{y}" r="6" stroke="{c}" stroke-width="2" fill="{fill}"/>'
    return [
        shape.format(x=x + 18 * k, y=y, c=drawing.BROWN, fill=drawing.BROWN if one else "#ffffff")
        for k, one in enumerate(opened)
    ]


def files():
    """Return the text of the one file."""
    page = names_of_the_page()
    found, point = verdicts(page["report"]), page["point"]
    opened = (page["X"] @ point["W1"] + point["b1"] > 0).T.tolist()
    parts = []
    for i, y in enumerate(INPUTS):
        for j, other in enumerate(UNITS):
            parts.append(edge((DATA, y), (HIDDEN, other), found["W1"][3 * i + j]))
    for j, y in enumerate(UNITS):
        parts.append(edge((HIDDEN, y), (OUT, OUTPUT), found["W2"][j]))
        parts += unit(HIDDEN, y, str(j), found["b1"][j])
        parts += gates(HIDDEN - 27, y - 36, opened[j])
    for y in INPUTS:
        parts += unit(DATA, y, "")
    parts += unit(OUT, OUTPUT, "", found["b2"][0])
    for x, words in ((205, "W1, b1"), (500, "W2, b2")):
        parts.append(drawing.text(x, 32 if x < HIDDEN else 82, words))
    parts.append(drawing.text(DATA, 205, "data"))
    parts.append(drawing.text(OUT, 245, "output"))
    for k, (verdict, words) in enumerate((("pass", "right"), ("fail", "wrong"))):
        x = 30 + 150 * k
        parts.append(edge((x, 378), (x + 44, 378), verdict))
        parts.append(drawing.text(x + 54, 385, words, anchor="start"))
    for x, is_open, words in ((340, True, "ReLU open in a row"), (570, False, "closed")):
        parts += gates(x, 378, [is_open])
        parts.append(drawing.text(x + 15, 385, words, anchor="start"))
    return {"report.svg": drawing.picture("What the report says of the network", parts, font=FONT)}
