"""The menu Edit ▸ Copy as: the present job as text on the clipboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from kernels.core.device import Device
from kernels.core.errors import KernelError
from kernels.core.job import Job
from kernels.engine.engine import Implementation
from kernels.engine.own_kernel import OwnKernel
from kernels.export.cuda_program import cuda_program
from kernels.rungs.rung import Rung
from workbench.model import intents
from workbench.widgets.actions import Action
from workbench.widgets.lazy_panel import LazyPanel
from workbench.window.command_line import command_line, python, source_of
from workbench.window.window_parts import Parts

if TYPE_CHECKING:
    from workbench.panels.rung.rung_panel import RungPane


MENU = "&Edit/Copy &as"
NO_PICTURE = "Open a picture first: the program is made for its size and pixel type."
ON_CPU = (
    "{title} has no CUDA source. Choose a GPU implementation, or look at one in Implementation."
)


class CopyAs(QObject):
    """A menu that puts texts about the present job on the clipboard.

    rung        whose implementation is copied where the chosen one is no rung
    background  makes CUDA programs
    """

    def __init__(self, parts: Parts, rung: LazyPanel[RungPane]) -> None:
        super().__init__(parts.window)
        self._store, self._worker, self._live = parts.store, parts.worker, parts.live
        self._rung_panel, self._background = rung, parts.reading
        self._messages = parts.messages

    def actions(self) -> list[Action]:
        """Return the lines of the menu."""
        return [
            Action(
                MENU,
                "Co&mmand line",
                self._copy_command_line,
                ("Ctrl+Alt+M",),
                "`workbench apply` with the filter, the implementation and the block of now.",
            ),
            Action(
                MENU,
                "&Python",
                self._copy_python,
                ("Ctrl+Alt+P",),
                "A script that computes the filtered picture with the package `kernels`.",
            ),
            Action(
                MENU,
                "C&UDA C++",
                self._copy_cuda,
                ("Ctrl+Alt+U",),
                "The rung as a whole program: compile it with nvcc, run it, it checks itself.",
            ),
        ]

    def _copy_command_line(self) -> None:
        self._copy(command_line, "the command line")

    def _copy_python(self) -> None:
        self._copy(python, "the Python script")

    def _copy(self, make: Callable[..., str], what: str) -> None:
        state = self._store.state
        note = source_of(state.picture).note
        if make is command_line and intents.is_unclipped(state):
            note = f"It keeps what lies below zero: as float32, where white is 1. {note}".strip()
        if make is python and state.picture is not None and state.picture.built_in:
            note = ""  # the script makes the picture itself
        self._put(make(state), f"Copied {what}. {note}".strip())

    def _copy_cuda(self) -> None:
        state, rung = self._store.state, self._rung()
        try:
            job = intents.job_for(state)
        except KernelError as error:
            self._messages.show_message("error", str(error))
            return
        if job is None:
            self._messages.show_message("info", NO_PICTURE)
        elif not isinstance(rung, Rung):
            title = rung.title if rung else "What is chosen"
            self._messages.show_message("info", ON_CPU.format(title=title))
        else:
            self._make(rung, job)

    def _make(self, rung: Rung, job: Job) -> None:
        """Make the program in the background: spectra and bands of weights take a while."""
        device = self._worker.device
        device = device if isinstance(device, Device) else None
        job = replace(job, implementation=rung.key)
        if self._picked() is rung and (result := self._live.result) is not None:
            job = replace(job, block_xy=result.block_xy or job.block_xy)
        self._background.run(
            lambda: cuda_program(rung, job, device),
            lambda text: self._put(
                text,
                f"Copied {rung.title} as {rung.key}.cu, {len(text.splitlines())} lines; its first "
                "lines say how to compile it.",
            ),
            lambda error: self._messages.show_message("error", str(error)),
        )

    def _rung(self) -> Implementation | None:
        """Return the implementation to copy.

        It is the rung that was chosen or picked, or else the one that the panel
        Implementation shows.
        """
        picked = self._picked()
        if picked is not None:
            return picked
        chosen = intents.chosen_in(self._store.state)
        if isinstance(chosen, OwnKernel):
            return replace(chosen.rung, key=_as_a_name(chosen.key)) if chosen.text else None
        return chosen if isinstance(chosen, Rung) else self._rung_panel.get().shown

    def _picked(self) -> Rung | None:
        """Return the rung that `auto` picked for the present job."""
        state, result = self._store.state, self._live.result
        if (
            result is None
            or result.picked is None
            or result.job.implementation != (state.implementation)
        ):
            return None
        found = intents.implementation(result.picked.implementation)
        return found if isinstance(found, Rung) else None

    def _put(self, text: str, sentence: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._messages.show_message("info", sentence)


def _as_a_name(file: str) -> str:
    """Return a file's name without its ending, fit for a program's: "my blur.cu" is my_blur."""
    return re.sub(r"\W+", "_", Path(file).stem)
