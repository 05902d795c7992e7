"""The block shapes that came with the program: how an H200 took them, for who has no GPU."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from kernels import filters
from kernels.core.comparison import groups_of_equals
from kernels.core.job import Job
from kernels.core.timing import Cache
from kernels.measuring.job_comparison import CandidateState
from kernels.sweeps.cell import Cell
from kernels.sweeps.record import Measurement
from kernels.sweeps.session_files import read_session
from workbench.base.assets_path import asset
from workbench.model import intents
from workbench.model.recorded_times import why_not_beside
from workbench.model.rung_times import WorkKey
from workbench.panels.blocks.candidates import named
from workbench.panels.blocks.rows import BlockRow, row_of, sentence_of

SESSION = "recorded/camerino_block_shape.jsonl.gz"  # in assets
RUNG = "shared"  # the one whose shapes differ most
SAME = "Recorded for this job, on another picture."


@dataclass(frozen=True, slots=True)
class RecordedShapes:
    """The standing of block shapes of one rung, on the GPU called `device`.

    subject, work  as in `Field`
    key       of the job that was timed
    name      of that job, in short
    sentence  how they stand
    """

    device: str
    subject: str
    work: str
    key: WorkKey
    name: str
    rows: tuple[BlockRow, ...]
    sentence: str

    def beside(self, job: Job | None, cache: Cache) -> str:
        """Return the sentence behind another on how that job compares with `job` and `cache`."""
        is_same = job is not None and WorkKey.of(job) == self.key
        whose = SAME if is_same else f"Recorded, another job: {self.name}."
        return " ".join(filter(None, (whose, why_not_beside(cache), self.sentence)))


@cache
def recorded_shapes() -> RecordedShapes | None:
    """Return what was recorded; None where there is nothing.  Reads a file the first time."""
    session = read_session(asset(SESSION))
    found = {
        each.cell: each.outcome
        for each in session.records
        if each.cell.implementation == RUNG and isinstance(each.outcome, Measurement)
    }
    if not found:
        return None
    rows, cell = _rows(found), next(iter(found))
    return RecordedShapes(
        session.machine.gpu,
        intents.implementation(RUNG).title,
        _in_words(cell),
        WorkKey.of_cell(cell),
        _in_short(cell),
        rows,
        sentence_of(rows, is_over=True),
    )


def _rows(found: dict[Cell, Measurement]) -> tuple[BlockRow, ...]:
    groups = groups_of_equals({cell: each.kernel for cell, each in found.items()})
    places: dict[Cell, tuple[int, bool]] = {}
    for group in groups:
        place = len(places) + 1
        places |= {cell: (place, len(group) > 1) for cell in group}
    return tuple(
        replace(
            row_of(cell.block_xy, named(cell.block_xy), _state(each), *places[cell]),
            state="recorded",
        )
        for cell, each in found.items()
        if cell.block_xy is not None
    )


def _state(measured: Measurement) -> CandidateState:
    low, middle, high = np.percentile(measured.kernel.samples_ms, (25, 50, 75))
    return CandidateState(
        measured.kernel,
        (float(low), float(middle), float(high)),
        measured.check,
        ran=measured.ran,
        occupancy=measured.occupancy,
        disturbances=measured.disturbances,
        is_over=True,
    )


def _in_words(cell: Cell) -> str:
    return (
        f"{filters.get(cell.filter).title} {cell.ksize}×{cell.ksize}, border {cell.border}, "
        f"{cell.width}×{cell.height}, {cell.channels}\u00a0×\u00a0{cell.pixel_type}"
    )


def _in_short(cell: Cell) -> str:
    """Return what tells the recorded job from the user's: "Gaussian blur 5×5, 2048², float32"."""
    title = filters.get(cell.filter).title
    return f"{title} {cell.ksize}×{cell.ksize}, {cell.size_in_words}, {cell.pixel_type}"
