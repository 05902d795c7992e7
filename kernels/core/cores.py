"""How many threads may run at once."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Return the cores this process may use, which may be fewer than the computer has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
