"""The number of threads that may run at once."""

from __future__ import annotations

import math
import os
from functools import cache

from kernels.core.control_group import control_group, quota_of


@cache
def usable_cores() -> int:
    """Return how many cores this process may use.

    Those it is bound to, or as many as the time that a container's quota allows; threads beyond
    it would be held back all at once.
    """
    if hasattr(os, "sched_getaffinity"):
        bound = len(os.sched_getaffinity(0))
    else:
        bound = os.cpu_count() or 1
    quota = quota_of(control_group())
    return bound if quota is None else max(1, min(bound, math.ceil(quota)))
