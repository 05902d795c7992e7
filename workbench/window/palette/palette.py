"""The palette: a line to type in, and below it the entries that it finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    QTimer,
)
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.widgets.boxes import VBox
from workbench.widgets.tile import scaled_font
from workbench.window.palette.entries import PaletteEntry, found
from workbench.window.palette.fuzzy import Match

WIDTH_PX = 720
ROWS, ROW_PX = 10, 34
MOVES = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -8, Qt.Key.Key_PageDown: 8}
Index = QModelIndex | QPersistentModelIndex


class Palette(QDialog):
    """A dialog to find an action: type, choose with the arrow keys, do it with Enter."""

    def __init__(self, entries: Sequence[PaletteEntry], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("palette")
        self.setWindowTitle("All actions")
        self._entries = entries
        self._model = _Found(self)
        self._line = QLineEdit()
        self._line.setObjectName("palette-line")
        self._line.setAccessibleName("Find an action")
        self._line.setPlaceholderText("Type what you want to do")
        self._line.setClearButtonEnabled(True)
        self._line.textChanged.connect(self._find)
        self._line.installEventFilter(self)
        self._list = QListView()
        self._list.setObjectName("palette-list")
        self._list.setAccessibleName("Actions found")
        self._list.setModel(self._model)
        self._list.setItemDelegate(_Painter(self._list))
        self._list.setUniformItemSizes(True)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the line keeps the keyboard
        self._list.clicked.connect(self._do)
        self._list.selectionModel().currentChanged.connect(self._describe)
        self._about = Label(name="palette-about", is_muted=True, wraps=True)
        self._about.setMinimumHeight(2 * self._about.fontMetrics().lineSpacing())
        self._about.setAlignment(Qt.AlignmentFlag.AlignTop)
        column = VBox(self, (14, 14, 14, 10))
        column.add(self._line, self._list, self._about)
        self._list.ensurePolished()  # its frame is that of the theme
        self._list.setMinimumHeight(ROWS * theme.in_letters(ROW_PX) + 2 * self._list.frameWidth())
        self.resize(theme.window_size(WIDTH_PX, 0).width(), self.minimumSizeHint().height())
        self._find("")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Pass keys that are for the list on from the line to it."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            key = Qt.Key(event.key())
            if key in MOVES:
                self._move(MOVES[key])
                return True
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._do(self._list.currentIndex())
                return True
        return super().eventFilter(watched, event)

    def _find(self, query: str) -> None:
        self._model.show_found(found(self._entries, query))
        if self._model.rowCount():
            self._list.setCurrentIndex(self._model.index(0, 0))
            self._list.scrollToTop()
        else:
            self._about.setText(f"Nothing is called “{query.strip()}”.")

    def _move(self, steps: int) -> None:
        """Choose another entry; a single step wraps around at either end, a page does not."""
        count, now = self._model.rowCount(), self._list.currentIndex().row()
        if count:
            row = (now + steps) % count if abs(steps) == 1 else min(max(now + steps, 0), count - 1)
            self._list.setCurrentIndex(self._model.index(row, 0))

    def _describe(self, index: QModelIndex) -> None:
        entry = self._model.entry(index)
        if entry is not None:
            self._about.setText(entry.reason or entry.tip)
            keys = f", {entry.keys}" if entry.keys else ""
            self._line.setAccessibleDescription(f"{entry.name}, {entry.where}{keys}")

    def _do(self, index: QModelIndex) -> None:
        """Close the palette, then do what was chosen, which may open something itself."""
        entry = self._model.entry(index)
        if entry is None or entry.reason:
            return
        self.accept()
        QTimer.singleShot(0, entry.do)


class _Found(QAbstractListModel):
    """Entries with the letters that found them."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._rows: list[tuple[PaletteEntry, Match]] = []

    def show_found(self, rows: list[tuple[PaletteEntry, Match]]) -> None:
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def entry(self, index: Index) -> PaletteEntry | None:
        return self._rows[index.row()][0] if index.isValid() else None

    def letters(self, index: Index) -> tuple[int, ...]:
        return self._rows[index.row()][1].places

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry = self.entry(index)
        if entry is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return entry.name
            case Qt.ItemDataRole.ToolTipRole:
                return tip_text(entry.reason or entry.tip) or None
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{entry.name}, {entry.where}"
        return None


class _Painter(QStyledItemDelegate):
    """A painter of an entry: its name with the letters found in bold, its menu, and its keys."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:  # noqa: N802
        return QSize(200, theme.in_letters(ROW_PX))

    def paint(self, p: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = index.model()
        assert isinstance(model, _Found)
        entry = model.entry(index)
        assert entry is not None
        colors = theme.colors()
        area = QRectF(option.rect)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        text, quiet = QColor(colors.text), QColor(colors.muted)
        p.save()
        if is_chosen:
            p.fillRect(area, QColor(colors.accent))
            text = quiet = QColor(colors.on_accent)
        elif entry.reason:
            text = quiet
        p.setPen(text)
        name = f"✓ {entry.name}" if entry.is_on else entry.name
        shift = len(name) - len(entry.name)
        letters = {at + shift for at in model.letters(index)}
        inside = area.adjusted(12, 0, -12, 0)
        keys_px = self._paint_right(p, inside, entry, quiet)
        inside.setRight(inside.right() - keys_px - 14)
        p.setPen(text)
        _paint_letters(p, inside, name, letters)
        p.restore()

    @staticmethod
    def _paint_right(p: QPainter, area: QRectF, entry: PaletteEntry, color: QColor) -> float:
        """Paint where an entry is from and its keys, and return how wide they are in pixels."""
        p.setPen(color)
        p.setFont(scaled_font(0.88))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        words = f"{entry.where}    {entry.keys}" if entry.keys else entry.where
        p.drawText(area, right, words)
        return QFontMetricsF(p.font()).horizontalAdvance(words)


def _paint_letters(p: QPainter, area: QRectF, text: str, bold: set[int]) -> None:
    fonts = scaled_font(1.0), scaled_font(1.0)
    fonts[1].setBold(True)
    fonts[1].setUnderline(True)
    metrics = [QFontMetricsF(font) for font in fonts]
    elided = metrics[0].elidedText(text, Qt.TextElideMode.ElideRight, area.width())
    x = area.left()
    y = area.center().y() + metrics[0].ascent() / 2 - metrics[0].descent() / 2
    for at, letter in enumerate(elided):
        is_bold = at in bold
        p.setFont(fonts[is_bold])
        p.drawText(round(x), round(y), letter)
        x += metrics[is_bold].horizontalAdvance(letter)
