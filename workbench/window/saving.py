"""Save the result as the user wants it: where, in which format, and at what loss, if any."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from kernels.core.job import Result
from workbench.base.same_file import identity
from workbench.files.image_files import SAVE_FILTER
from workbench.files.picture_errors import ImageFileError
from workbench.model.state import Picture
from workbench.session.exporter import suggested_name
from workbench.widgets.save_path import ask_save_path, remember_folder, save_folder

if TYPE_CHECKING:
    from workbench.files.reducing import Fit
    from workbench.window.main_window import MainWindow

NOTHING_TO_SAVE = "There is no result of this picture to save yet."


class Saving(QObject):
    """Asks for a name, and, where the format loses something, whether that may be."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def save_result(self) -> None:
        """The filtered picture at full resolution."""
        found = self._window.live.of_view
        if found is None:
            self._window.messages.show_message("info", NOTHING_TO_SAVE)
            return
        picture, result, _ = found
        extension = ".png" if result.picture.dtype.kind == "u" else ".tif"
        self._ask(picture, result, extension)

    def ask_path(self, name: str, file_types: str) -> Path | None:
        """Where to save, `name` proposed; None: nowhere, or over the picture that is open."""
        window = self._window
        proposed = save_folder(window.settings) / name
        path = ask_save_path(window, "Save", proposed, file_types)
        if path is None:
            return None
        picture = window.store.state.picture
        original = picture.path if picture is not None else None
        if original is not None and identity(original) == identity(path):
            window.messages.show_message(
                "error", f"{path.name} is the picture that is open; save under another name."
            )
            return None
        remember_folder(window.settings, path)
        return path

    def _ask(self, picture: Picture, result: Result, extension: str) -> None:
        name = f"{suggested_name(picture, result)}{extension}"
        if (path := self.ask_path(name, SAVE_FILTER)) is None:
            return
        from workbench.files.reducing import fit_of  # OpenCV: not before it is needed

        try:
            fit = fit_of(path, result.picture, picture.exif)
        except ImageFileError as error:
            self._window.messages.show_message("error", str(error))
            return
        if fit.is_exact and not fit.format.has_quality:
            self._window.exporter.save_result(path, picture, result)
        else:
            self._ask_how(path, picture, result, fit)

    def _ask_how(self, path: Path, picture: Picture, result: Result, fit: Fit) -> None:
        from workbench.files.image_encoders import JPEG_QUALITY, extension_of
        from workbench.window.save_dialog import SaveDialog

        kept = self._window.settings.get(f"quality-{fit.format.title}", 0)

        def save(quality: int | None) -> None:
            self._window.settings.set(f"quality-{fit.format.title}", quality or 0)
            self._window.exporter.save_result(path, picture, result, quality, reduce=True)

        dialog = SaveDialog(path.name, fit, kept or None, JPEG_QUALITY, self._window)
        dialog.agreed.connect(save)
        dialog.other_wanted.connect(lambda title: self._ask(picture, result, extension_of(title)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
