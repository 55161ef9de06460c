"""The number of processors: what a process is bound to, and the quotas of version 1 and 2."""

import os

import pytest

from grader import processors
from grader.processors import quotas

V2 = "0::/box/inner\n"
V1 = "4:memory:/box\n2:cpu,cpuacct:/box/inner\n0::/\n"


@pytest.mark.parametrize(
    ("own", "files", "found"),
    [
        (V2, {"box/inner/cpu.max": "150000 100000"}, [1.5]),
        (V2, {"box/cpu.max": "400000 100000", "box/inner/cpu.max": "max 100000"}, [4]),
        (V2, {"cpu.max": "200000 100000"}, [2]),  # a container sees its own group as the root
        (V2, {"unified/box/cpu.max": "50000 100000"}, [0.5]),
        (V1, {"cpu,cpuacct/box/cpu.cfs_quota_us": "300000"}, []),  # without a period
        (V1, {"cpu/box/inner/cpu.cfs_quota_us": "-1"}, []),
        (V1, {"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}, [3]),
        ("", {}, []),
    ],
)
def test_quotas_of_all_groups_around_a_process_count(tmp_path, own, files, found):
    (tmp_path / "own").write_text(own)
    for name, text in files.items():
        path = tmp_path / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    assert quotas(tmp_path / "groups", tmp_path / "own") == found


@pytest.mark.parametrize(("quota", "number"), [([], 6), ([2.5], 2), ([0.5], 1), ([8, 3], 3)])
def test_affinity_and_quota_limit_the_processors(monkeypatch, quota, number):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    monkeypatch.setattr(processors, "quotas", lambda *_: quota)
    assert processors.processors() == number
