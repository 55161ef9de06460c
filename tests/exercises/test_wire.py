"""What crosses between the grader and a submission, and what does not."""

import enum
import json
import math
import time

import numpy as np
import pytest

from grader import wire


def crossed(value):
    """Send a value across; what cannot cross comes as a text that says what it was."""
    line = wire.dumps(value, lambda thing: f"reference to {thing!r}")
    assert line.count(b"\n") == 1
    return wire.loads(line, lambda reference: reference)


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 3, -(10**30), 0.1, 5e-324, math.inf, "a\nb \N{SNOWMAN}", ""),
        *([], [1, [2.0]], (), (1, (2,)), {}, {"W": 1, (0, 1): [2]}, 1 + 2j, np.float32(0.1)),
    ],
    ids=repr,
)
def test_data_crosses_unchanged(value):
    got = crossed(value)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    "array",
    [
        np.array(2.0),
        np.zeros((0, 3)),
        np.array([[0.1, -0.0], [np.nan, np.inf]]),
        np.arange(6.0)[::-2],
        np.array([0.1], np.float32),
        np.array(["good", "wrong"]),
        np.array([""]),
        np.broadcast_to(1.0, (4, 2)),
        np.array([1.0], ">f8"),
    ],
    ids=lambda array: f"{array.dtype.str}{array.shape}",
)
def test_an_array_crosses_bit_for_bit_and_can_be_written_to(array):
    got = crossed(array)
    assert (got.dtype, got.shape) == (array.dtype, array.shape)
    assert got.tobytes() == array.tobytes()
    assert got.flags.writeable


def test_a_mapping_that_is_slow_on_purpose_is_refused_at_once():
    prime = 2**61 - 1  # of whose multiples Python's hash is 0
    pairs = [[key * prime, None] for key in range(30_000)]
    line = wire.dumps([{}], repr).replace(b"[]", json.dumps(pairs).encode())
    begun = time.process_time()
    with pytest.raises(ValueError, match="more than 1,000 keys"):
        wire.loads(line, repr)
    assert time.process_time() - begun < 1


def test_an_object_stays_and_a_reference_crosses_but_a_text_is_a_text():
    assert type(crossed(enum.StrEnum("Band", {"GOOD": "good"}).GOOD)) is str
    assert crossed(type("Own", (float,), {})(1)) == "reference to 1.0"
    assert crossed([np.array([None])]) == ["reference to array([None], dtype=object)"]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[" * 100_000,
        b"1" * 5000,  # more digits than Python reads
        b'{"array": ["O", [1], "AAAAAAAAAAA="]}',
        b'{"array": ["<f8", [2], "AAAAAAAAAAA="]}',
        b'{"array": ["<f8", [1], "!"]}',
        b'{"array": ["os.system", [1], ""]}',
        b'{"array": ["<U0", [1000000000000000], ""]}',
        b'{"array": 1}',
        b'{"dict": [1]}',
        b'{"complex": ["x"]}',
        b'{"array": 1, "tuple": 2}',
        b"{}",
    ],
    ids=lambda line: line[:30].decode(),
)
def test_an_invalid_value_is_refused(line):
    with pytest.raises(ValueError):  # noqa: PT011 - which one does not matter
        wire.loads(line, lambda reference: reference)


# --- what was done to an argument --------------------------------------------------------------


@pytest.mark.parametrize("other", [np.zeros(3), np.zeros(2, int)], ids=["shape", "dtype"])
def test_an_array_can_only_be_replaced_by_an_array_like_it(other):
    array = np.ones(2)
    wire.written_back([array], [other])
    assert array.tolist() == [1, 1]


def test_a_list_may_become_shorter():
    numbers = [1, 2, 3]
    wire.written_back(numbers, [7])
    assert numbers == [7]
