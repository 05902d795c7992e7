"""Shards of a batch: so many processes, anywhere, that need only the same folders.

Which shard a result belongs to depends on its name alone, so that files which come or go between
the starts of two shards move no other one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

from workbench.batch.journal import Journal, JournalError, Line, lines_of

JOURNALS = re.compile(r"workbench-batch-(\d+)-of-(\d+)\.jsonl")


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` parts of a batch, counted from 1."""

    number: int
    count: int

    def has(self, output: str) -> bool:
        """Return whether it does the result that the journal calls `output`."""
        return crc32(output.encode(errors="surrogateescape")) % self.count == self.number - 1

    @property
    def journal_name(self) -> str:
        """Return the name of its journal, which lies beside those of the others."""
        return f"workbench-batch-{self.number}-of-{self.count}.jsonl"


@dataclass(slots=True)
class ShardRun:
    """The last run of a shard, as its journal tells of it.

    lines  the last one of each result
    """

    asked: Line | None = None
    lines: dict[str, Line] = field(default_factory=dict)
    is_over: bool = False


def journals_among(inputs: Iterable[Path]) -> Iterator[Path]:
    """Yield journals of shards: those named, and those in folders.  Raises JournalError."""
    for each in inputs:
        if not each.is_dir():
            yield each
            continue
        found = sorted(path for path in each.iterdir() if JOURNALS.fullmatch(path.name))
        if not found:
            raise JournalError(f"There are no journals of shards in {each}.")
        yield from found


def merge(journals: Iterable[Path], folder: Path) -> dict[str, int]:
    """Write the journals of all shards as that of one batch; return the pictures by their status.

    folder  of the results, that can be gone on with as a whole then

    Raises JournalError where a shard is missing or not at its end, or is of another batch.
    """
    runs = _runs(journals)
    asked = next(iter(runs.values())).asked
    assert asked is not None
    counts: dict[str, int] = {}
    with Journal(folder, asked) as journal:
        for run in runs.values():
            for line in run.lines.values():
                journal.append(line)
                counts[line["status"]] = counts.get(line["status"], 0) + 1
        journal.append({"ended": {"counts": counts}})
    return counts


def _runs(journals: Iterable[Path]) -> dict[Shard, ShardRun]:
    """Read all journals.  Raises JournalError."""
    runs: dict[Shard, ShardRun] = {}
    for path in journals:
        named = JOURNALS.fullmatch(path.name)
        if named is None:
            raise JournalError(f"{path} is no journal of a shard.")
        run = runs[Shard(int(named[1]), int(named[2]))] = _run(path)
        if not run.is_over:
            raise JournalError(f"{path} did not come to its end; resume it first (--resume).")
        if run.asked != next(iter(runs.values())).asked:
            raise JournalError(f"{path} is of a batch with other options than the first.")
    _refuse_missing(runs)
    return runs


def _refuse_missing(runs: dict[Shard, ShardRun]) -> None:
    counts = {shard.count for shard in runs}
    if len(counts) != 1:
        raise JournalError("These journals are of different numbers of shards; name those of one.")
    (count,) = counts
    missing = sorted(set(range(1, count + 1)) - {shard.number for shard in runs})
    if missing:
        listed = ", ".join(map(str, missing))
        raise JournalError(f"There is no journal of shard {listed} of {count}; run it first.")


def _run(path: Path) -> ShardRun:
    run = ShardRun()
    for line in lines_of(path):
        if isinstance(asked := line.get("asked"), dict):
            run = ShardRun(asked)
        elif "ended" in line:
            run.is_over = True
        elif "status" in line:
            run.is_over = False
            run.lines[str(line.get("output"))] = _whole(line)
    if run.asked is None:
        raise JournalError(f"{path} tells of no batch.")
    return run


def _whole(line: Line) -> dict[str, Any]:
    return {**line, "status": str(line["status"])}
