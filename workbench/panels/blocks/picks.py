"""The choice of block shapes to compare: two sets to tick, and any others to type."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from workbench.base.plain_text import Label, tip_text
from workbench.panels.blocks.block_shapes import (
    EXAMPLE,
    GRID,
    PRESETS,
    BlockXY,
    UnclearShapesError,
    parsed,
)
from workbench.widgets.boxes import HBox, VBox


class ShapePicks(QWidget):
    """Ticks for two sets of block shapes, and a field to type others.

    Signals:
        changed(): other shapes are to be compared.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._presets = _tick("blocks-presets", "Presets", "The block picker's shapes.")
        self._grid = _tick("blocks-grid", "Grid", "Widths 8 to 256 by heights 1 to 32: a map.")
        self._presets.setChecked(True)
        self._own = QLineEdit()
        self._own.setObjectName("blocks-own")
        self._own.setAccessibleName("Own block shapes")
        self._own.setPlaceholderText("Own: 48×4, 96×2")
        self._own.setToolTip(f"Any other shapes, width × height in threads. {EXAMPLE}")
        self._objection = Label(name="blocks-objection", wraps=True)
        self._objection.setProperty("objection", True)
        self._objection.hide()
        for tick in (self._presets, self._grid):
            tick.toggled.connect(self.changed)
        self._own.editingFinished.connect(self._take)
        self._own.textEdited.connect(self._judge)
        self._taken: tuple[BlockXY, ...] = ()
        row = HBox(spacing=6)
        row.add(self._presets, self._grid, (self._own, 1))
        column = VBox(self, 0, 2)
        column.add(row, self._objection)

    @property
    def shapes(self) -> tuple[BlockXY, ...]:
        """Return the chosen shapes, each once: presets, grid, typed ones that are clear."""
        sets = ((self._presets, PRESETS), (self._grid, GRID))
        ticked = [xy for tick, shapes in sets if tick.isChecked() for xy in shapes]
        return tuple(dict.fromkeys((*ticked, *self._taken)))

    def choices(self) -> dict[str, Any]:
        """Return what is remembered from one run to the next."""
        return {
            "presets": self._presets.isChecked(),
            "grid": self._grid.isChecked(),
            "own": self._own.text(),
        }

    def restore(self, data: dict[str, Any]) -> None:
        """Take over what `choices` gave; the defaults replace what makes no sense."""
        with QSignalBlocker(self):
            self._presets.setChecked(data.get("presets") is not False)
            self._grid.setChecked(data.get("grid") is True)
            own = data.get("own")
            self._own.setText(own if isinstance(own, str) else "")
            self._take()

    def _judge(self) -> bool:
        try:
            parsed(self._own.text())
        except UnclearShapesError as unclear:
            self._objection.setText(str(unclear))
            self._objection.show()
            return False
        self._objection.hide()
        return True

    def _take(self) -> None:
        if self._judge() and (found := parsed(self._own.text())) != self._taken:
            self._taken = found
            self.changed.emit()


def _tick(name: str, title: str, tip: str) -> QCheckBox:
    tick = QCheckBox(title)
    tick.setObjectName(name)
    tick.setToolTip(tip_text(tip))
    return tick
