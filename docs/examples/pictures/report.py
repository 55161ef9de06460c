"""The anatomy of a report: each part of one, with what it says."""

import re
from html import escape
from pathlib import Path

from pictures import drawing

PAGE = Path(__file__).parents[2] / "check" / "reading_a_report.md"  # its tests hold the report
FONT, LINE = 20, 29
LEFT, LABELS = 16, 404
# {how a part of the report begins: what it says}, in the order of the report
PARTS = {
    r"FAIL": "the verdict",
    r"w: \d+ of \d+ entries differ": "wrong entries of an input",
    r"worst at \S+(?=:)": "the worst entry",
    r"analytic \S+(?=,)": "your claim there",
    r"numeric \S+": "the measured slope",
    r"\+- \S+(?=,)": "its error bar",
    r"allowed \S+": "the tolerance",
    r"right: .*": "the other inputs",
    r"looks like: \w+: every entry": "a mistake that would",
    r"is \d x the numeric value": "give these numbers",
    r"try: is f a mean over \d rows,": "where to look",
    r"or divided by \d\?": "",
    r"\d+ evaluations": "calls of f",
    r"noise of f [^,]*": "in the last digits of f",
    r"rtol \S+ atol by scale": "the settings, to repeat",
    r"seed \d+": "the same check",
}
APART = {7, 8, 10, 12}  # rows with some space above


def report():
    """Return the first report of the page, in one line for each of its paragraphs."""
    block = re.search(r"```console\n(FAIL.*?)\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return re.sub(r"\n +", " ", block[1])


def mono(x, y, words, colour=drawing.BLACK):
    """Write words as a terminal does."""
    return drawing.text(x, y, escape(words), colour, "start").replace(
        "<text", '<text font-family="monospace"'
    )


def files():
    """Return the text of the one file."""
    shown, parts, y = report(), [], 38 - LINE
    for row, (begins, label) in enumerate(PARTS.items()):
        y += LINE + 14 * (row in APART)
        found = re.search(begins, shown)[0]
        parts.append(mono(LEFT, y, found, drawing.RED if row == 0 else drawing.BLACK))
        if label:
            end = LEFT + 12.1 * len(found) + 8
            parts.append(drawing.line(end, y - 6, LABELS - 8, y - 6, drawing.PALE, width=2))
            parts.append(drawing.text(LABELS, y, label, drawing.BLUE, "start"))
    title = "The parts of a report, and what each one says"
    return {"report.svg": drawing.picture(title, parts, height=y + 20, font=FONT)}
