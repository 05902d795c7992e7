"""The choice of what to measure: a plan of one's own, a preset or a file, and its extent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QPalette, QShowEvent
from PySide6.QtWidgets import QLabel, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError
from kernels.engine.engine import Implementation
from kernels.engine.own_kernel import OwnKernel
from kernels.sweeps.estimate import about
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import as_toml, plan_of
from kernels.sweeps.plan_run import cells_of
from kernels.sweeps.presets import presets
from workbench.base.plain_text import Label
from workbench.model.plan_dimensions import BY_FIELD
from workbench.model.plan_draft import UnclearError, given
from workbench.model.plan_estimate import time_s
from workbench.model.plan_words import held_fixed, varied_in_words
from workbench.model.state import State
from workbench.panels.sweep.plan_editor import FIRST, PlanEditor
from workbench.panels.sweep.plan_source import FILE, OWN, PlanSource
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.boxes import VBox
from workbench.widgets.folding import FoldButton
from workbench.widgets.tile import scaled_font

HINT_LINES = 4
CUSTOM_TIP = "Choose yourself what varies, its values, and the implementations"
COUNT_MS = 120  # after the last keystroke
HIDDEN_MS = 120  # after the last change of a state, while the panel is hidden
FIRST_TEXTS = {name: BY_FIELD[name].start for name in FIRST}

Own = tuple[dict[str, str], list[str], bool]  # lines, `PlanEditor.turned`, transfers


class PlanChoice(QWidget):
    """The choice of a plan, with a hint that tells how much it is, or what is wrong.

    custom  a part of it that is large when it is open: whoever shows the choice places it

    Signals:
        changed(): there is another plan, or none.
        open_wanted(): a plan is to be read from a file.
        save_wanted(plan): this one is to be written into one.
    """

    changed = Signal()
    open_wanted = Signal()
    save_wanted = Signal(object)

    def __init__(self, store: Store, worker: Worker) -> None:
        """Make the choice.

        store, worker  read for the state and the device, never written to
        """
        super().__init__()
        self._store, self._worker = store, worker
        self._plan: Plan | None = None
        self._problem = ""  # why there is none
        self._is_stale = False
        self._own: Own = (dict(FIRST_TEXTS), [], False)
        self._shown_key = OWN  # the key of what the editor holds
        self._counted: Plan | None = None  # the plan that the hint describes
        self._counted_s = 0.0  # how long that plan takes
        self._implementations: tuple[tuple[Implementation | OwnKernel, str | None], ...] = ()
        self._source = PlanSource(presets())
        self._editor = PlanEditor()
        self._hint = _hint()
        self._fold = FoldButton("sweep-custom", CUSTOM_TIP, "Customize what to measure")
        self._fold.toggled.connect(self._show_editor)
        self._count = QTimer(self, singleShot=True, interval=COUNT_MS)
        self._later = QTimer(self, singleShot=True, interval=HIDDEN_MS)
        column = VBox(self, 0, 6)
        column.add(self._source, self._hint)
        self.custom = QWidget()
        below = VBox(self.custom, 0, 6)
        below.add(self._fold, self._editor)
        self._editor.hide()
        self._fold.show_fold("Customize", False)
        self._count.timeout.connect(self._show_count)
        self._later.timeout.connect(self._refresh)
        self._source.chosen.connect(self._choose)
        self._source.open_wanted.connect(self.open_wanted)
        self._source.save_wanted.connect(self._save)
        self._editor.edited.connect(self._refresh)

    @property
    def plan(self) -> Plan | None:
        """Return the chosen plan; None: it makes no sense as it stands, and the hint says why."""
        if self._is_stale:
            self._refresh()
        return self._plan

    @property
    def in_a_line(self) -> str:
        """Return the name of the chosen plan, or what is wrong with it."""
        return self._source.title if self.plan is not None else self._problem

    @property
    def plan_actions(self) -> list[QAction]:
        """Return the actions that open a plan's file and save one."""
        return self._source.actions_of_menu

    # -- what it is told

    def show_state(self, _state: State) -> None:
        """Take the state, which the store holds by now, for all that the plan does not vary."""
        if self.isVisible() or self._plan is None:
            self._refresh()
        else:  # do no hidden work while a slider is dragged
            self._is_stale = True
            self._later.start()

    def show_device(self, device: Device | NoDevice) -> None:
        """Show what can be measured on the device, which the worker holds by now."""
        self._editor.show_device(device)
        self._refresh()

    def show_implementations(
        self, implementations: Iterable[tuple[Implementation | OwnKernel, str | None]]
    ) -> None:
        """Offer all implementations, each with the reason why it cannot run here, or None."""
        told = tuple(implementations)
        if told != self._implementations:  # called with every change of the state
            self._implementations = told
            self._editor.show_implementations(told)
            self._refresh()

    def show_plan(self, plan: Plan) -> None:
        """Show a plan that was opened from a file."""
        self._keep_own()
        self._shown_key = FILE
        self._source.show_file(plan)
        self._editor.show_plan(plan)
        self._refresh()

    def estimated_s(self) -> float:
        """Return about how many seconds `plan` takes; 0 without one."""
        if self.plan != self._counted:
            self._show_count()
        return self._counted_s if self.plan is not None else 0.0

    def choices(self) -> dict[str, Any]:
        """Return what to remember until the next start, fit for JSON."""
        self._keep_own()
        texts, turned, transfers = self._own
        kept = {"texts": texts, "turned": turned, "transfers": transfers}
        kept["custom"] = self._fold.isChecked()
        key = self._source.key
        shown = self._source.plan(key)
        made = shown if self.plan is None or self._editor.unable else self.plan
        # A preset that was changed is remembered as a file's plan.
        if shown is not None and made is not None and (key == FILE or made != shown):
            return {**kept, "source": FILE, "file": as_toml(made)}
        return {**kept, "source": key}

    def restore(self, choices: Mapping[str, Any]) -> None:
        """Take over what `choices()` gave; the defaults replace what makes no sense."""
        self._own = _own_of(choices)
        self._fold.setChecked(choices.get("custom") is True)
        self._source.show_chosen(OWN)
        self._show_own()
        if isinstance(text := choices.get("file"), str):
            with suppress(KernelError):
                self._source.show_file(plan_of(text))
        if isinstance(key := choices.get("source"), str) and self._source.plan(key):
            self._choose(key)
        self._refresh()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        if self.plan is not None and self.plan != self._counted:
            self._count.start()

    # -- inside

    @Slot(bool)
    def _show_editor(self, is_open: bool) -> None:
        """Show or fold away what few need to change."""
        self._fold.show_fold("Customize", is_open)
        self._editor.setVisible(is_open)
        self._refresh()

    @Slot(str)
    def _choose(self, key: str) -> None:
        self._keep_own()
        self._source.show_chosen(key)
        plan = self._source.plan(key)
        if plan is None:
            self._show_own()
        else:
            self._shown_key = key
            self._editor.show_plan(plan)
        self._refresh()

    def _show_own(self) -> None:
        texts, turned, transfers = self._own
        self._shown_key = OWN
        self._editor.show_own(texts, turned, transfers=transfers)

    def _keep_own(self) -> None:
        """Keep what the user composed, to show it again after a preset was looked at."""
        if self._shown_key == OWN:
            self._own = (self._editor.texts(), self._editor.turned, self._editor.transfers)

    @Slot()
    def _refresh(self) -> None:
        """Make the plan anew, or say what is wrong with the choices."""
        problem: UnclearError | None = None
        self._plan, self._is_stale = None, False
        self._later.stop()
        try:
            self._plan = self._editor.draft().plan(self._store.state, self._worker.device)
        except UnclearError as unclear:
            problem = unclear
        self._problem = str(problem or "")
        is_told = self._editor.show_wrong(problem) and self._fold.isChecked()
        self._source.show_can_save(self.plan is not None)
        self._source.show_is_noise(self._is_noise_instead())
        if self.plan is None:
            self._counted = None
            self._say("" if is_told else self._problem, is_wrong=True)
        elif self.plan != self._counted and self.isVisible():
            self._count.start()
        self.changed.emit()

    def _is_noise_instead(self) -> bool:
        """Return whether noise stands in for "this picture", since its sizes vary."""
        texts = self._editor.texts()
        is_own = self._shown_key == OWN and self.plan is not None
        return is_own and "sizes" in texts and "pictures" not in texts

    @Slot()
    def _show_count(self) -> None:
        """Say how much the plan is, a moment late: adding up thousands of cells takes time."""
        if self.plan is None:
            return
        self._counted = self.plan
        cells = cells_of(self.plan, given(self._store.state.picture))
        self._counted_s = time_s(cells, self.plan)
        time = about(self._counted_s)
        count = f"{len(cells):,} measurement{'s' if len(cells) != 1 else ''}, {time}"
        if varied := varied_in_words(self.plan):
            count += f"\nof {varied}"
        fixed = held_fixed(self.plan)
        said = f"{count}\nwith {fixed}." if fixed else f"{count}."
        if unable := self._editor.unable:
            all_of_it = len(unable) + len(self.plan.implementations)
            said += f" {len(unable)} of its {all_of_it} implementations cannot run here."
        self._say(said, is_wrong=False)

    def _say(self, text: str, *, is_wrong: bool) -> None:
        self._hint.setText(text)
        self._hint.setForegroundRole(
            QPalette.ColorRole.BrightText if is_wrong else QPalette.ColorRole.WindowText
        )

    @Slot()
    def _save(self) -> None:
        if self.plan is not None:
            self.save_wanted.emit(self.plan)


def _own_of(choices: Mapping[str, Any]) -> Own:
    texts = choices.get("texts")
    turned = choices.get("turned", choices.get("unticked"))  # as it was called
    if not isinstance(texts, Mapping) or not isinstance(turned, list | tuple):
        return dict(FIRST_TEXTS), [], False
    lines = {name: text for name, text in texts.items() if name in BY_FIELD}
    keys = [key for key in turned if isinstance(key, str)]
    if not all(isinstance(text, str) for text in lines.values()):
        return dict(FIRST_TEXTS), keys, False
    return lines, keys, choices.get("transfers") is True


def _hint() -> QLabel:
    hint = Label(name="sweep-hint", font=scaled_font(0.95), wraps=True)
    hint.setAlignment(Qt.AlignmentFlag.AlignTop)
    hint.setMinimumHeight(HINT_LINES * hint.fontMetrics().lineSpacing())  # keeps the height
    return hint
