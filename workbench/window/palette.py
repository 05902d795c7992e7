"""The palette: everything that can be done, found by words or a few letters."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSize,
    QSortFilterProxyModel,
    Qt,
    QTimer,
)
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QDialog, QHeaderView, QLineEdit, QTreeView, QWidget

from kernels import filters
from kernels.core.device import Device, NoDevice
from kernels.sweeps.plan_files import presets
from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.model import intents
from workbench.session.kernel_folder import KernelFolder
from workbench.session.store import Store
from workbench.widgets.actions import MenuLine, menu_lines
from workbench.widgets.boxes import VBox
from workbench.widgets.docks import Docks
from workbench.widgets.lazy_panel import LazyPanel
from workbench.window.window_parts import Parts

if TYPE_CHECKING:
    from workbench.panels.sweep.sweep_panel import SweepPanel


SYNONYMS = {
    "Open folder": ("load", "photos", "images"),
    "Open": ("load", "import", "file", "photo", "image"),
    "Save result as": ("export", "write", "store", "jpeg", "png", "tiff"),
    "Filter a folder": ("batch", "many", "several", "directory", "all pictures", "convert"),
    "Next in folder": ("batch", "slideshow"),
    "Command line": ("batch", "folder", "terminal", "shell", "script"),
    "1 to 32 pictures one after another": ("batch", "many"),
    "Sweep": ("batch", "benchmark", "measure"),
    "Start sweep": ("batch", "benchmark", "measure"),
    "Gallery": ("examples", "samples", "kodak", "thumbnails"),
    "Window": ("screenshot", "capture"),
    "Weights": ("kernel", "matrix", "convolution", "coefficients", "mask"),
    "Custom weights": ("kernel", "matrix", "convolution", "mask"),
    "Kernel": ("cuda", "editor", "own", "write", "code", "program"),
    "New kernel": ("cuda", "own", "write", "code", "program"),
    "Begin stepping": ("debug", "trace", "line by line", "walk", "variables", "barrier"),
    "PTX/SASS of the kernel": ("machine code", "assembly", "instructions", "disassemble", "cubin"),
    "Find the bug in the kernel": ("race", "bounds", "barrier", "debug", "memcheck"),
    "Fit": ("zoom", "whole"),
    "100 %": ("zoom", "1:1", "actual size"),
    "Zoom in": ("larger", "magnify", "enlarge"),
    "Zoom out": ("smaller", "shrink"),
    "This pixel": ("explain", "inspect", "neighbourhood", "value", "border", "edge", "crop"),
    "Result": ("after",),
    "Wipe": ("before", "after", "slider", "split", "curtain"),
    "Side by side": ("before", "after", "compare", "two"),
    "Difference": ("subtract", "error", "compare"),
    "Mismatch": ("verify", "check", "error", "reference", "compare"),
    "Analysis": ("histogram", "psnr", "ssim", "profile", "levels"),
    "Anatomy of a launch": (
        "threads",
        "warp",
        "grid",
        "halo",
        "tile",
        "bank conflict",
        "coalesced",
    ),
    "Block shapes, live": ("threads", "tune", "compare", "fastest"),
    "Full screen": ("maximise", "zen"),
    "Present the lecture": ("talk", "slides", "course", "teach"),
    "Present": ("talk", "lecture", "slides", "projector", "stage"),
    "Dark": ("night", "theme"),
    "Light": ("day", "theme"),
    "Compare all implementations": ("benchmark", "measure", "ladder", "fastest", "quickest"),
    "Run again": ("repeat", "refresh", "rerun"),
    "Larger kernel": ("size", "radius", "bigger"),
    "Smaller kernel": ("size", "radius"),
    "Report": ("hand in", "document", "print", "html"),
    "Report as PDF": ("hand in", "print"),
    "Words": ("glossary", "terms", "dictionary", "vocabulary", "definitions"),
    "Help": ("manual", "documentation", "guide"),
    "Keyboard shortcuts": ("keys", "hotkeys"),
    "About and diagnostics": ("version", "licence", "doctor", "info"),
    "Gaussian blur": ("smooth", "soften", "low-pass", "denoise"),
    "Box blur": ("smooth", "mean", "average", "soften"),
    "Sharpen": ("crisp", "deblur"),
    "Unsharp mask": ("sharpen", "crisp"),
    "Edges": ("outline", "contour", "detect"),
    "Sobel X": ("edges", "derivative"),
    "Sobel Y": ("edges", "derivative"),
    "Prewitt X": ("edges", "derivative"),
    "Prewitt Y": ("edges", "derivative"),
    "Gradient": ("edges", "magnitude", "derivative"),
    "Laplacian": ("edges", "second derivative"),
    "Laplacian of Gaussian": ("edges", "log", "blob", "marr"),
    "Emboss": ("relief",),
    "Identity": ("none", "copy", "original"),
}


OWN_NAME = "All actions"  # the palette is not in the palette
# How a word of a query is found, the best first.
WHOLE, START, ELSEWHERE, INITIALS, LETTERS = range(5)
Rank = tuple[
    int, int, int, int
]  # not possible now, worst and sum of the kinds, letters of the name


@dataclass(frozen=True, slots=True, eq=False)
class PaletteEntry:
    """Something that can be done.

    where   the kind of thing it is: "File ▸ Screenshot", "Filter"
    keys    its shortcut, as it is written here
    tip     what it does, in a sentence
    reason  why it cannot be done now; empty if it can
    is_on   whether it is chosen already
    """

    name: str
    where: str
    do: Callable[[], object] = field(repr=False)
    keys: str = ""
    tip: str = ""
    reason: str = ""
    is_on: bool = False


def entries_of(parts: Parts, sweep: LazyPanel[SweepPanel]) -> list[PaletteEntry]:
    """Make all entries as things are now: the menus in order, then what is not in them.

    sweep   shows presets, once docks brought it forward
    """
    store, docks = parts.store, parts.docks
    return [
        *(_of_menu(line) for line in menu_lines(parts.window) if line.name != OWN_NAME),
        *_filters(store),
        *_implementations(store, parts.worker.device, parts.kernels),
        *_presets(docks, sweep),
    ]


def ranks_of(entries: Sequence[PaletteEntry], query: str) -> list[Rank | None]:
    """Rank of each entry for `query`, the best smallest; None: not found.

    Each word of the query is a word of the name, or its beginning; the beginning of another word
    for it; initials and what follows them; or, if nothing else is found, letters in order.
    """
    words = [_patterns(word) for word in query.casefold().split()]
    if not words:
        return [(0, 0, 0, 0) for _ in entries]
    ranks = [_rank(words, entry) for entry in entries]
    is_found = any(rank is not None and rank[1] < LETTERS for rank in ranks)
    return [
        None if rank is not None and is_found and rank[1] == LETTERS else rank for rank in ranks
    ]


def _patterns(word: str) -> list[re.Pattern[str]]:
    """Patterns of a word of a query, by WHOLE to LETTERS."""
    letters = [re.escape(letter) for letter in word]
    start = (r"\b" if word[0].isalnum() else "") + re.escape(word)
    return [
        *(re.compile(rf"{start}\b"), re.compile(start), re.compile(start)),
        *(re.compile(r"\b" + r"(?:|.*?\b)".join(letters)), re.compile(".*?".join(letters))),
    ]


def _rank(words: Sequence[Sequence[re.Pattern[str]]], entry: PaletteEntry) -> Rank | None:
    name = entry.name.casefold()
    more = f"{name} {entry.where} {' '.join(SYNONYMS.get(entry.name, ()))}".casefold()
    texts = (name, name, more, name, more)
    kinds = [
        next((kind for kind, text in enumerate(texts) if patterns[kind].search(text)), None)
        for patterns in words
    ]
    known = [kind for kind in kinds if kind is not None]
    if len(known) < len(kinds):
        return None
    return bool(entry.reason), max(known), sum(known), len(name)


def _of_menu(line: MenuLine) -> PaletteEntry:
    action = line.action
    reason = "" if action.isEnabled() else "It cannot be done now."
    tip = action.toolTip() if action.toolTip() != line.name else ""
    return PaletteEntry(
        line.name,
        " ▸ ".join(line.path),
        action.trigger,
        line.keys,
        tip,
        reason,
        is_on=action.isCheckable() and action.isChecked(),
    )


def _filters(store: Store) -> list[PaletteEntry]:
    state = store.state

    def choose(key: str) -> None:
        store.choose(filter=key)

    return [
        PaletteEntry(
            each.title, "Filter", partial(choose, each.key), is_on=each.key == state.filter
        )
        for each in filters.all_filters()
    ]


def _implementations(
    store: Store, device: Device | NoDevice | None, kernel_folder: KernelFolder
) -> list[PaletteEntry]:
    state = store.state
    found = []
    for each in (*intents.choices(), *kernel_folder.all):
        reason = intents.why_unavailable(state, each, device) or ""
        do = partial(store.choose, implementation=each.key)
        is_on = each.key == state.implementation
        where = "Runs on" if each.kind == "auto" else f"Runs on ▸ {_KINDS[each.kind]}"
        found.append(PaletteEntry(each.title, where, do, tip=each.idea, reason=reason, is_on=is_on))
    return found


_KINDS = {"cpu": "CPU", "cuda": "CUDA", "own": "Yours"}


def _presets(docks: Docks, sweep: LazyPanel[SweepPanel]) -> list[PaletteEntry]:
    def show(number: int) -> None:
        docks.bring_forward(sweep.dock.title)
        sweep.get().show_plan(presets()[number].plan)

    return [
        PaletteEntry(each.plan.title, "Sweep preset", partial(show, number), tip=each.plan.note)
        for number, each in enumerate(presets())
    ]


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
        self._found = _Found(entries, self)
        self._line = QLineEdit()
        self._line.setObjectName("palette-line")
        self._line.setAccessibleName("Find an action")
        self._line.setPlaceholderText("Type what you want to do")
        self._line.setClearButtonEnabled(True)
        self._line.textChanged.connect(self._find)
        self._line.installEventFilter(self)
        self._list = QTreeView()
        self._list.setObjectName("palette-list")
        self._list.setAccessibleName("Actions found")
        self._list.setModel(self._found)
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._list.setHeaderHidden(True)
        self._list.header().setStretchLastSection(False)
        self._list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
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
        self._found.find(query)
        if self._found.rowCount():
            self._list.setCurrentIndex(self._found.index(0, 0))
            self._list.scrollToTop()
        else:
            self._about.setText(f"Nothing is called “{query.strip()}”.")

    def _move(self, steps: int) -> None:
        """Choose another entry; a single step wraps around at either end, a page does not."""
        count, now = self._found.rowCount(), self._list.currentIndex().row()
        if count:
            row = (now + steps) % count if abs(steps) == 1 else min(max(now + steps, 0), count - 1)
            self._list.setCurrentIndex(self._found.index(row, 0))

    def _describe(self, index: QModelIndex) -> None:
        entry = self._found.entry(index)
        if entry is not None:
            self._about.setText(entry.reason or entry.tip)
            keys = f", {entry.keys}" if entry.keys else ""
            self._line.setAccessibleDescription(f"{entry.name}, {entry.where}{keys}")

    def _do(self, index: QModelIndex) -> None:
        """Close the palette, then do what was chosen, which may open something itself."""
        entry = self._found.entry(index)
        if entry is None or entry.reason:
            return
        self.accept()
        QTimer.singleShot(0, entry.do)


class _Actions(QAbstractTableModel):
    """Entries with their names in one column, and their menus and keys in the other."""

    def __init__(self, entries: Sequence[PaletteEntry], parent: QObject) -> None:
        super().__init__(parent)
        self.entries = entries

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        return 0 if parent.isValid() else len(self.entries)

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        return 2

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry, is_name = self.entries[index.row()], index.column() == 0
        match role:
            case Qt.ItemDataRole.DisplayRole if is_name:
                return f"✓ {entry.name}" if entry.is_on else entry.name
            case Qt.ItemDataRole.DisplayRole:
                return f"{entry.where}    {entry.keys}" if entry.keys else entry.where
            case Qt.ItemDataRole.TextAlignmentRole if not is_name:
                return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            case Qt.ItemDataRole.ForegroundRole if entry.reason or not is_name:
                return QColor(theme.colors().muted)
            case Qt.ItemDataRole.SizeHintRole:
                return QSize(0, theme.in_letters(ROW_PX)) if is_name else None
            case Qt.ItemDataRole.ToolTipRole:
                return tip_text(entry.reason or entry.tip) or None
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{entry.name}, {entry.where}"
        return None


class _Found(QSortFilterProxyModel):
    """The entries that a query finds, the best first."""

    def __init__(self, entries: Sequence[PaletteEntry], parent: QObject) -> None:
        super().__init__(parent)
        self._entries = entries
        self._ranks: list[Rank | None] = ranks_of(entries, "")
        self.setSourceModel(_Actions(entries, self))
        self.sort(0)

    def find(self, query: str) -> None:
        """Show what `query` finds; without words everything, in order."""
        self._ranks = ranks_of(self._entries, query)
        self.invalidate()

    def entry(self, index: QModelIndex) -> PaletteEntry | None:
        return self._entries[self.mapToSource(index).row()] if index.isValid() else None

    def filterAcceptsRow(self, row: int, _parent: Index) -> bool:  # noqa: N802
        return self._ranks[row] is not None

    def lessThan(self, left: Index, right: Index) -> bool:  # noqa: N802
        keys = [(self._ranks[each.row()] or (), each.row()) for each in (left, right)]
        return keys[0] < keys[1]
