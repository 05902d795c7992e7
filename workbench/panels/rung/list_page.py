"""What a list costs in each way to run it whole, and over the picture the halo of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from itertools import chain, cycle, groupby, islice, pairwise
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from kernels.core.cache import blank
from kernels.core.device import Device
from kernels.core.job import MAX_STEPS, Job
from kernels.engine.list_ways import LIST_RUNGS, STRIPS, WAYS
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
from workbench.panels.controls.controls_panel import WHOLE_TIPS
from workbench.session.worker import AGAIN, LongTask, Worker
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import allow, check_segment, described, make_segments, push_button
from workbench.widgets.chips import outline, paint_words
from workbench.widgets.tile import words_label

RECORDED = "recorded/goettingen_ladder.jsonl.gz"  # whose machine stands in where there is no GPU
TIPS = asset_table("tips.toml")["list"]
TITLES = {way: WHOLE_TIPS[way].split("\n")[0] for way in WAYS}
STEPS = range(1, MAX_STEPS + 1)
PRE = "style='white-space: pre'"  # not even a narrow space may break
MARKERS = "●■▲◆"  # of the chart's lines, in front of the names of ways
FRAMES = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#cc79a7")  # Okabe and Ito's, in turn
LABEL_PX, LINE_PX = 150, 22  # room for a label over the picture
Costs = dict[str, WayWork | str]


class ListCost(NamedTuple):
    """What the page shows of a job, on one machine."""

    job: Job
    titles: tuple[str, ...]  # of the picture and of each run
    ways: Costs
    figure: Figure


def cost_of(request: tuple[Job, Machine | None]) -> ListCost:
    """Work out the page; no machine: the recorded one."""
    job, here = request
    gpu = here or read_session(asset(RECORDED)).machine
    ends = pairwise((0, *(run.taken for run in job.runs)))
    filters = [job.steps[first:end] for first, end in ends]
    titles = "Original", *(f"{n} {steps[0].title}" for n, steps in enumerate(filters, start=1))
    lists = [chain.from_iterable(islice(cycle(filters), n)) for n in STEPS]
    costs = [list_work(replace(job, steps=tuple(each)), gpu.limits) for each in lists]
    return ListCost(job, titles, list_work(job, gpu.limits), figure_of(costs, gpu))


def figure_of(costs: Sequence[Costs], machine: Machine) -> Figure:
    """A line for the bytes, and one for the operations, of each way: time over steps."""
    lines, words, ceilings = [], [], machine.ceilings
    for number, way in enumerate(WAYS):
        every = enumerate((each[way] for each in costs), start=1)
        works = [(n, work) for n, work in every if isinstance(work, WayWork)]
        late = [n for n, work in works if work.compute_ms(ceilings) > work.memory_ms(ceilings)]
        if way in LIST_RUNGS and late:
            words.append(f"{TITLES[way].lower()} from {late[0]} steps on")
        for what, time in (("bytes", WayWork.memory_ms), ("operations", WayWork.compute_ms)):
            name, times = f"{TITLES[way]}, {what}", ((n, time(each, ceilings)) for n, each in works)
            said = ((n, ms, f"{name}, {n} steps: {numbers.duration(ms)}") for n, ms in times)
            dots = tuple(Dot(n, ms, ms, ms, tip) for n, ms, tip in said if ms)
            style = SeriesStyle(number, number, dash="solid" if what == "bytes" else "dash")
            if (way, what) != (STRIPS, "operations"):  # which would hide those of the graph
                lines.append(Series(LegendLine(name, name, "", name, style), dots))
    above = f"Operations take longer: {', '.join(words)}. " if words else ""
    x = Axis("Steps: these, over and over", str, ticks=tuple((n, str(n)) for n in STEPS))
    y = Axis("Time, logarithmic", numbers.duration, is_log=True)
    sentence = TIPS["model"].format(above=above, gpu=machine.gpu, **ceilings)
    body, entries = Plot(x, y, tuple(lines)), tuple(each.entry for each in lines)
    return Figure("", "Bytes and operations", "", sentence, (), body, entries)


def words_of(cost: ListCost) -> str:
    """The ways as a table of rich text: bytes read, written and in the L2 cache; done again."""
    heads = ("", "Read", "Written", "In L2", "Again")
    rows = ["".join(f"<th align=right>&nbsp;&nbsp;{head}</th>" for head in heads)]
    named = zip(MARKERS, cost.ways.items(), strict=True)
    for work, group in groupby(named, key=lambda each: each[1][1]):
        names = [f"<td>{m}&nbsp;{TITLES[way].replace(' ', '&nbsp;')}</td>" for m, (way, _) in group]
        if isinstance(work, WayWork):
            moved = map(numbers.file_size, (work.read_bytes, work.written_bytes, work.cached_bytes))
            said = (*moved, numbers.percent(work.again))
            cells = "".join(f"<td align=right {PRE}>&nbsp;&nbsp;{each}</td>" for each in said)
            rows += [name + cells for name in names]
        else:  # a reason of several, one below the other, is said once
            names[0] += f"<td colspan=4 rowspan={len(names)}>&nbsp;&nbsp;✗ {escape(work)}</td>"
            rows += names
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


class ListPage(QWidget):
    """The page; `paint` draws over the picture while it is seen."""

    look_changed = Signal()  # `paint` paints something else
    area_wanted = Signal(object)  # (area): this QRectF of pixels is to fill the view

    def __init__(self, worker: Worker, background: Background) -> None:
        super().__init__()
        self._worker, self._way = worker, WAYS[2]
        self.cost: ListCost | None = None
        self._of: Job | None = None  # what is shown, or being worked out; its picture is blank
        self._here: Machine | None = None  # the GPU here, once its ceilings are measured
        self._at: tuple[float, float] | None = None  # pointed at; None: the middle
        self._latest = Latest(background, cost_of, self._take, lambda *_: None)
        self._limits = LongTask(worker, "the limits of the GPU", AGAIN)
        self._limits.stepped.connect(self._keep)
        self._limits.ended.connect(self._request)
        self._idea = words_label("list-sentence")
        self._table = words_label("list-bytes", 0.9)
        self._table.setTextFormat(Qt.TextFormat.RichText)
        self._table.setToolTip(tip_text(TIPS["bytes"]))
        self.chart = FigureView("What steps cost together is shown here.", least_px=180)
        described(self.chart, "list-chart", "Bytes and operations")
        self._said = words_label("list-chart-said", 0.9)
        areas = tuple((way, TITLES[way], "") for way in WAYS[1:])  # that are less than all of it
        self._ways = make_segments(areas, self._show_area)
        check_segment(self._ways, self._way)
        self._zoom = push_button("list-zoom", "Zoom", TIPS["zoom"], "Zoom to the area")
        self._zoom.clicked.connect(lambda: self.area_wanted.emit(self.frames()[0]))
        row = HBox(spacing=0).add(*self._ways.values(), 1, self._zoom)
        inside = QWidget()
        VBox(inside, (0, 8, 0, 0), 6).add(self._idea, row, self._table, self._said, (self.chart, 1))
        VBox(self, 0).add(UprightArea(inside))

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Show, QEvent.Type.Hide):
            self.look_changed.emit()
        return super().event(event)

    def show_job(self, job: Job | None) -> None:
        """Show what a job's steps cost together, as soon as that is worked out."""
        if job is None:
            self._of = None
            self._take(None, None)
            return
        job = replace(job, picture=blank(job.picture.shape, job.pixel_type))
        if self._of is None or not job.same_run(self._of):
            self._of = job
            if self._worker.gpu is not None and self._here is None:
                self._idea.setText(TIPS["measuring"])
                self._limits.start(lambda engine: iter((engine.ceilings(),)))
            else:
                self._idea.setText(self._idea.text() if self.cost else TIPS["working"])
                self._request()

    def _keep(self, ceilings: dict[str, float]) -> None:
        device = self._worker.device
        if isinstance(device, Device) and ceilings:
            self._here = Machine("", "", "", device.name, limits=limits(device), ceilings=ceilings)

    def _request(self) -> None:
        if self._of is not None:
            self._latest.request((self._of, self._here))

    def _take(self, _of: object, cost: ListCost | None) -> None:
        self.cost = cost = cost if self._of else None
        is_list = cost is not None and len(cost.titles) > 2
        self._idea.show_or_hide(TIPS["idea" if is_list else "one_step" if cost else "no_picture"])
        self._table.show_or_hide(words_of(cost) if cost else "")
        self._said.show_or_hide(cost.figure.sentence if cost else "")
        self.chart.show_figure(cost.figure if cost else None)
        self._show_area()

    def _show_area(self, chosen: str = "") -> None:
        self._way = chosen or self._way
        for way, button in self._ways.items():
            work = self.cost.ways[way] if self.cost else TIPS["no_picture"]
            allow(button, work if isinstance(work, str) else "", TIPS["area"])
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
        if cost is None or isinstance(work := cost.ways[self._way], str):
            return []
        job, (across, down) = cost.job, work.area
        x, y = self._at or (job.width / 2, job.height / 2)
        x, y = min(max(x, 0), job.width - 1), min(max(y, 0), job.height - 1)
        whole = QRectF(0, 0, job.width, job.height)
        area = QRectF(x // across * across, y // down * down, across, down)
        return [area.adjusted(-h, -h, h, h).intersected(whole) for h in job.halos]

    def paint(self, painter: QPainter, visible: QRectF, scale: float) -> None:
        """Paint as an `Overlay` of pictures; nothing while the page is hidden."""
        frames = self.frames() if self.isVisible() else []
        if len(frames) < 3 or self.cost is None:  # one step grows nothing
            return
        dot = painter.device().devicePixelRatio() / scale  # of the screen, in the picture's pixels
        right = min(frames[0].right() + 12 * dot, visible.right() - LABEL_PX * dot)
        corner = QPointF(right, max(frames[0].top(), visible.top()))
        for number, (frame, title) in enumerate(zip(frames, self.cost.titles, strict=True)):
            color = QColor(FRAMES[number % len(FRAMES)])
            outline(painter, [frame], color)
            place = corner + QPointF(0, number * LINE_PX) * dot
            paint_words(painter, scale, place, title)
            outline(painter, [QRectF(place - QPointF(6, 0) * dot, QSizeF(2, 16) * dot)], color)
