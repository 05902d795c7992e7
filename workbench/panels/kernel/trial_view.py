"""The findings of a trial: the first error, the verdict, its costs, and the output itself."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QGridLayout, QLabel, QProgressBar, QWidget

from workbench.base import theme
from workbench.base.background import Throttle
from workbench.base.plain_text import Label, tip_text
from workbench.imaging.display import Display
from workbench.panels.compare.picture_view import PictureView
from workbench.panels.compare.view_transform import ViewTransform, fit
from workbench.panels.kernel.trial_words import FactRow
from workbench.widgets.boxes import Flow, HBox, UprightArea, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.chips import outline
from workbench.widgets.tile import words_label

HINT = "The part of the picture\nthat it is tried on"
ANSWER_HINT = "What your kernel\nmakes of it"
MIN_PX, MAX_PX = 120, 420  # high
# What else there is to be seen where they are shown, and their share of it where that is little.
OTHERS_PX, MAX_SHARE = 250, 0.35
RING = 1.6  # of the marked pixel's side


class AnswerPair(QWidget):
    """Two views that zoom and move together, with a ring around a pixel.

    pixel  the one with the ring; None: there is none

    Signals:
        picked(pixel): the user clicked on this pixel (x, y) of the part.
    """

    picked = Signal(object)

    def __init__(self, name: str = "kernel") -> None:
        """Make the pair; `name` begins the names of both views."""
        super().__init__()
        self._before = PictureView("Part of the picture", HINT)
        self._after = PictureView("Your kernel's answer", ANSWER_HINT)
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
        self._before.setAccessibleDescription(HINT)
        self._after.setAccessibleDescription(ANSWER_HINT)

    def show_pictures(
        self, before: Display | None, after: Display | None, caption: str = ""
    ) -> None:
        """Show the part and the output of the kernel, with a caption; None: not known."""
        size = before.size if before else after.size if after else None
        if size != self._size:
            self._size, self._transform = size, None
            self.take_room(self._room)
        self._before.show_picture(before, "Before")
        self._after.show_picture(after, caption)
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


TWO_FROM_PX = 400  # from this width on two short facts stand on one line
MAX_SHORT = 22  # letters
TOP = Qt.AlignmentFlag.AlignTop


class FactsCard(QFrame):
    """Rows of facts; without any, no card.

    column  its layout, the rows first
    """

    def __init__(self, name: str) -> None:
        """Make the card; `name` begins the names of its labels."""
        super().__init__()
        self.setProperty("card", True)
        self._name = name
        self._facts: tuple[FactRow, ...] | None = None  # nothing was shown yet
        self._is_wide = False
        self._rows = QGridLayout()
        self._rows.setColumnStretch(1, 1)
        self._rows.setHorizontalSpacing(12)
        self._rows.setVerticalSpacing(2)
        self.column = VBox(self)
        self.column.add(self._rows)

    def show_rows(self, rows: Sequence[FactRow]) -> None:
        """Show these in place of those before, unless they are the same."""
        if tuple(rows) != self._facts:
            self._facts = tuple(rows)
            self._lay_rows(rows)

    def _lay_rows(self, rows: Sequence[FactRow]) -> None:
        for label in self.findChildren(QLabel):
            self._rows.removeWidget(label)
            label.deleteLater()
        for line, (row, *beside) in enumerate(_lines(rows, self._is_wide)):
            for column, each in ((0, row), *((2, other) for other in beside)):
                title = Label(each.name, is_muted=True)
                words = words_label(f"{self._name}-{each.name.lower().replace(' ', '-')}")
                words.setText(each.words)
                for label in (title, words):
                    label.setToolTip(tip_text(each.tip))
                self._rows.addWidget(title, line, column, TOP)
                self._rows.addWidget(words, line, column + 1, 1, 1 if beside else 3)
        self._rows.setColumnStretch(3, int(self._is_wide))
        self.setVisible(bool(rows))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if (is_wide := event.size().width() >= TWO_FROM_PX) != self._is_wide:
            self._is_wide = is_wide
            self._lay_rows(self._facts or ())


def _lines(rows: Sequence[FactRow], is_wide: bool) -> list[list[FactRow]]:
    """Put two rows on a line where both are short and the card is wide."""
    lines: list[list[FactRow]] = []
    for row in rows:
        before = lines[-1] if lines else []
        is_short = all(len(each.words) <= MAX_SHORT for each in (*before, row))
        if is_wide and len(before) == 1 and is_short:
            before.append(row)
        else:
            lines.append([row])
    return lines


PROGRESS_AFTER_MS = 1000  # a shorter trial needs no bar
BY_LINE_TIP = (
    "Show before each line's number how many bytes it loads and stores for each sample that is "
    "computed; its tooltip says of what"
)
STEP_TIP = (
    "Walk through a block line by line, forwards and back: its lanes, variables and shared memory "
    "(Alt+F8). A click on the picture chooses the pixel whose block it is"
)
CODE_TIP = (
    "See the instructions that the text becomes: each line and its instructions point at each "
    "other (Ctrl+F6)"
)
FIND_TIP = "Run it on a small part on the CPU, under checks of bounds, races and barriers"


class TrialView(QWidget):
    """Sentences, buttons, two pictures, and tables of the build and the counts.

    pictures  the part that was tried, and the output
    search, step, code, cancel  buttons
    by_line   the choice to have the counts beside the lines

    Signals:
        line_wanted(line): the user wants to see this line of the source.
    """

    line_wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._line = 0
        self._problem = words_label("kernel-problem")
        self._problem.setProperty("objection", True)
        self._status = words_label("kernel-status", 0.95, is_muted=True)
        self._verdict = words_label("kernel-verdict", 1.05)
        self.search = push_button("kernel-find-bug", "Find the bug", FIND_TIP)
        self.step = push_button("kernel-step-through", "Step", STEP_TIP, "Step through")
        self.code = push_button("kernel-show-code", "PTX/SASS", CODE_TIP)
        self._go = push_button("kernel-go-to-line", "", "Put the cursor where it is wrong")
        self._go.clicked.connect(lambda: self.line_wanted.emit(self._line))
        self.cancel = push_button("kernel-cancel", "Cancel", "Stop the trial")
        self._bar = QProgressBar()
        self._bar.setObjectName("kernel-progress")
        self._bar.setAccessibleName("Trying the kernel")
        self._bar.setRange(0, 0)  # how long a kernel runs is unknown
        self._bar.setTextVisible(False)
        self._waiting = Throttle(PROGRESS_AFTER_MS, self._show_bar, self)
        self.pictures = AnswerPair()
        self._build, self._counts = FactsCard("kernel-build"), FactsCard("kernel-count")
        self.show_build, self.show_counts = self._build.show_rows, self._counts.show_rows
        self.by_line = QCheckBox("Beside the lines")
        self.by_line.setObjectName("kernel-counts-by-line")
        self.by_line.setToolTip(tip_text(BY_LINE_TIP))
        self._counts.column.add((self.by_line, 0, Qt.AlignmentFlag.AlignLeft))
        inside = QWidget()
        VBox(inside, (0, 4, 0, 0), 6).add(
            *(self._problem, Flow(6, self.search, self.step, self.code, self._go, self.cancel)),
            *(self._status, self._bar, self._verdict),
            *(self._build, self.pictures, self._counts, 1),
        )
        VBox(self, 0).add(UprightArea(inside))
        self.show_idle()
        self.show_nothing()

    def show_nothing(self) -> None:
        """Show no finding: no text was tried yet."""
        self.show_problem("")
        self.show_verdict("")
        self.show_build(())
        self.show_counts(())
        self.pictures.show_pictures(None, None)
        self.pictures.show_pixel(None)

    def show_under_way(self, sentence: str) -> None:
        """Name the work under way; after a second it has a bar, and can be cancelled."""
        _show_words(self._status, sentence)
        self._waiting.ask()

    def show_idle(self, sentence: str = "") -> None:
        """Show that nothing is under way, with a sentence on it if there is one."""
        self._waiting.stop()
        self._bar.hide()
        self.cancel.hide()
        _show_words(self._status, sentence)

    def show_problem(self, sentence: str, line: int = 0) -> None:
        """Show an error or a bug, and offer to go to its line; empty: there is none."""
        self._line = line
        _show_words(self._problem, sentence)
        self._go.setText(f"Go to line {line}")
        self._go.setVisible(line > 0)

    def show_verdict(self, words: str) -> None:
        """Show the verdict, in words."""
        _show_words(self._verdict, words)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.pictures.take_room(event.size())

    def _show_bar(self) -> None:
        self._bar.show()
        self.cancel.show()


def _show_words(label: QLabel, words: str) -> None:
    label.setText(words)
    label.setVisible(bool(words))
