"""The control group that limits this process's time on the CPU, as Linux tells it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")  # where Linux shows its counters


def control_group(proc: Path = PROC, cgroups: Path = CGROUPS) -> Path | None:
    """Return the folder of this process's own group, of version 2 or 1; None without one."""
    for line in text_of(proc / "self" / "cgroup").splitlines():
        _, controllers, name = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        mounted = cgroups / controllers if controllers else cgroups
        for folder in (mounted / name.lstrip("/"), mounted):  # the name may be the host's
            if (folder / "cpu.stat").is_file():
                return folder
    return None


def quota_of(group: Path | None) -> float | None:
    """Return as many cores' worth of time as `group` allows; None where it sets no limit."""
    if group is None:
        return None
    words = text_of(group / "cpu.max").split() or [
        *text_of(group / "cpu.cfs_quota_us").split(),
        *text_of(group / "cpu.cfs_period_us").split(),
    ]
    with suppress(ValueError, ZeroDivisionError):
        quota, period = map(int, words)
        return quota / period if quota > 0 else None
    return None


def text_of(path: Path) -> str:
    """Return what stands in a file of the system; "" where it cannot be read."""
    try:
        return path.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
