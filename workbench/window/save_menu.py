"""Saving of the result as the user wants it: where, in which format, and with what loss."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from kernels.core.job import Result
from workbench.base import numbers
from workbench.base.same_file import identity
from workbench.base.settings import Settings
from workbench.files.image_files import SAVE_FILTER
from workbench.files.picture_errors import ImageFileError
from workbench.model.state import Picture
from workbench.session.exporter import Exporter, suggested_name
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.widgets.actions import Action
from workbench.widgets.file_dialogs import ask_save_path, remember_folder, save_folder
from workbench.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.files.reducing import Fit

NOTHING_TO_SAVE = "There is no result of this picture to save yet."


class SaveMenu(QObject):
    """A menu that asks for a name and, where the format loses something, whether that is allowed.

    Signals:
        to_file_wanted(): of a picture larger than memory all is to be filtered, not what is shown.

    settings  remember the folder, and the quality of each format
    parent    of the dialogs
    """

    to_file_wanted = Signal()

    def __init__(
        self,
        store: Store,
        live: Live,
        exporter: Exporter,
        settings: Settings,
        messages: MessageBar,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._store, self._live, self._exporter = store, live, exporter
        self._settings, self._messages, self._parent = settings, messages, parent
        exporter.saved.connect(self._say_saved)

    def actions(self) -> list[Action]:
        """Return the line of the menu."""
        return [
            Action(
                *("&File", "&Save result as…", self.save_result, ("Ctrl+S",)),
                "The filtered picture at full resolution.",
                separator=True,
            )
        ]

    def save_result(self) -> None:
        """Save the filtered picture at full resolution."""
        shown = self._store.state.picture
        if shown is not None and shown.large is not None:
            self.to_file_wanted.emit()
            return
        found = self._live.of_view
        if found is None:
            self._messages.show_message("info", NOTHING_TO_SAVE)
            return
        from workbench.files.image_encoders import extension_for  # imports imagecodecs

        picture, result, _ = found
        self._ask(picture, result, extension_for(picture.path, result.picture))

    def ask_path(self, name: str, file_types: str) -> Path | None:
        """Ask where to save, with `name` proposed.

        None: nowhere, or over the picture that is open, which is refused with a message.
        """
        picture = self._store.state.picture
        original = picture.path if picture is not None else None
        folder = save_folder(self._settings)
        if folder == Path() and original is not None:
            folder = original.parent
        path = ask_save_path(self._parent, "Save", folder / name, file_types)
        if path is None:
            return None
        if original is not None and identity(original) == identity(path):
            self._messages.show_message(
                "error", f"{path.name} is the picture that is open; save under another name."
            )
            return None
        remember_folder(self._settings, path)
        return path

    @Slot(object, object)
    def _say_saved(self, path: Path, size: int) -> None:
        """Say the file's name and size, and offer to show where it is."""

        def show_folder() -> None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))

        sentence = f"Saved {path.name}, {numbers.file_size(size)}."
        self._messages.show_message("info", sentence, actions=[("Show &folder", show_folder)])

    def _ask(self, picture: Picture, result: Result, extension: str) -> None:
        name = f"{suggested_name(picture, result)}{extension}"
        if (path := self.ask_path(name, SAVE_FILTER)) is None:
            return
        from workbench.files.reducing import fit_of  # imports imagecodecs, only when needed

        try:
            fit = fit_of(path, result.picture, picture.metadata)
        except ImageFileError as error:
            self._messages.show_message("error", str(error))
            return
        if fit.is_exact and not fit.format.has_quality:
            self._exporter.save_result(path, picture, result)
        else:
            self._ask_how(path, picture, result, fit)

    def _ask_how(self, path: Path, picture: Picture, result: Result, fit: Fit) -> None:
        from workbench.files.image_encoders import JPEG_QUALITY, extension_of
        from workbench.window.save_dialog import SaveDialog

        kept = self._settings.get(f"quality-{fit.format.title}", 0)

        def save(quality: int | None) -> None:
            self._settings.set(f"quality-{fit.format.title}", quality or 0)
            self._exporter.save_result(path, picture, result, quality, reduce=True)

        dialog = SaveDialog(path.name, fit, kept or None, JPEG_QUALITY, self._parent)
        dialog.agreed.connect(save)
        dialog.other_wanted.connect(lambda title: self._ask(picture, result, extension_of(title)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
