"""The presentation of steps on a stage, which puts everything back when it is left."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from kernels.core.errors import KernelError
from workbench.base.assets_path import asset
from workbench.base.background import Background
from workbench.base.settings import Settings
from workbench.model import intents
from workbench.model.state import Picture, State
from workbench.session.exporter import Exporter
from workbench.session.live import Live
from workbench.session.session_store import slug
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.actions import Action
from workbench.widgets.file_dialogs import ask_file, ask_save_path, remember_folder, save_folder
from workbench.widgets.message_bar import MessageBar
from workbench.window.presenter.parts_on_stage import Staging
from workbench.window.presenter.talk_files import (
    ENDING,
    FILE_TYPES,
    Talk,
    TalkFileError,
    as_toml,
    read_talk,
)
from workbench.window.presenter.talk_steps import (
    MAX_STEPS,
    TalkStep,
    ladder_steps,
    step_of,
    steps_from,
)
from workbench.window.undo.undo_history import UndoHistory

if TYPE_CHECKING:  # a start without a presentation does not need them
    from workbench.model.recorded_times import RecordedTimes
    from workbench.window.presenter.figures_on_stage import FiguresOnStage
    from workbench.window.presenter.notes_view import NotesPlace, NotesWindow
    from workbench.window.presenter.stage import Stage

MENU = "&View/Presenter"
SETTING, TITLE_SETTING, NOTES = "presentation", "presentation-title", "presenter-notes"
LECTURE = "lectures/from-global-memory-to-the-limit.steps.toml"  # in assets
NO_PICTURE = "Open a picture first; it is what is presented."
FULL = f"There are {MAX_STEPS} steps already; remove one first."
NO_STEPS = "There are no steps yet; Add as step makes the first one."


class Presenter(QObject):
    """A link between the store and the stage.

    Signals:
        changed(): the steps are others.

    steps       prepared by the presenter; empty: the ladder on the present picture
    staging     brings the window's parts on stage
    background  loads pictures, and files of steps
    exporter    writes those
    settings    keep the steps
    window      the one that is left for the stage, and entered again
    """

    changed = Signal()

    def __init__(
        self,
        store: Store,
        worker: Worker,
        live: Live,
        undo_history: UndoHistory,
        staging: Staging,
        background: Background,
        exporter: Exporter,
        settings: Settings,
        messages: MessageBar,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._store, self._worker, self._live = store, worker, live
        self._undo_history = undo_history
        self._staging, self._background, self._exporter = staging, background, exporter
        self._settings, self._messages, self._window = settings, messages, window
        self.steps: tuple[TalkStep, ...] = steps_from(settings.get(SETTING, []))
        title = settings.get(TITLE_SETTING, "")
        self.title: str = title if isinstance(title, str) else ""
        self.stage: Stage | None = None
        self.notes: NotesWindow | None = None
        self._shown: tuple[TalkStep, ...] = ()
        self._at = 0
        self._newest_request = 0
        self._left: State | None = None  # the State when the stage was entered
        self._figures: FiguresOnStage | None = None  # as long as there is a stage
        self._then = ""  # a rung that cannot run here, shown once its answer was computed
        self._is_refused = False  # the present settings were refused
        live.after_ready.connect(self._follow_answer)
        live.baseline_ready.connect(self._show_figures)
        live.settled.connect(self._show_figures)
        live.refused.connect(self._show_refusal)
        staging.failed.connect(self._say)

    def actions(self) -> list[Action]:
        """Return the lines of the menu."""
        return [
            Action(
                *(MENU, "&Present", self.toggle, ("F5",)),
                "Full screen and large: the prepared steps, or else the ladder on this picture.",
            ),
            Action(
                *(MENU, "Present the &lecture", self.lecture, ("Shift+F5",)),
                "“From global memory to the limit”, 45 minutes with notes for the speaker; without "
                "a GPU it shows what another one took, marked as recorded.",
            ),
            Action(
                *(MENU, "&Add as step", self.remember, ("Ctrl+Shift+F5",)),
                "Add what is seen now to the steps to present: picture, settings, view, zoom and "
                "the open panel.",
                separator=True,
            ),
            Action(
                *(MENU, "&Steps…", self.edit, ("Ctrl+F5",)),
                "Name the steps to present, write notes for the speaker, order and remove them.",
            ),
            Action(
                *(MENU, "&Open steps…", self._ask_open, ("Alt+F5",)),
                "Present the steps in a file; dropping it onto the window does the same.",
            ),
            Action(
                *(MENU, "Sa&ve steps as…", self._ask_save, ("Alt+Shift+F5",)),
                "Save the steps as a file to share, to edit, or to present elsewhere.",
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
            shown = self.steps or ladder_steps(self._store.state, self._worker.device)
            self._begin(shown)

    @Slot()
    def lecture(self) -> None:
        """Enter the stage with the lecture that comes with the program."""
        if self.stage is None:
            path = asset(LECTURE)
            self._background.run(
                partial(read_talk, path), lambda talk: self._begin(talk.steps), self._complain
            )

    @Slot()
    def remember(self) -> None:
        """Add the picture, its settings and what is looked at as a step."""
        if self._store.state.picture is None:
            self._messages.show_message("info", NO_PICTURE)
            return
        if len(self.steps) >= MAX_STEPS:
            self._messages.show_message("info", FULL)
            return
        try:
            step = step_of(self._store.state, self._staging.now())
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

    # -- files

    def open_file(self, path: Path) -> None:
        """Take the steps in a file in place of those that there are."""

        def take(talk: Talk) -> None:
            before, title = self.steps, self.title
            self._keep(talk.steps, talk.title)
            words = f"Opened {len(talk.steps)} steps from {path.name}; F5 presents them."
            back = [("&Undo", partial(self._keep, before, title))] if before else []
            self._messages.show_message("info", words, actions=back)

        self._background.run(partial(read_talk, path), take, self._complain)

    def save_file(self, path: Path) -> None:
        """Write the steps to a file."""
        self._exporter.save_text(path, as_toml(self.title, self.steps, path.parent))

    def _ask_open(self) -> None:
        folder = str(save_folder(self._settings))
        if (path := ask_file(self._window, "Open steps", folder, FILE_TYPES)) is not None:
            self.open_file(path)

    def _ask_save(self) -> None:
        if not self.steps:
            self._messages.show_message("info", NO_STEPS)
            return
        proposed = save_folder(self._settings) / f"{slug(self.title) or 'talk'}{ENDING}"
        path = ask_save_path(self._window, "Save steps", proposed, FILE_TYPES)
        if path is not None:
            remember_folder(self._settings, path)
            self.save_file(path)

    def _complain(self, error: Exception) -> None:
        if not isinstance(error, TalkFileError):
            raise error
        self._messages.show_message("error", str(error))

    # -- on the stage

    def _begin(self, steps: tuple[TalkStep, ...]) -> None:
        if self.stage is not None:  # begun while the lecture was read
            return
        self._shown = steps
        if not steps:
            self._messages.show_message("info", "Nothing here can run this job.")
            return
        self._left = self._store.state
        self._then, self._is_refused = "", False
        from workbench.model.recorded_times import recorded_times
        from workbench.window.presenter.figures_on_stage import FiguresOnStage
        from workbench.window.presenter.stage import Stage

        self.stage = Stage(self._window)
        self._figures = FiguresOnStage(self.stage)
        self.stage.stepped.connect(lambda steps: self._go_to(self._at + steps))
        self.stage.jumped.connect(lambda last: self._go_to(len(self._shown) - 1 if last else 0))
        self.stage.left.connect(self._leave)
        self.stage.notes_wanted.connect(self._turn_notes)
        screens = [s for s in QGuiApplication.screens() if s is not self._window.screen()]
        screen = screens[0] if screens else self._window.screen()  # the projector, if there is one
        self.stage.setGeometry(screen.geometry())
        self._staging.enter(self.stage)
        self.stage.showFullScreen()
        self.stage.activateWindow()
        self.stage.setFocus()
        self._at = -1
        self._background.run(recorded_times, self._take_recorded, self._complain)
        self._go_to(0)
        self._show_notes(self._notes_place("window" if screens else "off"))

    def _take_recorded(self, recorded: RecordedTimes) -> None:
        if self._figures is not None:
            self._figures.recorded = recorded
            self._refresh()

    def _go_to(self, number: int) -> None:
        """Show a step; a number beyond either end changes nothing."""
        if self.stage is None or not 0 <= number < len(self._shown):
            return
        self._at = number
        self._newest_request += 1
        request, step = self._newest_request, self._shown[number]
        self.stage.show_step(step.name, number + 1, len(self._shown))
        self._show_notes(self._notes_place())
        if step.picture is None or step.picture.is_of(self._store.state.picture):
            self._change(step, None)
            return
        ref, pixel_type = step.picture, step.data.get("pixel_type")

        def show(picture: Picture) -> None:
            if request == self._newest_request:
                self._change(step, picture)

        self._background.run(
            lambda: ref.load().stored_as(pixel_type), show, lambda error: self._say(str(error))
        )

    def _change(self, step: TalkStep, picture: Picture | None) -> None:
        state = self._store.state
        changes = step.changes(state)
        if picture is not None:
            changes |= intents.with_picture(picture)
        if any(getattr(state, name) != value for name, value in changes.items()):
            self._is_refused = False
        wanted, device = changes.get("implementation", state.implementation), self._worker.device
        self._then = ""
        if device is not None and intents.why_not_here(intents.implementation(wanted), device):
            # Its answer is that of the CPU, which is shown with the time that was recorded.
            self._then = wanted
            changes["implementation"] = intents.first_choice(state, device)
        with self._undo_history.quietly():
            self._store.choose(**changes)
        self._staging.show(step.look)
        if self._then:
            self._follow_answer()
        self._refresh()

    @Slot(object, object)
    def _follow_answer(self, *_: Any) -> None:
        """Go on to a rung that cannot run here, once its picture is there."""
        result = self._live.result
        if self._then and result is not None and intents.is_answer(result, self._store.state):
            wanted, self._then = self._then, ""
            with self._undo_history.quietly():
                self._store.choose(implementation=wanted)
            self._staging.point(self._shown[self._at].look)
        self._refresh()

    @Slot()
    def _leave(self) -> None:
        self._staging.leave()
        self.stage = self.notes = self._figures = None
        self._newest_request += 1
        self._then = ""
        if self._left is not None:
            left, self._left = self._left, None
            with self._undo_history.quietly():
                self._store.restore(left)
        self._window.activateWindow()

    # -- what is known

    @Slot(object)
    def _show_figures(self, _: Any = None) -> None:
        self._refresh()

    @Slot(str, str)
    def _show_refusal(self, sentence: str, _details: str) -> None:
        """Say why there is no result, unless a recorded one stands in for it."""
        self._is_refused = True
        if self.stage is None or self._figures is None:
            return
        self._messages.clear("error")  # it would lie over the picture
        if not self._figures.are_recorded(self._store.state):
            self.stage.say(sentence)
        elif (seen := self._live.of_view) is not None:
            self._staging.show_stand_in(*seen[1:])
        self._refresh()

    def _say(self, sentence: str) -> None:
        if self.stage is not None:
            self.stage.say(sentence)

    def _refresh(self) -> None:
        if self._figures is None or self._then:
            return
        live, state = self._live, self._store.state
        result, baseline = live.result, None
        if result is not None and intents.is_answer(result, state):
            baseline = live.baseline_of(result)
        self._figures.show(self._at, state, result, baseline, is_refused=self._is_refused)

    # -- notes

    def _notes_place(self, usual: NotesPlace = "off") -> NotesPlace:
        from workbench.window.presenter.notes_view import PLACES

        place = self._settings.get(NOTES, usual)
        return place if place in PLACES else usual

    @Slot()
    def _turn_notes(self) -> None:
        """Show the notes beneath, then in a window, then nowhere."""
        from workbench.window.presenter.notes_view import PLACES

        place = PLACES[(PLACES.index(self._notes_place()) + 1) % len(PLACES)]
        self._settings.set(NOTES, place)
        self._show_notes(place)

    def _show_notes(self, place: NotesPlace) -> None:
        if self.stage is None or self._at < 0:
            return
        step, following = self._shown[self._at], self._shown[self._at + 1 : self._at + 2]
        self.stage.show_note(step.note, place == "beneath")
        if place == "window":
            if self.notes is None:
                from workbench.window.presenter.notes_view import NotesWindow

                self.notes = NotesWindow(self.stage)
                self.notes.show()
                self.stage.activateWindow()
            count = f"{self._at + 1} of {len(self._shown)}"
            self.notes.show_note(step.note, count, following[0].name if following else "")
        elif self.notes is not None:
            self.notes.close()
            self.notes.deleteLater()
            self.notes = None

    @Slot(object)
    def _keep(self, steps: tuple[TalkStep, ...], title: str | None = None) -> None:
        self.steps = tuple(steps)
        self.title = self.title if title is None else title
        self._settings.set(SETTING, [each.to_data() for each in self.steps])
        self._settings.set(TITLE_SETTING, self.title)
        self.changed.emit()
