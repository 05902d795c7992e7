"""Filters of one size whose weights are drawn: a table of drawn.toml each."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernels.core.plain_data import table_beside
from kernels.filters import Filter


def _drawn(key: str, rows: list[list[float]], **facts: Any) -> Filter:
    sizes, weights = range(len(rows), len(rows) + 1, 2), np.array(rows, np.float32)
    return Filter(key, sizes=sizes, parameters=(), make=lambda _: weights, **facts)


FILTERS = tuple(_drawn(key, **facts) for key, facts in table_beside(__file__).items())
