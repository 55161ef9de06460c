"""Mistakes are refused, by the vectors that ought to show them.

A mistake is a right implementation with one thing changed. They answer in this process, which is
cheap: hundreds of them take seconds. What they show is counted, and stands on the page *Coverage*.
"""

import functools
import json
import re
import runpy
from collections.abc import Sequence
from pathlib import Path

import pytest
from mutants.clients import CLIENTS, RIGHT, Client
from mutants.coverage import (
    ANSWERED,
    LOOSE,
    STRICT,
    TELLS,
    Shown,
    clients_shown,
    failed_by,
    groups_of,
    slips_shown,
)
from mutants.slips import Slip, verdict

from gradcheck_ref.conversation.messages import Message
from gradcheck_ref.oracle.generate.drawn import draw, drawable
from gradcheck_ref.oracle.generate.rules import RULES
from gradcheck_ref.oracle.judge import judge
from gradcheck_ref.oracle.runner import Run
from gradcheck_ref.oracle.summary import Summary
from gradcheck_ref.oracle.table import ANSWERS, ASKED, EXCUSES, HELLO, HELLO_REPLY
from gradcheck_ref.oracle.vectors import VERSION, load_file, load_vectors, vector_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MADE = ROOT / "docs" / "examples" / "oracle"
RESULTS = runpy.run_path(str(MADE / "judge_all.py"))


def test_every_mistake_is_shown_by_a_vector():
    for mistake, counts in [*clients_shown(), *slips_shown()]:
        assert counts, mistake.said


# --- what is not mistaken is not refused -----------------------------------------------------


def test_a_right_verdict_is_not_refused():
    for vector in load_vectors("verdict"):
        if vector.counts:
            assert judge(vector, verdict(vector.request)).status == "passed", vector


def drawn_of(kinds, count, seed):
    """Draw vectors of some kinds."""
    groups = [group for group in drawable() if group.split("/")[0] in kinds]
    return [vector_of(kind, fields) for kind, fields in draw(groups, count, seed)]


@functools.cache
def asked_of_clients():
    """Take the frozen vectors that the clients answer, and drawn ones of five seeds."""
    return [*load_vectors(*ANSWERED), *(v for s in range(5) for v in drawn_of(ANSWERED, 400, s))]


@pytest.mark.parametrize("client", RIGHT, ids=lambda client: client.said)
def test_a_right_client_passes_with_any_order_of_evaluation(client):
    assert not failed_by(client, asked_of_clients())


# --- at random -------------------------------------------------------------------------------

DRAWN = {
    "compare": 420,
    "stencil": 120,
    "escalate": 60,
    "whole": 20,
}  # most mistakes are in the comparisons


@functools.cache
def drawn():
    """Draw vectors once."""
    return [v for kind, count in DRAWN.items() for v in drawn_of([kind], count, 1)]


def test_equal_seeds_draw_equal_vectors_and_other_seeds_others():
    first, again, other = (draw(["compare/torch", "stencil/central"], 20, s) for s in (3, 3, 4))
    assert first == again != other


def test_drawn_vectors_are_definite_and_from_every_group():
    assert len(drawn()) == sum(DRAWN.values())
    assert {v.group for v in drawn()} == {g for g in drawable() if not g.startswith("verdict/")}
    assert all(v.counts for v in drawn())
    assert len({v.id for v in drawn()}) == sum(DRAWN.values())


def test_a_few_hundred_drawn_vectors_find_most_mistakes():
    vectors = drawn_of(ANSWERED, 400, 1)
    found = [bool(failed_by(client, vectors)) for client in CLIENTS]
    assert sum(found) > 0.76 * len(found)


def test_drawn_vectors_find_most_mistakes_in_rules_of_their_own():
    """They are the hardest to see."""
    compared, shown = [v for v in drawn() if v.kind == "compare"], []
    for client, counts in clients_shown():
        if client.kind == "comparisons":
            groups = groups_of(failed_by(client, compared))
            shown += [group in groups for group in groups_of(counts)]
    assert sum(shown) > 0.7 * len(shown)


# --- what stands on the pages of the oracle and is made -----------------------------------------

# FORMAT.md has a place for what is made, between `<!-- made: NAME -->` and `<!-- end -->`.
BAR = "\\|"  # in a table
PLACE = re.compile(r"(<!-- made: ([\w-]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def filled(page: str) -> str:
    """Put what is made into its places on a page."""
    made = {made.__name__: made for made in (rules, messages)}
    return PLACE.sub(lambda place: f"{place[1]}\n{made[place[2]]()}\n\n{place[3]}", page)


def rules() -> str:
    """List the rules of ``compare``, as the vector files state them."""
    groups = load_file("compare")["groups"]
    return "\n".join(f"- `{group['rule']}`: {group['says']}." for group in groups)


def messages() -> str:
    """List what is asked and what is replied, key by key."""
    lines = ["| ask | request, besides `id` and `ask` |", "| --- | --- |"]
    asked = {"hello": Message({"protocol": HELLO.keys["protocol"]}), **ASKED}
    lines += [f"| `{name}` | {_cell(message)} |" for name, message in asked.items()]
    lines += ["", "| to | reply, besides `id` |", "| --- | --- |"]
    hello = {key: value for key, value in HELLO_REPLY.keys.items() if key != "id"}
    replies = {"hello": Message(hello), **ANSWERS}
    lines += [f"| `{name}` | {_cell(message)} |" for name, message in replies.items()]
    lines += [f"| any | `{key}`: {value.said} |" for key, value in EXCUSES.items()]
    return "\n".join(lines)


def _cell(message: Message) -> str:
    return message.row().replace("|", BAR)


def rule_table(found: Sequence[tuple[Client, Shown]]) -> str:
    """Tell, for each mistake in the rules, the vectors that show it: mistake by rule."""
    rules = [group["rule"] for group in load_file("compare")["groups"]]
    lines = ["| | " + " | ".join(f"`{rule}`" for rule in rules) + " |"]
    lines.append("| --- " * (len(rules) + 1) + "|")
    for client, shown in found:
        cells = [_cell_of(shown, f"compare/{rule}") for rule in rules]
        lines.append(f"| {client.said.replace('|', BAR)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell_of(shown: Shown, group: str) -> str:
    """Write: lets through / refuses; or how often another number is told, or nothing."""
    loose, strict, tells = (shown[group, way] for way in (LOOSE, STRICT, TELLS))
    return f"{loose} / {strict}" if loose or strict else f"({tells})" if tells else ""


def slip_list(found: Sequence[tuple[Slip | Client, Shown]]) -> str:
    """Tell how many vectors show each mistake in quotients, walks, verdicts and clients."""
    parts = []
    for kind in dict.fromkeys(slip.kind for slip, _ in found):
        shown = [(s.said, sum(counts.values())) for s, counts in found if s.kind == kind]
        parts.append(f"**{kind}**: " + ";\n".join(f"{said}: {n}" for said, n in shown) + ".")
    return "\n\n".join(parts)


# --- what is told of it ----------------------------------------------------------------------

FILES = {
    "coverage_rules.txt": lambda: rule_table(
        [(c, shown) for c, shown in clients_shown() if c.kind == "comparisons"]
    ),
    "coverage_others.txt": lambda: slip_list(
        [*slips_shown(), *((c, n) for c, n in clients_shown() if c.kind != "comparisons")]
    ),
    "results.txt": lambda: RESULTS["results"](MADE / "results"),
    "verdict_results.txt": lambda: RESULTS["verdict_results"](MADE / "results" / "verdicts"),
    "verdict_calls.txt": RESULTS["calls"],
}


@pytest.mark.parametrize("name", FILES)
def test_the_published_counts_are_current(name, request):
    text = FILES[name]() + "\n"
    if request.config.getoption("--update-examples"):
        (MADE / name).write_text(text, encoding="utf-8")
    assert (MADE / name).read_text(encoding="utf-8") == text


def test_the_generated_parts_of_the_format_page_are_current(request):
    page = ROOT / "gradcheck_ref" / "oracle" / "FORMAT.md"
    text = page.read_text(encoding="utf-8")
    if request.config.getoption("--update-examples"):
        page.write_text(filled(text), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == filled(text)
    assert len(re.findall(r"^- `[\w-]+`: (?:close|refused)", text, re.MULTILINE)) == len(RULES)


def test_the_sample_on_the_page_is_the_real_summary_of_its_mistake():
    """A right stencil, and torch's rule with < for <=."""
    answer = next(c for c in CLIENTS if c.said == "the other of < and <=").start()
    asked = [
        v
        for v in load_vectors("stencil", "compare")
        if v.kind == "stencil" or v.group == "compare/torch"
    ]
    outcomes = [judge(v, answer(v.request)) for v in asked]
    text = Summary(Run("my-checker 0.3", outcomes)).text()
    page = (ROOT / "docs" / "judge.md").read_text(encoding="utf-8")
    sample = page.split("```text\n")[1].split("```")[0]
    for line in sample.split("...\n")[0].splitlines():
        assert line in text
    sentence = " ".join(sample.strip().split("\n\n")[-1].split())
    assert text.strip().endswith(sentence)


def test_the_stored_runs_are_of_the_current_release_and_right():
    runs = [json.loads(path.read_text("utf-8")) for path in (MADE / "results").glob("*.json")]
    judged = {run["implementation"] for run in runs}
    assert {"checker.py", "checker.js", "checker.c", "checker.rs"} < judged
    for run in runs:
        assert (run["vectors"], run["passed"], run["score"]) == (VERSION, run["of"], 100), run
    checkers = {p.stem: json.loads(p.read_text("utf-8")) for p in MADE.glob("results/verdicts/*")}
    assert set(checkers) == set(RESULTS["CHECKERS"])
    assert {run["vectors"] for run in checkers.values()} == {VERSION}


def test_a_stored_run_has_the_data_that_the_page_needs(tmp_path):
    groups = {"verdict/cube": {"passed": 2, "of": 2}, "verdict/sine": {"passed": 1, "of": 1}}
    groups["compare/torch"] = {"passed": 2, "of": 3}
    run = {"implementation": "mine 1", "vectors": "v1", "passed": 5, "of": 6, "whole_groups": 1}
    run |= {"score": 0.876, "groups": groups, "sentence": "..."}
    (tmp_path / "mine.json").write_text(RESULTS["stored"](run, "2026-11-22"))
    assert "sentence" not in json.loads((tmp_path / "mine.json").read_text())
    page = RESULTS["results"](tmp_path)
    assert "| mine 1 | v1 | 2026-11-22 | 5 of 6 | 1 of 3 | 87 % |" in page
