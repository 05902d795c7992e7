"""The palette: everything that can be done, found by words or a few letters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QDialog, QHeaderView, QLineEdit, QTreeWidget, QTreeWidgetItem, QWidget

from kernels import filters
from kernels.core import search
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import presets
from workbench.base import theme
from workbench.base.paths import asset_table
from workbench.base.plain_text import Label, nearest_in_words, tip_text
from workbench.model import intents
from workbench.panels.controls.filter_popup import told
from workbench.widgets.actions import MenuLine, menu_lines
from workbench.widgets.boxes import VBox
from workbench.widgets.buttons import described
from workbench.window.window_layout import Parts

OWN_NAME = "All actions"  # the palette is not in the palette
BUILT_IN = "File ▸ Built-in picture"
NOT_HERE = "No such filter or action here"


@dataclass(frozen=True, slots=True, eq=False)
class PaletteEntry:
    """Something that can be done."""

    name: str
    where: str  # the kind of thing it is: "File ▸ Screenshot", "Filter"
    do: Callable[[], object] = field(repr=False)
    keys: str = ""  # its shortcut, as it is written here
    tip: str = ""  # a sentence on its effect
    reason: str = ""  # why it is impossible now; empty if it is not
    is_on: bool = False  # True if it is chosen already
    filter: filters.Filter | None = None  # that it chooses

    @property
    def named(self) -> search.Named:
        """What it is found by."""
        if self.filter is not None:
            return filters.named(self.filter)
        table = asset_table("help/synonyms.toml")
        words = f"{self.where} {table['words'].get(self.name, '')}"
        name = f"picture {self.name}" if self.where == BUILT_IN else self.name  # no filter
        return search.Named(name, words, tuple(table["near"].get(self.name, ())))


def entries_of(parts: Parts) -> list[PaletteEntry]:
    """Make all entries: the menus in order, then all else."""
    lines = (each for each in menu_lines(parts.window) if each.name != OWN_NAME)
    return [
        # What is disabled without a reason stands for an empty list.
        *(_of_menu(each) for each in lines if each.action.isEnabled() or each.action.statusTip()),
        *_choices(parts),
        *_presets(parts),
    ]


def find(entries: Sequence[PaletteEntry], query: str) -> tuple[list[PaletteEntry], bool]:
    """Find the entries for `query`, the best first; False: they are only the nearest."""
    numbers, is_right = search.find(query, [each.named for each in entries], filters.absent())
    found = [entries[at] for at in numbers]
    is_ordered = is_right and bool(query.strip())
    return sorted(found, key=lambda each: is_ordered and bool(each.reason)), is_right


def _of_menu(line: MenuLine) -> PaletteEntry:
    action = line.action
    return PaletteEntry(
        *(line.name, " ▸ ".join(line.path), action.trigger, line.keys),
        tip=action.toolTip() if action.toolTip() != line.name else "",
        reason="" if action.isEnabled() else action.statusTip(),
        is_on=action.isCheckable() and action.isChecked(),
    )


def _choices(parts: Parts) -> Iterator[PaletteEntry]:
    choose, state = parts.store.choose, parts.store.state
    for each in filters.all_filters():
        do = partial(choose, filter=each.key)
        is_on = each.key == state.filter
        yield PaletteEntry(each.title, "Filter", do, tip=each.idea, is_on=is_on, filter=each)
    for one in (*intents.choices(), *parts.kernels.all):
        yield PaletteEntry(
            one.title,
            "Runs on" if one.kind == "auto" else f"Runs on ▸ {_KINDS[one.kind]}",
            partial(choose, implementation=one.key),
            tip=one.idea,
            reason=intents.why_unavailable(state, one, parts.worker.device) or "",
            is_on=one.key == state.implementation,
        )


_KINDS = {"cpu": "CPU", "cuda": "CUDA", "own": "Yours"}


def _presets(parts: Parts) -> list[PaletteEntry]:
    def show(plan: Plan) -> None:
        parts.docks.bring_forward("Sweep")
        parts.sweep.get().show_plan(plan)

    plans = [each.plan for each in presets()]
    return [PaletteEntry(e.title, "Sweep preset", partial(show, e), tip=e.note) for e in plans]


WIDTH_PX = 720
ROWS, ROW_PX = 10, 34
MOVES = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -8, Qt.Key.Key_PageDown: 8}


class Palette(QDialog):
    """A dialog to find an action by its words."""

    def __init__(
        self, entries: Sequence[PaletteEntry], parent: QWidget | None = None, words: str = ""
    ) -> None:
        """Make it, with these words typed already."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("palette")
        self.setWindowTitle("All actions")
        self._entries, self._found = entries, list(entries)
        line = QLineEdit(placeholderText="Type what you want to do", clearButtonEnabled=True)
        self._line = described(line, "palette-line", "Find an action")
        self._line.textChanged.connect(self._find)
        self._line.installEventFilter(self)
        self._list = described(QTreeWidget(columnCount=2), "palette-list", "Actions found")
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._list.setHeaderHidden(True)
        self._list.header().setStretchLastSection(False)
        self._list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the line keeps the keyboard
        self._list.clicked.connect(self._do)
        self._list.currentItemChanged.connect(self._describe)
        self._about = Label(name="palette-about", is_muted=True, wraps=True, lines=2)
        VBox(self, (14, 14, 14, 10)).add(self._line, self._list, self._about)
        self._list.ensurePolished()  # its frame is that of the theme
        self._list.setMinimumHeight(ROWS * theme.in_letters(ROW_PX) + 2 * self._list.frameWidth())
        self.resize(theme.window_size(WIDTH_PX, 0).width(), self.minimumSizeHint().height())
        self._find("")
        line.setText(words)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Pass keys that are for the list on from the line to it."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            key = Qt.Key(event.key())
            if key in MOVES:
                self._move(MOVES[key])
                return True
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._do()
                return True
        return super().eventFilter(watched, event)

    def _find(self, query: str) -> None:
        self._found, is_right = find(self._entries, query)
        self._list.clear()
        self._list.addTopLevelItems([_item(each) for each in self._found])
        self._list.scrollToTop()
        if is_right:
            self._choose(0)
        else:  # Enter does nothing until one of these is chosen
            said = told(query) or nearest_in_words(NOT_HERE, [each.name for each in self._found])
            self._about.setText(said)
            self._line.setAccessibleDescription(said)

    def _move(self, steps: int) -> None:
        """Choose another entry; a single step wraps around at either end, a page does not."""
        count, now = len(self._found), self._list.currentIndex().row()
        if count:
            now = 0 if now < 0 and steps < 0 else now
            row = (now + steps) % count if abs(steps) == 1 else min(max(now + steps, 0), count - 1)
            self._choose(row)

    def _choose(self, row: int) -> None:
        self._list.setCurrentIndex(self._list.model().index(row, 0))

    @property
    def _chosen(self) -> PaletteEntry | None:
        row = self._list.currentIndex().row()
        return self._found[row] if row >= 0 else None

    def _describe(self) -> None:
        if (entry := self._chosen) is not None:
            self._about.setText(entry.reason or entry.tip)
            keys = f", {entry.keys}" if entry.keys else ""
            self._line.setAccessibleDescription(f"{entry.name}, {entry.where}{keys}")

    def _do(self) -> None:
        """Close the palette, then do what was chosen, which may open something itself."""
        entry = self._chosen
        if entry is not None and not entry.reason:
            self.accept()
            QTimer.singleShot(0, entry.do)


def _item(entry: PaletteEntry) -> QTreeWidgetItem:
    where = f"{entry.where}    {entry.keys}" if entry.keys else entry.where
    name = f"{entry.name} · {entry.reason}" if entry.reason else entry.name
    item = QTreeWidgetItem([f"✓ {name}" if entry.is_on else name, where])
    if entry.reason:  # not painted as chosen
        item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsSelectable)
    muted = QColor(theme.colors().muted)
    item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    item.setSizeHint(0, QSize(0, theme.in_letters(ROW_PX)))
    for column in (0, 1):
        if column == 1 or entry.reason:
            item.setForeground(column, muted)
        item.setToolTip(column, tip_text(entry.reason or entry.tip))
        item.setData(column, Qt.ItemDataRole.AccessibleTextRole, f"{entry.name}, {entry.where}")
    return item
