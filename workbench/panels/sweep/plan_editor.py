"""An editor of plans: the dimensions that vary, their values, and the implementations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeySequence, QPalette, QShortcut
from PySide6.QtWidgets import QCheckBox, QLineEdit, QListWidget, QListWidgetItem, QMenu, QWidget

from kernels.core.device import Device, NoDevice
from kernels.engine.engine import Implementation, all_implementations
from kernels.engine.own_kernel import OwnKernel
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.plan import Plan
from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.model.plan_draft import (
    DIMENSIONS,
    Dimension,
    Draft,
    UnclearError,
    texts_of,
)
from workbench.panels.controls.tool_row import KIND_TITLES
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import described, tab_button
from workbench.widgets.tile import scaled_font

Own = tuple[dict[str, str], list[str], bool]  # lines, implementations turned, transfers
LABEL_PX = 88
MAX_TEXT = 1000  # characters of a line of values
EMPTY_TIP = "Empty: as it is set in the window, or in the plan"


class ValuesRow(QWidget):
    """A label, a line of values, and below it the problem with them.

    chip  the button that shows the row
    """

    edited = Signal()  # the user changed the line

    def __init__(self, dimension: Dimension) -> None:
        super().__init__()
        self.dimension = dimension
        name = dimension.field.replace("_", "-")
        label = Label(dimension.title)
        label.setFixedWidth(theme.in_letters(LABEL_PX))
        title = dimension.name.lower()
        tip = f"{dimension.tip}\n{EMPTY_TIP}\nKey: Alt+Down for what may stand here"
        self._line = described(QLineEdit(), f"values-{name}", f"Values of {title}", tip)
        self._line.setMaxLength(MAX_TEXT)
        self._line.setPlaceholderText(f"not varied; or {dimension.start}")
        label.setBuddy(self._line)
        self._line.textEdited.connect(lambda _: self.edited.emit())
        shortcut = QShortcut(QKeySequence("Alt+Down"), self._line, self._choose)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)  # each line has its own
        tip = f"What may stand here.  {dimension.tip}"
        more = tab_button(f"choose-{name}", "▾", tip, f"Choose values of {title}", "flat")
        more.clicked.connect(self._choose)
        self._wrong = Label(name=f"wrong-{name}", font=scaled_font(0.9), wraps=True)
        self._wrong.setForegroundRole(QPalette.ColorRole.BrightText)
        self._wrong.hide()
        VBox(self, 0, 2).add(HBox(spacing=4).add(label, (self._line, 1), more), self._wrong)
        self.setFocusProxy(self._line)

    @property
    def text(self) -> str:
        return self._line.text()

    def show_text(self, text: str) -> None:
        """Show `text` in the line, cut after MAX_TEXT characters."""
        with QSignalBlocker(self._line):
            self._line.setText(text[:MAX_TEXT])
            self._line.setCursorPosition(0)

    def show_wrong(self, sentence: str) -> None:
        """Show the problem with the line; empty: there is none."""
        self._wrong.show_or_hide(sentence)
        self._line.setAccessibleDescription(sentence)

    def _choose(self) -> None:
        self.menu().popup(self._line.mapToGlobal(self._line.rect().bottomLeft()))

    def menu(self) -> QMenu:
        """Make a menu of whole lines, and of words to tick."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        for text, meaning in self.dimension.lines:
            action = menu.addAction(f"{text}\t{meaning}" if len(text) < 28 else text)
            action.setToolTip(tip_text(meaning))
            action.triggered.connect(partial(self._set_text, text))
        listed = self.dimension.words(self.text)
        for word, meaning in self.dimension.ticks:
            action = menu.addAction(f"{word}\t{meaning}" if meaning else word)
            action.setCheckable(True)
            action.setChecked(word in listed)
            action.setToolTip(tip_text(meaning or word))
            action.triggered.connect(partial(self._tick, word))
        return menu

    def _set_text(self, text: str) -> None:
        self._line.setText(text)
        self.edited.emit()

    def _tick(self, word: str) -> None:
        """Add `word` to the line, in the menu's order, or remove it."""
        listed = self.dimension.words(self.text)
        wanted = [each for each in listed if each != word] if word in listed else [*listed, word]
        order = [each for each, _ in self.dimension.ticks]
        known = [each for each in order if each in wanted]
        self._set_text(", ".join([*known, *(each for each in wanted if each not in order)]))


KEY = Qt.ItemDataRole.UserRole
LIST_PX = 130  # the piece of a row says that there are more
TRANSFERS_TIP = (
    "Upload and download, from ordinary and from page-locked memory:\n"
    "only with them can be said from which size on the GPU pays off"
)
Offered = tuple[Implementation | OwnKernel, str | None]  # with the reason why it cannot run here


class PlanEditor(QWidget):
    """Editor of a plan: dimensions, their values, and implementations."""

    edited = Signal()  # the user changed something

    def __init__(self) -> None:
        super().__init__()
        self._base: Plan | None = None
        self._offered: dict[str, Offered] = {}
        # By key: to be ticked where it can run; by default all but user kernels are.
        self._wanted: dict[str, bool] = {}
        caption = Label("Vary (all combinations)", font=scaled_font(0.9), is_muted=True)
        lines = VBox(spacing=4)
        self._rows = {each.field: ValuesRow(each) for each in DIMENSIONS}
        for row in self._rows.values():
            row.edited.connect(self.edited)
            lines.addWidget(row)
        self._list = described(QListWidget(), "sweep-implementations", "Implementations to measure")
        self._list.setFont(scaled_font(0.93))
        self._list.setFixedHeight(theme.in_letters(LIST_PX))
        self._list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.itemChanged.connect(self._tick)
        box = QCheckBox("Measure transfers too")
        self._transfers = described(box, "sweep-transfers", "", TRANSFERS_TIP)
        self._transfers.clicked.connect(self.edited)
        VBox(self, 0, 6).add(caption, lines, self._list, self._transfers)

    def draft(self) -> Draft:
        chosen = {
            key: each
            for key, (each, reason) in self._offered.items()
            if reason is None and self._wanted[key]
        }
        own = tuple(each.rung for each in chosen.values() if isinstance(each, OwnKernel))
        transfers = self._transfers.isChecked() and self._transfers.isEnabled()
        return Draft(self._base, self.texts(), tuple(chosen), transfers, own)

    def texts(self) -> dict[str, str]:
        """The lines of the dimensions that vary, by field."""
        return {name: row.text for name, row in self._rows.items() if row.text.strip()}

    @property
    def own(self) -> Own:
        """The user's own plan, as `show_own` takes it."""
        turned = sorted(key for key, wanted in self._wanted.items() if wanted == is_own(key))
        return self.texts(), turned, self._transfers.isChecked()

    @property
    def unable(self) -> dict[str, str]:
        """Keys in the plan that cannot run here, each with the reason, if that is known."""
        wanted = self._base.implementations if self._base else ()
        found = {key: self._offered.get(key, (None, ""))[1] for key in wanted}
        return {key: reason for key, reason in found.items() if reason is not None}

    def show_plan(self, plan: Plan) -> None:
        """Show `plan`, whose fixed fields stay as they are."""
        self._base = plan
        every = (each.key for each in all_implementations())  # show_implementations may come later
        known = (*every, *self._offered, *plan.implementations)
        self._wanted = {key: key in plan.implementations for key in known}
        self._show(texts_of(plan), plan.transfers)

    def show_own(self, texts: Mapping[str, str], turned: Iterable[str], transfers: bool) -> None:
        """Show the user's own plan; other fields are as in the State.

        turned  keys of implementations ticked or unticked against the default, runnable or not
        """
        self._base = None
        others = set(turned)
        self._wanted = {key: is_own(key) == (key in others) for key in (*self._offered, *others)}
        self._show(texts, transfers)

    def show_implementations(self, implementations: Iterable[Offered]) -> None:
        """Offer all implementations, each with the reason why it cannot run here, or None."""
        self._offered = {each.key: (each, reason) for each, reason in implementations}
        self._show_ticks()

    def show_device(self, device: Device | NoDevice) -> None:
        """Enable measuring transfers where there is a device to transfer to."""
        self._transfers.setEnabled(isinstance(device, Device))
        reason = device.reason if isinstance(device, NoDevice) else ""
        self._transfers.setToolTip(tip_text(reason or TRANSFERS_TIP))

    def show_wrong(self, problem: UnclearError | None) -> bool:
        """Show the problem below its line; False where it is not one of a line's."""
        named = problem.field if problem else ""
        for name, row in self._rows.items():
            row.show_wrong(str(problem) if name == named else "")
        return named in self._rows

    def _show(self, texts: Mapping[str, str], transfers: bool) -> None:
        for name, row in self._rows.items():
            row.show_text(texts.get(name, ""))
        self._transfers.setChecked(transfers)
        self._show_ticks()

    def _show_ticks(self) -> None:
        """List what is offered below headings, ticked where it is wanted and can run."""
        with QSignalBlocker(self._list):
            self._list.clear()
            for kind, title in KIND_TITLES.items():
                of_kind = [each for each in self._offered.values() if each[0].kind == kind]
                if of_kind:
                    QListWidgetItem(title, self._list).setFlags(Qt.ItemFlag.NoItemFlags)
                for each, reason in of_kind:
                    item = QListWidgetItem(each.title, self._list)
                    item.setData(KEY, each.key)
                    item.setToolTip(tip_text(f"{each.title}: {reason or each.idea}"))
                    wanted = self._wanted.setdefault(each.key, not is_own(each.key))
                    is_on = wanted and reason is None
                    item.setCheckState(Qt.CheckState.Checked if is_on else Qt.CheckState.Unchecked)
                    if reason is not None:
                        item.setFlags(Qt.ItemFlag.NoItemFlags)

    def _tick(self, item: QListWidgetItem) -> None:
        self._wanted[item.data(KEY)] = item.checkState() == Qt.CheckState.Checked
        self.edited.emit()
