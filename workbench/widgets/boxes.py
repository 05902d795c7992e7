"""Layouts: rows, columns, forms, rows that wrap, and areas that scroll up and down."""

from __future__ import annotations

from typing import Self

from PySide6.QtCore import QEvent, QMargins, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFormLayout,
    QFrame,
    QLayout,
    QLayoutItem,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from workbench.base.plain_text import Label
from workbench.widgets.watch import Watch

Margins = int | tuple[int, int, int, int] | QMargins  # all around; left, top, right, bottom
Part = QWidget | QLayout
# A part; with its share of the room that is left, and where it stands in it; or an empty share.
Placed = Part | tuple[Part, int] | tuple[Part, int, Qt.AlignmentFlag] | int


class Box(QBoxLayout):
    """A row or a column, in the widget `of` if there is one.

    margins, spacing  in pixels; None: those of the style
    """

    WAY: QBoxLayout.Direction

    def __init__(
        self, of: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
    ) -> None:
        super().__init__(self.WAY, of)
        if margins is not None:
            around = 4 * (margins,) if isinstance(margins, int) else margins
            self.setContentsMargins(QMargins(*around) if isinstance(around, tuple) else around)
        if spacing is not None:
            self.setSpacing(spacing)

    def add(self, *parts: Placed) -> Self:
        for part in parts:
            if isinstance(part, int):
                self.addStretch(part)
                continue
            what, share, *at = part if isinstance(part, tuple) else (part, 0)
            if isinstance(what, QLayout):
                self.addLayout(what, share)
            else:
                self.addWidget(what, share, *at)
        return self


class HBox(Box):
    """A row, from left to right."""

    WAY = QBoxLayout.Direction.LeftToRight


class VBox(Box):
    """A column, from top to bottom."""

    WAY = QBoxLayout.Direction.TopToBottom


class Form(QFormLayout):
    """A form layout whose labels stand at half the height of their fields."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, labelAlignment=Qt.AlignmentFlag.AlignVCenter)
        self.labels: list[Label] = []  # from top to bottom
        self.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)

    def add(self, text: str, field: QWidget, buddy: QWidget | None = None) -> None:
        """Add a row; Alt and the letter of `text` go to `buddy` if the field is several widgets."""
        label = Label(text)
        label.setBuddy(buddy or field)
        # Qt gives a label its row's whole height only if it wants to grow.
        label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.labels.append(label)
        self.addRow(label, field)


def align(*forms: Form) -> None:
    """Give the labels of all forms one width, so that their fields have one left edge."""
    labels = [label for form in forms for label in form.labels]
    widest = max(label.sizeHint().width() for label in labels)
    for label in labels:
        label.setMinimumWidth(widest)


class Flow(QLayout):
    """A layout of widgets side by side, in as many rows as the width makes it."""

    def __init__(self, spacing: int, *parts: QWidget) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._gap = spacing
        for part in parts:
            self.addWidget(part)

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        return self._place(QRect(0, 0, width, 0), is_real=False)

    def setGeometry(self, box: QRect) -> None:  # noqa: N802
        super().setGeometry(box)
        self._place(box, is_real=True)

    def sizeHint(self) -> QSize:  # noqa: N802
        return self.minimumSize()

    def minimumSize(self) -> QSize:  # noqa: N802
        sizes = [item.sizeHint() for item in self._items]
        return QSize(
            max((s.width() for s in sizes), default=0), max((s.height() for s in sizes), default=0)
        )

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802
        return Qt.Orientation(0)

    def _place(self, box: QRect, *, is_real: bool) -> int:
        """Place the widgets in `box`; return the height that they take in its width."""
        x, y, row_height = box.x(), box.y(), 0
        for item in (each for each in self._items if not each.isEmpty()):
            size = item.sizeHint()
            size.setWidth(min(size.width(), box.width()))
            if x > box.x() and x + size.width() > box.x() + box.width():
                x, y, row_height = box.x(), y + row_height + self._gap, 0
            if is_real:
                item.setGeometry(QRect(QPoint(x, y), size))
            x += size.width() + self._gap
            row_height = max(row_height, size.height())
        return y + row_height - box.y()


class UprightArea(QScrollArea):
    """A scroll area as wide as what it holds and the scroll bar: sideways nothing is lost."""

    def __init__(self, inside: QWidget | None = None) -> None:
        """Make an area that scrolls `inside` up and down; None: that is set later."""
        super().__init__(widgetResizable=True)
        self._narrowest = 0
        if inside is not None:
            self.setWidget(inside)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Only then the fonts and margins of the style are known.
        Watch(self, QEvent.Type.Show).seen.connect(self.updateGeometry)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        bar = self.verticalScrollBar().sizeHint().width()
        inside = self.widget()
        width = bar if inside is None else bar + inside.minimumSizeHint().width()
        return QSize(width, super().minimumSizeHint().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        inside = self.widget()
        if watched is inside and event.type() == QEvent.Type.LayoutRequest:
            # Else Qt would take the height that its sentences need where they are narrow.
            layout = inside.layout()
            inside.setMinimumHeight(1 if layout is not None and layout.hasHeightForWidth() else 0)
            # Qt only looks at the scroll bars again.
            if (narrowest := self.minimumSizeHint().width()) != self._narrowest:
                self._narrowest = narrowest
                self.updateGeometry()
        return super().eventFilter(watched, event)


class Steady(QWidget):
    """A holder of one widget that asks for other room only where that needs it.

    Each text set in a label has all layouts above it done again, up to the window's own, which
    takes a millisecond: too long while a slider is dragged.
    """

    def __init__(self, inside: QWidget) -> None:
        super().__init__()
        inside.setParent(self)
        self._inside = inside
        self._asked = self.sizeHint(), self.minimumSizeHint()

    def sizeHint(self) -> QSize:  # noqa: N802
        return self._inside.sizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self._inside.minimumSizeHint()

    def resizeEvent(self, _event: QResizeEvent) -> None:  # noqa: N802
        self._inside.resize(self.size())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            needed = self.sizeHint(), self.minimumSizeHint()
            if needed != self._asked:
                self._asked = needed
                self.updateGeometry()
        return super().event(event)
