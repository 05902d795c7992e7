"""Values on cards, labels for small print and sentences, and tables of numbers."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPalette, QResizeEvent
from PySide6.QtWidgets import QFrame, QHeaderView, QSizePolicy, QTableView

from workbench.base import theme
from workbench.base.numbers import MISSING
from workbench.base.plain_text import Label, tip_text
from workbench.widgets.boxes import VBox
from workbench.widgets.letters import factor_of

TEXT = QPalette.ColorRole.WindowText
MUTED = QPalette.ColorRole.PlaceholderText


class ValueTile(QFrame):
    """A card that shows one number; never changes its size as the number changes.

    widest  a text as wide as any number it will show
    scale   size of the value against the program's font
    detail  with a line of small print below the value
    tip     the part of the tooltip that holds for any value
    """

    def __init__(
        self, name: str, caption: str, widest: str, tip: str, *, scale: float, detail: bool
    ) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setProperty("card", True)
        self.setToolTip(tip_text(tip))
        self.caption, self.tip = caption, tip
        self._shown: tuple[object, ...] = ()
        self._heading = ElidedLabel(0.85)
        self._value = Label()
        self._scale, self._widest = scale, widest
        self._value.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._detail = ElidedLabel(0.85)
        self._detail.setVisible(detail)
        VBox(self, (10, 5, 10, 5), 0).add(self._heading, self._value, self._detail)
        self._fit()

    def show_value(
        self, text: str, detail: str = "", *, note: str = "", unsure: str = "", more: str = ""
    ) -> None:
        """Show a value.

        note    a word beside the caption
        unsure  why it is not to be relied on: then it is pale
        more    what the tooltip says of this value, before what it says of any
        """
        if (shown := (text, detail, note, unsure, more)) == self._shown:
            return  # many are told again with each result, and laying out words takes a while
        self._shown = shown
        self._heading.show_text(f"{self.caption} · {note}" if note else self.caption)
        self._value.setText(text)
        self._fit()
        show_role(self._value, MUTED if unsure or text == MISSING else TEXT)
        self._detail.show_text(detail)
        self.setToolTip(tip_text(f"{more}\n\n{self.tip}" if more else self.tip))
        spoken = "unknown" if text == MISSING else text
        parts = (f"{self.caption}: {spoken}", unsure or note, detail)
        self.setAccessibleName(", ".join(part for part in parts if part))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Write a value with words, which has no room otherwise, in smaller letters."""
        scale = self._scale * factor_of(self)
        usual, small = (scaled_font(size, QFont.Weight.DemiBold) for size in (scale, scale / 2))
        metrics = QFontMetrics(usual)
        self._value.setMinimumSize(metrics.horizontalAdvance(self._widest) + 4, metrics.height())
        room = max(self._value.width(), self._value.minimumWidth())
        fits = metrics.horizontalAdvance(self._value.text()) <= room
        self._value.setFont(usual if fits else small)

    @property
    def text(self) -> str:
        return self._value.text()

    @property
    def detail(self) -> str:
        return self._detail.whole_text

    @property
    def is_pale(self) -> bool:
        """True if the value is not to be relied on."""
        return self._value.foregroundRole() == MUTED


class ElidedLabel(Label):
    """A line of small print, cut with an ellipsis where it is too long; whole in its tooltip."""

    def __init__(self, scale: float, name: str = "") -> None:
        super().__init__(name=name)
        self.whole_text = ""  # before it is cut
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.setFont(scaled_font(scale))
        self.setForegroundRole(MUTED)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_text(self, text: str) -> None:
        """Show `text`, cut where it is too long."""
        if text != self.whole_text:
            self.whole_text = text
            self._elide()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(60, self.fontMetrics().height() + 1)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        mode = Qt.TextElideMode.ElideRight
        shown = self.fontMetrics().elidedText(self.whole_text, mode, self.width())
        self.setText(shown)
        self.setToolTip(tip_text(self.whole_text if shown != self.whole_text else ""))


def show_role(label: Label, role: QPalette.ColorRole) -> None:
    """Write `label` in the colour of `role`; Qt itself would also paint the same colour anew."""
    if role != label.foregroundRole():
        label.setForegroundRole(role)


def scaled_font(factor: float, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """The program's font for numbers, `factor` times as large."""
    font = theme.numbers_font()
    font.setPointSizeF(font.pointSizeF() * factor)
    font.setWeight(weight)
    return font


def words_label(name: str, scale: float = 1.0, *, is_muted: bool = False, lines: int = 0) -> Label:
    """A label for a sentence, as high as its words take in the panel's width."""
    font = scaled_font(scale)
    label = Label(name=name, font=font, is_muted=is_muted, wraps=True, lines=lines)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    label.setTextInteractionFlags(label.textInteractionFlags().TextSelectableByMouse)
    return label


def dress_table(table: QTableView, across: str, down: str, least_px: int) -> None:
    """Make a table one of numbers side by side, whose headers have these accessible names."""
    table.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
    table.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
    table.setWordWrap(False)
    table.setCornerButtonEnabled(False)
    table.setTextElideMode(Qt.TextElideMode.ElideNone)  # they fit without the style's margins
    for name, header in ((across, table.horizontalHeader()), (down, table.verticalHeader())):
        header.setAccessibleName(name)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setMinimumSectionSize(least_px)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignCenter)
