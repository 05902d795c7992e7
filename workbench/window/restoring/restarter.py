"""A restart of the program as it is: same picture, same choices, same place on the screen."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QProcess
from PySide6.QtWidgets import QWidget

from workbench.base.background import Background
from workbench.files import image_files
from workbench.files.picture_refs import PictureRef
from workbench.model.state import Picture
from workbench.session.store import Store
from workbench.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.window.restoring.autosave import Keeper

NOT_KEPT = (
    "The program was not restarted: there is no place to write down what it shows; close it and "
    "start it again."
)
NOT_STARTED = "The program could not start itself once more; close it and start it again."


class Restarter(QObject):
    """A way to hand over what the window shows to a new process, and end this one.

    window  the one to close, and to be shown again
    """

    def __init__(
        self, store: Store, background: Background, messages: MessageBar, window: QWidget
    ) -> None:
        super().__init__(window)
        self._store, self._background, self._messages = store, background, messages
        self._window = window
        self.keeper: Keeper | None = None  # writes down what is shown; None until it is made

    def start(self) -> None:
        """Start the program again; where that is impossible, say why and stay."""
        picture = self._store.state.picture
        if picture is None or PictureRef.of(picture).can_load:
            self._hand_over()
            return
        self._background.run(
            lambda: _in_a_file(picture),
            self._take,
            lambda error: self._messages.show_message("error", str(error)),
        )

    def _take(self, kept: Picture) -> None:
        """Go on with a picture that came from no file, and now is in one."""
        shown = self._store.state.picture
        if shown is not None and shown.samples is kept.samples:
            self._store.update(picture=kept)
            if self._hand_over():
                return
            self._store.update(picture=shown)
        if kept.path is not None:
            rmtree(kept.path.parent, ignore_errors=True)

    def _hand_over(self) -> bool:
        """Pass what is shown to the next process; return whether it could be written down."""
        keeper = self.keeper
        if keeper is None or not keeper.hand_over():
            self._messages.show_message("error", NOT_KEPT)
            return False
        words = ["-m", "workbench", *device_options(sys.argv[1:])]
        if QProcess.startDetached(sys.executable, words)[0]:
            self._window.close()
        else:
            keeper.take_back()
            self._messages.show_message("error", NOT_STARTED)
        return True


def device_options(words: Sequence[str]) -> list[str]:
    """Return those words of a command line that say which GPU to use."""
    found = []
    for word, following in zip(words, (*words[1:], ""), strict=False):
        if word == "--device":
            found += [word, following]
        elif word == "--no-gpu" or word.startswith("--device="):
            found.append(word)
    return found


def _in_a_file(picture: Picture) -> Picture:
    """Return `picture` with a file that outlives this process, in its original pixel type.

    Raises ImageFileError.
    """
    path = Path(mkdtemp(prefix="filter-workbench-")) / f"{Path(picture.name).stem}.tif"
    try:
        image_files.save(path, picture.as_in_file, metadata=picture.metadata)
    except BaseException:
        rmtree(path.parent, ignore_errors=True)
        raise
    return replace(picture, path=path)
