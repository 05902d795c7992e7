"""Measure the cells of a plan in rounds: each becomes a record, whatever comes of it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from time import time
from typing import TypeVar
from zlib import crc32

from kernels.core.cpu_load import Load, LoadWatch, both_loads
from kernels.core.device_turns import run_with_progress
from kernels.core.errors import DeviceLostError, GivenUpError, KernelError
from kernels.core.job import Job, Progress, Result
from kernels.core.verdict import Check
from kernels.cuda.device_pictures import Transfers
from kernels.engine.engine import Engine
from kernels.engine.job_comparison import checked, measure_checked, or_nothing
from kernels.oracle.checking import Oracle
from kernels.rungs.own_kernels import is_own
from kernels.sweeps import cell_jobs, estimate
from kernels.sweeps.plan import Cell, Plan, kind_of, sampling_of
from kernels.sweeps.record import Measurement, Record

CELLS_AHEAD = 32  # compiled together, on all cores, before the first of them is measured
HOPELESS = 2.0  # a first run estimated at this many times its limit is not begun


@dataclass(frozen=True, slots=True)
class OfCell(Progress):
    """A step of measuring a cell."""

    place: int  # cells measured in this round, of `count` of the sweep
    count: int
    cell: Cell
    round: int = 1  # from 1 on
    rounds: int = 1

    @property
    def where(self) -> str:
        """How far the sweep is, as `estimate.place_in` has it."""
        return estimate.place_in_words(self.place, self.count, self.round, self.rounds)


T = TypeVar("T")
Steps = Generator[Progress, None, Measurement | str]


def sweeping(
    plan: Plan,
    engine: Engine,
    given: cell_jobs.Given = cell_jobs.NOTHING_GIVEN,
    before: Iterable[Record] = (),
    texts: cell_jobs.Texts = cell_jobs.NO_TEXTS,
) -> Iterator[Progress | Record]:
    """Measure every cell of `plan` in rounds; at each Progress it may be paused or stopped.

    given   pictures by name, see `cell_jobs.job_of`
    before  known records: complete ones are left as they are, the others are continued
    texts   of the user kernels that it measures, each part of them in a process of its own
    A Record comes after each part of a cell and holds all that is known of it; the last of a cell
    is complete.  Only a DeviceLostError ends the sweep: nothing after it could be trusted.
    """
    every, known = cells_of(plan, given), {record.cell: record for record in before}
    running = _Running(plan, engine, given, texts)
    rounds, is_compiled = estimate.rounds_of(plan.sampling), False
    for number in range(rounds):
        # Continued cells have had their first rounds.
        left = [cell for cell in every if estimate.rounds_done(known.get(cell), rounds) <= number]
        order = estimate.in_order(left, number)
        for first in range(0, len(order), CELLS_AHEAD):
            together = order[first : first + CELLS_AHEAD]
            if not is_compiled:
                yield from running.compiling(together)
            for place, cell in enumerate(together, start=len(every) - len(left) + first):
                where = OfCell("", place, len(every), cell, number + 1, rounds)
                where = replace(where, doing=f"{where.where} · {in_words(cell)}")
                yield where
                outcome = yield from running.measuring(cell, where, known.get(cell), number)
                known[cell] = Record(cell, outcome, time())
                yield known[cell]
        is_compiled = is_compiled or bool(order)


def cells_of(plan: Plan, given: cell_jobs.Given = cell_jobs.NOTHING_GIVEN) -> tuple[Cell, ...]:
    """Return the cells of `plan`; pictures that are given have their own size."""
    return plan.cells({name: (each.shape[1], each.shape[0]) for name, each in given.items()})


def in_words(cell: Cell) -> str:
    """Describe `cell` for a line of progress: "shared 16×16, gaussian 5×5, 1024²"."""
    how = f"{cell.implementation} {cell.block_in_words}".rstrip()
    how += f" on {cell.devices_in_words}" if cell.devices_in_words else ""
    many = f"{cell.count} × " if cell.count > 1 else ""
    name = "" if cell.is_made else f" {cell.picture}"
    what = cell.list or f"{cell.filter} {cell.ksize}×{cell.ksize}"
    return f"{how}, {what}, {many}{cell.size_in_words}{name}"


@dataclass(slots=True)
class _Running:
    """One sweep, and what its cells have from each other.

    asked      the picture, weights and border that `oracles` hold for, by the picture's number
    right      a digest of a cell's answers that were checked, by the picture's number, and what
               came of it: the same answer need not be checked again
    transfers  by the bytes of a picture; None where they could not be measured
    slowest    of those alike but for their size: the latest that ran, and the seconds of a run;
               infinitely many where it was given up
    """

    plan: Plan
    engine: Engine
    given: cell_jobs.Given
    texts: cell_jobs.Texts
    asked: Cell | None = None
    oracles: dict[int, Oracle] = field(default_factory=dict)
    right: dict[tuple[Cell, int], tuple[int, Check]] = field(default_factory=dict)
    transfers: dict[int, Transfers | None] = field(default_factory=dict)
    slowest: dict[Cell, tuple[Cell, float]] = field(default_factory=dict)
    watch: LoadWatch = field(default_factory=LoadWatch)

    def compiling(self, cells: Sequence[Cell]) -> Iterator[Progress]:
        able = [cell for cell in cells if cell_jobs.refusal(self.engine, cell, self.texts) is None]
        yield from self.engine.compiling(cell_jobs.stand_in_job(cell, self.texts) for cell in able)

    def measuring(self, cell: Cell, where: Progress, before: Record | None, number: int) -> Steps:
        """Measure the part of `cell` in round `number`; return its whole measurement so far."""
        known = before.outcome if before and isinstance(before.outcome, Measurement) else None
        try:
            if self.engine.lost and kind_of(cell) != "cpu":
                raise DeviceLostError(self.engine.lost)
            if reason := cell_jobs.refusal(self.engine, cell, self.texts):
                return reason
            if known is None and (hopeless := self._why_hopeless(cell)):
                return hopeless
            part = yield from self._measured(cell, where, number, is_first=known is None)
        except DeviceLostError:
            raise
        except GivenUpError as error:
            self.slowest[estimate.but_for_size(cell)] = cell, inf
            return str(error)
        except KernelError as error:
            return str(error)
        if isinstance(part, str):
            return part
        outcome = estimate.with_part(known, part, sampling_of(cell, self.plan.sampling), cell.count)
        self.slowest[estimate.but_for_size(cell)] = cell, outcome.kernel.median_ms / 1e3
        return outcome

    def _why_hopeless(self, cell: Cell) -> str | None:
        """The reason not to begin: by a smaller picture it would take far too long; or None."""
        limit_s = self.plan.cell_seconds
        like, like_s = self.slowest.get(estimate.but_for_size(cell), (cell, 0.0))
        if like.pixels >= cell.pixels:
            return None
        would_s = like_s * cell.megapixels / like.megapixels
        if would_s <= HOPELESS * limit_s * cell.count:
            return None
        took = "did not finish"
        if like_s < inf:
            took = f"would have this take {estimate.about(would_s)}"
        return f"Not begun: {like.size_in_words} {took}, and a first run has {limit_s:g} s."

    def _measured(self, cell: Cell, where: Progress, number: int, *, is_first: bool) -> Steps:
        """Measure a part of all pictures of `cell`; with the first also transfers and occupancy."""
        parts: list[Measurement] = []
        part = replace(estimate.part_of(sampling_of(cell, self.plan.sampling), number), check=False)
        on_gpu = kind_of(cell) != "cpu"
        for picture in range(cell.count):
            self.engine.forget_runs()  # what another list begins with is no sample of this one
            job = cell_jobs.job_of(cell, self.given, picture, self.texts)
            steps = measure_checked(self.engine, job, part, {}, patience_s=self.plan.cell_seconds)
            found, load = yield from run_with_progress(self._watched(steps), where)
            if isinstance(found, str):
                return found
            check = yield from run_with_progress(self._checked(cell, found, picture), where)
            parts.append(replace(Measurement.of(found, load=None if on_gpu else load), check=check))
        whole = cell_jobs.one_after_another(parts)
        if not on_gpu or not is_first:
            return whole
        if not is_own(cell.implementation):
            # It was compiled ahead, beside others: what is known is only how long finding it took.
            whole = replace(whole, compile_ms=None)
            with or_nothing():
                whole = replace(whole, occupancy=self.engine.occupancy(job))
        transfers = yield from self._transferring(job, where)
        if transfers is not None:
            whole = replace(whole, transfers=cell_jobs.repeated(transfers, cell.count))
        return whole

    def _watched(
        self, steps: Generator[Progress, None, T]
    ) -> Generator[Progress, None, tuple[T, Load | None]]:
        """Drive `steps`, and sum up the CPU's other load during them, not between them."""
        noted: Load | None = None
        while True:
            self.watch.start()
            try:
                step = next(steps)
            except StopIteration as end:
                return end.value, both_loads(noted, self.watch.load())
            noted = both_loads(noted, self.watch.load())
            yield step

    def _checked(
        self, cell: Cell, found: Result, picture: int
    ) -> Generator[Progress, None, Check | None]:
        """Verify an output, unless it is bit for bit a verified one; None: nothing is checked."""
        if not self.plan.sampling.check:
            return None
        digest = crc32(found.picture.data)
        known = self.right.get((cell, picture))
        if known is not None and known[0] == digest:
            return known[1]
        asked = replace(cell, implementation="", block_xy=None, cache=None, devices=1)
        if asked != self.asked:
            self.asked, self.oracles = asked, {}
        oracle = self.oracles.setdefault(picture, {})
        check = yield from checked(self.engine, found, self.plan.sampling.check_taps, oracle)
        if check is not None:
            self.right[cell, picture] = digest, check
        return check

    def _transferring(
        self, job: Job, where: Progress
    ) -> Generator[Progress, None, Transfers | None]:
        """Measure the transfers of a picture like the job's; None where the plan does not."""
        size = job.picture.nbytes
        if self.plan.transfers and size not in self.transfers:
            self.transfers[size] = None
            with or_nothing():
                for step in self.engine.transfers(job):
                    if isinstance(step, Transfers):
                        self.transfers[size] = step
                    else:
                        yield where
        return self.transfers.get(size)
