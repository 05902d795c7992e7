"""The keys, on one page: every line of the menus that has one, and what the mouse does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from workbench.menu_lines import MenuLine
from workbench.views.tile import scaled_font

ELSEWHERE = (
    ("Wheel, + and −", "Zoom at the pointer"),
    ("Drag, arrow keys", "Move the picture"),
    ("Double click", "Fit, or one pixel for one"),
    ("Space, held", "Show the original"),
    ("Click on a pixel", "With the panel Pixel open: explain it"),
    ("Arrow keys", "In Pixel: the next one; in Anatomy: a lane, a warp, with Shift a block"),
    ("Alt+Down", "In a sweep's line: choose its values"),
    ("Click on a point", "In a chart: show what was measured"),
    ("Arrow keys, Enter", "In a chart or map: go over it, take it"),
    ("Esc", "Close a message, leave this page"),
    ("Ctrl+Wheel", "In a chart: look closer; a double click shows all"),
    ("P, right click", "In a chart's legend: pin a line to compare with"),
)
COLUMNS = 3
LEAVE = "Esc, ? or a click closes this page; Ctrl+Shift+P finds any action by its name."

Group = tuple[str, Sequence[tuple[str, str]]]  # a menu's title; keys and what they do


class ShortcutsDialog(QDialog):
    """Lies over its window, made from its menus, so that nothing can be missing."""

    def __init__(self, lines: Iterable[MenuLine], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("shortcuts")
        self.setWindowTitle("Keyboard shortcuts")
        inside = QWidget()
        columns = QHBoxLayout(inside)
        columns.setContentsMargins(24, 18, 24, 12)
        columns.setSpacing(36)
        for column in _columns([*_groups(lines), ("Mouse and elsewhere", ELSEWHERE)]):
            part = QVBoxLayout()
            part.setSpacing(14)
            for group in column:
                part.addLayout(_group_grid(*group))
            part.addStretch(1)
            columns.addLayout(part)
        area = QScrollArea()
        area.setWidget(inside)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setAccessibleName("Keyboard shortcuts")
        leave = QLabel(LEAVE)
        leave.setProperty("muted", True)
        leave.setContentsMargins(24, 4, 24, 12)
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(area, 1)
        page.addWidget(leave)
        wanted = inside.sizeHint()
        room = parent.size() * 0.94 if parent else wanted
        width = min(wanted.width() + 24, max(room.width(), 400))
        self.resize(width, min(wanted.height() + leave.sizeHint().height() + 8, room.height()))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.text() == "?" or event.key() == Qt.Key.Key_F1:
            self.reject()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, _event: QMouseEvent) -> None:  # noqa: N802
        self.reject()


def _groups(lines: Iterable[MenuLine]) -> list[Group]:
    """By menu, in order; those without a key are left out."""
    with_keys = [line for line in lines if line.keys]
    return [
        (title, [(line.keys, _name(line)) for line in group])
        for title, group in groupby(with_keys, key=lambda line: line.path[0])
    ]


def _name(line: MenuLine) -> str:
    """With the submenu's name, without which "Window" says little."""
    return ": ".join((*line.path[1:], line.action.objectName().removesuffix("…") or line.name))


def _columns(groups: list[Group]) -> list[list[Group]]:
    """As even as they can be without breaking a group or their order."""
    heights = [len(rows) + 2 for _, rows in groups]
    columns: list[list[Group]] = [[]]
    filled, whole = 0, sum(heights)
    for group, height in zip(groups, heights, strict=True):
        is_full = filled + height / 2 > whole * len(columns) / COLUMNS
        if columns[-1] and is_full and len(columns) < COLUMNS:
            columns.append([])
        columns[-1].append(group)
        filled += height
    return columns


def _group_grid(title: str, rows: Sequence[tuple[str, str]]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(14)
    grid.setVerticalSpacing(3)
    heading = QLabel(title)
    font = scaled_font(1.05)
    font.setBold(True)
    heading.setFont(font)
    grid.addWidget(heading, 0, 0, 1, 2)
    for number, (keys, name) in enumerate(rows, start=1):
        label = QLabel(keys)
        label.setProperty("muted", True)
        label.setAlignment(Qt.AlignmentFlag.AlignRight)
        grid.addWidget(label, number, 0)
        grid.addWidget(QLabel(name), number, 1)
    grid.setColumnStretch(1, 1)
    return grid
