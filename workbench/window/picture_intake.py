"""What comes into the window: pictures, the same stored in another type, settings in a screenshot,
and what is dropped or pasted."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMimeData, QObject, Slot
from PySide6.QtGui import QGuiApplication

from kernels.core.finite import all_finite
from kernels.pictures.generated import PICTURES
from kernels.sweeps.plan_files import plan_of
from workbench.model import choices, intents
from workbench.model.state import Picture, State
from workbench.session import clipboard
from workbench.session.session_store import is_of_sweep, is_plan

if TYPE_CHECKING:
    from workbench.window.main_window import MainWindow

NOT_FINITE = (
    "It holds NaN, shown in magenta, or infinities, which not every implementation can filter."
)


class PictureIntake(QObject):
    """Stands between the opener and the store."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window, self._opener = window, window.opener
        self._told = ""  # of a picture
        window.store.changed.connect(self._store_again)
        self._opener.opened.connect(self._take_picture)
        self._opener.stored.connect(self._take_stored)
        self._opener.not_stored.connect(self._keep_as_it_is)
        self._opener.restored.connect(self._take_settings)

    @Slot()
    def paste(self) -> None:
        """Open what the clipboard holds."""
        self.take_content(QGuiApplication.clipboard().mimeData())

    def take_content(self, content: QMimeData | None) -> None:
        """Open the sessions and plans of the files it names, and the first of the others, or the
        picture that it is."""
        if paths := clipboard.files_in(content):
            others = [path for path in paths if not self.take_sweep(path)]
            for path in others[:1]:
                self._opener.open_dropped(path)
        else:
            self._opener.open_content(content)

    def take_sweep(self, path: Path) -> bool:
        """Open `path` if it is a session or a plan, by its name; whether it is one."""
        if is_plan(path):
            self._window.sweep_menu.open_plan(path)
        elif is_of_sweep(path):
            self._window.sweep_menu.open_session(path)  # which says what is wrong with a table
        return is_of_sweep(path)

    # -- pictures

    @Slot(object)
    def _take_picture(self, picture: Picture) -> None:
        window = self._window
        window.timing.show_nothing()
        changes: intents.Changes = {"picture": picture, "levels": None}
        if window.device is not None:
            state = replace(window.store.state, **changes)  # which may need another one
            changes["implementation"] = intents.implementation_for(state, window.device)
        window.store.update(**changes)
        if not picture.is_stored_as(window.store.state.pixel_type):  # chosen while it was opened
            self._opener.store_again(picture)
        if picture.path is not None:
            window.settings.add_recent_file(picture.path)
        window.messages.clear("error")
        if self._told and window.messages.sentence == self._told:
            window.messages.clear()  # which was of the one before
        self._tell_remarks(picture)

    @Slot(object, object)
    def _store_again(self, old: State, new: State) -> None:
        """The picture in another pixel type, where that was chosen."""
        self._opener.pixel_type = new.pixel_type
        if new.pixel_type != old.pixel_type and new.picture is not None:
            self._opener.store_again(new.picture)

    @Slot(object)
    def _take_stored(self, picture: Picture) -> None:
        """The picture in view in another pixel type; no other has been opened meanwhile."""
        shown = self._window.store.state.picture
        if shown is not None and picture.as_in_file is shown.as_in_file:
            self._window.store.update(picture=picture, levels=None)
            self._tell_remarks(picture)

    @Slot(object, str)
    def _keep_as_it_is(self, picture: Picture, sentence: str) -> None:
        """It could not be stored so; the choice goes back: what is shown must be what is chosen."""
        store = self._window.store
        if store.state.picture is picture:
            is_original = picture.original is None
            store.update(pixel_type=None if is_original else str(picture.samples.dtype))
        self._window.messages.show_message("error", sentence)

    def _tell_remarks(self, picture: Picture) -> None:
        # Which the opener has found out.
        is_finite = all_finite(picture.samples)
        remarks = picture.remarks if is_finite else (*picture.remarks, NOT_FINITE)
        if remarks:
            self._told = f"{picture.name}: {' '.join(remarks)}"
            self._window.messages.show_message("info", self._told)

    # -- settings

    @Slot(object, str)
    def _take_settings(self, data: dict[str, Any], name: str) -> None:
        """Take over the settings that a screenshot holds, as far as they make sense here."""
        window = self._window
        changes = choices.from_data(data, window.store.state)
        sentence = f"Took over the settings in {name}; File ▸ Open shows it as a picture."
        if reason := self._why_not_here(changes.get("implementation")):
            del changes["implementation"]
            sentence = f"Took over the settings in {name}, all but the implementation: {reason}"
        window.store.choose(**changes)
        window.messages.show_message("info", sentence)
        if isinstance(plan := data.get("plan"), str):
            window.reading.run(  # TOML takes a while
                partial(plan_of, plan, f"The plan inside {name}"),
                window.sweep.show_plan,
                lambda error: window.messages.show_message("error", str(error)),
            )
        if (built_in := data.get("built_in")) in list(PICTURES):
            self._opener.open_built_in(built_in)

    def _why_not_here(self, key: str | None) -> str | None:
        device = self._window.device
        if key is None or device is None:  # which will be looked at when it was found
            return None
        return intents.why_not_here(intents.implementation(key), device)
