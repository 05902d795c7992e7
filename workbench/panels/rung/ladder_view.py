"""The measured ladder: its bars, their job, and a button that measures all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPalette, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from kernels.engine.engine import Implementation
from kernels.sweeps.estimate import rounds_done
from kernels.sweeps.plan import Cell
from kernels.sweeps.record import Record
from workbench.base import numbers, theme
from workbench.base.plain_text import Label, tip_text
from workbench.model.rung_times import LadderLine
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.folding import GivingWay
from workbench.widgets.tile import MUTED, ElidedLabel, scaled_font

PLACE = Qt.ItemDataRole.UserRole
MAX_MS_ROLE = Qt.ItemDataRole.UserRole + 1
CHOSEN = Qt.ItemDataRole.UserRole + 2
ROW_GAP_PX = 4  # added to the height of the letters
CLOSE_PX = 3  # the same in two columns: all rungs are whole on a stage of 1280x720
EDGE_PX = 6
MARK_PX = 4  # the mark of the chosen one, at the left
RECORDED_ALPHA, BAR_ALPHA, CHOSEN_ALPHA = 28, 60, 105
WIDEST_TIME, WIDEST_RATIO = f"00.0{numbers.GAP}ms* ", " 00.0× slower"
NOT_MEASURED = "—"

Index = QModelIndex | QPersistentModelIndex


class LadderList(QListWidget):
    """The list of places under a heading for each kind; a click, or Enter, chooses one.

    Where one column has no room for all and two have, it stands in two.

    Signals:
        chosen(key): the user wants to see this implementation, whether or not it can run.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("ladder-list")
        self.setAccessibleName("The ladder: times")
        self.setToolTip("Times for the present job; a click, or Enter, chooses one to run")
        self.setItemDelegate(_Bar(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setMouseTracking(True)
        self.setFont(scaled_font(0.95))
        self.itemClicked.connect(self._choose)
        self.itemActivated.connect(self._choose)

    def show_places(
        self, places: Sequence[LadderLine], chosen: str, headings: Mapping[str, str]
    ) -> None:
        """Show these places, each kind on a scale of its own: on one the GPU's would vanish.

        chosen    the key of the implementation that is marked
        headings  by kind
        """
        rows: list[tuple[LadderLine | str, float]] = []  # with the longest time of its kind
        for kind, heading in headings.items():
            of_kind = [each for each in places if each.implementation.kind == kind]
            longest = max((each.median_ms or 0.0 for each in of_kind), default=0.0)
            shown: tuple[LadderLine | str, ...] = (heading, *of_kind) if of_kind else ()
            rows += [(each, longest) for each in shown]
        while self.count() > len(rows):
            self.takeItem(self.count() - 1)
        while self.count() < len(rows):
            self.addItem(QListWidgetItem())
        for row, (each, longest) in enumerate(rows):
            if isinstance(each, str):
                _fill_heading(self.item(row), each)
            else:
                is_chosen = each.implementation.key == chosen
                self._fill(self.item(row), each, longest, is_chosen)
        self._arrange()
        self.viewport().update()

    def sizeHint(self) -> QSize:  # noqa: N802
        """The height of all lines, in two columns where their width fits."""
        high = self.count() * _row_px(self.font())
        if self._is_wide:
            high = -(-self.count() // 2) * _row_px(self.font(), CLOSE_PX)
        return QSize(super().sizeHint().width(), high + 2 * self.frameWidth())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Set one column, or two where only those have room for all."""
        high, needed = self.height() - 2 * self.frameWidth(), self.count() * _row_px(self.font())
        in_two = self._is_wide and self.sizeHint().height() <= self.height() and needed > high
        if in_two != self.isWrapping():
            self.setWrapping(in_two)
            self.updateGeometry()

    @property
    def _is_wide(self) -> bool:
        """Two columns have room for all names."""
        places = [self.item(row).data(PLACE) for row in range(self.count())]
        titles = [each.implementation.title for each in places if each]
        return self.width() - 2 * self.frameWidth() >= 2 * _column_px(titles, self.font())

    def _fill(
        self, item: QListWidgetItem, place: LadderLine, longest: float, is_chosen: bool
    ) -> None:
        item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
        item.setText("")
        item.setData(PLACE, place)
        item.setData(MAX_MS_ROLE, longest)
        item.setData(CHOSEN, is_chosen)
        item.setToolTip(tip_text(place.in_words))
        spoken = f"{'chosen, ' if is_chosen else ''}{place.in_words}".replace("\n", ", ")
        item.setData(Qt.ItemDataRole.AccessibleTextRole, spoken)
        if is_chosen and self.currentItem() is not item and not self.hasFocus():
            self.setCurrentItem(item)
            self.scrollToItem(item)

    def _choose(self, item: QListWidgetItem) -> None:
        if place := item.data(PLACE):
            self.chosen.emit(place.implementation.key)


def _fill_heading(item: QListWidgetItem, heading: str) -> None:
    item.setFlags(Qt.ItemFlag.NoItemFlags)
    item.setText(heading)
    item.setToolTip("")
    for role in (PLACE, CHOSEN):
        item.setData(role, None)
    item.setData(Qt.ItemDataRole.AccessibleTextRole, heading)


class _Bar(QStyledItemDelegate):
    """A place's line: its bar with the name on it, the time, and the ratio."""

    def __init__(self, of: LadderList) -> None:
        super().__init__(of)
        self._list = of

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802, ARG002
        """A line as wide as its column."""
        rows = self._list
        columns, gap_px = (2, CLOSE_PX) if rows.isWrapping() else (1, ROW_GAP_PX)
        return QSize(rows.viewport().width() // columns, _row_px(rows.font(), gap_px))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        place: LadderLine | None = index.data(PLACE)
        if place is None:
            _draw_heading(painter, option, index.data(Qt.ItemDataRole.DisplayRole))
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(option.rect).adjusted(1, 1, -1, -1)
        self._draw_bar(painter, option, box, index)
        self._draw_words(painter, option, box, place, bool(index.data(CHOSEN)))
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(option.palette.color(QPalette.ColorRole.Accent))
            painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        painter.restore()

    def _draw_bar(
        self, painter: QPainter, option: QStyleOptionViewItem, box: QRectF, index: Index
    ) -> None:
        place: LadderLine = index.data(PLACE)
        longest, is_chosen = index.data(MAX_MS_ROLE), bool(index.data(CHOSEN))
        colors = theme.colors(option.palette)
        painter.setPen(Qt.PenStyle.NoPen)
        if option.state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(QColor(colors.hover))
            painter.drawRoundedRect(box, 3, 3)
        if place.median_ms is not None and longest > 0:
            is_recorded = place.time is None
            is_wrong = place.time is not None and place.time.is_wrong
            tint = QColor(colors.bad if is_wrong else colors.accent)
            alpha = CHOSEN_ALPHA if is_chosen else BAR_ALPHA
            tint.setAlpha(RECORDED_ALPHA if is_recorded else alpha)
            painter.setBrush(tint)
            bar = QRectF(box)
            bar.setWidth(max(bar.width() * place.median_ms / longest, MARK_PX))
            painter.drawRoundedRect(bar, 3, 3)
            if is_recorded:  # dashed below: around it, the dashes would run through the name
                painter.setPen(QPen(QColor(colors.accent), 1.5, Qt.PenStyle.DashLine))
                painter.drawLine(bar.bottomLeft(), bar.bottomRight())
        if is_chosen:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colors.accent))
            painter.drawRoundedRect(QRectF(box.topLeft(), QSize(MARK_PX, int(box.height()))), 2, 2)

    def _draw_words(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        box: QRectF,
        place: LadderLine,
        is_chosen: bool,
    ) -> None:
        painter.setFont(_bold(option.font) if is_chosen else option.font)
        name, time, ratio = _columns(box, option.font)
        is_idle = place.reason is not None and place.recorded is None
        role = MUTED if is_idle else QPalette.ColorRole.Text
        painter.setPen(option.palette.color(QPalette.ColorGroup.Active, role))
        middle, right = Qt.AlignmentFlag.AlignVCenter, Qt.AlignmentFlag.AlignRight
        title = place.implementation.title
        if place.time is not None and place.time.is_wrong:
            title = f"✗ {title}"
        _draw_elided(painter, name, title)
        painter.drawText(time, middle | right, place.time_in_words or NOT_MEASURED)
        if place.ratio is not None:
            painter.setFont(_small(option.font))
            painter.drawText(ratio, middle | right, numbers.speed_up(place.ratio))


def _draw_heading(painter: QPainter, option: QStyleOptionViewItem, heading: str) -> None:
    painter.save()
    painter.setFont(_bold(option.font))
    painter.setPen(option.palette.color(QPalette.ColorGroup.Active, MUTED))
    _draw_elided(painter, QRectF(option.rect).adjusted(EDGE_PX, 0, -EDGE_PX, 0), heading)
    painter.restore()


def _draw_elided(painter: QPainter, box: QRectF, text: str) -> None:
    metrics = QFontMetricsF(painter.font())
    cut = metrics.elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, cut)


def _beside_name_px(font: QFont) -> tuple[float, float]:
    """The widths of a time and of a ratio."""
    time_px = QFontMetricsF(_bold(font)).horizontalAdvance(WIDEST_TIME)
    return time_px, QFontMetricsF(_small(font)).horizontalAdvance(WIDEST_RATIO)


def _bold(font: QFont) -> QFont:
    bold = QFont(font)
    bold.setWeight(QFont.Weight.DemiBold)
    return bold


def _small(font: QFont) -> QFont:
    small = QFont(font)
    small.setPointSizeF(0.88 * font.pointSizeF())
    return small


def _row_px(font: QFont, gap_px: int = ROW_GAP_PX) -> int:
    return math.ceil(QFontMetricsF(font).height()) + gap_px


def _column_px(titles: Sequence[str], font: QFont) -> float:
    """The width of a column in which every name is whole."""
    bold = QFontMetricsF(_bold(font))
    widest = max(map(bold.horizontalAdvance, titles), default=0.0)
    return widest + sum(_beside_name_px(font)) + 2 * EDGE_PX + 2


def _columns(box: QRectF, font: QFont) -> tuple[QRectF, QRectF, QRectF]:
    """The boxes of name, time and ratio: in every line alike, the bold one as well."""
    inside = box.adjusted(EDGE_PX, 0, -EDGE_PX, 0)
    time_px, ratio_px = _beside_name_px(font)
    name_px = inside.width() - ratio_px - time_px
    name = QRectF(inside.left(), inside.top(), name_px, inside.height())
    time = QRectF(name.right(), inside.top(), time_px, inside.height())
    ratio = QRectF(time.right(), inside.top(), ratio_px, inside.height())
    return name, time, ratio


LEGEND = (
    "Shorter is faster, each kind on its own scale. On the right: how many times as fast as the "
    "one it builds on."
)
COMPARE = "Compare all"
COMPARE_TIP = (
    "Time every implementation in this list that can run the present job, in turn: first "
    "the GPU's, then the CPU's, the slowest last"
)
CANCEL_TIP = "Stop; the times measured so far stay"
NO_JOB = "Open a picture first."
BUSY = "A sweep is running; wait for its end, or cancel it."
QUICKEST = "Fastest here: {title}, median {time}."
NONE_CAN = "Nothing to measure: {}"
NONE_RUNS = "Nothing to measure: none of them can run this job here; each says why."


class LadderView(QWidget):
    """The measured ladder: the places of all implementations.

    Signals:
        chosen(key): the user wants this implementation.
        measure_wanted(implementations): all that can run, in the order to measure them.
        cancelled(): and now no longer.
    """

    chosen = Signal(str)
    measure_wanted = Signal(object)
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._able: tuple[Implementation, ...] = ()
        self.is_measuring = self._is_busy = self._has_job = False
        self._known: dict[Cell, Record] = {}  # of the measurement under way, or the last
        self._rounds = self._count = 0
        self._why_none = self._quickest = ""
        self._caption = Label(name="ladder-caption", font=scaled_font(0.9), wraps=True)
        self._list = LadderList()
        self._list.chosen.connect(self.chosen)
        self._measure = push_button("ladder-measure", COMPARE)
        self._measure.setProperty("primary", True)
        self._measure.clicked.connect(self._toggle)
        self._bar = QProgressBar()
        self._bar.setObjectName("ladder-progress")
        self._bar.setAccessibleName("Rounds measured")
        self._bar.setTextVisible(False)
        self._bar.hide()
        self._doing = ElidedLabel(0.9, "ladder-doing")
        self._reason = Label(name="ladder-reason", font=scaled_font(0.9), wraps=True)
        self._lay_out()
        self._refresh()

    def show_places(
        self, places: Sequence[LadderLine], chosen: str, headings: Mapping[str, str], caption: str
    ) -> None:
        """Show a bar for each implementation, the chosen one marked.

        headings  by kind
        caption   on the job; "" where there is none
        """
        self._list.show_places(places, chosen, headings)
        self._caption.setText(caption or NO_JOB)
        self._able = tuple(each.implementation for each in places if each.reason is None)
        self._has_job = bool(caption)
        self._quickest = _quickest(places)
        reasons = {each.reason for each in places}
        self._why_none = NONE_CAN.format(reasons.pop()) if len(reasons) == 1 else NONE_RUNS
        self._refresh()

    def show_begun(self, rounds: int) -> None:
        """Show that the measuring began, with this number of rounds for each."""
        self.is_measuring, self._rounds, self._known = True, rounds, {}
        self._count = len(self._able)
        self._bar.setRange(0, self._count * rounds)
        self._bar.setValue(0)
        self._refresh()

    def show_ended(self) -> None:
        """Show that it ended, and how many have a time if it was cancelled."""
        self.is_measuring = False
        is_all = self._bar.value() == self._bar.maximum()
        timed = sum(not isinstance(each.outcome, str) for each in self._known.values())
        few = ", with fewer samples" if timed == self._count else ""
        stopped = f"Stopped: {timed} of {self._count} measured{few}"
        self.show_progress("" if is_all else stopped)
        self._refresh()

    def show_busy(self, is_busy: bool) -> None:
        """Disable measuring while a sweep runs."""
        self._is_busy = is_busy
        self._refresh()

    def show_record(self, record: Record) -> None:
        """Show the progress by rounds; the time itself comes with `show_places`."""
        self._known[record.cell] = record
        done = (rounds_done(each, self._rounds) for each in self._known.values())
        self._bar.setValue(sum(done))

    def toggle(self) -> str:
        """Measure all, or cancel; the reason it cannot, or ""."""
        reason = self._why_not()
        self._measure.click()
        return reason

    def show_progress(self, text: str) -> None:
        """Name the implementation that is being measured."""
        self._doing.show_text(text)
        self._doing.setAccessibleName(f"Ladder: {text or 'idle'}")

    def _toggle(self) -> None:
        if self.is_measuring:
            self.cancelled.emit()
        else:
            self.measure_wanted.emit(what_matters_first(self._able))

    def _refresh(self) -> None:
        reason = self._why_not()
        self._measure.setText("Cancel" if self.is_measuring else COMPARE)
        self._measure.setEnabled(not reason)
        self._measure.setToolTip(
            tip_text(CANCEL_TIP if self.is_measuring else reason or COMPARE_TIP)
        )
        self._bar.setVisible(self.is_measuring)
        # Without a job the caption says it.
        self._reason.setText((reason or self._quickest) if self._has_job else "")
        self._reason.setVisible(bool(self._reason.text()))

    def _why_not(self) -> str:
        """The reason that nothing can be measured or cancelled now, or ""."""
        if self.is_measuring:
            return ""
        if self._is_busy:
            return BUSY
        return NO_JOB if not self._has_job else "" if self._able else self._why_none

    def _lay_out(self) -> None:
        legend = Label(LEGEND, font=scaled_font(0.85), is_muted=True, wraps=True)
        tools = QWidget()
        HBox(tools, 0, 8).add(self._measure, (self._bar, 1), (self._doing, 2))
        layout = VBox(self, (0, 8, 0, 0), 6)
        layout.add(self._caption, (self._list, 1), legend, tools, self._reason)
        GivingWay(self, (legend, tools))


def _quickest(places: Sequence[LadderLine]) -> str:
    """Name the fastest, once all that can run have a time; else ""."""
    able = [each for each in places if each.reason is None]
    right = [each for each in able if each.time is not None and not each.time.is_wrong]
    if len(able) < 2 or not right or any(each.time is None for each in able):
        return ""
    best = min(right, key=lambda each: each.median_ms or math.inf)
    return QUICKEST.format(title=best.implementation.title, time=best.time_in_words)


def what_matters_first(implementations: Iterable[Implementation]) -> tuple[Implementation, ...]:
    """Order of measuring: the GPU's, then the CPU's, plain loops on one thread last."""
    every = tuple(implementations)
    on_cpu = [each for each in every if each.kind == "cpu"]
    return (*(each for each in every if each.kind != "cpu"), *reversed(on_cpu))
