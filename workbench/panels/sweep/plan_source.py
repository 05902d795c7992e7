"""The source of a plan: the window's own settings, a preset, or a file."""

from __future__ import annotations

from itertools import groupby

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAction, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from kernels.sweeps.plan import Plan
from kernels.sweeps.presets import Preset
from workbench.base.plain_text import Label, tip_text
from workbench.model.plan_words import short
from workbench.panels.sweep.plan_lines import OPEN_PLAN, SAVE_PLAN
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import make_button
from workbench.widgets.drop_down import DropDown, heading_item
from workbench.widgets.tile import scaled_font

OWN = ""  # the key of what the user composes
FILE = "\0file"  # the key of the plan that was opened last; no preset has it
SPARE_PX = 40  # scroll bar and padding of a list
OWN_TITLE = "Current picture and settings"
NOISE = "Measured on noise: your picture has only one size."
OWN_TIP = "What is not varied is as it is set in the window"


class PlanSource(QWidget):
    """The list of plans to choose from, a menu of files, and a few words on the choice.

    Signals:
        chosen(key): OWN, FILE or the key of a preset.
        open_wanted(), save_wanted(): a plan's file.
    """

    chosen = Signal(str)
    open_wanted = Signal()
    save_wanted = Signal()

    def __init__(self, presets: tuple[Preset, ...]) -> None:
        super().__init__()
        self._presets = {each.key: each.plan for each in presets}
        self._file: Plan | None = None
        self._list = DropDown("sweep-source", "What to measure")
        self._list.activated.connect(lambda _: self.chosen.emit(self._list.currentData()))
        tip = "Open a plan from a TOML file, or save this one to be repeated"
        self._files = make_button("sweep-files", "File", tip, "Plans in files")
        self._files.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self._files)
        self._open = menu.addAction(OPEN_PLAN[0])
        self._open.setToolTip(OPEN_PLAN[1])
        self._open.triggered.connect(self.open_wanted)
        self._save = menu.addAction(SAVE_PLAN[0])
        self._save.setToolTip(SAVE_PLAN[1])
        self._save.triggered.connect(self.save_wanted)
        self._files.setMenu(menu)
        self._about = Label(name="sweep-about", font=scaled_font(0.88), is_muted=True, wraps=True)
        row = HBox(spacing=6)
        row.add((self._list, 1), self._files)
        column = VBox(self, 0, 4)
        column.add(row, self._about)
        self._fill()
        self.show_chosen(OWN)

    @property
    def actions_of_menu(self) -> list[QAction]:
        """Return the actions that open a plan's file and save one."""
        return [self._open, self._save]

    @property
    def key(self) -> str:
        """Return the chosen one: OWN, FILE or the key of a preset."""
        return str(self._list.currentData())

    @property
    def title(self) -> str:
        """Return the whole name of the chosen one."""
        plan = self.plan(self.key)
        return plan.title if plan is not None else OWN_TITLE

    def plan(self, key: str) -> Plan | None:
        """Return the plan with this key; None for OWN, and for a key that no longer exists."""
        return self._file if key == FILE else self._presets.get(key)

    def show_file(self, plan: Plan) -> None:
        """Add a plan that was opened from a file to the list, and choose it."""
        self._file = plan
        self._fill()
        self.show_chosen(FILE)

    def show_chosen(self, key: str) -> None:
        """Choose the plan with this key, OWN where there is none, and describe it."""
        with QSignalBlocker(self._list):
            self._list.setCurrentIndex(max(self._list.findData(key), 0))
        plan = self.plan(self.key)
        self._list.setToolTip(tip_text(plan.title if plan else OWN_TIP))
        parts = (plan.source, plan.table, plan.note) if plan else ()
        said = ". ".join(part.rstrip(".") for part in parts if part)
        self._about.setText(f"{said}." if said else "")
        self._about.setVisible(bool(said))

    def show_is_noise(self, is_noise: bool) -> None:
        """Say that the window's own settings are measured on another picture, or no longer."""
        if self.key == OWN:
            self._about.setText(NOISE if is_noise else "")
            self._about.setVisible(is_noise)

    def show_can_save(self, can_save: bool) -> None:
        """Enable or disable saving the plan."""
        self._save.setEnabled(can_save)

    def _fill(self) -> None:
        """List the window's own settings, the opened file, and the presets by their source."""
        model = QStandardItemModel(self._list)
        model.appendRow(_item(OWN_TITLE, OWN, OWN_TIP))
        if self._file is not None:
            model.appendRow(_item(f"File: {self._file.title}", FILE, self._file.title))
        plans = sorted(self._presets.items(), key=lambda pair: not pair[1].source)
        for source, group in groupby(plans, key=lambda pair: pair[1].source):
            model.appendRow(heading_item(source or "Presets", self._list.font()))
            for key, plan in group:
                model.appendRow(_item(short(plan), key, plan.title))
        with QSignalBlocker(self._list):
            self._list.setModel(model)
        view = self._list.view()  # the list may be wider than the panel
        view.setMinimumWidth(view.sizeHintForColumn(0) + SPARE_PX)


def _item(title: str, key: str, tip: str) -> QStandardItem:
    item = QStandardItem(title)
    item.setData(key, Qt.ItemDataRole.UserRole)
    item.setToolTip(tip_text(tip))
    return item
