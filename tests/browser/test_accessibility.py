"""axe-core looks at the pages, in both colours: what is ours must have no serious fault."""

import pytest

from .conftest import node_module

SERIOUS = ("serious", "critical")
OURS = [".md-content"]  # the rest of the page is Material's
PAGES = ["", "stages/stage1_forward/", "check/kinks/", "check/advice/", "zoo/", "glossary/"]
PAGES += [
    "stages/stage4_allclose/",
    "kill_matrix/",
    "exercises/06_relu/",
    "reference/check/",
    "judge/",
]


@pytest.fixture
def faults_of():
    """Return a function that lists what axe-core finds serious on an open page."""
    script = (node_module("axe-core") / "axe.min.js").read_text(encoding="utf-8")

    def faults(tab):
        tab.evaluate(script)
        found = tab.evaluate("parts => axe.run({include: parts})", OURS)
        return [
            f"{fault['id']}: {node['target']} {node['html'][:200]}"
            for fault in found["violations"]
            if fault["impact"] in SERIOUS
            for node in fault["nodes"]
        ]

    return faults


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path or "home")
def test_axe_finds_nothing_serious(context, address, watch, faults_of, path, scheme):
    tab = context.new_page()
    tab.emulate_media(color_scheme=scheme)
    tab.goto(address + path)
    assert faults_of(tab) == []


def test_axe_finds_nothing_serious_in_an_example_that_is_used(page, faults_of):
    tab = page("check/kinks/")
    for button in tab.get_by_role("button", name="Edit").all():
        button.click()
    tab.evaluate(
        """for (const output of document.querySelectorAll('.run-output')) {
             output.textContent = 'printed';
             output.hidden = false;
           }
           for (const status of document.querySelectorAll('.run-status')) {
             status.textContent = 'Done.';
           }"""
    )
    assert faults_of(tab) == []


def test_axe_would_find_something(page, faults_of):
    tab = page("")
    tab.evaluate("document.querySelector('.run-button').textContent = ''")
    assert [fault.split(":")[0] for fault in faults_of(tab)] == ["button-name"]
