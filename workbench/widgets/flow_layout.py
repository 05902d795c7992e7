"""A layout that breaks into rows, as words do."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem


class Flow(QLayout):
    """A layout of widgets side by side, in as many rows as the width makes it."""

    def __init__(self, spacing: int) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._gap = spacing

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
        for item in self._items:
            size = item.sizeHint()
            size.setWidth(min(size.width(), box.width()))
            if x > box.x() and x + size.width() > box.x() + box.width():
                x, y, row_height = box.x(), y + row_height + self._gap, 0
            if is_real:
                item.setGeometry(QRect(QPoint(x, y), size))
            x += size.width() + self._gap
            row_height = max(row_height, size.height())
        return y + row_height - box.y()
