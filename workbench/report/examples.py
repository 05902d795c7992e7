"""A small picture before and after each filter of a session, computed with the report."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kernels import Engine
from kernels.core.errors import KernelError
from kernels.core.job import Progress, Result, Sampling
from kernels.pictures.generated import stored_as
from kernels.sweeps.cell import Cell
from kernels.sweeps.cell_jobs import job_of
from kernels.sweeps.record import Session
from workbench.model.names import filter_title, implementation_title
from workbench.report.figure_numbers import Counts

WIDTH, HEIGHT = 360, 240  # pixels: two of them stand side by side on A4
MAX_FILTERS = 4  # filters a session
MAX_KSIZE = 17  # weights: beyond, checking every pixel takes too long to wait for
ONCE = Sampling(max_samples=1, check=True)


@dataclass(frozen=True, slots=True)
class Example:
    """A picture before and after a filter.

    number         "Figure 3" on the page
    before, after  data URIs of PNG files
    caption        which filter, of what, computed by what
    """

    number: int
    title: str
    before: str
    after: str
    caption: str


def examples(
    session: Session, pictures: Mapping[str, NDArray[Any]], engine: Engine, counts: Counts
) -> Iterator[Progress | Example]:
    """Make one example for each filter, with its largest weights measured, up to MAX_KSIZE.

    pictures  by name, (H, W, C): those given to the sweep that are at hand
    counts    gives each its number
    Yields Progress wherever it may be paused, as the engine does.
    """
    for cell in _cells(session):
        with suppress(KernelError):  # weights that make no picture: the report does without
            yield from _example(cell, pictures, engine, counts)


def _cells(session: Session) -> list[Cell]:
    largest: dict[str, Cell] = {}
    for record in session.records:
        if record.verified and record.cell.ksize <= MAX_KSIZE:
            best = largest.get(record.cell.filter)
            if best is None or record.cell.ksize > best.ksize:
                largest[record.cell.filter] = record.cell
    return list(largest.values())[:MAX_FILTERS]


def _example(
    cell: Cell, pictures: Mapping[str, NDArray[Any]], engine: Engine, counts: Counts
) -> Iterator[Progress | Example]:
    small, given, what = _on_small_picture(cell, pictures)
    job = job_of(small, given)
    job = replace(job, implementation=engine.best_for(job))
    result: Result | None = None
    for step in engine.filtering(job, ONCE):
        if isinstance(step, Result):
            result = step
        else:
            yield step
    assert result is not None
    name = f"{filter_title(cell.filter)} {cell.ksize}×{cell.ksize}"
    yield Example(
        number=next(counts.figures),
        title=name,
        before=data_uri(job.picture),
        after=data_uri(result.picture),
        caption=(
            f"{name}, border {cell.border}, on {what}. Computed for this page on the CPU by "
            f"{implementation_title(job.implementation)} ({result.check}), in 8 bits, cut off at "
            "black and white: an illustration, and none of the runs that were timed."
        ),
    )


def _on_small_picture(
    cell: Cell, pictures: Mapping[str, NDArray[Any]]
) -> tuple[Cell, dict[str, NDArray[Any]], str]:
    """Return the cell on few pixels, those pixels, and what they show in words."""
    small = replace(
        cell,
        implementation="sequential",
        block_xy=None,
        cache=None,
        devices=1,
        pixel_type="uint8",
        count=1,
    )
    if cell.picture in pictures:
        part = _middle_of(pictures[cell.picture])
        height, width, channels = part.shape
        kind = str(part.dtype)
        small = replace(small, width=width, height=height, channels=channels, pixel_type=kind)
        return small, {cell.picture: part}, f"the middle of {cell.picture}, {width}×{height} pixels"
    timed = f"; what was timed was {cell.picture}" if cell.picture != "photo" else ""
    channels = 3 if cell.channels > 2 else 1
    small = replace(small, picture="photo", width=WIDTH, height=HEIGHT, channels=channels)
    return small, {}, f"the built-in picture{timed}"


def _middle_of(picture: NDArray[Any]) -> NDArray[Any]:
    """Return as many of its pixels as fit: scaled down, weights would do something else."""
    height, width = picture.shape[:2]
    top, left = max(0, height - HEIGHT) // 2, max(0, width - WIDTH) // 2
    return np.ascontiguousarray(picture[top : top + HEIGHT, left : left + WIDTH])


def data_uri(samples: NDArray[Any]) -> str:
    """Return (H, W, 1 to 4) as a PNG of 8 bits; alpha stays."""
    shallow = stored_as(samples, "uint8")
    image = Image.fromarray(shallow[..., 0] if shallow.shape[2] == 1 else shallow)
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
