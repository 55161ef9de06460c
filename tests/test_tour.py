"""The tour says what it saw, and would say it if it saw something else."""

import copy

from gradcheck_ref.tour import told


def test_the_stages_get_better_from_the_first_to_the_last(seen):
    told_right = [(row["accepts_right"], not row["accepts_wrong"]) for row in seen["stages"]]
    # refuses both; accepts both; refuses both; and the last two know right from wrong
    assert told_right == [(False, True), (True, False), (False, True), (True, True), (True, True)]


def test_the_network_learns_its_gradient_passes_and_the_bug_is_caught_where_it_is(seen):
    network = seen["network"]
    assert network["flowers"] == 150
    assert network["last_loss"] < 0.2 * network["first_loss"]
    assert network["accuracy"] > 0.95
    right, wrong = network["right"], network["wrong"]
    assert (right["verdict"], right["compared"]) == ("pass", 4 * 8 + 8 + 8 * 3 + 3)
    assert right["text"].startswith("PASS  W1, b1, W2, b2: all 67 entries agree")
    assert (wrong["verdict"], "right: W2, b2" in wrong["text"]) == ("fail", True)
    assert seen["passed"]


def test_colour_adds_to_the_words_and_replaces_none(seen):
    plain, coloured = (told(seen, width=80, colour=colour) for colour in (False, True))
    assert "\x1b[31mFAIL\x1b[0m" in coloured
    for code in ("\x1b[31m", "\x1b[32m", "\x1b[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == plain


def test_a_failure_is_printed_as_a_failure(seen):
    other = copy.deepcopy(seen)
    other["network"]["right"].update(verdict="fail", text="FAIL  W1: 1 of 32 entries differs")
    coloured = told(other, width=80, colour=True)
    assert "\x1b[31mFAIL\x1b[0m  W1: 1 of 32 entries differs" in coloured
