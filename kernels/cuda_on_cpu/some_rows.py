"""A launch of some rows alone, as a strip of a large picture takes: what a kernel makes of it."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job, Progress
from kernels.cuda_on_cpu.whole_check import checked
from kernels.rungs.cuda_text import parameters_of, without_comments
from kernels.rungs.rung import PICTURE, Rung

Rows = tuple[int, int]  # the first, and the one behind the last


@dataclass(frozen=True, slots=True)
class RowsFault:
    """The first sample that is wrong after a launch of some rows.

    y, sample   its row, and its place in that
    is_outside  it is of a row that was not asked for, and was written
    """

    rows: Rows
    y: int
    sample: int
    is_outside: bool

    def in_words(self, rung: Rung, who: str = "The kernel") -> str:
        """Return the sentence; who: the thread that wrote, and its line."""
        first, end = self.rows
        asked = f"only rows {first} to {end - 1} {{}} asked for (from first_row, before end_row)"
        unused = "".join(f" {name} is used nowhere." for name in unused_rows(rung))
        if self.is_outside:
            return f"{who} writes row {self.y}, where {asked.format('were')}.{unused}"
        return (
            f"Row {self.y} comes out wrong where {asked.format('are')}, and right where all rows "
            f"are.{unused}"
        )


def launched_for(rows: Rows, ending: str) -> str:
    """Return the sentence for how a launch of these rows ended."""
    first, end = rows
    return (
        f"{ending} Only rows {first} to {end - 1} were asked for (from first_row, before end_row)."
    )


def rows_to_try(height: int) -> Rows | None:
    """Return some rows of a picture, neither its first nor, as a rule, its last; None: it has one.

    They begin at an odd one, where no block begins when all rows are asked for.
    """
    if height < 2:
        return None
    first = height // 3 | 1
    return first, max(height - height // 4, first + 1)


def rows_fault(
    rung: Rung,
    job: Job,
    rows: Rows,
    whole: NDArray[Any],
    some: NDArray[Any],
    as_before: NDArray[np.bool_],
) -> Generator[Progress, None, RowsFault | None]:
    """Compare an answer of some rows with one of all, which is right.

    as_before  which samples of `some` have every bit that they were filled with
    """
    first, end = rows
    written = ~as_before
    written[first:end] = False
    if written.any():
        return _first(written, rows, is_outside=True)
    bits = f"u{whole.itemsize}"
    differs = whole.view(bits) != some.view(bits)
    differs[:first] = differs[end:] = False
    if not differs.any():
        return None
    spliced = whole.copy()
    spliced[first:end] = some[first:end]
    check = yield from checked(rung, job, spliced)  # it may add up in another order
    return None if check.ok else _first(differs, rows, is_outside=False)


def unused_rows(rung: Rung) -> list[str]:
    """Return which of first_row and end_row, as the kernel calls them, it never looks at."""
    code = without_comments(rung.source)
    last = next((each for each in reversed(rung.passes) if each.writes == PICTURE), None)
    found = parameters_of(last.function, code) if last else None
    if found is None:
        return []
    names = [re.findall(r"[A-Za-z_]\w*", each.text)[-1:] for each in found[1][-2:]]
    return [name for each in names for name in each if _count(name, code) == 1]


def _count(name: str, code: str) -> int:
    return len(re.findall(rf"\b{name}\b", code))


def _first(samples: NDArray[np.bool_], rows: Rows, *, is_outside: bool) -> RowsFault:
    y, x, channel = (int(each[0]) for each in np.nonzero(samples))
    return RowsFault(rows, y, x * samples.shape[2] + channel, is_outside)
