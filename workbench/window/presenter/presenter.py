"""The presentation of steps on a stage, which puts everything back when it is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from kernels.core.errors import KernelError
from kernels.core.job import Result
from workbench.base.background import Background
from workbench.base.settings import Settings
from workbench.imaging.display import Display
from workbench.model import intents
from workbench.model.state import Picture, State
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.actions import Action
from workbench.widgets.message_bar import MessageBar
from workbench.window.presenter.figures import figures_of
from workbench.window.presenter.talk_steps import (
    MAX_STEPS,
    TalkStep,
    ladder_steps,
    step_of,
    steps_from,
)
from workbench.window.undo.undoing import Undoing

if TYPE_CHECKING:
    from workbench.window.presenter.stage import Stage

MENU = "&View/Presenter"
SETTING = "presentation"
NO_PICTURE = "Open a picture first; it is what is presented."
FULL = f"There are {MAX_STEPS} steps already; remove one first."


class Presenter(QObject):
    """A link between the store and the stage.

    steps       prepared by the presenter; empty: the ladder on the present picture
    background  loads the pictures of steps
    settings    keep the steps
    window      the one that is left for the stage, and entered again
    """

    def __init__(
        self,
        store: Store,
        worker: Worker,
        live: Live,
        undoing: Undoing,
        background: Background,
        settings: Settings,
        messages: MessageBar,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._store, self._worker, self._live, self._undoing = store, worker, live, undoing
        self._background, self._settings, self._messages = background, settings, messages
        self._window = window
        self.steps: tuple[TalkStep, ...] = steps_from(settings.get(SETTING, []))
        self.stage: Stage | None = None
        self._shown: tuple[TalkStep, ...] = ()
        self._at = 0
        self._newest_request = 0
        self._left: State | None = None  # the State when the stage was entered
        self._before: Display | None = None
        self._after: Display | None = None
        self._is_refused = False  # the present settings were refused
        live.before_ready.connect(self._show_before)
        live.after_ready.connect(self._show_after)
        live.baseline_ready.connect(self._show_figures)
        live.settled.connect(self._show_figures)
        live.refused.connect(self._show_refusal)

    def actions(self) -> list[Action]:
        """Return the lines of the menu."""
        return [
            Action(
                *(MENU, "&Present", self.toggle, ("F5",)),
                "Full screen and large: the prepared steps, or else the ladder on this picture.",
            ),
            Action(
                *(MENU, "&Remember this as a step", self.remember, ("Ctrl+Shift+F5",)),
                "Put the picture and what it is filtered with at the end of the steps to present; "
                "how to compare is chosen there, by key.",
                separator=True,
            ),
            Action(
                *(MENU, "&Steps…", self.edit, ("Ctrl+F5",)),
                "Name the steps to present, put them in order, remove them.",
            ),
        ]

    @Slot()
    def toggle(self) -> None:
        """Enter the stage, or leave it."""
        if self.stage is not None:
            self.stage.close()
        elif self._store.state.picture is None:
            self._messages.show_message("info", NO_PICTURE)
        else:
            self._begin()

    @Slot()
    def remember(self) -> None:
        """Add the picture and its settings as a step."""
        if self._store.state.picture is None:
            self._messages.show_message("info", NO_PICTURE)
            return
        if len(self.steps) >= MAX_STEPS:
            self._messages.show_message("info", FULL)
            return
        try:
            step = step_of(self._store.state)
        except KernelError as error:
            self._messages.show_message("error", str(error))
            return
        self._keep((*self.steps, step))
        self._messages.show_message("info", f"Step {len(self.steps)}: {step.name}.")

    @Slot()
    def edit(self) -> None:
        """Show the steps in a dialog, to change them."""
        from workbench.window.presenter.steps_dialog import StepsDialog

        dialog = StepsDialog(self.steps, self._window)
        dialog.changed.connect(self._keep)
        dialog.open()

    def close(self) -> None:
        """Close the stage with the window; the steps are there again next time."""
        if self.stage is not None:
            self.stage.close()
        self._keep(self.steps)

    # -- on the stage

    def _begin(self) -> None:
        self._shown = self.steps or ladder_steps(self._store.state, self._worker.device)
        if not self._shown:
            self._messages.show_message("info", "Nothing here can run this job.")
            return
        self._left = self._store.state
        from workbench.window.presenter.stage import Stage

        self.stage = Stage(self._window)
        self.stage.stepped.connect(lambda steps: self._go_to(self._at + steps))
        self.stage.jumped.connect(lambda last: self._go_to(len(self._shown) - 1 if last else 0))
        self.stage.left.connect(self._leave)
        screens = [s for s in QGuiApplication.screens() if s is not self._window.screen()]
        screen = screens[0] if screens else self._window.screen()  # the projector, if there is one
        self.stage.setGeometry(screen.geometry())
        self.stage.showFullScreen()
        self.stage.activateWindow()
        self.stage.setFocus()
        self._at = -1
        self._go_to(0)

    def _go_to(self, number: int) -> None:
        """Show a step; a number beyond either end changes nothing."""
        if self.stage is None or not 0 <= number < len(self._shown):
            return
        self._at = number
        self._newest_request += 1
        request, step = self._newest_request, self._shown[number]
        self.stage.show_step(step.name, number + 1, len(self._shown))
        state = self._store.state
        if step.picture is None or step.picture.is_of(state.picture):
            self._change(step, None)
            return
        ref, pixel_type = step.picture, step.data.get("pixel_type")

        def show(picture: Picture) -> None:
            if request == self._newest_request:
                self._change(step, picture)

        self._background.run(lambda: ref.load().stored_as(pixel_type), show, self._say_failure)

    def _change(self, step: TalkStep, picture: Picture | None) -> None:
        changes = step.changes(self._store.state)
        if picture is not None:
            changes |= {"picture": picture, "levels": None}
        state = self._store.state
        if any(getattr(state, name) != value for name, value in changes.items()):
            self._is_refused = False
        with self._undoing.quietly():
            self._store.choose(**changes)
        self._refresh()

    @Slot()
    def _leave(self) -> None:
        self.stage = None
        self._newest_request += 1
        if self._left is not None:
            left, self._left = self._left, None
            with self._undoing.quietly():
                self._store.restore(left)
        self._window.activateWindow()

    # -- what is known

    @Slot(object, object)
    def _show_before(self, _picture: Picture, display: Display) -> None:
        self._before = display
        if self._after is not None and self._after.size != display.size:
            self._after = None
        self._refresh()

    @Slot(object, object)
    def _show_after(self, _result: Result, display: Display) -> None:
        self._after = display
        self._refresh()

    @Slot(object)
    def _show_figures(self, _: Any = None) -> None:
        self._refresh()

    @Slot(str, str)
    def _show_refusal(self, sentence: str, _details: str) -> None:
        """Say why there is no result, and take the last one off the stage.

        It stays in the window, while here it would stand under another step's title.
        """
        self._is_refused, self._after = True, None
        if self.stage is not None:
            self._refresh()
            self.stage.say(sentence)

    def _say_failure(self, error: Exception) -> None:
        if self.stage is not None:
            self.stage.say(str(error))

    def _refresh(self) -> None:
        if self.stage is None:
            return
        live, state = self._live, self._store.state
        result, baseline, look = live.result, None, ""
        if result is not None:
            look = intents.look_in_words(result.job, live.look)
            if intents.is_answer(result, state):
                baseline = live.baseline_of(result)
        self.stage.show_figures(figures_of(state, result, baseline, is_refused=self._is_refused))
        self.stage.show_pictures(self._before, self._after, look)

    @Slot(object)
    def _keep(self, steps: tuple[TalkStep, ...]) -> None:
        self.steps = tuple(steps)
        self._settings.set(SETTING, [each.to_data() for each in self.steps])
