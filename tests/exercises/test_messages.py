"""The messages in the sources, and their translations: in step, complete, and well set."""

import ast
import re

import pytest

import messages
from catalogue import LOCALE, parts_of, read_file, read_po, speak, told, word
from course import checks_of, not_run, read_course

COURSE = read_course()
TRANSLATED = [e for e in COURSE.exercises if e.number <= "14"]
ZH = read_file(LOCALE / "zh.po")
HAN = re.compile("[\u3400-\u9fff]")

# --- what is a message -------------------------------------------------------------------------

SOURCE = '''
"""Not this text."""
Network = namedtuple("Network", "X labels W1")

def check_it(sub):
    """Each row
    counts."""
    label = "called"
    refuse("where is b1?", f"scores of {n:.1f} x {len(rows) - 1}")
    say(f"{n} more check{'s' * (n > 1)}, {'with' if kinks else 'without'} kinks")
    say(f"all {' and '.join(names) or 'of them all'} have {{braces}}")
    say(told + "which line is it?")
    raise TypeError("not this one")

def helper():
    """Not this text, either."""
'''


def test_messages_are_sentences_and_what_has_values_is_a_template():
    texts = [*messages._in_the_code(ast.parse(SOURCE))]
    assert [text for text in texts if messages.is_sentence(text)] == [
        "Each row counts.",
        "where is b1?",
        "scores of {n} x {rows}",
        "{n} more check, with kinks",
        "{n} more check, without kinks",
        "{n} more checks, with kinks",
        "{n} more checks, without kinks",
        "all {names} have {{braces}}",
        "of them all",
        "{told}which line is it?",
    ]
    assert "called" in texts  # a label, which may be translated


def test_an_entry_is_written_as_it_is_read():
    for message in ('two "words"\n', r"a \ and {places}", "{{a set}}"):
        assert read_po(messages.entry(message), "xx.po") == {message: ""}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ({"where is b1?": "b1 在哪里？"}, ""),
        ({"where is b1?": ""}, ""),
        ({"where is b9?": "b9 在哪里？"}, "no longer a message: where is b9?"),
        ({"scores of {n} x 16": "{m} x 16 的得分"}, "other fields than in the message: scores of"),
        ({"scores of {n} x 16": "得分"}, "other fields"),
    ],
    ids=["in step", "not translated", "obsolete", "another field", "no field"],
)
def test_a_file_that_is_not_in_step_is_seen(entries, says):
    faults = "\n".join(messages.faults_in(entries))
    assert says in faults
    assert bool(says) == bool(faults)


@pytest.mark.slow
def test_the_tool_prints_what_is_missing_in_the_form_of_a_file(capsys):
    assert messages.main([]) == 0
    assert re.search(r"06_relu/checks.py +(\d+) of +\1\n", capsys.readouterr().out)
    assert messages.main(["06_relu/checks.py", "18_low_precision/checks.py"]) == 0
    missing = read_po(capsys.readouterr().out, "out")
    assert 50 < len(missing) == len({*missing} - {*ZH})
    with pytest.raises(SystemExit, match="no source of messages: 99; choose"):
        messages.main(["99"])


# --- the Chinese ones --------------------------------------------------------------------------


def test_every_entry_is_a_message_with_the_same_fields():
    assert [*messages.faults_in(ZH)] == []


@pytest.mark.parametrize("exercise", TRANSLATED, ids=lambda e: e.name)
def test_every_message_of_a_translated_exercise_has_an_entry(exercise):
    there = messages.messages_in(f"{exercise.name}/checks.py")
    recall = [*exercise.recall[:1]]
    told_of_it = [exercise.title, exercise.experiment, *recall]
    assert [text for text in there + told_of_it if text not in ZH] == []


@pytest.mark.parametrize("name", messages.OURS)
def test_every_message_of_the_runner_has_an_entry(name):
    assert [text for text in messages.messages_in(name) if text not in ZH] == []


# Code and values: the same in every language.
AS_IT_IS = {
    *("(value, error)", "ReLU", "fine with kinks", "x = {x}, analytic = {analytic}"),
    *("cross_entropy_backward(scores, labels)", "batch_norm_backward(upstream, x, gamma, eps)"),
    *("softmax_jvp({T}, log([1 2 5]))", "hessian_vector({ALONG}, log([4 2]), {A})"),
}


@pytest.mark.parametrize("exercise", TRANSLATED, ids=lambda e: e.name)
def test_what_has_no_translation_is_a_value(exercise):
    bare = [text for text in messages.messages_in(f"{exercise.name}/checks.py") if not ZH[text]]
    assert {*bare} <= AS_IT_IS


def rendered(text):
    """Return a translation as a reader sees it, with a letter for each field."""
    words, _ = parts_of(text)
    return "x".join(words)


# What a typesetter would mend: an example, and a pattern.
H = HAN.pattern
HABITS = {
    "有误,请看": rf"{H}[,;:?!]",
    "f(x + h), 步长": rf"[,;?!] ?{H}",
    "步长h": rf"{H}[A-Za-z0-9`]",
    "`h`步长": rf"[A-Za-z0-9`]{H}",
    "步长 ：h": " [，。；：？！（）“”]",
    "步长： h": "[，。；：？！（）“”] ",
    "称为 '步长'": rf"['\"]{H}|{H}['\"]",
}
# In these a field holds Chinese, or the name of a key in code.
SET_OTHERWISE = re.compile(
    r"有x；|有x，|那里的x|返回的是x|需要的是x|：xx|x的长度|x这是表里|, x\.\.\."
)


@pytest.mark.parametrize("habit", HABITS)
def test_characters_and_punctuation_are_set_as_in_a_book(habit):
    pattern = re.compile(HABITS[habit])
    assert pattern.search(habit)
    set_so = [text for text in ZH.values() if pattern.search(SET_OTHERWISE.sub("", rendered(text)))]
    assert set_so == []


@pytest.fixture
def chinese():
    """Speak Chinese during a test."""
    speak("zh")
    yield
    speak("en")


@pytest.mark.parametrize("around", ["{}", "{} (shapes: a (2, 3))"], ids=["alone", "with shapes"])
def test_no_template_is_taken_for_another_one(around, chinese):
    with_fields = {text for text in ZH if ZH[text] and parts_of(text)[1]}
    if around != "{}":
        with_fields &= {*messages.messages_in("explained.py")}
        with_fields -= {text for text in with_fields if text.startswith("{said}")}
    for english in sorted(with_fields):
        values = {name: str(7 + i) for i, name in enumerate(parts_of(english)[1])}
        expected = around.replace(" (shapes: a (2, 3))", "（形状：a (2, 3)）")
        assert told(around.format(english.format(**values))) == expected.format(
            ZH[english].format(**values)
        )


@pytest.mark.parametrize(
    "exercise", [e for e in COURSE.everything if e.page("zh").exists()], ids=lambda e: e.name
)
def test_a_chinese_page_and_the_course_use_the_same_words(exercise, chinese):
    page = exercise.page("zh").read_text(encoding="utf-8")
    checks = checks_of(exercise, heldout=True) if exercise.kind != "judge" else []
    heldout = [not_run(check).sentence for check in checks if check.__name__.startswith("heldout")]
    assert f" {word(exercise.title)}\n" in page.replace("：", " ")
    said = [told(text) for text in (exercise.experiment, *exercise.recall[:1], *heldout)]
    assert [text for text in said if text not in page] == []


@pytest.mark.parametrize("exercise", COURSE.everything, ids=lambda e: e.name)
def test_a_task_that_is_to_do_is_named_in_chinese(exercise, chinese):
    starter = (exercise.folder / "starter.py").read_text(encoding="utf-8")
    tasks = re.findall(r'raise NotImplementedError\("(.*)"\)', starter)
    assert bool(tasks) == ("NotImplementedError" in starter)
    for task in tasks:
        number, name = task.split(", task ")[1].split(": ")
        assert told(task).endswith(f"，任务 {number}：{name}")
