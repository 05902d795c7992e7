"""Answers every dialog that would block: files to open, names to save under, yes or no."""

from random import Random

from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMessageBox


class Dialogs:
    """Stands in for Qt's own dialogs while it is entered.

    What it answers follows from the seed given last to `answer_by`.

    next_to_open  what the next dialog that opens a file is answered with
    """

    def __init__(self, files, folder):
        self.next_to_open = None
        self._rng = Random(0)
        self._files, self._folder = files, folder
        self._chosen = []

    def answer_by(self, seed):
        self._rng = Random(f"dialogs {seed}")

    def __enter__(self):
        self._kept = [
            (owner, name, getattr(owner, name))
            for owner, name in (
                (QFileDialog, "exec"),
                (QFileDialog, "selectedFiles"),
                (QMessageBox, "exec"),
                (QDesktopServices, "openUrl"),
            )
        ]
        proposed = QFileDialog.selectedFiles
        QFileDialog.exec = lambda dialog: self._file_dialog(dialog, proposed(dialog))
        QFileDialog.selectedFiles = lambda _: self._chosen
        QMessageBox.exec = self._question
        QDesktopServices.openUrl = lambda _: True
        return self

    def __exit__(self, *_):
        for owner, name, kept in self._kept:
            setattr(owner, name, kept)

    def _file_dialog(self, dialog, proposed):
        """Choose files, or none; returns whether any."""
        modes = QFileDialog.FileMode
        if dialog.acceptMode() == QFileDialog.AcceptMode.AcceptSave:
            self._chosen = self._save(proposed)
        elif dialog.fileMode() == modes.Directory:
            self._chosen = [] if self._rng.random() < 0.3 else [str(self._folder)]
        else:
            self._chosen = self._open(4 if dialog.fileMode() == modes.ExistingFiles else 1)
        return bool(self._chosen)

    def _open(self, most):
        if self.next_to_open is not None:
            return [str(self.next_to_open)]
        if self._rng.random() < 0.2:
            return []
        count = self._rng.randint(1, most)
        return [str(self._files[each]) for each in self._rng.choices(sorted(self._files), k=count)]

    def _save(self, proposed):
        if self._rng.random() < 0.2:
            return []
        name = proposed[0].replace("\\", "/").rpartition("/")[2] if proposed else "unnamed"
        ending = self._rng.choice(("", "", "", ".png", ".tif", ".jpg", ".webp", ".xyz"))
        return [str(self._folder / f"{name}{ending}")]

    def _question(self, *_, **__):
        buttons = QMessageBox.StandardButton
        return self._rng.choice((buttons.Yes, buttons.No))
