"""The numbers of a report's figures and tables, in the order of the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of the next figure and the next table; each counts on by itself."""

    figures: Iterator[int] = field(default_factory=lambda: count(1))
    tables: Iterator[int] = field(default_factory=lambda: count(1))
