"""Messages in another language: they are looked up where they are shown, and no check knows of it.

``locale/zh.po`` has the translations, by the English messages. A message with values in it, such as
``wrong at {places}``, is known by the words around its fields. The text in a field may be a
message, too. A message without a translation is shown in English.
"""

import functools
import re
from pathlib import Path
from string import Formatter

LOCALE = Path(__file__).resolve().parent / "locale"
ENGLISH = "en"
MOST_NESTED = 5  # messages in messages: a submission may write texts that look like many

_spoken = ENGLISH


def languages() -> list[str]:
    """Return the languages in which there are messages."""
    return [ENGLISH, *sorted(path.stem for path in LOCALE.glob("*.po"))]


def speak(language: str) -> None:
    """Show messages in a language from now on."""
    global _spoken
    if language not in languages():
        raise ValueError(f"there is no language {language!r}; choose {' or '.join(languages())}")
    _catalogue(language)  # a file that cannot be used is refused here, not at some later message
    _spoken = language


def spoken() -> str:
    """Return the language in which messages are shown."""
    return _spoken


def word(label: str) -> str:
    """Return a label or a title in the language that is spoken."""
    return _catalogue(_spoken)[0].get(label, label)


def told(text: str, nested: int = MOST_NESTED) -> str:
    """Return a message in the language that is spoken; any other text as it is.

    A single word is no message: it may be the name of a function, or an answer.
    """
    if " " not in text or not nested:
        return text
    messages, templates = _catalogue(_spoken)
    if text in messages:
        return messages[text]
    for pattern, translation in templates:
        if found := pattern.fullmatch(text):
            fields = {name: told(part, nested - 1) for name, part in found.groupdict().items()}
            return translation.format(**fields)
    return text


@functools.cache
def _catalogue(language: str) -> tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]:
    """Return the translations of messages without fields, and of those with.

    Those with the most words come first, but before them those that add to another message, which
    is in a field called ``said``.
    """
    path = LOCALE / f"{language}.po"
    entries = read_file(path) if path.exists() else {}
    translated = {english: text for english, text in entries.items() if text}
    plain, templates = dict[str, str](), list[tuple[bool, int, re.Pattern[str], str]]()
    for english, text in translated.items():
        words, names = parts_of(english)
        if not same_fields(english, text):
            raise ValueError(f"{path.name}: {OTHER_FIELDS}: {english}")
        if names:
            adds = names[0] == "said"
            templates.append((not adds, -sum(map(len, words)), _pattern(words, names), text))
        else:
            plain[words[0]] = text.format()
    templates.sort(key=lambda template: template[:2])
    return plain, [template[2:] for template in templates]


def parts_of(template: str) -> tuple[list[str], list[str]]:
    """Return the words of a template, one more than it has fields, and the names of its fields."""
    words, names = [""], list[str]()
    for text, name, *_ in Formatter().parse(template):
        words[-1] += text
        if name is not None:
            names.append(name)
            words.append("")
    return words, names


def same_fields(english: str, translation: str) -> bool:
    """Whether a translation has the fields of its message, in any order, and no others."""
    names = parts_of(english)[1]
    try:
        if sorted(parts_of(translation)[1]) != sorted(names):
            return False
        translation.format(**dict.fromkeys(names, ""))
    except ValueError:  # a single brace, or a format such as {n:d}: values are texts
        return False
    return True


def _pattern(words: list[str], names: list[str]) -> re.Pattern[str]:
    """Return what a template matches. Each field ends where the next words begin.

    Subtle: the groups are atomic, so a long text that nearly matches costs no more than another.
    """
    first, *between, last = map(re.escape, words)
    inner = zip(names, between, strict=False)
    fields = "".join(f"(?>(?P<{name}>.+?){after})" for name, after in inner)
    return re.compile(f"{first}{fields}(?P<{names[-1]}>.+){last}", re.DOTALL)


# --- files -------------------------------------------------------------------------------------

OTHER_FIELDS = "other fields than in the message"
LINE = re.compile(r'(?:(msgid|msgstr)\s+)?"((?:[^"\\]|\\.)*)"')
ESCAPE = re.compile(r"\\(.)")
ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
NEXT = {"msgid": "msgstr", "msgstr": "msgid"}


def read_file(path: Path) -> dict[str, str]:
    """Return the translations in a ``.po`` file, by their messages."""
    try:
        source = path.read_text(encoding="utf-8-sig")  # some editors begin a file with a mark
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is not in UTF-8: save it in that encoding") from None
    return read_po(source, path.name)


def read_po(source: str, name: str) -> dict[str, str]:
    """Return the translations in the text of a ``.po`` file, by their messages.

    A translation that is marked as fuzzy, because its message has changed, counts as none: "".
    Plural forms and contexts are refused, as no message has them.
    """
    entries: list[dict[str, str]] = []
    fuzzy, word = False, "msgstr"
    for number, line in enumerate(source.splitlines(), 1):
        if line.startswith("#,"):
            fuzzy = "fuzzy" in line
        if not line.strip() or line.startswith("#"):
            continue
        found = LINE.fullmatch(line.strip())
        if not found or found[1] == word or (not entries and found[1] != "msgid"):
            raise ValueError(
                f"{name}, line {number}: expected {NEXT[word]} and a text in quotes, or more of "
                f"the last text; there are no plural forms and no contexts here: {line}"
            )
        if found[1]:
            word = found[1]
            if word == "msgid":
                entries.append({"fuzzy": "fuzzy" * fuzzy})
                fuzzy = False
        text = ESCAPE.sub(lambda sign: ESCAPED.get(sign[1], sign[0]), found[2])
        entries[-1][word] = entries[-1].get(word, "") + text
    translations: dict[str, str] = {}
    for entry in entries:
        if entry["msgid"] in translations:
            raise ValueError(f"{name}: this message is there twice: {entry['msgid']}")
        translations[entry["msgid"]] = "" if entry["fuzzy"] else entry.get("msgstr", "")
    translations.pop("", None)  # about the file
    return translations
