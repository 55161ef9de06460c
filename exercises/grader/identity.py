"""Find the students of each submission, by its name.

Points for the wrong student are worse than a question to the instructor, so the rules are strict.

1. All words of a student's name must be there, in any order. Written as one word, the name must be
   all that is there: Lina Schmidt is not Li Na. If they are the words of several students, the
   longest name counts.
2. Beside a login there is nothing but that student's own words and those that name nobody, such as
   homework, or what the names of all submissions have: Max Huber is not the student with login max.
3. Middle names may be missing: first and last name are enough, if nobody else has both.
4. A number decides only between students whom the name fits, or if it stands alone. Dates and the
   numbers of homework are none.
5. A name beside the login or number of somebody else is nobody's.
6. The numbers that a platform gives decide nothing. Moodle's of a participant is an exception: it
   is compared with a column of such numbers, and a name beside it must fit.
7. Two names with *and* or a comma between them are two students, and both must be known.
8. Where the login has its place in the name, as in Blackboard's, nothing else is read.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

from grader.collected import Submission
from grader.roster import Student

DATE = re.compile(
    r"(?<!\d)(?:\d{4}[-_.]\d{1,2}[-_.]\d{1,2}|\d{1,2}[-_.]\d{1,2}[-_.]\d{4})(?:[-_T ]\d[\d:.-]*)?"
)
COMMA = re.compile("[,，、]")
ADDRESS = re.compile(r"@[\w.-]+")  # from the @ on
AND = re.compile(r"[\W_]+(?:and|und)[\W_]+|\s*[&+]\s*|(?<=\w)[和与](?=\w)", re.IGNORECASE)
# Words that name nobody, in English, German and Chinese; and the numbers behind them.
NOISE = frozenset(
    (
        *(
            "homework",
            "hw",
            "assignment",
            "exercise",
            "ex",
            "lab",
            "week",
            "sheet",
            "project",
            "task",
        ),
        *("group", "team", "submission", "attempt", "final", "late", "anon", "participant"),
        *("hausaufgabe", "übung", "uebung", "ubung", "blatt", "woche", "gruppe", "abgabe"),
        *("teilnehmer", "in", "作业", "实验", "练习", "小组", "参与者", "参加者", "学员"),
    )
)
COUNTED = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(NOISE)})[\W_]*\d+", re.IGNORECASE)
# Letters that are no letter with an accent; and the other way to write an umlaut.
LETTERS = str.maketrans({"ø": "o", "æ": "ae", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "þ": "th"})
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
HAN = re.compile("[\u3400-\u9fff]{2,}")  # a whole name, without a space
ENOUGH = 3  # submissions, to tell the name of the homework from those of students
MOST_WORDS = 5  # of a name, in any order without spaces: 120 of them
ALONE = re.compile(r"(?:s(?=\d{4}))?(\d+)")  # 7, 9002, s9002
NUMBER = re.compile(r"(?<![^\W_\u3400-\u9fff])\d+(?![^\W_\u3400-\u9fff])")  # not the 1 of HW1


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

    @property
    def is_of_several_words(self) -> bool:
        """Whether this name cannot be a part of another's."""
        return any(len(name) > 1 or HAN.fullmatch(name[0]) for name in self.names)

    @cached_property
    def own(self) -> set[str]:
        """All words and pieces that are this student's."""
        logins = [way for login in self.logins for way in (login, *words_of(" ".join(login)))]
        han = [name for name in self.glued if HAN.fullmatch(name)]  # 小明, 王
        return {one for way in (*self.names, *logins, self.glued) for one in way} | {
            "".join(run) for run in runs(han)
        }


class Told:
    """The words, pieces and numbers in the name of a submission, some of which name nobody."""

    def __init__(self, name: str, noise: Set[str]) -> None:
        undated = DATE.sub(" ", ADDRESS.sub(" ", name))
        self.ways = words_of(undated)
        self.words = {word for way in self.ways for word in way}
        self.names_somebody = self.words - noise
        several = (run for run in runs(self.ways) if len(run) > 1 or HAN.fullmatch(run[0]))
        told = ([word for word in way if word not in noise] for way in self.ways)
        self.whole = {"".join(way) for way in told} - {""}
        self.glued = {"".join(run) for run in several} | self.whole  # without spaces
        self.pieces = pieces_of(undated)
        self.runs = {*runs(self.pieces)}
        alone = [found for way in self.pieces if (found := ALONE.fullmatch("_".join(way)))]
        self.alone = {found[1] for found in alone}  # a number, if there is nothing else
        uncounted = COUNTED.sub(" ", unicodedata.normalize("NFKC", undated))
        self.numbers = {*NUMBER.findall(uncounted)} | self.alone

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

    def logs_in(self, known: Known) -> bool:
        """Whether a login is there, and beside it nothing that names another."""
        logins = known.logins & self.runs
        if not logins or not self.names_somebody <= known.own:
            return False
        words = {word for name in known.names for word in name}
        # The login ada says no more than the name Ada Lovelace that is there.
        return any(not {*login} <= words or self.names_somebody <= {*login} for login in logins)

    def fits(self, known: Known) -> bool:
        """Whether the words do not contradict the name."""
        return not self.names_somebody or not known.names or self.names_shortly(known)

    def contradicts(self, known: Known, other: Known) -> bool:
        """Whether a login or a number is there that is the other's."""
        if any(not {*login} <= known.own for login in other.logins & self.runs):
            return True
        return bool(self.numbers & (other.student.numbers - known.student.numbers))

    def has_another_login(self, known: Known) -> bool:
        """Whether it has jsmith2, and the login of this student is jsmith1."""
        alike = {login[0].rstrip("0123456789") for login in known.logins if len(login) == 1}
        there = {piece for way in self.pieces for piece in way if piece not in alike}
        numbered = {one for one in there if one.rstrip("0123456789") in alike - {""}}
        return bool(numbered) and not numbered & known.own

    def begins(self, known: Known) -> bool:
        """Whether the words are the beginning of the name: rayb."""
        return any(name.startswith(told) for told in self.whole for name in known.glued)


def matched(
    students: Iterable[Student], submissions: Iterable[Submission]
) -> dict[Submission, tuple[Student, ...]]:
    """Return the student of each submission, or the students of a team, where that is clear."""
    everything = [*submissions]
    roster = Roster([Known(student) for student in students], everything)
    return {one: found for one in everything if (found := roster.students_of(one))}


class Roster:
    """All students, to be asked for those of a submission."""

    def __init__(self, everybody: Sequence[Known], submissions: Sequence[Submission]) -> None:
        self.everybody = everybody
        self.words = {word for one in everybody for name in one.names for word in name}
        self.noise: Set[str] = NOISE
        if len(submissions) >= ENOUGH:  # the name of the homework, if all have it
            words = ({*words} for one in submissions for words in words_of(one.name)[:1])
            self.noise |= set.intersection(*words)
        self.noise -= self.words

    def students_of(self, submission: Submission) -> tuple[Student, ...]:
        """Return the students of a submission; none if that is not clear."""
        if submission.login_is_last:
            found = self._last(submission.name)
        else:
            name = submission.name.removesuffix(f"_{submission.number}")
            found = self._people(name, submission.participant)
        return tuple(one.student for one in found)

    def _last(self, name: str) -> Sequence[Known]:
        """Return whose login, or number, is the end of a name: the longest."""
        ends = {tuple(way[i:]) for way in pieces_of(name) for i in range(len(way))}
        fits = [
            (len(login), one)
            for one in self.everybody
            for login in (one.logins | {(number,) for number in one.student.numbers}) & ends
        ]
        most = max((length for length, _ in fits), default=0)
        found = {id(one): one for length, one in fits if length == most}
        return [*found.values()] if len(found) == 1 else []

    def _people(self, name: str, participant: str = "") -> Sequence[Known]:
        parts = AND.split(name)
        if len(parts) > 1 and not self._has_and_within(name, parts):
            team = [self._people(part) for part in parts]
            known = [one for those in team for one in those]
            if known:
                return known if all(team) and len({*map(id, known)}) == len(known) else []
        parts = [part for part in COMMA.split(name) if Told(part, self.noise).names_somebody]
        named = [self._named(Told(part, self.noise)) for part in parts]
        known = [one for those in named for one in those]
        if len(parts) > 1 and any(one.is_of_several_words for one in known):
            return known if all(named) and len({*map(id, known)}) == len(parts) else []
        found = self._one(Told(name, self.noise), participant)
        return [found] if found else []

    def _has_and_within(self, name: str, parts: Sequence[str]) -> bool:
        """Whether the *and* is a part of a name, as in 李和平."""
        named = self._named(Told(name, self.noise))
        apart = [one for part in parts for one in self._named(Told(part, self.noise))]
        return len(named) == 1 and not apart

    def _one(self, told: Told, participant: str) -> Known | None:
        by_name = self._named(told)
        if participant:
            numbered = [one for one in self.everybody if one.student.participant == participant]
            if len(numbered) == 1:
                fits = numbered[0] in by_name or (not by_name and told.fits(numbered[0]))
                return numbered[0] if fits else None
        if (
            len({frozenset(words) for one in by_name if (words := told.names(one)) <= told.words})
            > 1
        ):
            return None  # two names, of which a number must not choose
        by_login = [one for one in self.everybody if told.logs_in(one)]
        if not by_name:
            by_name = by_login or [one for one in self.everybody if told.names_shortly(one)]
        one = by_name[0] if len(by_name) == 1 else self._numbered(told, by_name, by_login)
        if not one or told.has_another_login(one):
            return None
        others = (other for other in self.everybody if other is not one)
        return None if any(told.contradicts(one, other) for other in others) else one

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
