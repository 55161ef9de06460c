"""Public complaints about gradient checks; the corpus tests what this check says of each."""

import re

from complaints import ROWS

from gradcheck_ref.check.results import VERDICTS


def test_there_are_many_and_each_tells_of_a_thread():
    assert len(ROWS) >= 40
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert {row.verdict for row in ROWS} == {*VERDICTS.values()}
    thread = r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+"
    forum = r"https?://(discourse|stats|list)\.[\w./-]+"
    for row in ROWS:
        assert re.fullmatch(f"{thread}|{forum}", row.address)
        assert row.said
        assert not row.what.endswith(".")
