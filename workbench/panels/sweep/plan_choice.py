"""Choice of a plan: the user's own, a preset or a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import groupby
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QPalette, QShowEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QToolButton, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError
from kernels.sweeps.estimate import about
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import as_toml, plan_of, presets
from kernels.sweeps.plan_run import cells_of
from workbench.base.background import Throttle
from workbench.base.plain_text import Label, tip_text
from workbench.model.cell_words import held_fixed
from workbench.model.plan_draft import BY_FIELD, UnclearError, given, short, time_s, varied_in_words
from workbench.model.state import State
from workbench.panels.sweep.plan_editor import Offered, Own, PlanEditor
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import make_button
from workbench.widgets.drop_down import DropDown, heading_item
from workbench.widgets.folding import FoldButton
from workbench.widgets.tile import scaled_font

OWN = ""  # the key of the user's own plan
FILE = "\0file"  # the key of the plan that was opened last; no preset has it
SPARE_PX = 40  # scroll bar and padding of a list
OWN_TITLE, ON_NOISE = "Current picture and settings", "Current settings, on noise"
NOISE = "Measured on noise: your picture has only one size."
OWN_TIP = "What is not varied is as it is set in the window"
FILES_TIP = "Open a plan from a TOML file, or save this one to be repeated"
HINT_LINES = 4
CUSTOM_TIP = "Choose yourself what varies, its values, and the implementations"
COUNT_MS = 120  # after the last keystroke
FIRST_OWN: Own = ({}, [], False)  # the open picture as it is


class PlanChoice(QWidget):
    """Choice of a plan, with a hint on its extent or its problem, and its editor.

    files  the button of a menu of files
    """

    changed = Signal()  # there is another plan, or none

    def __init__(self, store: Store, worker: Worker) -> None:
        """Make the choice; `store` and `worker` are only read."""
        super().__init__()
        self._store, self._worker = store, worker
        self._plans = {each.key: each.plan for each in presets()}  # and that of a file
        self._plan: Plan | None = None
        self._problem = ""  # why there is none
        self._is_stale = False
        self._own = FIRST_OWN
        self._key = OWN  # of what the editor holds
        self._counted: Plan | None = None  # the plan that the hint describes
        self._counted_s = 0.0  # how long that plan takes
        self._implementations: tuple[Offered, ...] = ()
        self._list = DropDown("sweep-source", "What to measure")
        self._list.activated.connect(lambda _: self._choose(self._list.currentData()))
        self.files = make_button("sweep-files", "File", FILES_TIP, "Plans in files")
        self.files.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._about = Label(name="sweep-about", font=scaled_font(0.88), is_muted=True, wraps=True)
        self._editor = PlanEditor()
        self._hint = Label(name="sweep-hint", font=scaled_font(0.95), wraps=True, lines=HINT_LINES)
        self._fold = FoldButton("sweep-custom", CUSTOM_TIP, "Customize what to measure")
        self._fold.toggled.connect(self._show_editor)
        self._count = Throttle(COUNT_MS, self._show_count, self)
        row = HBox(spacing=6).add((self._list, 1), self.files)
        VBox(self, 0, 6).add(row, self._about, self._hint, self._fold, self._editor)
        self._editor.hide()
        self._fold.show_fold("Customize", False)
        self._editor.edited.connect(self._refresh)
        self._fill()

    @property
    def plan(self) -> Plan | None:
        """The chosen plan; None: it makes no sense, and the hint says why."""
        if self._is_stale:
            self._refresh()
        return self._plan

    @property
    def in_a_line(self) -> str:
        """The name of the chosen plan, or the problem with it."""
        if self.plan is None:
            return self._problem
        return self._list.itemText(0) if self._key == OWN else self._plans[self._key].title

    def show_state(self, _state: State) -> None:
        """Take the fields that do not vary from the store's new state."""
        if self.isVisible() or self._plan is None:
            self._refresh()
        else:  # do no hidden work while a slider is dragged
            self._is_stale = True

    def show_device(self, device: Device | NoDevice) -> None:
        """Show what can be measured on the device, which the worker holds by now."""
        self._editor.show_device(device)
        self._refresh()

    def show_implementations(self, implementations: Iterable[Offered]) -> None:
        offered = tuple(implementations)
        if offered != self._implementations:  # called with every change of the state
            self._implementations = offered
            self._editor.show_implementations(offered)
            self._refresh()

    def show_plan(self, plan: Plan) -> None:
        """Show a plan: as the preset that it is, else as that of a file."""
        key = next((key for key, each in self._plans.items() if each == plan), FILE)
        self._plans[key] = plan
        self._fill()
        self._choose(key)

    def estimated_s(self) -> float:
        """Estimate how many seconds `plan` takes; 0 without one."""
        if self.plan != self._counted:
            self._show_count()
        return self._counted_s if self.plan is not None else 0.0

    def choices(self) -> dict[str, Any]:
        self._keep_own()
        texts, turned, transfers = self._own
        kept: dict[str, Any] = {"texts": texts, "turned": turned, "transfers": transfers}
        kept |= {"custom": self._fold.isChecked(), "source": self._key}
        if (shown := self._plans.get(self._key)) is not None:
            made = shown if self.plan is None or self._editor.unable else self.plan
            if self._key == FILE or made != shown:  # a preset that was changed is a file's plan
                kept |= {"source": FILE, "file": as_toml(made)}
        return kept

    def restore(self, choices: Mapping[str, Any]) -> None:
        self._own = _own_of(choices)
        self._fold.setChecked(choices.get("custom") is True)
        if isinstance(text := choices.get("file"), str):
            with suppress(KernelError):
                self._plans[FILE] = plan_of(text)
        self._fill()
        key = choices.get("source")
        self._show(key if isinstance(key, str) else OWN)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        if self.plan is not None and self.plan != self._counted:
            self._count.start()

    def _show_editor(self, is_open: bool) -> None:
        self._fold.show_fold("Customize", is_open)
        self._editor.setVisible(is_open)
        self._refresh()

    def _choose(self, key: str) -> None:
        self._keep_own()
        self._show(key)

    def _keep_own(self) -> None:
        if self._key == OWN:
            self._own = self._editor.own

    def _show(self, key: str) -> None:
        """Show the plan with this key, the user's own where there is none."""
        plan = self._plans.get(key)
        self._key = key if plan else OWN
        with QSignalBlocker(self._list):
            self._list.show_data(self._key)
        self._list.setToolTip(tip_text(plan.title if plan else OWN_TIP))
        facts = (plan.source, plan.table, plan.note) if plan else ()
        self._about.show_or_hide(" ".join(f"{fact.rstrip('.')}." for fact in facts if fact))
        if plan is None:
            self._editor.show_own(*self._own)
        else:
            self._editor.show_plan(plan)
        self._refresh()

    def _fill(self) -> None:
        """List the window's own settings, the opened file, and the presets by their source."""
        model = QStandardItemModel(self._list)

        def append(title: str, key: str, tip: str) -> None:
            item = QStandardItem(title)
            item.setData(key, Qt.ItemDataRole.UserRole)
            item.setToolTip(tip_text(tip))
            model.appendRow(item)

        append(OWN_TITLE, OWN, OWN_TIP)
        plans = dict(self._plans)
        if file := plans.pop(FILE, None):
            is_preset = file.title.endswith(", changed")  # which was changed, and kept so
            append("File: " * (not is_preset) + file.title, FILE, file.title)
        in_order = sorted(plans.items(), key=lambda pair: not pair[1].source)
        for source, group in groupby(in_order, key=lambda pair: pair[1].source):
            model.appendRow(heading_item(source or "Presets", self._list.font()))
            for key, plan in group:
                append(short(plan), key, plan.title)
        with QSignalBlocker(self._list):
            self._list.setModel(model)
        view = self._list.view()  # the list may be wider than the panel
        view.setMinimumWidth(view.sizeHintForColumn(0) + SPARE_PX)

    def _refresh(self) -> None:
        """Make the plan anew, or show what is wrong with the choices."""
        problem: UnclearError | None = None
        self._plan, self._is_stale = None, False
        try:
            self._plan = self._editor.draft().plan(self._store.state, self._worker.device)
        except UnclearError as unclear:
            problem = unclear
        self._problem = str(problem or "")
        if self._key == OWN:
            varied = self._editor.texts()
            is_noise = self._plan and "sizes" in varied and "pictures" not in varied
            self._about.show_or_hide(NOISE if is_noise else "")
            self._list.setItemText(0, ON_NOISE if is_noise else OWN_TITLE)
        is_seen = self._editor.show_wrong(problem) and self._fold.isChecked()
        if self.plan is None:
            self._counted = None
            self._show_hint("" if is_seen else self._problem, is_wrong=True)
        elif self.plan != self._counted and self.isVisible():
            self._count.start()
        self.changed.emit()

    def _show_count(self) -> None:
        """Show the plan's extent, a moment late: adding up thousands of cells takes time."""
        if self.plan is None:
            return
        self._counted = self.plan
        cells = cells_of(self.plan, given(self._store.state.picture))
        self._counted_s = time_s(cells, self.plan)
        count = f"{len(cells):,} measurements, {about(self._counted_s)}"
        if varied := varied_in_words(self.plan):
            count += f"\nof {varied}"
        fixed = held_fixed(cells, self.plan.varied)
        said = f"{count}\nwith {fixed}." if fixed else f"{count}."
        if unable := self._editor.unable:
            all_of_it = len(unable) + len(self.plan.implementations)
            said += f" {len(unable)} of its {all_of_it} implementations cannot run here"
            said += f": {reason}" if (reason := next(iter(unable.values()))) else "."
        self._show_hint(said, is_wrong=False)

    def _show_hint(self, text: str, *, is_wrong: bool) -> None:
        role = QPalette.ColorRole.BrightText if is_wrong else QPalette.ColorRole.WindowText
        self._hint.setText(text)
        self._hint.setForegroundRole(role)


def _own_of(choices: Mapping[str, Any]) -> Own:
    texts = choices.get("texts")
    turned = choices.get("turned", choices.get("unticked"))  # as it was called
    if not isinstance(texts, Mapping) or not isinstance(turned, list | tuple):
        return FIRST_OWN
    lines = {name: text for name, text in texts.items() if name in BY_FIELD}
    keys = [key for key in turned if isinstance(key, str)]
    if not all(isinstance(text, str) for text in lines.values()):
        return FIRST_OWN[0], keys, False
    return lines, keys, choices.get("transfers") is True
