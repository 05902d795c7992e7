"""Opening of pictures from wherever they come, and of screenshots that hold settings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
from PySide6.QtCore import QMimeData, QObject, Signal, Slot

from kernels.core.errors import OutOfMemoryError
from kernels.core.finite import all_finite
from kernels.pictures.generated import PICTURES
from workbench.base.background import Background
from workbench.base.memory import require_memory
from workbench.files import image_files
from workbench.files.needs import RESULTS
from workbench.files.neighbours import neighbours
from workbench.files.picture_errors import ImageFileError, LargePictureError
from workbench.model.state import Picture
from workbench.session import clipboard
from workbench.session.screenshot_files import read_settings

START_PICTURE = "scene"

Load = Callable[..., Any]


class Opener(QObject):
    """A loader in the background, which answers only the newest request.

    pixel_type  what pictures are stored as from now on; None: as in their files

    Signals:
        opened(picture): a Picture was loaded.
        stored(picture): the one in view, in another pixel type.
        not_stored(picture, sentence): why it is as it was; `picture` is the one in view.
        restored(data, name): a screenshot called `name` held these settings.
        asked(sentence, go_on): a picture is so large that nothing happens until `go_on` is called.
        began(sentence, stop): that was called, and opening it takes a while; `stop` ends it.
        failed(sentence): why there is no new picture; the old one stays.
        ended(sentence): there is no next or no previous picture.
    """

    opened = Signal(object)
    stored = Signal(object)
    not_stored = Signal(object, str)
    restored = Signal(object, str)
    asked = Signal(str, object)
    began = Signal(str, object)
    failed = Signal(str)
    ended = Signal(str)

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.pixel_type: str | None = None
        self._background = background
        self._newest = self._newest_type = 0
        self._is_stopped = Event()  # of the newest request
        self._stepping: tuple[Path, int] | None = None  # from which file, and by which step
        self._barred: dict[Path, Path] = {}  # only the background's thread touches it
        background.broke.connect(self._stop_stepping)

    def open_file(self, path: Path) -> None:
        """Open a picture file."""
        self._ask(partial(image_files.load, path), self.opened.emit)

    def open_start_picture(self) -> None:
        """Open the picture that the window starts with."""
        self.open_built_in(START_PICTURE)

    def open_built_in(self, key: str) -> None:
        """Open one of the pictures that come with the program."""
        built_in = PICTURES[key]
        self._ask(
            lambda **_: Picture(built_in.title, built_in.make(), built_in=key), self.opened.emit
        )

    def open_dropped(self, path: Path) -> None:
        """Open a picture, or take the settings, not the pixels, of a screenshot of this program."""

        def show(found: dict[str, Any] | Picture) -> None:
            if isinstance(found, Picture):
                self.opened.emit(found)
            else:
                self.restored.emit(found, path.name)

        def load(**how: Any) -> dict[str, Any] | Picture:
            # Reading a pipe would block; `load` has messages for folders and the like.
            settings = read_settings(path) if path.is_file() else None
            return settings or image_files.load(path, **how)

        self._ask(load, show)

    def open_content(self, content: QMimeData | None) -> None:
        """Open the picture itself, not a file, that was copied or dragged from another program."""
        try:
            found = clipboard.image_in(content)
        except ImageFileError as error:
            self.failed.emit(str(error))
        else:
            self._ask(partial(clipboard.picture_in, found), self.opened.emit)

    def open_neighbour(self, path: Path, step: int) -> None:
        """Open the next (1) or previous (-1) picture in the folder of `path`.

        If that cannot be opened, the next call goes on behind it, so that it does not bar the way.
        While it is being opened, the same request again changes nothing: with a key held down,
        pictures follow each other as fast as they load.
        """
        if self._stepping == (path, step):
            return

        def show(found: Picture | str) -> None:
            if isinstance(found, Picture):
                self.opened.emit(found)
            else:
                self.ended.emit(found)

        def load(**how: Any) -> Picture | str:
            start = self._barred.get(path, path)
            neighbour = neighbours(start)[step > 0]
            if neighbour is None:
                which = "last" if step > 0 else "first"
                return f"{start.name} is the {which} picture in its folder."
            self._barred = {path: neighbour}
            picture = image_files.load(neighbour, **how)
            self._barred = {}
            return picture

        self._ask(load, show)
        self._stepping = path, step

    def store_again(self, picture: Picture) -> None:
        """Store `picture`, which is open, in the present pixel type.

        A picture that is being opened meanwhile still comes.
        """
        self._newest_type += 1
        request, pixel_type = self._newest_type, self.pixel_type
        self._background.run(
            lambda: _stored_as(picture, pixel_type),
            lambda found: self.stored.emit(found) if request == self._newest_type else None,
            lambda error: (
                self.not_stored.emit(picture, str(error)) if request == self._newest_type else None
            ),
        )

    def stop(self) -> None:
        """Drop every request so far to open something."""
        self._newest += 1
        self._stepping = None
        self._is_stopped.set()

    @Slot()
    def _stop_stepping(self) -> None:
        self._stepping = None

    def _ask(self, load: Load, show: Callable[[Any], None], *, is_agreed: bool = False) -> None:
        """Call `load` with the arguments of `image_files.load`, and `show` with what it returns.

        is_agreed  whether the user has agreed to the size of the picture
        """
        self.stop()
        self._is_stopped = is_stopped = Event()
        request, pixel_type = self._newest, self.pixel_type

        def look_through() -> Any:
            if request != self._newest:
                return None  # nobody would see it
            found = load(ask=not is_agreed, is_stopped=is_stopped.is_set)
            if isinstance(found, Picture):
                return _stored_as(found, pixel_type)
            return found

        def answer(tell: Callable[[Any], None], outcome: Any) -> None:
            if request == self._newest:
                self._stepping = None
                tell(outcome)

        def fail(error: Exception) -> None:
            if isinstance(error, LargePictureError):
                self.asked.emit(str(error), go_on)
            else:
                self.failed.emit(str(error))

        def go_on() -> None:
            self.began.emit("A large picture is being opened…", self.stop)
            self._ask(load, show, is_agreed=True)

        self._background.run(look_through, partial(answer, show), partial(answer, fail))


def _stored_as(picture: Picture, pixel_type: str | None) -> Picture:
    try:
        if pixel_type is not None and not picture.is_stored_as(pixel_type):
            # There will be several: this one, and the results made from it.
            require_memory((1 + RESULTS) * picture.samples.size * np.dtype(pixel_type).itemsize)
        stored = picture.stored_as(pixel_type)
        all_finite(stored.samples)  # remembered from here on, as it takes a while on large pictures
        return stored
    except MemoryError as error:
        raise OutOfMemoryError(
            f"There is too little memory to store {picture.name} as {pixel_type}; close other "
            "programs or choose a smaller picture."
        ) from error
