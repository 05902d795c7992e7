"""The menu View ▸ Presenter: steps to present, as they are prepared, kept, saved and opened."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from kernels.core.errors import KernelError
from workbench.base.paths import asset
from workbench.session.session_store import slug
from workbench.widgets.actions import Actions
from workbench.widgets.file_dialogs import ask_where, ask_which
from workbench.window.result_views import ExplanationController
from workbench.window.talk import (
    ENDING,
    FILE_TYPES,
    MAX_STEPS,
    TalkFileError,
    TalkStep,
    as_toml,
    ladder_steps,
    read_talk,
    step_of,
    steps_from,
)
from workbench.window.window_layout import Parts

if TYPE_CHECKING:
    from workbench.window.presentation import Show

SETTING, TITLE_SETTING = "presentation", "presentation-title"
KIND = "talk"  # of files, by which their folder is remembered
LECTURE = "lectures/from-global-memory-to-the-limit.steps.toml"  # in assets
NO_PICTURE = "Open a picture to present first."
FULL = f"There are {MAX_STEPS} steps already; remove one first."
NO_STEPS = "There are no steps yet; Add as step makes the first one."


class Presenter(QObject):
    """Steps to present, kept in the settings; without any it is the ladder on the open picture."""

    def __init__(self, parts: Parts, explanation: ExplanationController) -> None:
        super().__init__(parts.window)
        self._parts, self._explanation = parts, explanation
        self._messages = parts.messages
        self.steps: tuple[TalkStep, ...] = steps_from(parts.settings.get(SETTING, []))
        self.title: str = parts.settings.get(TITLE_SETTING, "")
        self.show: Show | None = None  # the presentation under way

    def actions(self) -> Actions:
        return {
            "Present": self.toggle,
            "Present the lecture": lambda: self._read(asset(LECTURE), lambda _, s: self._begin(s)),
            "Add as step": self._remember,
            "Remove the presenter's steps": self._remove_all,
            "Open steps…": self._ask_open,
            "Save steps as…": self._ask_save,
        }

    def toggle(self) -> None:
        state = self._parts.store.state
        if self.show is not None:
            self.show.end()
        elif state.picture is None:
            self._messages.show_message("info", NO_PICTURE)
        else:
            self._begin(self.steps or ladder_steps(state, self._parts.worker.device))

    def _remember(self) -> None:
        from workbench.window.presentation import now

        state, say = self._parts.store.state, self._messages.show_message
        if state.picture is None or len(self.steps) >= MAX_STEPS:
            say("info", NO_PICTURE if state.picture is None else FULL)
            return
        try:
            step = step_of(state, now(self._parts, self._explanation))
        except KernelError as error:
            self._messages.show_error(error)
            return
        self._keep((*self.steps, step), self.title)
        say("info", f"Step {len(self.steps)}: {step.name}.")

    def _remove_all(self) -> None:
        self._replace((), "", f"Removed {len(self.steps)} steps." if self.steps else NO_STEPS)

    def _replace(self, steps: tuple[TalkStep, ...], title: str, words: str) -> None:
        actions = [("&Undo", partial(self._keep, self.steps, self.title))] if self.steps else []
        self._keep(steps, title)
        self._messages.show_message("info", words, actions=actions, stays=bool(actions))

    def close(self) -> None:
        """Keep the steps for the next time."""
        self._keep(self.steps, self.title)

    def open_file(self, path: Path) -> None:
        def take(title: str, steps: tuple[TalkStep, ...]) -> None:
            words = f"Opened {len(steps)} steps from {path.name}; F5 presents them."
            self._replace(steps, title, words)

        self._read(path, take)

    def _read(self, path: Path, take: Callable[[str, tuple[TalkStep, ...]], None]) -> None:
        self._parts.reading.run(partial(read_talk, path), lambda talk: take(*talk), self._complain)

    def _ask_open(self) -> None:
        where = self._parts.window, self._parts.settings, KIND
        if path := ask_which(*where, "Open steps", FILE_TYPES, None):
            self.open_file(path)

    def _ask_save(self) -> None:
        if not self.steps:
            self._messages.show_message("info", NO_STEPS)
            return
        parts, name = self._parts, f"{slug(self.title) or 'talk'}{ENDING}"
        where = parts.window, parts.settings, KIND
        if path := ask_where(*where, "Save steps", name, FILE_TYPES):
            parts.exporter.save_text(path, as_toml(self.title, self.steps, path.parent))

    def _complain(self, error: Exception) -> None:
        if not isinstance(error, TalkFileError):
            raise error
        self._messages.show_error(error)

    def _begin(self, steps: tuple[TalkStep, ...]) -> None:
        if self.show is not None:  # begun while the lecture was read
            return
        if not steps:
            self._messages.show_message("info", "Nothing here can run this job.")
            return
        from workbench.window.presentation import Show

        self.show = Show(steps, self._parts, self._explanation)
        self.show.ended.connect(lambda: setattr(self, "show", None))

    def _keep(self, steps: tuple[TalkStep, ...], title: str) -> None:
        self.steps, self.title = steps, title
        self._parts.settings.set(SETTING, [each.to_data() for each in steps])
        self._parts.settings.set(TITLE_SETTING, title)
