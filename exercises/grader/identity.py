"""Find the students of each submission, by its name.

Points for the wrong student are worse than a question to the instructor, so the rules are strict.

1. All words of a student's name must be there, in any order, also without spaces between them. If
   they are the words of several students, the longest name counts.
2. A login may stand anywhere. But a login that is a word of a name must stand alone.
3. Middle names may be missing: first and last name are enough, if nobody else has both.
4. A number decides only between students whom the name fits, or if it stands alone. A date is no
   number.
5. Moodle's number of a participant is compared with a column of such numbers, and with no other.
6. Two names with *and* between them are two students, and both must be known.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

from grader.collected import Submission
from grader.roster import Student

DATE = re.compile(
    r"(?<!\d)(?:\d{4}[-_.]\d{1,2}[-_.]\d{1,2}|\d{1,2}\.\d{1,2}\.\d{4})(?:[-_T ]\d[\d:.-]*)?"
)
AND = re.compile(r"[\W_]+(?:and|und)[\W_]+|\s*[&+]\s*|(?<=\w)[和与](?=\w)", re.IGNORECASE)
# Letters that are no letter with an accent; and the other way to write an umlaut.
LETTERS = str.maketrans({"ø": "o", "æ": "ae", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "þ": "th"})
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
HAN = re.compile("[\u3400-\u9fff]{2,}")  # a whole name, without a space
MOST_WORDS = 5  # of a name, in any order without spaces: 120 of them
ALONE = re.compile(r"(?:[a-z](?=\d{4}))?(\d+)")  # 7, 9002, s9002


def spellings(text: str) -> list[str]:
    """Return the ways to write text in small letters without accents: muller and mueller."""
    composed = unicodedata.normalize("NFKC", text).casefold()
    ways = (composed.translate(LETTERS), composed.translate(UMLAUTS).translate(LETTERS))
    return list(dict.fromkeys(map(_without_accents, ways)))


def _without_accents(text: str) -> str:
    letters = unicodedata.normalize("NFD", text)
    return "".join(one for one in letters if not unicodedata.combining(one))


def words_of(text: str) -> list[list[str]]:
    """Return the words of a name, no digits, in each spelling."""
    return [re.findall(r"[^\W\d_]+", way) for way in spellings(text)]


def pieces_of(text: str) -> list[list[str]]:
    """Return the pieces of a login in each spelling: ``ada-l17`` has two, of letters and digits."""
    return [re.findall(r"[^\W_]+", way) for way in spellings(text)]


def runs(ways: Iterable[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Yield the parts that stand side by side, one, two, or more of them."""
    for parts in ways:
        for i in range(len(parts)):
            yield from (tuple(parts[i:j]) for j in range(i + 1, len(parts) + 1))


@dataclass(frozen=True)
class Known:
    """A student, with all spellings of names and logins."""

    student: Student

    @cached_property
    def names(self) -> list[list[str]]:
        """The words of the whole name, as one column and as two have it, in each spelling."""
        return [way for name in self.student.names for way in words_of(name) if way]

    @cached_property
    def glued(self) -> set[str]:
        """The whole name without spaces, in any order."""
        short = [name for name in self.names if len(name) <= MOST_WORDS]
        return {"".join(order) for name in short for order in permutations(name)}

    @cached_property
    def short_names(self) -> list[set[str]]:
        """The first and the last of all names."""
        return [
            {first[0], last[-1]}
            for given, surname in self.student.parts
            for first, last in zip(words_of(given), words_of(surname), strict=False)
            if first and last
        ]

    @cached_property
    def logins(self) -> set[tuple[str, ...]]:
        """The pieces of logins, and of addresses up to the @."""
        logins = (login.partition("@")[0] for login in self.student.logins)
        return {tuple(way) for login in logins for way in pieces_of(login) if way}


class Told:
    """The words, pieces and numbers in the name of a submission."""

    def __init__(self, name: str) -> None:
        undated = DATE.sub(" ", name)
        self.ways = words_of(undated)
        self.words = {word for way in self.ways for word in way}
        self.glued = {"".join(run) for run in runs(self.ways)}  # some words, without spaces
        self.whole = {"".join(way) for way in self.ways} - {""}
        self.pieces = pieces_of(undated)
        self.runs = {*runs(self.pieces)}
        alone = [found for way in self.pieces if (found := ALONE.fullmatch("_".join(way)))]
        self.alone = {found[1] for found in alone}  # a number, if there is nothing else
        # Not the 1 of HW1.
        self.numbers = {one for way in self.pieces for one in way if one.isdecimal()} | self.alone

    def names(self, known: Known) -> set[str]:
        """Return the words of the name of a student, if all are there."""
        for name in known.names:
            alone = len(name) == 1 and not HAN.fullmatch(name[0])
            there = self.whole if alone else self.glued
            if there & known.glued or (len(name) > 1 and {*name} <= self.words):
                return {*name}
        return set()

    def names_shortly(self, known: Known) -> bool:
        """Whether first and last name are there, or nothing but two words of the name or more."""
        for name in known.names:
            if any(len(way) > 1 and {*way} <= {*name} for way in self.ways):
                return True
        return any(len(name) > 1 and name <= self.words for name in known.short_names)

    def logs_in(self, known: Known, names: set[str]) -> bool:
        """Whether a login is there; if it is one of the words of all ``names``, then alone."""
        for login in known.logins & self.runs:
            rest = self.words - {word for way in words_of(" ".join(login)) for word in way}
            if not rest or len(login) > 1 or login[0] not in names:
                return True
        return False

    def begins(self, known: Known) -> bool:
        """Whether the words are the beginning of the name: rayb."""
        return any(name.startswith(told) for told in self.whole for name in known.glued)


def matched(
    students: Iterable[Student], submissions: Iterable[Submission]
) -> dict[Submission, tuple[Student, ...]]:
    """Return the student of each submission, or the students of a team, where that is clear."""
    roster = Roster([Known(student) for student in students])
    return {one: found for one in submissions if (found := roster.students_of(one))}


class Roster:
    """All students, to be asked for those of a submission."""

    def __init__(self, everybody: Sequence[Known]) -> None:
        self.everybody = everybody
        self.words = {word for one in everybody for name in one.names for word in name}

    def students_of(self, submission: Submission) -> tuple[Student, ...]:
        """Return the students of a submission; none if that is not clear."""
        parts = AND.split(submission.name)
        if len(parts) > 1:
            team = [self._one(Told(part)) for part in parts]
            known = [one.student for one in team if one]
            if known:
                return tuple(known) if len({*map(id, known)}) == len(parts) else ()
        found = self._one(Told(submission.name), submission.participant)
        return (found.student,) if found else ()

    def _one(self, told: Told, participant: str = "") -> Known | None:
        by_name = self._named(told)
        if participant:
            told.numbers.discard(participant)
            numbered = [one for one in self.everybody if one.student.participant == participant]
            if len(numbered) == 1:
                return numbered[0] if not by_name or numbered[0] in by_name else None
        by_login = [one for one in self.everybody if told.logs_in(one, self.words)]
        if not by_name:
            by_name = by_login or [one for one in self.everybody if told.names_shortly(one)]
        if len(by_name) != 1:
            return self._numbered(told, by_name, by_login)
        # A name and the login of somebody else: nobody.
        return by_name[0] if by_login in ([], by_name) else None

    def _named(self, told: Told) -> list[Known]:
        """Return all whose whole name is there: not Ada Lovelace, if it is Ada King Lovelace."""
        fits = [(one, words) for one in self.everybody if (words := told.names(one))]
        return [one for one, words in fits if not any(words < more for _, more in fits)]

    def _numbered(
        self, told: Told, alike: Sequence[Known], by_login: Sequence[Known]
    ) -> Known | None:
        """Let a login or a number decide between several, or a number that stands alone."""
        chosen = [one for one in alike if one in by_login]
        if len(chosen) != 1:
            everybody = told.alone or not self.words
            among = alike or [one for one in self.everybody if everybody or told.begins(one)]
            chosen = [one for one in among if one.student.numbers & told.numbers]
        return chosen[0] if len(chosen) == 1 else None


NOBODYS = "not one student of the roster"
NOTHING = "nothing was handed in"


def not_found(folders: int) -> str:
    """Say of a student without a submission that one of these folders may be the student's."""
    if folders == 1:
        return "not found: 1 folder matches nobody"
    return f"not found: {folders} folders match nobody" if folders else NOTHING


def what_to_do(nobodys: Sequence[str], missing: Sequence[Student]) -> Iterator[str]:
    """Say at the end which submissions are nobody's, who has none, and what to do."""
    if nobodys:
        yield f"these match nobody of the roster: {', '.join(nobodys)}"
        if missing:
            yield f"and these students have nothing: {', '.join(one.name for one in missing)}"
        yield (
            "what to do: name each folder as the roster names the student, or add the login or "
            "number in its name to the roster; then run the same command again, which grades only "
            "what has changed"
        )


def differences(
    students: Iterable[Student],
    submissions: Iterable[Submission],
    found: Mapping[Submission, tuple[Student, ...]],
) -> Iterator[str]:
    """Say which submissions have no student, and which students none, or several."""
    nobodys = [one.name for one in submissions if one not in found]
    yield from (f"not one student of the roster: {name}" for name in nobodys)
    for student in students:
        theirs = [one.name for one, those in found.items() if any(student is s for s in those)]
        if not theirs:
            yield f"no submission: {student.name}"
        elif len(theirs) > 1:
            yield f"{len(theirs)} submissions of one student: {student.name}: {', '.join(theirs)}"
