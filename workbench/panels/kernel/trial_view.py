"""The findings of a trial: the first error, the verdict, its costs, and the output itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QCheckBox, QFormLayout, QFrame, QProgressBar, QWidget

from workbench.base import theme
from workbench.base.background import Throttle
from workbench.base.paths import asset_table
from workbench.base.plain_text import Label, tip_text
from workbench.imaging.display import Display
from workbench.panels.compare.picture_layer import Shown, ViewTransform, fit
from workbench.panels.compare.picture_view import PictureView
from workbench.panels.kernel.trial_words import OF_GOOD, SYMMETRIC, SYMMETRIC_TIP, FactRow
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import described, push_button
from workbench.widgets.chips import outline
from workbench.widgets.folding import FoldedSection
from workbench.widgets.tile import words_label
from workbench.widgets.watch import Watch

HINT = "The part of the picture\nthat it is tried on"
MIN_PX, MAX_PX = 120, 420  # high
# What else there is to be seen where they are shown, and their share of it where that is little.
OTHERS_PX, MAX_SHARE = 250, 0.35
RING = 1.6  # of the marked pixel's side
PROGRESS_AFTER_MS = 1000  # a shorter trial needs no bar
TIPS = asset_table("tips.toml")["kernel-trial"]


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that the panel shows of a trial."""

    status: str = ""  # of the work under way (is_busy), or a remark on what is shown
    is_busy: bool = False
    problem: str = ""  # an error or a bug, and its line; 0: it has none
    line: int = 0
    verdict: str = ""
    is_old: bool = False  # verdict and pictures are of the last source that ran
    build: tuple[FactRow, ...] = ()
    held: tuple[FactRow, ...] = ()  # rows on the memory of the processes that run kernels
    counts: tuple[FactRow, ...] = ()
    before: Display | None = None
    after: Display | None = None
    caption: str = ""
    pixel: tuple[int, int] | None = None  # (x, y) of the part, which gets a ring


class AnswerPair(QWidget):
    """Two views that zoom and move together, with a ring around a pixel.

    pixel  the one with the ring; None: there is none
    """

    picked = Signal(object)  # (pixel): the user clicked on this pixel (x, y) of the part

    def __init__(self, name: str = "kernel") -> None:
        """Make the pair; `name` begins the names of both views."""
        super().__init__()
        self._before = PictureView("Part of the picture", HINT)
        self._after = PictureView("Your kernel's output", "The output of your kernel")
        self._views = (self._before, self._after)
        self._size: tuple[int, int] | None = None
        self._transform: ViewTransform | None = None  # None: fit
        self.pixel: tuple[int, int] | None = None
        self._room = QSize()
        row = HBox(self, 0, 4)
        for own, view in zip(("before", "answer"), self._views, strict=True):
            view.setObjectName(f"{name}-{own}")
            view.moved.connect(self._move)
            view.hovered.connect(self._mark)
            view.picked.connect(self.picked)
            view.overlays.append(self._paint_ring)
            view.resized.connect(self._arrange)
            row.addWidget(view, 1)
        self.take_room(QSize())

    def show_pictures(
        self, before: Display | None, after: Display | None, caption: str = ""
    ) -> None:
        """Show the part and the output of the kernel, with a caption; None: not known."""
        size = before.size if before else after.size if after else None
        if size != self._size:
            self._size, self._transform = size, None
            self.take_room(self._room)
        self._before.show_picture(Shown(before, "Before"))
        self._after.show_picture(Shown(after, caption))
        self._arrange()

    def take_room(self, room: QSize) -> None:
        """Take the height of two pictures side by side in a widget of this size.

        Not in its own width: with the height a scroll bar comes and goes, and that width with it.
        """
        self._room = room
        across, down = self._size or (1, 1)
        most = max(round(MAX_SHARE * room.height()), room.height() - theme.in_letters(OTHERS_PX))
        high = min(room.width() // 2 * down // across, most)
        self.setFixedHeight(min(max(high, MIN_PX), MAX_PX))

    def show_pixel(self, pixel: tuple[int, int] | None) -> None:
        """Draw a ring around a pixel (x, y) of the part; None: around none."""
        self.pixel = pixel
        if pixel is not None and self._transform is not None:
            x, y = pixel
            area = (x - 1.0, y - 1.0, x + 2.0, y + 2.0)
            self._move(self._transform.showing(area, self._before.device_size))
        for view in self._views:
            view.update()

    def _move(self, transform: ViewTransform | None) -> None:
        size = self._size or (1, 1)
        if transform is not None and transform.scale <= fit(size, self._before.device_size).scale:
            transform = None  # scrolling the panel would leave them too small to see
        self._transform = None if transform is None else transform.kept_within(size)
        self._arrange()

    def _mark(self, point: tuple[int, int] | None) -> None:
        for view in self._views:
            view.show_mark(point if view is not self.sender() else None)

    def _arrange(self) -> None:
        if self._size is not None:
            for view in self._views:
                view.show_transform(self._transform or fit(self._size, view.device_size))

    def _paint_ring(self, painter: QPainter, _visible: QRectF, scale: float) -> None:
        if self.pixel is not None:
            x, y = self.pixel
            side = max(RING, 10 / scale)  # to be seen where pixels are small
            ring = QRectF(x + 0.5 - side / 2, y + 0.5 - side / 2, side, side)
            outline(painter, [ring], QColor("#ffffff"), 2.0)


class FactsCard(QFrame):
    """Rows of facts; without any, no card.

    column  its layout, the rows first
    """

    def __init__(self, name: str) -> None:
        """Make the card; `name` begins the names of its labels."""
        super().__init__()
        self.setProperty("card", True)
        self._name = name
        self._facts: tuple[FactRow, ...] = ()
        self._rows = QFormLayout(horizontalSpacing=12, verticalSpacing=2)
        self.column = VBox(self).add(self._rows)
        self.hide()

    def show_rows(self, rows: Sequence[FactRow]) -> None:
        """Show these in place of those before, unless they are the same."""
        if tuple(rows) == self._facts:
            return
        self._facts = tuple(rows)
        while self._rows.rowCount():
            self._rows.removeRow(0)
        for row in rows:
            title = Label(row.name, is_muted=True)
            words = words_label(f"{self._name}-{row.name.lower().replace(' ', '-')}")
            words.setText(row.words)
            for label in (title, words):
                label.setToolTip(tip_text(row.tip))
            self._rows.addRow(title, words)
        self.setVisible(bool(rows))


class TrialView(QWidget):
    """Sentences, two pictures, tables of the build and the counts; its buttons stand elsewhere.

    pictures  the part that was tried, and the output
    fold      these below a heading
    search, use, step, code, cancel  buttons
    by_line   the choice to have the counts beside the lines
    """

    line_wanted = Signal(int)  # (line): the user wants to see this line of the source

    def __init__(self) -> None:
        super().__init__()
        self._line = 0
        self._problem = words_label("kernel-problem")
        self._problem.setProperty("objection", True)
        self._status = words_label("kernel-status", 0.95, is_muted=True)
        self._verdict = words_label("kernel-verdict", 1.05)
        self.search = push_button("kernel-find-bug", "Find bug", TIPS["find"], "Find the bug")
        self.use = push_button("kernel-use", "Filter with it", TIPS["use"])
        self.step = push_button("kernel-step-through", "Step", TIPS["step"], "Step through")
        self.code = push_button("kernel-show-code", "PTX", TIPS["code"], "PTX/SASS")
        self._go = push_button("kernel-go-to-line", "", "Put the cursor where it is wrong")
        self._go.clicked.connect(lambda: self.line_wanted.emit(self._line))
        self.cancel = push_button("kernel-cancel", "Stop", "Stop the trial")
        self._bar = QProgressBar(textVisible=False)
        described(self._bar, "kernel-progress", "Trying the kernel")
        self._bar.setRange(0, 0)  # how long a kernel runs is unknown
        self._waiting = Throttle(PROGRESS_AFTER_MS, self._bar.show, self)
        self.pictures = AnswerPair()
        resized = Watch(self, QEvent.Type.Resize).seen
        resized.connect(lambda: self.pictures.take_room(self.size()))
        self.fold = FoldedSection("kernel-pictures", TIPS["pictures"], "Pictures", self.pictures)
        self._build, self._counts = FactsCard("kernel-build"), FactsCard("kernel-count")
        self.by_line = check_box("kernel-counts-by-line", "Beside the lines", TIPS["counts"])
        self._counts.column.add((self.by_line, 0, Qt.AlignmentFlag.AlignLeft))
        inside = QWidget()
        VBox(inside, (0, 4, 0, 0), 6).add(
            HBox(None, 0, 6).add((self._problem, 1), (self._go, 0, Qt.AlignmentFlag.AlignTop)),
            *(self._verdict, self._status, self._bar, self._build, self.fold, self._counts, 1),
        )
        VBox(self, 0).add(UprightArea(inside))
        self.show_findings(Findings())

    def show_findings(self, found: Findings) -> None:
        self._line = found.line
        self._go.setText(f"Go to line {found.line}")
        self._go.setVisible(found.line > 0)
        verdict = OF_GOOD.format(verdict=found.verdict) if found.is_old else found.verdict
        self._problem.show_or_hide(found.problem)
        self._status.show_or_hide(found.status)
        self._verdict.show_or_hide(verdict)
        self._verdict.setToolTip(SYMMETRIC_TIP if SYMMETRIC in verdict else "")
        self.cancel.setEnabled(found.is_busy)
        if found.is_busy:
            self._waiting.ask()
        else:
            self._waiting.stop()
            self._bar.hide()
        self._build.show_rows((*found.build, *found.held))
        self._counts.show_rows(found.counts)
        self.pictures.show_pictures(found.before, found.after, found.caption)
        if found.pixel != self.pictures.pixel:
            self.pictures.show_pixel(found.pixel)


def check_box(name: str, text: str, tip: str) -> QCheckBox:
    return described(QCheckBox(text), name, "", tip)
