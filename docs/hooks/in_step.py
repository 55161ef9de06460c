"""A translated page keeps in step with its original: the same parts, and a look at each change.

The translation of `docs/wild.md` is `docs/zh/wild.md`. It has the line `[[block]]` for each block
of code, output, formulas, or an included file; the site takes them from the original, so that they
exist once. CONTRIBUTING.md says how to translate a page. By hand, where PAGE is the translation:

    python docs/hooks/in_step.py                what is out of step, and how many pages there are
    python docs/hooks/in_step.py start PAGE     write the original there, to be translated
    python docs/hooks/in_step.py seen PAGE ...  they were compared with their originals as they are
"""

import argparse
import hashlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from exercise_text import EDITOR, whole

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
LANGUAGES = ("zh",)

SETTINGS = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)
DESCRIPTION = re.compile(r"^description: .*$", re.MULTILINE)  # a translation has its own
SEEN = re.compile(r"^original: (\w+)$", re.MULTILINE)
PLACE = re.compile(r"^( *)\[\[block\]\]$", re.MULTILINE)
# A fence, formulas, or an included file.
BLOCK = re.compile(
    r"^(?P<indent> *)"
    r"(?:(?P<ticks>`{3,})[^`\n]*\n.*?^ *(?P=ticks)|\$\$\n.*?^ *\$\$|--8<--\n.*?^ *--8<--)$"
    r"|(?P<code>(?<=\n\n)(?: {4}[^\n]*\n|\n(?= {4}))+)",
    re.MULTILINE | re.DOTALL,
)
# What only the readers of a translation need, such as the meaning of English words.
OWN = re.compile(r"<!-- only here -->.*?<!-- /only here -->", re.DOTALL)
# What is indented below one of these belongs to it. Elsewhere it is code.
HOLDS = re.compile(r" *(?:[-*]|\d+\.|:|!!!|\?\?\?) ")


# --- pairs -----------------------------------------------------------------------------------


def translated(language: str = "zh") -> list[Path]:
    """Return the pages that exist in a language."""
    return sorted((DOCS / language).rglob("*.md"))


def original_of(page: Path) -> Path:
    """Return the English page that a page translates."""
    return DOCS.joinpath(*page.relative_to(DOCS).parts[1:])


def text_of(page: Path) -> str:
    """Return the words of an English page, those of its exercise as well, without its settings."""
    return whole(SETTINGS.sub("", page.read_text(encoding="utf-8")))


def sources_of(page: Path) -> list[Path]:
    """Return the files that an English page is made of, or was, if it is gone."""
    exercise = page.exists() and EDITOR.search(page.read_text(encoding="utf-8"))
    if not exercise:
        return [page]
    own = (f"{exercise[1]}/{name}" for name in ("README.md", "hints.md", "checks.py"))
    return [page, *(ROOT / "exercises" / name for name in (*own, "course.toml", "answers.md"))]


def mark_of(page: Path) -> str:
    """Return a number for the words of an English page; where lines break does not count."""
    settings = SETTINGS.match(page.read_text(encoding="utf-8"))
    words = [*DESCRIPTION.findall(settings[0] if settings else ""), text_of(page)]
    return hashlib.sha256(" ".join(" ".join(words).split()).encode()).hexdigest()[:12]


# --- blocks ----------------------------------------------------------------------------------


def blocks_in(text: str) -> Iterator[re.Match[str]]:
    """Find the blocks of a page that every language shares."""
    at = 0
    while block := BLOCK.search(text, at):
        if block["code"] and _is_held(text[: block.start()]):
            at = text.index("\n", block.start()) + 1
        else:
            yield block
            at = block.end()


def _is_held(before: str) -> bool:
    """Say whether what is indented after this text belongs to an item of a list, or to a note."""
    parts = [part for part in re.split(r"\n\s*\n", before) if part.strip() and part[0] != " "]
    return bool(parts) and any(map(HOLDS.match, parts[-1].splitlines()))


def places_for_blocks(text: str) -> str:
    """Return a page with `[[block]]` in place of its blocks."""
    parts, end = [], 0
    for block in blocks_in(text):
        parts += [text[end : block.start()], block["indent"] or "", "[[block]]"]
        end = block.start() + len(block[0].rstrip("\n"))
    return "".join([*parts, text[end:]])


def filled(translation: str, original: str) -> str:
    """Put the blocks of the original into a translation.

    Raises
    ------
    ValueError
        If one has more of them than the other.
    """
    blocks = [block[0].rstrip("\n") for block in blocks_in(original)]
    places = len(PLACE.findall(translation))
    if places != len(blocks):
        raise ValueError(f"{len(blocks)} blocks in the original, {places} [[block]]")
    found = iter(blocks)
    return PLACE.sub(lambda _: next(found), translation)


# --- the same parts ----------------------------------------------------------------------------

CODE = re.compile(r"`([^`]+)`")
FORMULA = re.compile(r"\$([^$]+)\$")
LINK = re.compile(r"\]\(([^)\s]+)\)")
TAG = re.compile(r"<!--.*?-->|</?\w[^>]*>")
SAID = re.compile(r' (?:alt|title|aria-label)="[^"]*"')  # what a tag says to a reader
HEADING = re.compile(r"^(#+ .*?)(?: +\{ *(.*?) *\})?$", re.MULTILINE)  # with its settings
PARTS = {
    "headings": re.compile(r"^(#+) ", re.MULTILINE),
    "items of lists": re.compile(r"^( *(?:[-*]|\d+\.)) ", re.MULTILINE),
    "rows of tables": re.compile(r"^ *(\|)", re.MULTILINE),
    "definitions": re.compile(r"^(:) {2,}", re.MULTILINE),
    "notes": re.compile(r"^( *(?:!!!|\?\?\?)\+? \w+)", re.MULTILINE),
    "settings in braces": re.compile(r"(?<=[\w*)\n])(\{ ?[^{}\n]*\})"),
}


def skeleton(text: str) -> dict[str, list[str]]:
    """Return the parts of a page that do not depend on its language, without its blocks."""
    text = SETTINGS.sub("", text)
    code, text = _taken(CODE, text)
    formulas, text = _taken(FORMULA, text)
    links, text = _taken(LINK, text)
    tags, text = _taken(TAG, text)
    text = HEADING.sub(r"\1", text)  # the original has them
    return {
        "inline code": sorted(set(code)),
        "inline formulas": sorted(formulas),
        "links": sorted(links),
        "tags": [SAID.sub("", tag) for tag in tags],
        **{name: found.findall(text) for name, found in PARTS.items()},
    }


def _taken(what: re.Pattern[str], text: str) -> tuple[list[str], str]:
    """Return what was found, in one line each, and the text without it."""
    found = [" ".join(match[match.re.groups].split()) for match in what.finditer(text)]
    return found, what.sub("]()" if what is LINK else "", text)


def differences(translation: str, original: str) -> list[str]:
    """Return how the parts of a translation differ from those of the original, in sentences.

    A translation may quote any words of the original as code, and have parts of its own.
    """
    translation = OWN.sub("", translation)
    blocks = [*blocks_in(original)]
    places = len(PLACE.findall(translation))
    said = [f"blocks: {len(blocks)}, but {places} [[block]]"] * (len(blocks) != places)
    said += [f"has a block of its own: {block[0][:60]!r}" for block in blocks_in(translation)]
    ours, theirs = skeleton(places_for_blocks(original)), skeleton(translation)
    plain = original.replace("*", "")  # without the marks of emphasis
    quotable = " ".join(f"{original} {plain}".split()).lower()
    theirs["inline code"] = [
        code
        for code in theirs["inline code"]
        if code in ours["inline code"] or code.lower() not in quotable
    ]
    for part, wanted in ours.items():
        found = theirs[part]
        for more, than, word in ((wanted, found, "missing"), (found, wanted, "more")):
            if rest := [*(Counter(more) - Counter(than)).elements()]:
                said.append(f"{part}: {word} {rest}")
        if wanted != found and Counter(wanted) == Counter(found):
            said.append(f"{part}: in another order")
    return said


def out_of_step(page: Path) -> list[str]:
    """Return what is wrong with a translation, in sentences that name both pages."""
    original, text = original_of(page), page.read_text(encoding="utf-8")
    names = f"{page.relative_to(ROOT).as_posix()} and {original.relative_to(ROOT).as_posix()}"
    if not original.exists():
        return [f"{names}: there is no such original. If it moved, the translation moves, too"]
    said = [f"{names}: {one}" for one in differences(text, text_of(original))]
    if not (seen := SEEN.search(text)) or seen[1] != mark_of(original):
        said.append(f"{names}: the original has changed since its translation was last compared")
    return said


# --- by hand ---------------------------------------------------------------------------------

PLAIN = re.compile(r"(?![#|<:{]|!!!|!\[|\[\[block|[-*] |\d+\. )\S")


def unwrapped(text: str) -> str:
    """Return a text with each paragraph in one line."""
    lines: list[str] = []
    for line in text.splitlines():
        before = lines[-1].strip() if lines else ""
        joins = PLAIN.match(line.strip()) and re.match(r"[^#|<{]", before) and before != "[[block]]"
        if joins:
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def start(page: Path) -> None:
    """Write the original to where its translation will be, with `[[block]]` for its blocks."""
    original = original_of(page)
    settings = SETTINGS.match(original.read_text(encoding="utf-8"))
    more = settings[0].split("---\n")[1] if settings else ""
    head = f"---\noriginal: {mark_of(original)}\n{more}---\n\n"
    text = places_for_blocks(text_of(original))
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(head + unwrapped(HEADING.sub(r"\1", text)), encoding="utf-8")


def see(page: Path) -> None:
    """Write down that a translation was compared with its original as it is now."""
    text = SEEN.sub(f"original: {mark_of(original_of(page))}", page.read_text(encoding="utf-8"), 1)
    page.write_text(text, encoding="utf-8")


def what_changed(page: Path) -> str:
    """Return the command that shows what changed since a translation was last compared."""
    last = subprocess.run(
        ["git", "log", "-1", "--format=%h", "-G", "^original: ", "--", page],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    files = [path.relative_to(ROOT).as_posix() for path in sources_of(original_of(page))]
    return f"git diff {last or 'HEAD'} -- {' '.join(files)}"


def translation(word: str) -> Path:
    """Read the path of a translation of a page that there is."""
    page = Path(word).resolve()
    if not any(page.is_relative_to(DOCS / language) for language in LANGUAGES):
        folders = " or ".join(f"docs/{language}" for language in LANGUAGES)
        raise argparse.ArgumentTypeError(f"{word} is not in {folders}, where translations are")
    if not (original := original_of(page)).is_file():
        translates = original.relative_to(ROOT).as_posix()
        raise argparse.ArgumentTypeError(f"{word} would translate {translates}, which is not there")
    return page


def not_begun(word: str) -> Path:
    """Read the path of a translation that is not there yet."""
    if (page := translation(word)).exists():
        raise argparse.ArgumentTypeError(f"{word} exists, and would be written over")
    return page


def begun(word: str) -> Path:
    """Read the path of a translation that says with which original it was compared."""
    page = translation(word)
    if not page.is_file():
        raise argparse.ArgumentTypeError(f"{word} is not there: write it first, with start")
    if not SEEN.search(page.read_text(encoding="utf-8")):
        raise argparse.ArgumentTypeError(f"{word} has no line 'original: ...', which start writes")
    return page


def main(words: list[str]) -> int:
    """Do what the docstring of this file says; return 1 where something is out of step."""
    what = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    commands = what.add_subparsers(dest="command", metavar="COMMAND")
    for name, do, page, about in (
        ("start", start, not_begun, "write the original there, to be translated"),
        ("seen", see, begun, "they were compared with their originals as they are"),
    ):
        command = commands.add_parser(name, help=about, description=about)
        command.add_argument("pages", nargs="+", type=page, metavar="PAGE", help="in docs/zh")
        command.set_defaults(do=do)
    chosen = what.parse_args(words)
    if chosen.command:
        for page in chosen.pages:
            chosen.do(page)
        return 0
    faults = 0
    for language in LANGUAGES:
        for page in translated(language):
            for fault in (said := out_of_step(page)):
                print(fault)
            if said:
                print(f"    {what_changed(page)}")
            faults += len(said)
        print(f"{language}: {len(translated(language))} pages")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
