"""Baselines of speed-ups: one implementation, named, at the very same work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kernels.core.comparison import NO_INTERVAL, Comparison, compare, gives_speed_up
from kernels.sweeps.cell import Cell
from kernels.sweeps.record import Measurement, Record, Session
from workbench.base import numbers
from workbench.base.numbers import GAP
from workbench.charts.data.chart_words import list_of
from workbench.model.names import KEYS, implementation_title
from workbench.report.report_words import is_on_gpu, plural


def work_of(cell: Cell) -> Cell:
    """Return the cell without the way in which it is done: equal for all that do the same work."""
    return replace(cell, implementation="", block_xy=None, cache=None, devices=1)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The implementation that speed-ups of a session are against.

    key    of the implementation
    times  by work: its quickest verified measurement
    """

    key: str
    times: Mapping[Cell, Measurement]

    @property
    def title(self) -> str:
        """Return "OpenCV, 8 threads"; a rung has no threads to name."""
        threads = sorted({each.threads for each in self.times.values() if each.threads})
        name = implementation_title(self.key)
        if not threads:
            return name
        return f"{name}, {list_of([plural(each, 'thread') for each in threads])}"

    def speed_up(self, record: Record) -> Comparison | None:
        """Return the speed-up of a verified record.

        None where the baseline did not do the same work, or where one of the two is a
        single run.
        """
        theirs = self.against(record)
        if record.verified is None or theirs is None:
            return None
        return compare(record.verified.kernel, theirs.kernel)

    def against(self, record: Record) -> Measurement | None:
        """Return what a verified record may be divided by; None where it has no speed-up."""
        ours, theirs = record.verified, self.times.get(work_of(record.cell))
        if ours is None or theirs is None or not gives_speed_up(ours.kernel, theirs.kernel):
            return None
        return theirs

    def in_words(self, record: Record) -> tuple[str, str]:
        """Return a speed-up and its interval: "12.3×", "11.9 – 12.6"; "2.4× slower", "2.3 – 2.5".

        Where the two count as equal, that is said; the baseline itself is "1".
        """
        found = self.speed_up(record)
        if found is None:
            return "", ""
        if record.cell.implementation == self.key and found.ratio == 1:
            return "1", ""
        if found.verdict == "same":
            return f"{numbers.ratio(found.ratio)} (equal)", interval(found)
        if numbers.is_slower(found.ratio):
            return numbers.speed_up(found.ratio), interval(found.turned)
        return numbers.speed_up(found.ratio), interval(found)


def interval(found: Comparison) -> str:
    """Return the interval of a ratio: "11.9 – 12.6"; NO_INTERVAL where it has none."""
    if found.interval is None:
        return NO_INTERVAL
    return f"{GAP}–{GAP}".join(map(numbers.three_digits, found.interval))


def baseline_of(session: Session) -> Baseline | None:
    """Return the CPU implementation that is the quickest at most of the works.

    Without one the plainest rung.  None where fewer than two implementations gave right
    answers.
    """
    verified = [each for each in session.records if each.verified]
    keys = dict.fromkeys(each.cell.implementation for each in verified)
    if len(keys) < 2:
        return None
    on_cpu = [each for each in verified if not is_on_gpu(each.cell.implementation)]
    wins = Counter(cell.implementation for cell in _quickest(on_cpu))
    plainest = next((key for key in KEYS if key in keys), next(iter(keys)))
    chosen = wins.most_common(1)[0][0] if wins else plainest
    mine = (each for each in verified if each.cell.implementation == chosen)
    return Baseline(chosen, {work_of(cell): each for cell, each in _quickest(mine).items()})


def _quickest(records: Iterable[Record]) -> dict[Cell, Measurement]:
    """Return the quickest cell of each work."""
    best: dict[Cell, tuple[Cell, Measurement]] = {}
    for record in records:
        measured, work = record.verified, work_of(record.cell)
        assert measured is not None
        if work not in best or measured.kernel.median_ms < best[work][1].kernel.median_ms:
            best[work] = (record.cell, measured)
    return dict(best.values())
