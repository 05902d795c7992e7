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

    def answer_by(self, seed):
        self._rng = Random(f"dialogs {seed}")

    def __enter__(self):
        self._kept = [
            (owner, name, getattr(owner, name))
            for owner, name in (
                (QFileDialog, "getOpenFileName"),
                (QFileDialog, "getSaveFileName"),
                (QFileDialog, "getExistingDirectory"),
                (QMessageBox, "exec"),
                (QDesktopServices, "openUrl"),
            )
        ]
        QFileDialog.getOpenFileName = self._open
        QFileDialog.getSaveFileName = self._save
        QFileDialog.getExistingDirectory = self._existing
        QMessageBox.exec = self._question
        QDesktopServices.openUrl = lambda _: True
        return self

    def __exit__(self, *_):
        for owner, name, kept in self._kept:
            setattr(owner, name, kept)

    def _open(self, *_, **__):
        if self.next_to_open is not None:
            return str(self.next_to_open), ""
        if self._rng.random() < 0.2:
            return "", ""
        return str(self._files[self._rng.choice(sorted(self._files))]), ""

    def _save(self, _parent, _title, suggested, *_, **__):
        if self._rng.random() < 0.2:
            return "", ""
        name = suggested.replace("\\", "/").rpartition("/")[2] or "unnamed"
        ending = self._rng.choice(("", "", "", ".png", ".tif", ".jpg", ".webp", ".xyz"))
        return str(self._folder / f"{name}{ending}"), ""

    def _existing(self, *_, **__):
        return "" if self._rng.random() < 0.3 else str(self._folder)

    def _question(self, *_, **__):
        buttons = QMessageBox.StandardButton
        return self._rng.choice((buttons.Yes, buttons.No))
