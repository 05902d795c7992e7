"""A page on how a list runs as a whole: what each way moves and does twice, and over the picture
the halo that grows from step to step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from html import escape
from itertools import chain, cycle, islice, pairwise
from typing import NamedTuple
from weakref import ref

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from kernels.core.cache import blank
from kernels.core.device import Device
from kernels.core.job import Job
from kernels.engine.engine import Engine
from kernels.engine.list_ways import LIST_RUNGS, WAYS
from kernels.engine.list_work import WayWork, list_work
from kernels.sweeps.machine import limits
from kernels.sweeps.record import Machine
from kernels.sweeps.session_files import read_session
from workbench.base import numbers
from workbench.base.background import Background, Latest
from workbench.base.paths import asset, asset_table
from workbench.base.plain_text import tip_text
from workbench.charts.canvas import FigureView
from workbench.charts.data.figure import Axis, Dot, Figure, LegendLine, Plot, Series, SeriesStyle
from workbench.panels.anatomy.anatomy_overlay import paint_tile
from workbench.panels.controls.controls_panel import WHOLE_TIPS
from workbench.session.worker import AGAIN, LongTask, Worker
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import check_segment, described, make_segments, push_button
from workbench.widgets.chips import outline, paint_words
from workbench.widgets.tile import words_label

RECORDED = "recorded/goettingen_ladder.jsonl.gz"  # whose machine stands in where there is no GPU
TIPS = asset_table("tips.toml")["list"]
TITLES = {way: WHOLE_TIPS[way].split("\n")[0] for way in WAYS}
MAX_STEPS = 8
AREAS = WAYS[1:]  # ways that make an area of the output at a time
FRAMES = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#cc79a7")  # Okabe and Ito's, in turn
LINE_PX = 22  # of a label over the picture
NO_PICTURE = "Open a picture: what its steps cost together is shown here."
ONE_STEP = "One step is on. Add another (Ctrl+Shift+N), and its halo is drawn over the picture."
IDEA = (
    "The more steps are done at once, the more rows around an area each needs of the one before: "
    "that is filtered again, and saves a trip through memory. Point at the picture to see it."
)
MEASURING = "The limits of this GPU are measured first, which takes seconds."
WHERE = (
    "Model: operations at {fma_tflop_s:.3g} TFLOP/s, bytes at {copy_gb_s:,.0f} GB/s, and those in "
    "the L2 cache at {l2_read_gb_s:,.0f} GB/s, as measured on an {gpu}."
)


Costs = dict[str, WayWork | str]


class ListCost(NamedTuple):
    """What the page shows of a job, on one machine.

    titles  of the picture and of each run
    """

    job: Job
    titles: tuple[str, ...]
    ways: Costs
    figure: Figure


@cache
def recorded_machine() -> Machine:
    """The GPU that the program's own sessions were measured on."""
    return read_session(asset(RECORDED)).machine


def cost_of(request: tuple[Job, Machine | None]) -> ListCost:
    """Work out the page; no machine: the recorded one."""
    job, here = request
    job = replace(job, picture=blank(job.picture.shape, job.pixel_type))
    machine = here or recorded_machine()
    ends = pairwise((0, *(run.taken for run in job.runs)))
    filters = [job.steps[first:end] for first, end in ends]
    titles = [f"{n} {steps[0].title}" for n, steps in enumerate(filters, start=1)]
    lists = [chain.from_iterable(islice(cycle(filters), n)) for n in range(1, MAX_STEPS + 1)]
    costs = [list_work(replace(job, steps=tuple(each)), machine.limits) for each in lists]
    ways = list_work(job, machine.limits)
    return ListCost(job, ("Original", *titles), ways, figure_of(costs, machine))


def figure_of(costs: Sequence[Costs], machine: Machine) -> Figure:
    """A line for the bytes, and one for the operations, of each way: time over steps."""
    lines, words = [], []
    for number, way in enumerate(WAYS):
        works = [(n, each) for n, known in enumerate(costs, 1) if (each := known[way])]
        known = [(n, each) for n, each in works if isinstance(each, WayWork)]
        times = {
            "bytes": [(n, work.memory_ms(machine.ceilings)) for n, work in known],
            "operations": [(n, work.compute_ms(machine.ceilings)) for n, work in known],
        }
        for what, points in times.items():
            name = f"{TITLES[way]}, {what}"
            style = SeriesStyle(number, number, dash="dash" if what == "operations" else "solid")
            dots = tuple(
                Dot(n, ms, ms, ms, f"{name}, steps: {n}. {numbers.duration(ms)}")
                for n, ms in points
                if ms  # comparisons are no operations
            )
            lines.append(Series(LegendLine(name, name, "", name, style), dots, name=name))
        late = [n for (n, by), (_, at) in zip(*times.values(), strict=True) if at > by]
        if way in LIST_RUNGS and known:
            from_where = f"from {late[0]} steps on" if late else f"not up to {known[-1][0]} steps"
            words.append(f"{TITLES[way].lower()} {from_where}")
    sentence = f"Operations take longer than bytes: {', '.join(words)}. " if words else ""
    sentence += WHERE.format(gpu=machine.gpu, **machine.ceilings)
    shown = tuple(each for each in lines if each.dots)
    x = Axis("Steps: these, over and over", lambda n: f"{n:.0f}", ends=(1, MAX_STEPS))
    y = Axis("Time, logarithmic", numbers.duration, is_log=True)
    entries = tuple(each.entry for each in shown)
    return Figure("", "Bytes and operations", "", sentence, (), Plot(x, y, shown), entries)


def words_of(cost: ListCost) -> str:
    """The ways as a table of rich text: bytes read, written and in the L2 cache; done again."""
    heads = ("", "Read", "Written", "In L2", "Done again")
    rows = ["".join(f"<th align=right>&nbsp;&nbsp;{head}</th>" for head in heads)]
    for way, work in cost.ways.items():
        name = f"<td>{TITLES[way]}</td>"
        if isinstance(work, str):
            rows.append(f"{name}<td colspan=4>&nbsp;&nbsp;✗ {escape(work)}</td>")
            continue
        moved = work.read_bytes, work.written_bytes, work.cached_bytes
        cells = [*map(numbers.file_size, moved), numbers.percent(work.again)]
        rows.append(name + "".join(f"<td align=right>&nbsp;&nbsp;{each}</td>" for each in cells))
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


class ListPage(QWidget):
    """The page; `paint` draws over the picture while it is seen."""

    look_changed = Signal()  # `paint` paints something else
    area_wanted = Signal(object)  # (area): this QRectF of pixels is to fill the view

    def __init__(self, worker: Worker, background: Background) -> None:
        super().__init__()
        self._worker, self._way = worker, AREAS[1]
        self.cost: ListCost | None = None
        self._of: ref[Job] | None = None  # what is shown, or being worked out
        self._here: Machine | None = None  # the GPU here, once its ceilings are measured
        self._at = (0.0, 0.0)  # pointed at
        self._latest = Latest(background, cost_of, self._take, lambda *_: None)
        self._limits = LongTask(worker, "the limits of the GPU", AGAIN)
        self._limits.stepped.connect(self._take_machine)
        self._sentence = words_label("list-sentence")
        self._table = words_label("list-bytes", 0.9)
        self._table.setTextFormat(Qt.TextFormat.RichText)
        self._table.setToolTip(tip_text(TIPS["bytes"]))
        self.chart = described(FigureView(NO_PICTURE), "list-chart", "Bytes and operations")
        self._said = words_label("list-chart-said", 0.9)
        names = tuple((way, TITLES[way], TIPS["area"]) for way in AREAS)
        self._ways = make_segments(names, self._choose)
        check_segment(self._ways, self._way)
        self._zoom = push_button("list-zoom", "Zoom", TIPS["zoom"], "Zoom to the area")
        self._zoom.clicked.connect(lambda: self.area_wanted.emit(self.frames()[0]))
        row = HBox(spacing=0).add(*self._ways.values(), 1, self._zoom)
        inside = QWidget()
        VBox(inside, (0, 8, 0, 0), 6).add(
            self._sentence, row, self._table, (self.chart, 1), self._said
        )
        VBox(self, 0).add(UprightArea(inside))

    def show_job(self, job: Job | None) -> None:
        """Show what a job's steps cost together, as soon as that is worked out."""
        if job is None:
            self._of = self.cost = None
            self._show()
        elif self._of is None or self._of() is not job:
            self._of = ref(job)  # no picture is kept in memory
            if isinstance(self._worker.device, Device) and self._here is None:
                self._sentence.setText(MEASURING)
                self._limits.start(self._measuring)
            else:
                self._latest.request((job, self._here))

    @staticmethod
    def _measuring(engine: Engine) -> Iterator[Machine]:
        device = engine.device
        if isinstance(device, Device) and (found := engine.ceilings()):
            yield Machine("", "", "", device.name, limits=limits(device), ceilings=found)

    def _take_machine(self, machine: Machine) -> None:
        self._here = machine
        if job := self._of and self._of():
            self._latest.request((job, machine))

    def _take(self, _of: object, cost: ListCost) -> None:
        self.cost = cost if self._of else None
        self._show()

    def _show(self) -> None:
        cost = self.cost
        is_list = cost is not None and len(cost.titles) > 2
        self._sentence.show_or_hide(IDEA if is_list else ONE_STEP if cost else NO_PICTURE)
        self._table.show_or_hide(words_of(cost) if cost else "")
        self._said.show_or_hide(cost.figure.sentence if cost else "")
        self.chart.show_figure(cost.figure if cost else None)
        self._show_area()

    def _choose(self, way: str) -> None:
        self._way = way
        self._show_area()

    def _show_area(self) -> None:
        for way, button in self._ways.items():
            work = self.cost.ways[way] if self.cost else NO_PICTURE
            button.setEnabled(isinstance(work, WayWork))
            button.setToolTip(tip_text(work if isinstance(work, str) else TIPS["area"]))
        self._zoom.setEnabled(bool(self.frames()))
        self.look_changed.emit()

    def point_at(self, point: tuple[float, float]) -> None:
        """Take the area that has a point, in pixels of the picture."""
        self._at = point
        if self.isVisible():
            self.look_changed.emit()

    def frames(self) -> list[QRectF]:
        """What is needed of the picture, and of each step in turn; the last is the area itself."""
        cost = self.cost
        work = cost.ways[self._way] if cost else ""
        if cost is None or isinstance(work, str):
            return []
        job, (across, down) = cost.job, work.area
        picture = QRectF(0, 0, job.width, job.height)
        x, y = min(max(self._at[0], 0), job.width - 1), min(max(self._at[1], 0), job.height - 1)
        area = QRectF(x // across * across, y // down * down, across, down)
        return [area.adjusted(-h, -h, h, h).intersected(picture) for h in job.halos]

    def paint(self, painter: QPainter, _visible: QRectF, scale: float) -> None:
        """Paint as an `Overlay` of pictures; nothing while the page is hidden."""
        frames = self.frames() if self.isVisible() else []
        if len(frames) < 3 or self.cost is None:  # one step grows nothing
            return
        dot = painter.device().devicePixelRatio() / scale  # of the screen, in the picture's pixels
        paint_tile(painter, frames[-1], frames[0])
        for number, (frame, title) in enumerate(zip(frames, self.cost.titles, strict=True)):
            color = QColor(FRAMES[number % len(FRAMES)])
            outline(painter, [frame], color)
            place = frames[0].topRight() + QPointF(12, number * LINE_PX) * dot
            paint_words(painter, scale, place, title)
            outline(painter, [QRectF(place - QPointF(6, 0) * dot, QSizeF(2, 16) * dot)], color)
