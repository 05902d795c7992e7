"""All keys on one page: every line of the menus that has one, and what the mouse does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, groupby, pairwise
from textwrap import wrap

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QDialog, QFrame, QGridLayout, QLabel, QScrollArea, QWidget

from workbench.base.plain_text import Label
from workbench.widgets.actions import MenuLine
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.tile import scaled_font

ELSEWHERE = (
    ("Ctrl+Shift+1 … 9, 0, -", "The panels, from the top of the rail"),
    ("Wheel, + and −", "Zoom at the pointer"),
    ("Drag, arrow keys", "Move the picture"),
    ("Double click", "Fit, or one pixel for one"),
    ("Space, held", "Show the original"),
    ("Click on a pixel", "With the panel Pixel open: hold it; Esc, or a click on it, lets go"),
    ("Arrow keys", "In Pixel: the next one; in Anatomy: a lane, a warp, with Shift a block"),
    ("1, 2, 3", "In Anatomy: load, share, compute"),
    ("PgDn, PgUp", "In Presenter: on and back, as → and ←"),
    ("Alt+Down", "In a sweep's line: choose its values"),
    ("Click on a point", "In a chart: show what was measured"),
    ("Arrow keys, Enter", "In a chart or map: go over it, take it"),
    ("Esc", "Close a message, leave this page"),
    ("Ctrl+Wheel", "In a chart: look closer; a double click shows all"),
    ("P, right click", "In a chart's legend: pin a line to compare with"),
)
COLUMNS = 4
OWN_GROUP = 5  # a menu inside another with so many lines gets a group of its own
LETTERS = 0.84  # of the program's font, so that all keys fit on the screen
NAME_LETTERS = 28  # a longer name takes a second line
LEAVE = "Esc, ? or a click closes this page; Ctrl+Shift+P finds any action, F1 explains them."

Group = tuple[str, Sequence[tuple[str, str]]]  # a menu's title; keys and what they do


class ShortcutsDialog(QDialog):
    """A page over its window, made from the menus, so that no key is missing."""

    def __init__(self, lines: Iterable[MenuLine], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("shortcuts")
        self.setWindowTitle("Keyboard shortcuts")
        inside = QWidget()
        columns = HBox(inside, (20, 10, 20, 4), 18)
        for column in _columns([*_groups(lines), ("Mouse and elsewhere", ELSEWHERE)]):
            part = VBox(spacing=6)
            for group in column:
                part.addLayout(_group_grid(*group))
            part.addStretch(1)
            columns.addLayout(part)
        area = QScrollArea()
        area.setWidget(inside)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setAccessibleName("Keyboard shortcuts")
        leave = Label(LEAVE, is_muted=True)
        leave.setContentsMargins(20, 2, 20, 8)
        page = VBox(self, 0, 0)
        page.add((area, 1), leave)
        wanted = inside.sizeHint()
        room = parent.size() * 0.98 if parent else wanted
        width = min(wanted.width() + 24, max(room.width(), 400))
        self.resize(width, min(wanted.height() + leave.sizeHint().height() + 8, room.height()))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.text() == "?":
            self.reject()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, _event: QMouseEvent) -> None:  # noqa: N802
        self.reject()


def _groups(lines: Iterable[MenuLine]) -> list[Group]:
    """Return the lines by menu, in order; those without a key are left out."""
    found: list[Group] = []
    for _, group in groupby((line for line in lines if line.keys), key=lambda line: line.path[0]):
        of_menu = list(group)
        sizes = Counter(line.path for line in of_menu)
        own = {path for path, size in sizes.items() if len(path) > 1 and size >= OWN_GROUP}
        rest = [line for line in of_menu if line.path not in own]
        found.append((rest[0].path[0], [(line.keys, _name(line, 1)) for line in rest]))
        for path in sorted(own):
            inside = [line for line in of_menu if line.path == path]
            found.append((" ▸ ".join(path), [(line.keys, _name(line, 2)) for line in inside]))
    return found


def _name(line: MenuLine, above: int) -> str:
    """Return a line's name with those of the menus inside others, as "Window" alone says little.

    above  how many menus the heading names
    """
    name = line.action.objectName().removesuffix("…") or line.name
    return ": ".join((*line.path[above:], name))


def _columns(groups: list[Group]) -> list[list[Group]]:
    """Return the groups in columns of which the highest is as low as their order allows."""
    heights = [2 + sum(len(wrap(name, NAME_LETTERS)) for _, name in rows) for _, rows in groups]
    count = min(COLUMNS, len(groups))

    def ends(cuts: tuple[int, ...]) -> Iterable[tuple[int, int]]:
        return pairwise((0, *cuts, len(groups)))

    cuts = min(
        combinations(range(1, len(groups)), count - 1),
        key=lambda cuts: max(sum(heights[begin:end]) for begin, end in ends(cuts)),
    )
    return [groups[begin:end] for begin, end in ends(cuts)]


def _group_grid(title: str, rows: Sequence[tuple[str, str]]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(10)
    grid.setVerticalSpacing(1)
    heading = Label(title)
    font = scaled_font(1.0)
    font.setBold(True)
    heading.setFont(font)
    grid.addWidget(heading, 0, 0, 1, 2)
    for number, (keys, name) in enumerate(rows, start=1):
        label = Label(keys, font=scaled_font(LETTERS), is_muted=True)
        label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        grid.addWidget(label, number, 0)
        grid.addWidget(_name_label(name), number, 1)
    grid.setColumnStretch(1, 1)
    return grid


def _name_label(name: str) -> QLabel:
    """Return a label with a name, in several lines where it is long."""
    label = Label("\n".join(wrap(name, NAME_LETTERS)), font=scaled_font(LETTERS))
    label.setAccessibleName(name)
    return label
