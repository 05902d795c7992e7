"""An editor of plans: the dimensions that vary, their values, and the implementations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QToolButton, QWidget

from kernels.core.device import Device, NoDevice
from kernels.engine.engine import Implementation, all_implementations
from kernels.engine.own_kernel import OwnKernel
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.plan import Plan
from workbench.base.plain_text import Label, tip_text
from workbench.model.plan_dimensions import BY_FIELD, DIMENSIONS
from workbench.model.plan_draft import Draft, UnclearError, texts_of
from workbench.panels.sweep.values_row import ValuesRow
from workbench.widgets.boxes import Flow, VBox
from workbench.widgets.buttons import make_button
from workbench.widgets.tile import Tick, TickList, scaled_font

KINDS = {"cpu": "CPU", "own": "Yours", "cuda": "CUDA"}
COLUMNS = (("CPU", "Yours"), ("CUDA",))
TRANSFERS_TIP = (
    "Upload and download, from ordinary and from page-locked memory:\n"
    "only with them can be said from which size on the GPU pays off"
)
FIRST = ("sizes",)  # what varies by default


class PlanEditor(QWidget):
    """The editor of a plan: buttons for the dimensions, a line for each that varies, ticks.

    Signals:
        edited(): the user changed something.
    """

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._base: Plan | None = None
        self._ticks: dict[str, tuple[Tick, Implementation | OwnKernel]] = {}
        self._wanted: dict[str, bool] = {}  # by key: to be ticked where it can run
        self._buttons: dict[str, QToolButton] = {}
        self._rows: dict[str, ValuesRow] = {}
        chips = Flow(4)
        for dimension in DIMENSIONS:
            button = _chip(dimension.title, dimension.field, dimension.tip)
            button.clicked.connect(lambda on, name=dimension.field: self._vary(name, on))
            chips.addWidget(button)
            self._buttons[dimension.field] = button
        caption = Label("Vary (all combinations)", font=scaled_font(0.9), is_muted=True)
        self._lines = VBox(spacing=4)
        for dimension in DIMENSIONS:
            row = ValuesRow(dimension)
            row.edited.connect(self.edited)
            row.setVisible(dimension.field in FIRST)
            self._buttons[dimension.field].setChecked(dimension.field in FIRST)
            self._lines.addWidget(row)
            self._rows[dimension.field] = row
        self._implementations = TickList(COLUMNS)
        self._transfers = QCheckBox("Measure transfers too")
        self._transfers.setObjectName("sweep-transfers")
        self._transfers.setToolTip(TRANSFERS_TIP)
        self._transfers.clicked.connect(self.edited)
        column = VBox(self, 0, 6)
        column.add(caption, chips, self._lines, self._implementations, self._transfers)

    # -- what it holds

    def draft(self) -> Draft:
        """Return what is chosen, from which a plan can be made."""
        chosen = tuple(key for key, (tick, _) in self._ticks.items() if tick.isChecked())
        transfers = self._transfers.isChecked() and self._transfers.isEnabled()
        every = (each for _, each in self._ticks.values())
        own = (each.rung for each in every if isinstance(each, OwnKernel) and each.key in chosen)
        return Draft(self._base, self.texts(), chosen, transfers, tuple(own))

    def texts(self) -> dict[str, str]:
        """Return the lines of the dimensions that vary, by field."""
        return {
            name: self._rows[name].text
            for name, button in self._buttons.items()
            if button.isChecked()
        }

    def show_plan(self, plan: Plan) -> None:
        """Show `plan`; what it leaves fixed stays as the plan has it."""
        self._base = plan
        self._show_texts(texts_of(plan))
        every = (each.key for each in all_implementations())  # show_implementations may come later
        known = (*every, *self._ticks, *plan.implementations)
        self._wanted = {key: key in plan.implementations for key in known}
        self._transfers.setChecked(plan.transfers)
        self._show_ticks()

    def show_own(self, texts: Mapping[str, str], turned: Iterable[str], *, transfers: bool) -> None:
        """Show what the user composed; what no line varies is as in the State.

        turned  as `turned` has been
        """
        self._base = None
        self._show_texts(texts)
        others = set(turned)
        self._wanted = {key: _is_usual(key) != (key in others) for key in (*self._ticks, *others)}
        self._transfers.setChecked(transfers)
        self._show_ticks()

    @property
    def turned(self) -> list[str]:
        """Return the keys of implementations that are wanted, or not, against what is usual.

        They may be unable to run here.
        """
        return sorted(key for key, wanted in self._wanted.items() if wanted != _is_usual(key))

    @property
    def transfers(self) -> bool:
        """Return whether transfers are to be measured too."""
        return self._transfers.isChecked()

    @property
    def unable(self) -> list[str]:
        """Return the keys that the plan shown wants and that cannot run here."""
        wanted = self._base.implementations if self._base else ()
        gone = [key for key in wanted if is_own(key) and key not in self._ticks]
        unable = (key for key, (tick, _) in self._ticks.items() if not tick.isEnabled())
        return [*(key for key in unable if key in wanted), *gone]

    # -- what it is told

    def show_implementations(
        self, implementations: Iterable[tuple[Implementation | OwnKernel, str | None]]
    ) -> None:
        """Offer all implementations, each with the reason why it cannot run here, or None."""
        offered = tuple(implementations)
        self._remove_all_but([each.key for each, _ in offered])
        for implementation, reason in offered:
            tick = self._tick_of(implementation)
            tick.setEnabled(reason is None)
            tick.setToolTip(tip_text(f"{implementation.title}: {reason or implementation.idea}"))
        self._show_ticks()

    def show_device(self, device: Device | NoDevice) -> None:
        """Enable measuring transfers where there is a device to transfer to."""
        self._transfers.setEnabled(isinstance(device, Device))
        reason = device.reason if isinstance(device, NoDevice) else ""
        self._transfers.setToolTip(tip_text(reason or TRANSFERS_TIP))

    def show_wrong(self, problem: UnclearError | None) -> bool:
        """Say what is wrong below the line that it is about; return False where none is seen."""
        named = problem.field if problem else ""
        for name, row in self._rows.items():
            row.show_wrong(str(problem) if name == named else "")
        return named in self.texts()

    # -- inside

    def _show_texts(self, texts: Mapping[str, str]) -> None:
        for name, row in self._rows.items():
            is_varied = name in texts
            with QSignalBlocker(self._buttons[name]):
                self._buttons[name].setChecked(is_varied)
            if is_varied:
                row.show_text(texts[name])
            row.setVisible(is_varied)

    def _vary(self, name: str, is_varied: bool) -> None:
        row = self._rows[name]
        row.setVisible(is_varied)
        if is_varied:
            base = getattr(self._base, name) if self._base else ()
            row.show_text(BY_FIELD[name].text(base) if len(base) > 1 else BY_FIELD[name].start)
            row.setFocus()
        self.edited.emit()

    def _remove_all_but(self, keys: Collection[str]) -> None:
        for key in [each for each in self._ticks if each not in keys]:
            tick, implementation = self._ticks.pop(key)
            self._implementations.remove(tick, KINDS[implementation.kind])

    def _tick_of(self, implementation: Implementation | OwnKernel) -> Tick:
        """Return the implementation's box to tick, which is made the first time."""
        if implementation.key in self._ticks:
            tick, _ = self._ticks[implementation.key]
            self._ticks[implementation.key] = (tick, implementation)  # it may have another text
            return tick
        tick = Tick(implementation.title)
        tick.setObjectName(f"sweep-{implementation.key}")
        tick.setAccessibleName(f"Measure {implementation.title}")
        tick.clicked.connect(lambda on, key=implementation.key: self._keep_tick(key, on))
        self._implementations.add(tick, KINDS[implementation.kind])
        before = [each for each, _ in self._ticks.values()]
        last_line = self._rows[DIMENSIONS[-1].field].last_stop
        QWidget.setTabOrder(before[-1] if before else last_line, tick)
        QWidget.setTabOrder(tick, self._transfers)
        self._ticks[implementation.key] = (tick, implementation)
        return tick

    def _keep_tick(self, key: str, is_ticked: bool) -> None:
        self._wanted[key] = is_ticked
        self.edited.emit()

    def _show_ticks(self) -> None:
        """Set ticks for what is wanted and can run here; the rest is only remembered."""
        for key, (tick, _) in self._ticks.items():
            tick.setChecked(tick.isEnabled() and self._wanted.setdefault(key, _is_usual(key)))


def _is_usual(key: str) -> bool:
    """Return whether an implementation is measured unless it is unticked: not the user's own."""
    return not is_own(key)


def _chip(title: str, name: str, tip: str) -> QToolButton:
    tip = f"{tip}\nOff: as it is set in the window, or in the plan"
    key, spoken = f"vary-{name.replace('_', '-')}", f"Vary: {title.replace('&', '')}"
    button = make_button(key, title, tip, spoken)
    button.setFont(scaled_font(0.88))
    button.setProperty("chip", True)
    button.setCheckable(True)
    return button
