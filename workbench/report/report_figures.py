"""The figures of a report: charts as SVG inside the page, and pictures before and after."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kernels import Engine
from kernels.core.errors import BadJobError, KernelError
from kernels.core.job import Progress, Sampling
from kernels.pictures.generated import stored_as
from kernels.sweeps.cell_jobs import job_of
from kernels.sweeps.plan import Cell
from kernels.sweeps.record import Session
from workbench.charts.data.figure import Bars, Choices, Figure, Grid
from workbench.charts.data.points import Data
from workbench.charts.kinds import kinds_for
from workbench.model.cell_words import WORK, where
from workbench.model.names import implementation_title
from workbench.report.tables import baseline_of

# As wide as A4 between the page's margins, so that it is printed in the letters that it is drawn
# in, none of them smaller than 8 pt.
SIZE_PX = (680, 360)
WIDTH, HEIGHT = 360, 240  # pixels of an example: two of them stand side by side on A4
MAX_EXAMPLES = 4  # filters a session
MAX_KSIZE = 17  # weights: beyond, checking every pixel takes too long to wait for
ONCE = Sampling(max_samples=1, check=True)


@dataclass(frozen=True, slots=True)
class ReportChart:
    key: str  # unique in a report: its id
    figure: Figure
    notes: tuple[str, ...]  # without those that stand under an earlier chart
    is_recorded: bool

    @property
    def is_map(self) -> bool:
        """True if its colours are values, which stay light and dark on a dark screen too."""
        return isinstance(self.figure.body, Grid)

    def svg(self) -> str:
        """Draw it as an svg element for the page, which says its words around it.

        Only "Recorded" stays in it, wherever it is taken to.  The page scales the element, and
        its ids have a prefix so that they are unique there.
        """
        from workbench.charts.drawing.chart_export import svg_of  # pyqtgraph

        said = "Recorded" if self.is_recorded else ""
        drawn = replace(self.figure, title="", subtitle=said, sentence="", notes=())
        text = svg_of(drawn, SIZE_PX)
        opening, rest = text[text.index("<svg") :].rstrip().split(">", 1)
        opening = re.sub(r'\s(width|height|role|aria-label)="[^"]*"', "", opening)
        opening += f' role="img" aria-label="{escape(self.figure.summary)}"'
        ids = re.compile(r'(\sid="|url\(#|href="#)')
        return ids.sub(lambda found: f"{found[1]}{self.key}-", f"{opening}>{rest}")


def charts_of(sessions: Sequence[Session], prefix: str) -> Iterator[ReportChart]:
    """Yield a chart of every kind that shows something of `sessions`, against their baseline.

    prefix  of the charts' keys
    """
    baseline = next(filter(None, map(baseline_of, sessions)), None)
    data = Data(sessions, Choices(baseline=baseline.key if baseline else None))
    is_recorded = any(session.is_recorded for session in sessions)
    told: dict[str, str] = {}  # note -> the title of the chart that has it
    for kind in kinds_for(data):
        figure = kind.figure(data)
        if _has_own(figure):
            notes = [note for note in figure.notes if note not in told]
            where = dict.fromkeys(told[note] for note in figure.notes if note in told)
            told.update(dict.fromkeys(notes, figure.title))
            notes += [f'What is noted under "{each}" is true here as well.' for each in where]
            yield ReportChart(f"{prefix}-{figure.kind}", figure, tuple(notes), is_recorded)


def _has_own(figure: Figure) -> bool:
    """Return True if anything that these sessions ran is in it: refusals alone are no chart."""
    match figure.body:
        case Grid(tiles=tiles):
            return any(tile.verdict not in ("missing", "refused") for tile in tiles)
        case Bars(bars=bars):
            return any(bar.words != "refused" for bar in bars)
    return not figure.is_empty


@dataclass(frozen=True, slots=True)
class Example:
    """A picture before and after a filter, computed with the report."""

    key: str  # unique in a report
    title: str
    before: str  # data URIs of PNG files
    after: str
    caption: str  # which filter, of what, computed by what


def examples(
    session: Session, pictures: Mapping[str, NDArray[Any]], engine: Engine, prefix: str
) -> Iterator[Progress | Example]:
    """Make one example for each filter, with its largest weights measured, up to MAX_KSIZE.

    pictures  by name, (H, W, C): those given to the sweep that are at hand
    Yields Progress wherever it may be paused, as the engine does.
    """
    largest: dict[str, Cell] = {}
    for cell in (record.cell for record in session.records if record.verified):
        what = cell.list or cell.filter
        before = largest.get(what)
        if cell.ksize <= MAX_KSIZE and (before is None or cell.ksize > before.ksize):
            largest[what] = cell
    for number, cell in enumerate([*largest.values()][:MAX_EXAMPLES]):
        with suppress(KernelError):  # no such picture, or weights that make none
            small, given, what = _on_small_picture(cell, pictures)
            job = job_of(small, given)
            key = engine.best_for(job)
            job = replace(job, steps=tuple(replace(e, implementation=key) for e in job.steps))
            for step in engine.filtering(job, ONCE):
                if isinstance(step, Progress):
                    yield step
                else:
                    result = step
            name = where(cell, WORK)
            title, check = implementation_title(job.implementation), result.check
            yield Example(
                key=f"{prefix}-example-{cell.filter or number}",
                title=name,
                before=data_uri(job.picture),
                after=data_uri(result.picture),
                caption=(
                    f"{name}, border {cell.border}, on {what}. Computed for this page on the CPU "
                    f"by {title} ({check}), in 8 bits, cut off at black and white: an "
                    "illustration, and none of the runs that were timed."
                ),
            )


def _on_small_picture(
    cell: Cell, pictures: Mapping[str, NDArray[Any]]
) -> tuple[Cell, dict[str, NDArray[Any]], str]:
    way = {"implementation": "sequential", "block_xy": None, "cache": None, "devices": 1}
    small = replace(cell, pixel_type="uint8", count=1, **way)  # type: ignore[arg-type]
    if cell.picture in pictures:
        whole = pictures[cell.picture]  # scaled down, weights would do something else
        high, wide = whole.shape[:2]
        top, left = max(0, high - HEIGHT) // 2, max(0, wide - WIDTH) // 2
        part = np.ascontiguousarray(whole[top : top + HEIGHT, left : left + WIDTH])
        height, width, channels = part.shape
        kind = str(part.dtype)
        small = replace(small, width=width, height=height, channels=channels, pixel_type=kind)
        return small, {cell.picture: part}, f"the middle of {cell.picture}, {width}×{height} pixels"
    if not cell.is_made:
        raise BadJobError(f"{cell.picture} is not at hand.")
    channels = 3 if cell.channels > 2 else 1
    small = replace(small, width=WIDTH, height=HEIGHT, channels=channels)
    return small, {}, f"{cell.picture} of {WIDTH}×{HEIGHT} pixels"


def data_uri(samples: NDArray[Any]) -> str:
    """Encode (H, W, 1 to 4) as a PNG of 8 bits; alpha stays."""
    shallow, file = stored_as(samples, "uint8"), io.BytesIO()
    image = Image.fromarray(shallow[..., 0] if shallow.shape[2] == 1 else shallow)
    image.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
