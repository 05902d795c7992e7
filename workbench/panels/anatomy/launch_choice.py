"""The choice of the launch that is taken apart: three lists of rung, block shape and pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from kernels.core.device import Device
from kernels.core.job import Job
from kernels.measuring.tuner import PRESETS
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung, ladder
from workbench.base.plain_text import tip_text
from workbench.model import intents
from workbench.panels.anatomy.subject import Subject, subject_of
from workbench.session.store import Store
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.drop_down import DropDown
from workbench.widgets.tile import words_label

FIRST = "shared"  # the rung until one is chosen
NAMES_TIP = "Whose launch to show; it need not be the one that runs"
BLOCK_TIP = "Block shape, threads across × down; keys: , and ."


class LaunchChoice(QWidget):
    """Three lists that follow the rung that runs until another is picked here.

    Signals:
        changed(): another rung or pass was picked.
    """

    changed = Signal()

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._chosen = ""  # the rung picked here; "" follows the one that runs
        self._last_rung = FIRST  # the last one that ran
        self._asked_for = ""  # the implementation that the user asked for last
        self._running = ""  # the one that ran last, on the CPU or the GPU
        self._pass = 0
        self._names = DropDown("anatomy-rung", "Implementation to show", NAMES_TIP)
        for each in ladder():
            self._names.addItem(each.title, each.key)
        self._names.activated.connect(lambda _: self._choose(self._names.currentData(), 0))
        self._passes = DropDown("anatomy-pass", "Launch", "Which of its launches to show")
        self._passes.activated.connect(lambda number: self._choose(self._chosen, number))
        self._blocks = DropDown("anatomy-block", "Block shape")
        self._blocks.activated.connect(lambda _: store.choose(block_xy=self._blocks.currentData()))
        self._note = words_label("anatomy-running", 0.9, is_muted=True)
        both = HBox()
        both.add((self._names, 3), (self._blocks, 2))
        VBox(self, 0).add(both, self._passes, self._note)

    # -- which

    def follow(self, key: str) -> bool:
        """Note that implementation `key` runs; return True if it is another rung than before."""
        self._running = key
        is_other = _rung(key) is not None and key != self._last_rung
        if is_other:
            self._last_rung = key
        return is_other

    def follow_choice(self, key: str) -> None:
        """Note that the state names `key`; where that is another rung, it replaces the one here."""
        if key != self._asked_for and _rung(key) is not None:
            self._last_rung, self._chosen = key, ""
        self._asked_for = key

    def launch_of(self, job: Job, device: Device | None) -> Subject | str:
        """The launch to show, or a sentence on why there is none.

        It is that of the rung picked here, even if it does not take the job; else of the last one
        that ran, or of the first that takes it.
        """
        found = subject_of(self.rung, job, device)
        if isinstance(found, str) and not self._chosen:
            each = (subject_of(rung, job, device) for rung in ladder())
            found = next((other for other in each if isinstance(other, Subject)), found)
        return found.with_pass(self._pass) if isinstance(found, Subject) else found

    @property
    def rung(self) -> Rung:
        """The rung picked here, or else the last one that ran."""
        return _rung(self._chosen or self._last_rung) or ladder()[0]

    def restore(self, choices: Mapping[str, Any]) -> None:
        """Show the remembered rung until another runs or is picked."""
        key = choices.get("rung")
        self._last_rung = key if isinstance(key, str) and _rung(key) else FIRST
        self._chosen = ""

    # -- the lists

    def show_launch(self, subject: Subject | None, block_xy: tuple[int, int]) -> None:
        """Show the choice in the lists; `block_xy` may be any shape."""
        rung = subject.rung if subject is not None else self.rung
        self._names.show_data(rung.key)
        self.show_running()
        shapes = list(dict.fromkeys((*PRESETS, block_xy)))
        self._blocks.show_entries({f"{x}×{y}": (x, y) for x, y in shapes})
        self._blocks.setCurrentIndex(shapes.index(block_xy))
        self._blocks.setEnabled(not rung.own_block)
        self._blocks.setToolTip(tip_text(rung.own_block or BLOCK_TIP))
        passes = subject.shapes if subject is not None else ()
        titles = (f"Launch {each.number + 1}: {each.function}" for each in passes)
        self._passes.show_entries(dict.fromkeys(titles))
        self._passes.setCurrentIndex(min(self._pass, max(len(passes) - 1, 0)))
        self._passes.setVisible(len(passes) > 1)

    def show_running(self) -> None:
        """Name the implementation that runs where it is not the one whose launch is shown."""
        running = self._running
        is_needed = bool(running) and running != self._names.currentData()
        self._note.setVisible(is_needed)
        if is_needed:
            where = "" if _rung(running) or is_own(running) else " on the CPU"
            title = intents.implementation(running).title
            shown = self._names.currentText()
            self._note.setText(f"Running: {title}{where}. Shown: what {shown} launches.")

    def _choose(self, key: str, number: int) -> None:
        self._chosen, self._pass = key, number
        self.changed.emit()


def _rung(key: str) -> Rung | None:
    return next((rung for rung in ladder() if rung.key == key), None)
