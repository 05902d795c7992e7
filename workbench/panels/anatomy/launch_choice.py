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
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.drop_down import DropDown
from workbench.widgets.tile import words_label

FIRST = "shared"  # the rung until one is chosen
BLOCK_TIP = "Block shape, threads across × down; keys: , and ."


class LaunchChoice(QWidget):
    """Three lists that follow the rung that runs until another is picked here.

    Signals:
        changed(): another rung or pass was picked.
        block_wanted(block_xy): the user wants this block shape.
    """

    changed = Signal()
    block_wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._chosen = ""  # the rung picked here; "" follows the one that runs
        self._last_rung = FIRST  # the last one that ran
        self._asked_for = ""  # the implementation that the user asked for last
        self._running = ""  # the one that ran last, on the CPU or the GPU
        self._pass = 0
        self._names = DropDown("anatomy-rung", "Implementation to show")
        self._names.setToolTip("Whose launch to show; it need not be the one that runs")
        for each in ladder():
            self._names.addItem(each.title, each.key)
        self._names.activated.connect(lambda _: self._choose(self._names.currentData()))
        self._passes = DropDown("anatomy-pass", "Launch")
        self._passes.setToolTip("Which of its launches to show")
        self._passes.activated.connect(self._choose_pass)
        self._blocks = DropDown("anatomy-block", "Block shape")
        self._blocks.activated.connect(lambda _: self.block_wanted.emit(self._blocks.currentData()))
        rows = VBox(self, 0)
        self._note = words_label("anatomy-running", 0.9, is_muted=True)
        both = HBox()
        both.add((self._names, 3), (self._blocks, 2))
        rows.add(both, self._passes, self._note)

    # -- which

    def follow(self, key: str) -> bool:
        """Note that implementation `key` runs; return whether it is another rung than before."""
        self._running = key
        if _rung(key) is None:
            return False
        is_other = key != self._last_rung
        self._last_rung = key
        return is_other

    def follow_choice(self, key: str) -> None:
        """Note that the state names `key`; where that is another rung, it replaces the one here."""
        if key != self._asked_for and _rung(key) is not None:
            self._last_rung, self._chosen = key, ""
        self._asked_for = key

    def launch_of(self, job: Job, device: Device | None) -> Subject | str:
        """Return the launch to show, or the sentence why there is none.

        It is that of the rung picked here, whether or not it takes the job; else of the last one
        that ran, or of the first that takes it.
        """
        found = subject_of(self.rung, job, device)
        if isinstance(found, str) and not self._chosen:
            each = (subject_of(rung, job, device) for rung in ladder())
            found = next((other for other in each if isinstance(other, Subject)), found)
        return found.with_pass(self._pass) if isinstance(found, Subject) else found

    @property
    def rung(self) -> Rung:
        """Return the rung picked here, or else the last one that ran."""
        return _rung(self._chosen or self._last_rung) or ladder()[0]

    def choices(self) -> dict[str, Any]:
        """Return what to remember until the next start, fit for JSON."""
        return {"rung": self.rung.key}

    def restore(self, choices: Mapping[str, Any]) -> None:
        """Take over what `choices()` gave, as far as it makes sense."""
        key = choices.get("rung")
        self._last_rung = key if isinstance(key, str) and _rung(key) else FIRST
        self._chosen = ""

    # -- the lists

    def show_launch(self, subject: Subject | None, block_xy: tuple[int, int]) -> None:
        """Show what is chosen in the lists; `block_xy` may be any shape."""
        rung = subject.rung if subject is not None else self.rung
        self._names.setCurrentIndex(self._names.findData(rung.key))
        self.show_running()
        shapes = list(dict.fromkeys((*PRESETS, block_xy)))
        titles = [f"{x}×{y}" for x, y in shapes]
        if titles != self._blocks.entries():
            self._blocks.clear()
            for title, shape in zip(titles, shapes, strict=True):
                self._blocks.addItem(title, shape)
        self._blocks.setCurrentIndex(shapes.index(block_xy))
        self._blocks.setEnabled(not rung.own_block)
        self._blocks.setToolTip(tip_text(rung.own_block or BLOCK_TIP))
        passes = subject.shapes if subject is not None else ()
        titles = [f"Launch {shape.number + 1}: {shape.function}" for shape in passes]
        if titles != self._passes.entries():
            self._passes.clear()
            self._passes.addItems(titles)
        self._passes.setCurrentIndex(min(self._pass, max(len(titles) - 1, 0)))
        self._passes.setVisible(len(titles) > 1)

    def show_running(self) -> None:
        """Say what runs where it is not the rung whose launch is shown."""
        shown, running = self._names.currentData(), self._running
        self._note.setVisible(bool(running) and running != shown)
        if not running or running == shown:
            return
        where = "" if _rung(running) or is_own(running) else " on the CPU"
        title = intents.implementation(running).title
        self._note.setText(
            f"Running: {title}{where}. Shown: what {self._names.currentText()} launches."
        )

    def _choose(self, key: str) -> None:
        self._chosen, self._pass = key, 0
        self.changed.emit()

    def _choose_pass(self, number: int) -> None:
        self._pass = number
        self.changed.emit()


def _rung(key: str) -> Rung | None:
    return next((rung for rung in ladder() if rung.key == key), None)
