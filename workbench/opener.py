"""Open pictures from wherever they come, and tell a screenshot that remembers its settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from kernels.errors import OutOfMemoryError
from kernels.finite import all_finite
from kernels.pictures import PICTURES
from workbench.assets_path import asset
from workbench.background import Background
from workbench.files import image_files
from workbench.files.clipboard import to_samples
from workbench.files.export import read_settings
from workbench.state import Picture

START_PICTURE = "scene"


class Opener(QObject):
    """Loads in the background; only the newest wish is heard of.

    pixel_type  what pictures are stored as from now on; None: as in their files

    Signals:
        opened(picture): a Picture was loaded.
        stored(picture): the one in view, in another pixel type.
        not_stored(picture, sentence): why it is as it was; `picture` is the one in view.
        restored(data, name): a screenshot called `name` held these settings.
        failed(sentence): why there is no new picture; the old one stays.
        ended(sentence): there is no next or no previous picture.
    """

    opened = Signal(object)
    stored = Signal(object)
    not_stored = Signal(object, str)
    restored = Signal(object, str)
    failed = Signal(str)
    ended = Signal(str)

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.pixel_type: str | None = None
        self._background = background
        self._newest = self._newest_type = 0
        self._barred: dict[Path, Path] = {}  # only the background's thread touches it

    def open_file(self, path: Path) -> None:
        """A picture file."""
        self._ask(lambda: image_files.load(path), self.opened.emit)

    def open_start_picture(self) -> None:
        """The picture that comes with the program."""
        title = PICTURES[START_PICTURE].title
        self._ask(
            lambda: Picture(
                title, image_files.load(asset("scene.png")).samples, built_in=START_PICTURE
            ),
            self.opened.emit,
        )

    def open_built_in(self, key: str) -> None:
        """One of the pictures made by code."""
        built_in = PICTURES[key]
        self._ask(lambda: Picture(built_in.title, built_in.make(), built_in=key), self.opened.emit)

    def open_dropped(self, path: Path) -> None:
        """A picture, or a screenshot of ours, whose settings count rather than its pixels."""

        def show(found: dict[str, Any] | Picture) -> None:
            if isinstance(found, Picture):
                self.opened.emit(found)
            else:
                self.restored.emit(found, path.name)

        def load() -> dict[str, Any] | Picture:
            # A pipe would block whoever reads it; of folders and the like `load` knows what to say.
            settings = read_settings(path) if path.is_file() else None
            return settings or image_files.load(path)

        self._ask(load, show)

    def open_image(self, image: QImage) -> None:
        """A picture from the clipboard, or dragged from another program."""
        self._ask(lambda: Picture("Pasted picture", to_samples(image)), self.opened.emit)

    def open_neighbour(self, path: Path, step: int) -> None:
        """The next (1) or previous (-1) picture in the folder of `path`.

        Where that cannot be opened, the next call goes on from there, or it would bar the way.
        """

        def show(found: Picture | str) -> None:
            if isinstance(found, Picture):
                self.opened.emit(found)
            else:
                self.ended.emit(found)

        def load() -> Picture | str:
            start = self._barred.get(path, path)
            neighbour = image_files.neighbours(start)[step > 0]
            if neighbour is None:
                which = "last" if step > 0 else "first"
                return f"{start.name} is the {which} picture in its folder."
            self._barred = {path: neighbour}
            picture = image_files.load(neighbour)
            self._barred = {}
            return picture

        self._ask(load, show)

    def store_again(self, picture: Picture) -> None:
        """`picture`, which is open, in the present pixel type.  What is being opened meanwhile
        still comes."""
        self._newest_type += 1
        wish, pixel_type = self._newest_type, self.pixel_type
        self._background.run(
            lambda: _stored_as(picture, pixel_type),
            lambda found: self.stored.emit(found) if wish == self._newest_type else None,
            lambda error: (
                self.not_stored.emit(picture, str(error)) if wish == self._newest_type else None
            ),
        )

    def _ask(self, load: Callable[[], Any], show: Callable[[Any], None]) -> None:
        self._newest += 1
        wish, pixel_type = self._newest, self.pixel_type

        def look_through() -> Any:
            found = load()
            if isinstance(found, Picture):
                return _stored_as(found, pixel_type)
            return found

        self._background.run(
            look_through,
            lambda found: show(found) if wish == self._newest else None,
            lambda error: self.failed.emit(str(error)) if wish == self._newest else None,
        )


def _stored_as(picture: Picture, pixel_type: str | None) -> Picture:
    try:
        stored = picture.stored_as(pixel_type)
        all_finite(stored.samples)  # known from here on, which takes a while on large ones
        return stored
    except MemoryError as error:
        raise OutOfMemoryError(
            f"There is too little memory to store {picture.name} as {pixel_type}; close other "
            "programs or choose a smaller picture."
        ) from error
