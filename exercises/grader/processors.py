"""The number of processors that this process may use: its affinity, its container's quota."""

import contextlib
import os
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")


def processors(groups: Path = GROUPS, own: Path = Path("/proc/self/cgroup")) -> int:
    """Return the number of processors that this process can keep busy, at least 1."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(int(min([float(bound or 1), *quotas(groups, own)])), 1)


def quotas(groups: Path, own: Path) -> list[float]:
    """Return the quotas of processor time, in processors, of a process and of what contains it.

    ``own`` lists the control groups of a process, a line for each hierarchy:
    ``number:controllers:path``. That of version 2 has no controllers in its line.
    """
    found = []
    lines = own.read_text().splitlines() if own.exists() else []
    for _, controllers, path in (line.split(":", 2) for line in lines):
        if not controllers:
            places = [groups, groups / "unified"]
        elif "cpu" in controllers.split(","):
            places = [groups / controllers, groups / "cpu"]
        else:
            continue
        inner = Path(path.lstrip("/"))
        for place in places:
            found += [_quota(place / group) for group in (inner, *inner.parents)]
    return [quota for quota in found if quota]


def _quota(group: Path) -> float:
    """Return the quota of one group, 0 if it has none."""
    with contextlib.suppress(OSError, ValueError):  # as of "max", which is no limit
        return _number(group / "cpu.max") / _number(group / "cpu.max", 1)
    with contextlib.suppress(OSError, ValueError):
        quota = _number(group / "cpu.cfs_quota_us")
        return max(quota, 0) / _number(group / "cpu.cfs_period_us")  # -1: no limit
    return 0.0


def _number(file: Path, index: int = 0) -> float:
    return float(file.read_text().split()[index])
