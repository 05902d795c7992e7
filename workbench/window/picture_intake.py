"""Intake of what was opened, dropped or pasted: pictures, sessions, plans and kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QMainWindow

from kernels.core.cache import all_finite
from kernels.pictures.generated import PICTURES
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.plan_files import plan_of
from workbench.files.formats import OPEN_FILTER
from workbench.imaging.pictures import Picture
from workbench.model import choices, intents, step_files
from workbench.model.state import FACTS, State
from workbench.panels.sweep.sweep_menu import SweepMenu
from workbench.session import clipboard
from workbench.session.opener import MISSING, LookedAt
from workbench.session.session_store import is_named_for_sweep, is_plan
from workbench.widgets.actions import Action, Actions
from workbench.widgets.file_dialogs import ask_files
from workbench.widgets.message_bar import Act
from workbench.window.open_menu import FOLDER, PAGES
from workbench.window.steps_menu import is_list
from workbench.window.talk import ENDING as TALK_ENDING
from workbench.window.window_layout import Parts

ASK = "Compare with a &file…"  # the line
MAX_NAME = 60  # letters of a name in the status bar


class DropTarget(QObject):
    """A watcher of what is dragged over a window, which says what letting go would do."""

    dropped = Signal(object)  # (content): something was let go of over it

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._status = window.statusBar()
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QDragEnterEvent):
            if clipboard.holds_picture(event.mimeData()):
                event.acceptProposedAction()
                self._status.showMessage(words_for(event.mimeData()))
            return True
        is_drop = isinstance(event, QDropEvent) and event.type() == QEvent.Type.Drop
        if is_drop or event.type() == QEvent.Type.DragLeave:
            self._status.clearMessage()
        if isinstance(event, QDropEvent) and is_drop:
            event.acceptProposedAction()
            self.dropped.emit(event.mimeData())
            return True
        return super().eventFilter(watched, event)


def words_for(content: QMimeData) -> str:
    """Words on the effect of dropping `content`, by names alone."""
    paths = clipboard.files_in(content)
    if len(paths) != 1:
        return f"Open {len(paths):,} files" if paths else "Open this picture"
    path, name = paths[0], paths[0].name or str(paths[0])
    kind = "kernel" if is_own(path.name) else "session" if is_named_for_sweep(path) else ""
    short = name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"
    return " ".join(filter(None, ("Open", kind, short)))


UNLIKE = "{} is {}, and the picture {}: only those alike in size and pixel type are compared."
RESTORED = ("picture", "pins", "against")  # of a screenshot
LINEAR = "Linear light, shown with gamma {:.4g} (X)."
NOT_FINITE = (
    "It holds NaN, shown in magenta, or infinities, which not every implementation can filter."
)


class PictureIntake(QObject):
    """A link that takes what the opener opened to the store.

    sweep_menu  opens sessions and plans
    """

    restoring = Signal(object)  # (kept): picture and pins of a screenshot are to be brought back
    talk_wanted = Signal(object)  # (path): the steps in this file are to be presented
    kernel_wanted = Signal(object)  # (path): the kernel in this file is to be shown
    steps_wanted = Signal(object)  # (path): the steps in this file are to filter the picture

    def __init__(self, parts: Parts, sweep_menu: SweepMenu) -> None:
        super().__init__(parts.window)
        self._window = parts.window
        self._store, self._worker, self._opener = parts.store, parts.worker, parts.opener
        self._compare, self._sweep, self._sweep_menu = parts.compare, parts.sweep, sweep_menu
        self._kernels, self._background = parts.kernels, parts.reading
        self._settings, self._messages = parts.settings, parts.messages
        self._told = ""  # the remarks shown about the last picture
        self._news = ""  # of those that it was found among
        self._offers: list[Act] = []  # of what came with it
        self._store.changed.connect(self._store_again)
        self._opener.gathered.connect(lambda news: setattr(self, "_news", news))
        self._opener.opened.connect(self._take_picture)
        self._opener.stored.connect(self._take_stored)
        self._opener.not_stored.connect(self._keep_as_it_is)
        self._opener.restored.connect(self._take_settings)
        self._opener.offered.connect(self._take_offer)
        self._opener.asked.connect(self._ask)
        self._compare.stopped.connect(self._stop)
        self._compare.escaped.connect(self._leave)

    def open_paths(self, paths: list[Path]) -> None:
        """Open the sessions, plans and kernels among `paths`, and the first picture, or a folder's.

        The others are a step away.  Without a picture among them, the start picture is opened.
        Pictures are opened as such even where they hold settings.
        """

        def open_found(found: LookedAt) -> None:
            self._open(found, None if found.is_folder else self._opener.open_file)
            if not found.others:
                self._opener.open_built_in()

        if others := [path.absolute() for path in paths if not _is_for_a_panel(path)]:
            self._opener.look_at(others, open_found)
        else:
            self._opener.open_built_in()
        for path in paths:
            self._take_for_a_panel(path)  # its errors are shown after the picture came

    def actions(self) -> Actions:
        def name() -> str:
            return "Lea&ve the comparison" if self._store.state.reference else ASK

        return {ASK.replace("&", ""): Action(self._compare_or_leave, name=name)}

    def _leave(self) -> bool:
        """Go back to before two files were compared; return False where none are."""
        if (picture := self._store.state.reference) is not None:
            aside = dict(self._store.state.aside)
            self._store.update(**intents.with_picture(picture, self._store.state) | aside)
        return picture is not None

    def _compare_or_leave(self) -> None:
        if self._leave():
            return
        folder = str(self._settings.get(FOLDER, ""))
        for path in ask_files(self._window, "Compare with a file", folder, OPEN_FILTER)[:1]:
            self.compare(path)

    def compare(self, path: Path) -> None:
        """Hold the picture in a file against the one in view, with no filter in between."""
        state = self._store.state

        def take(other: Picture) -> None:
            pair = other.samples, (state.picture or other).samples
            if pair[0].shape != pair[1].shape or pair[0].dtype != pair[1].dtype:
                sizes = ("{1}×{0} × {2}".format(*each.shape) + f" {each.dtype}" for each in pair)
                self._messages.show_message("error", UNLIKE.format(path.name, *sizes))
                return
            mode = "wipe" if state.view_mode == "result" else state.view_mode
            alone = {**intents.with_filter(state, "identity"), **choices.ALONE, "compared": None}
            alone |= {"view_mode": mode, "levels": None, "result_levels": None}
            aside = state.aside or tuple((name, getattr(state, name)) for name in alone)
            changes = {**alone, "reference": state.picture, "aside": aside}
            self._messages.clear("error")  # of one that could not be compared
            self._messages.dismiss(self._told)  # which offered it
            self._store.update(**intents.with_picture(other) | changes)

        self._opener.open_file(path, take=take)

    def _open(self, found: LookedAt, open_one: Callable[[Path], None] | None) -> None:
        if open_one is not None and len(found.others) == 1:
            open_one(found.others[0])
        elif found.others:
            self._opener.open_together(found.others)
        if len(found.others) == 2:
            self._offers = [("&Compare the two", partial(self.compare, found.others[1]))]
        for path in found.sessions:
            self._sweep_menu.open_session(path)

    def paste(self) -> None:
        self.take_content(QGuiApplication.clipboard().mimeData())

    def take_content(self, content: QMimeData | None) -> None:
        """Open the picture in `content`, or the files that it names."""
        if paths := clipboard.files_in(content):
            if others := [path for path in paths if not self._take_for_a_panel(path)]:
                # One picture alone may bring settings.
                open_one = self._opener.open_dropped
                self._opener.look_at(others, lambda found: self._open(found, open_one))
        else:
            self._opener.open_content(content)

    def _take_for_a_panel(self, path: Path) -> bool:
        """Open a session, plan, table or kernel, by the name alone; return True for one."""
        if is_own(path.name):
            self.kernel_wanted.emit(path)
        elif path.name.lower().endswith(TALK_ENDING):
            self.talk_wanted.emit(path)
        elif is_plan(path):
            self._open_toml(path)
        elif is_named_for_sweep(path):
            self._sweep_menu.open_session(path)  # for a table this explains the mistake
        return _is_for_a_panel(path)

    def _open_toml(self, path: Path) -> None:
        def open_it(is_steps: bool) -> None:
            if is_steps:
                self.steps_wanted.emit(path)
            else:
                self._sweep_menu.open_plan(path)

        self._background.run(partial(is_list, path), open_it, lambda _: None)

    @Slot(object)
    def _take_picture(self, picture: Picture) -> None:
        state = self._store.state
        why = self._store.update_quietly(**intents.with_picture(picture, state))
        self._news += f" {why}" if why and state.picture is not None else ""
        if not picture.is_stored_as(self._store.state.pixel_type):  # the type was chosen meanwhile
            self._opener.store_again(picture)
        if picture.path is not None:
            self._settings.add_recent_file(picture.path)
            pages = {**self._settings.get(PAGES, {}), str(picture.path): picture.page.number}
            recent = map(str, self._settings.recent_files())
            self._settings.set(PAGES, {name: pages[name] for name in recent if name in pages})
            self._settings.set(FOLDER, str(picture.path.parent))
        self._messages.clear("error")
        self._messages.dismiss(self._told)  # it was about the picture before
        self._tell_remarks(picture)

    def _ask(self, sentence: str, go_on: Callable[[bool], None], has_copy: bool) -> None:
        """Ask how to open a picture that takes much of the memory."""

        def open_it(is_reduced: bool) -> None:
            self._messages.dismiss(sentence)
            go_on(is_reduced)

        whole: Act = ("&Open all of it", partial(open_it, False))
        other: Act = ("&Leave it", partial(self._messages.dismiss, sentence))
        if has_copy:
            other = ("Open a &reduced copy", partial(open_it, True))
        self._messages.show_message("warning", sentence, actions=(whole, other))

    def _stop(self) -> None:
        """Open no other picture; one that is not on screen yet gives way to the one that is."""
        self._opener.stop()
        state, shown = self._store.state, self._compare.picture
        if shown is not None and state.picture is not shown:
            self._store.update(**intents.with_picture(shown, state))

    @Slot(object, object)
    def _store_again(self, old: State, new: State) -> None:
        self._opener.pixel_type = new.pixel_type
        if new.pixel_type != old.pixel_type and new.picture is not None:
            self._opener.store_again(new.picture)

    @Slot(object)
    def _take_stored(self, picture: Picture) -> None:
        shown = self._store.state.picture
        if shown is not None and picture.as_in_file is shown.as_in_file:
            self._store.update(**intents.with_picture(picture, self._store.state))
            self._tell_remarks(picture)

    @Slot(object, str)
    def _keep_as_it_is(self, picture: Picture, sentence: str) -> None:
        """Put the choice back to the pixel type of the picture, and say why."""
        if self._store.state.picture is picture:
            is_original = picture.original is None
            self._store.update(pixel_type=None if is_original else str(picture.samples.dtype))
        self._messages.show_message("error", sentence)

    def _tell_remarks(self, picture: Picture) -> None:
        # The opener has computed this already.
        is_finite = all_finite(picture.samples)
        remarks = picture.remarks if is_finite else (*picture.remarks, NOT_FINITE)
        if picture.metadata.is_linear:
            remarks += (LINEAR.format(self._store.state.tone.gamma),)
        news, self._news = self._news, ""
        said = f"{picture.name}: {' '.join(remarks)}" if remarks else ""
        offers, self._offers = self._offers, []
        if told := f"{news} {said}".strip():
            self._told = told
            self._messages.show_message("info", told, actions=offers, stays=bool(offers))

    @Slot(object, str)
    def _take_offer(self, data: dict[str, Any], name: str) -> None:
        """Offer the settings with which the picture that comes next was made."""

        def accept() -> None:
            self._messages.clear()
            self._choose(data, name)

        self._news = f"{name} is a filtered picture and holds its settings."
        self._offers = [("&Use its settings", accept)]

    @Slot(object, str)
    def _take_settings(self, data: dict[str, Any], name: str) -> None:
        """Apply the settings that a screenshot holds, as far as they make sense here."""
        missing = data.get(MISSING)
        gone = f"{missing}, which it shows, is not there any more." if missing else ""
        self._choose(data, name, gone or "To see the image itself: File ▸ Open.")
        if isinstance(plan := data.get("plan"), str):
            self._background.run(  # TOML takes a while
                partial(plan_of, plan, f"The plan inside {name}"),
                lambda plan: self._sweep.get().show_plan(plan),
                self._messages.show_error,
            )
        if data.get("picture"):
            self.restoring.emit({name: data[name] for name in RESTORED if data.get(name)})
        elif (built_in := data.get("built_in")) in list(PICTURES):
            self._opener.open_built_in(built_in)

    def _choose(self, data: dict[str, Any], name: str, more: str = "") -> None:
        changes, lost = choices.recalled(data, self._store.state)
        steps, unable = step_files.run_here(
            replace(self._store.state, **changes), self._worker.device
        )
        number = len(changes.get("before", self._store.state.before))
        if {"before", "after"} & changes.keys():
            changes |= {"before": tuple(steps[:number]), "after": tuple(steps[number + 1 :])}
        said = [each for each in unable if not each.startswith(f"Step {number + 1} ")]
        if any(each.startswith(FACTS["before"].label) for each in lost):
            said.append("Steps that make no sense were left out.")
        sentence = " ".join(filter(None, (f"Settings restored from {name}.", *said, more)))
        given, text_sha256 = data.get("implementation"), data.get(choices.TEXT)
        if reason := self._why_not_here(changes.get("implementation")):
            del changes["implementation"]
            sentence = f"Settings restored from {name}, except the implementation: {reason}"
        elif isinstance(given, str) and isinstance(text_sha256, str):  # a user kernel
            sentence = f"{sentence} {self._kernels.why_another(given, text_sha256) or ''}".strip()
        self._store.choose(**changes)
        self._messages.show_message("info", sentence)

    def _why_not_here(self, key: str | None) -> str | None:
        device = self._worker.device
        if key is not None and is_own(key) and (reason := self._kernels.why_another(key, None)):
            return reason
        if key is None or device is None:  # checked once the GPU was found
            return None
        return intents.why_not_here(intents.implementation(key), device)


def _is_for_a_panel(path: Path) -> bool:
    return is_named_for_sweep(path) or is_own(path.name)
