"""The ladder as bars, under headings: a line for each implementation, as long as it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPalette, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from workbench.base import numbers, theme
from workbench.base.plain_text import tip_text
from workbench.model.rung_times import LadderLine
from workbench.widgets.tile import MUTED, scaled_font

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
        headings  what stands above each kind
        """
        rows: list[LadderLine | str] = []
        longest: dict[str, float] = {}
        for kind, heading in headings.items():
            of_kind = [each for each in places if each.implementation.kind == kind]
            rows += [heading, *of_kind] if of_kind else []
            longest[kind] = max((each.median_ms or 0.0 for each in of_kind), default=0.0)
        while self.count() > len(rows):
            self.takeItem(self.count() - 1)
        while self.count() < len(rows):
            self.addItem(QListWidgetItem())
        for row, shown in enumerate(rows):
            if isinstance(shown, str):
                _fill_heading(self.item(row), shown)
            else:
                own = shown.implementation
                self._fill(self.item(row), shown, longest[own.kind], own.key == chosen)
        self._arrange()
        self.viewport().update()

    @property
    def row_size(self) -> QSize:
        """Return the size of a line: as wide as its column."""
        if self.isWrapping():
            return QSize(self.viewport().width() // 2, _row_px(self.font(), CLOSE_PX))
        return QSize(self.viewport().width(), _row_px(self.font()))

    def sizeHint(self) -> QSize:  # noqa: N802
        """Return the height of all lines, in two columns where there is the width for them."""
        high = self.count() * _row_px(self.font())
        if self._is_wide:
            high = -(-self.count() // 2) * _row_px(self.font(), CLOSE_PX)
        return QSize(super().sizeHint().width(), high + self._frame_px)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Set one column, or two where only those have room for all."""
        high, needed = self.height() - self._frame_px, self.count() * _row_px(self.font())
        in_two = self._is_wide and self.sizeHint().height() <= self.height() and needed > high
        if in_two != self.isWrapping():
            self.setWrapping(in_two)
            self.updateGeometry()

    @property
    def _is_wide(self) -> bool:
        """Return whether two columns have room for all names."""
        places = [self.item(row).data(PLACE) for row in range(self.count())]
        titles = [each.implementation.title for each in places if each]
        return self.width() - self._frame_px >= 2 * _column_px(titles, self.font())

    @property
    def _frame_px(self) -> int:
        return 2 * self.frameWidth()

    def _fill(
        self, item: QListWidgetItem, place: LadderLine, longest: float, is_chosen: bool
    ) -> None:
        item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
        item.setText("")
        item.setData(PLACE, place)
        item.setData(MAX_MS_ROLE, longest)
        item.setData(CHOSEN, is_chosen)
        words = place.in_words
        item.setToolTip(tip_text(words))
        mark = "chosen, " if is_chosen else ""
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{mark}{words}".replace("\n", ", "))
        if is_chosen and self.currentItem() is not item and not self.hasFocus():
            self.setCurrentItem(item)
            self.scrollToItem(item)

    @Slot(QListWidgetItem)
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
        return self._list.row_size

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        place: LadderLine | None = index.data(PLACE)
        if place is None:
            _draw_heading(painter, option, index.data(Qt.ItemDataRole.DisplayRole))
            return
        is_chosen = bool(index.data(CHOSEN))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(option.rect).adjusted(1, 1, -1, -1)
        self._draw_bar(painter, option, box, place, index.data(MAX_MS_ROLE), is_chosen)
        self._draw_words(painter, option, box, place, is_chosen)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(option.palette.color(QPalette.ColorRole.Accent))
            painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        painter.restore()

    def _draw_bar(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        box: QRectF,
        place: LadderLine,
        longest: float,
        is_chosen: bool,
    ) -> None:
        colors = theme.colors(option.palette)
        painter.setPen(Qt.PenStyle.NoPen)
        is_pointed_at = option.state & QStyle.StateFlag.State_MouseOver
        if is_pointed_at:
            painter.setBrush(QColor(colors.hover))
            painter.drawRoundedRect(box, 3, 3)
        if place.median_ms is not None and longest > 0:
            is_wrong = place.time is not None and place.time.is_wrong
            tint = QColor(colors.bad if is_wrong else colors.accent)
            tint.setAlpha(CHOSEN_ALPHA if is_chosen else BAR_ALPHA)
            painter.setBrush(tint)
            is_recorded = place.time is None
            if is_recorded:
                tint.setAlpha(RECORDED_ALPHA)
                painter.setBrush(tint)
            bar = QRectF(box)
            bar.setWidth(max(bar.width() * place.median_ms / longest, MARK_PX))
            painter.drawRoundedRect(bar, 3, 3)
            if is_recorded:  # dashed below: around it, the dashes would run through the name
                painter.setPen(QPen(QColor(colors.accent), 1.5, Qt.PenStyle.DashLine))
                painter.drawLine(bar.bottomLeft(), bar.bottomRight())
                painter.setPen(Qt.PenStyle.NoPen)
        if is_chosen:
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
        font = _bold(option.font) if is_chosen else QFont(option.font)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        name, time, ratio = _columns(box, option.font)
        is_idle = place.reason is not None and place.recorded is None
        role = MUTED if is_idle else QPalette.ColorRole.Text
        painter.setPen(option.palette.color(QPalette.ColorGroup.Active, role))
        middle, right = Qt.AlignmentFlag.AlignVCenter, Qt.AlignmentFlag.AlignRight
        title = place.implementation.title
        if place.time is not None and place.time.is_wrong:
            title = f"✗ {title}"
        elided = metrics.elidedText(title, Qt.TextElideMode.ElideRight, name.width())
        painter.drawText(name, middle, elided)
        painter.drawText(time, middle | right, place.time_in_words or NOT_MEASURED)
        if place.ratio is not None:
            painter.setFont(_small(option.font))
            painter.drawText(ratio, middle | right, numbers.speed_up(place.ratio))


def _draw_heading(painter: QPainter, option: QStyleOptionViewItem, heading: str) -> None:
    painter.save()
    font = _bold(option.font)
    painter.setFont(font)
    painter.setPen(option.palette.color(QPalette.ColorGroup.Active, MUTED))
    box = QRectF(option.rect).adjusted(EDGE_PX, 0, -EDGE_PX, 0)
    cut = QFontMetricsF(font).elidedText(heading, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, cut)
    painter.restore()


def _beside_name_px(font: QFont) -> tuple[float, float]:
    """Return the widths of a time and of a ratio."""
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
    return QFontMetricsF(font).height().__ceil__() + gap_px


def _column_px(titles: Sequence[str], font: QFont) -> float:
    """Return the width of a column in which every name is whole."""
    bold = QFontMetricsF(_bold(font))
    widest = max(map(bold.horizontalAdvance, titles), default=0.0)
    return widest + sum(_beside_name_px(font)) + 2 * EDGE_PX + 2


def _columns(box: QRectF, font: QFont) -> tuple[QRectF, QRectF, QRectF]:
    """Return where name, time and ratio stand: in every line alike, the bold one as well."""
    inside = box.adjusted(EDGE_PX, 0, -EDGE_PX, 0)
    time_px, ratio_px = _beside_name_px(font)
    name_px = inside.width() - ratio_px - time_px
    name = QRectF(inside.left(), inside.top(), name_px, inside.height())
    time = QRectF(name.right(), inside.top(), time_px, inside.height())
    ratio = QRectF(time.right(), inside.top(), ratio_px, inside.height())
    return name, time, ratio
