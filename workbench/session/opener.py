"""Opening of pictures from wherever they come, and of screenshots that hold settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
from PySide6.QtCore import QMimeData, QObject, QTimer, Signal, Slot

from kernels.core.errors import OutOfMemoryError
from kernels.core.finite import all_finite
from kernels.pictures.generated import PICTURES
from workbench.base import numbers
from workbench.base.background import Background
from workbench.base.memory import require_memory
from workbench.files import image_files
from workbench.files.needs import RESULTS
from workbench.files.neighbours import neighbours, pictures_among
from workbench.files.picture_errors import ImageFileError, LargePictureError
from workbench.files.picture_refs import PictureRef
from workbench.model.state import Picture
from workbench.session import clipboard
from workbench.session.exporter import FILTERED, SHOWS, read_settings
from workbench.session.session_store import is_session

START_PICTURE = "scene"
MISSING = "missing"  # beside the settings of a screenshot: the name of its picture
MAX_TRIES = 20  # files that cannot be read, in front of the first one that can
SLOW_MS = 700  # to open; beyond it, it is said, with a way to stop

Load = Callable[..., Any]


class Opener(QObject):
    """A loader in the background, which answers only the newest request.

    pixel_type  what pictures are stored as from now on; None: as in their files

    Signals:
        opened(picture): a Picture was loaded.
        gathered(sentence): how many were found; the first of them is opened next.
        stored(picture): the one in view, in another pixel type.
        not_stored(picture, sentence): why it is as it was; `picture` is the one in view.
        restored(data, name): a screenshot called `name` held these settings.
        offered(data, name): so did the picture that is opened next, the result of them.
        asked(sentence, go_on): a picture is so large that nothing happens until `go_on` is called.
        busy(name): something is being opened that is called so; empty: nothing is any more.
        began(sentence, stop): that takes a while; `stop` ends it.
        went_on(sentence): so far it is, after `began`.
        failed(sentence): why there is no new picture; the old one stays.
        ended(sentence): there is no next or no previous picture.
    """

    opened = Signal(object)
    gathered = Signal(str)
    stored = Signal(object)
    not_stored = Signal(object, str)
    restored = Signal(object, str)
    offered = Signal(object, str)
    asked = Signal(str, object)
    busy = Signal(str)
    began = Signal(str, object)
    went_on = Signal(str)
    _read = Signal(int, float)
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
        self._together: tuple[Path, ...] = ()
        self._name, self._share = "", 0.0  # of what is being opened, and which share has been read
        self._slow = QTimer(self, singleShot=True, interval=SLOW_MS)
        self._slow.timeout.connect(self._say_slow)
        self._read.connect(self._say_share)

    @property
    def together(self) -> tuple[Path, ...]:
        """Return the files that were opened together, to be walked through; empty: a folder's."""
        return self._together

    def open_file(self, path: Path) -> None:
        """Open a picture file."""

        def show(picture: Picture) -> None:
            self._leave_others(path)
            self.opened.emit(picture)

        self._ask(partial(image_files.load_any_size, path), show, path.name)

    def look_at(self, paths: Sequence[Path], take: Callable[[LookedAt], None]) -> None:
        """Find out what `paths` are, and `take` that, unless something else is asked for first.

        A file may be on a drive that takes long to answer.
        """
        self._ask(lambda **_: _looked_at(paths), take, _in_words(paths))

    def open_together(self, paths: Sequence[Path]) -> None:
        """Open the first picture of several files, or of a folder, and let one walk on from it."""
        self._ask(partial(_gather, paths), self._show_gathered, _in_words(paths))

    def open_start_picture(self) -> None:
        """Open the picture that the window starts with."""
        self.open_built_in(START_PICTURE)

    def open_built_in(self, key: str) -> None:
        """Open one of the pictures that come with the program."""
        built_in = PICTURES[key]
        self._ask(
            lambda **_: Picture(built_in.title, built_in.make(), built_in=key),
            self.opened.emit,
            built_in.title,
        )

    def open_dropped(self, path: Path) -> None:
        """Open a picture, or take the settings, not the pixels, of a screenshot of this program."""

        def show(found: dict[str, Any] | Picture | Gathered) -> None:
            if isinstance(found, Gathered):
                self._show_gathered(found)
            elif isinstance(found, Picture) and settings:
                self._leave_others(path)
                self.offered.emit(settings[0], path.name)
                self.opened.emit(found)
            elif isinstance(found, Picture):
                self._leave_others(path)
                self.opened.emit(found)
            else:
                self.restored.emit(found, path.name)

        def load(**how: Any) -> dict[str, Any] | Picture | Gathered:
            # `Path.is_dir` raises where a name is too long.
            if os.path.isdir(path):  # noqa: PTH112
                return _gather([path], **how)
            # Reading a pipe would block; `load` has messages for whatever is no file.
            inside = read_settings(path) if os.path.isfile(path) else None  # noqa: PTH113
            if inside and inside.get(SHOWS) != FILTERED:
                return _with_picture_there(inside)
            settings[:] = [inside] if inside else []
            return image_files.load_any_size(path, **how)

        settings: list[dict[str, Any]] = []

        self._ask(load, show, path.name)

    def open_content(self, content: QMimeData | None) -> None:
        """Open the picture itself, not a file, that was copied or dragged from another program."""
        try:
            found = clipboard.image_in(content)
        except ImageFileError as error:
            self.failed.emit(str(error))
        else:
            self._ask(
                lambda ask, is_stopped, **_: clipboard.picture_in(
                    found, ask=ask, is_stopped=is_stopped
                ),
                self.opened.emit,
                clipboard.NAME,
            )

    def open_neighbour(self, path: Path, step: int) -> None:
        """Open the next (1) or previous (-1) picture in the folder of `path`.

        Or of those that were opened together with it.

        If that cannot be opened, the next call goes on behind it, so that it does not bar the way.
        While it is being opened, the same request again changes nothing: with a key held down,
        pictures follow each other as fast as they load.
        """
        if self._stepping == (path, step):
            return
        together = self._together

        def show(found: Picture | str) -> None:
            if isinstance(found, Picture):
                self.opened.emit(found)
            else:
                self.ended.emit(found)

        def load(**how: Any) -> Picture | str:
            start = self._barred.get(path, path)
            is_one_of = start in together
            neighbour = _among(together, start, step) if is_one_of else neighbours(start)[step > 0]
            if neighbour is None:
                which = "last" if step > 0 else "first"
                of = f"of {len(together)} opened together" if is_one_of else "in its folder"
                return f"{start.name} is the {which} picture {of}."
            self._barred = {path: neighbour}
            picture = image_files.load_any_size(neighbour, **how)
            self._barred = {}
            return picture

        self._ask(load, show, path.parent.name)
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
        self._drop()
        self._rest()

    def _drop(self) -> None:
        self._newest += 1
        self._is_stopped.set()

    def _show_gathered(self, found: Gathered) -> None:
        self._together = found.together
        self.gathered.emit(found.sentence)
        self.opened.emit(found.picture)

    def _leave_others(self, path: Path) -> None:
        """Walk through the folder of `path` from here on, unless it is one of those together."""
        if path not in self._together:
            self._together = ()

    @Slot()
    def _rest(self) -> None:
        """Wait for nothing any more."""
        self._stepping = None
        self._slow.stop()
        if self._name:
            self._name = ""
            self.busy.emit("")

    @Slot()
    def _say_slow(self) -> None:
        self.began.emit(self._opening, self.stop)

    @Slot(int, float)
    def _say_share(self, request: int, share: float) -> None:
        """Say how far it is, where it was said that it takes a while."""
        if request == self._newest and self._name:
            self._share = share
            if not self._slow.isActive():
                self.went_on.emit(self._opening)

    @property
    def _opening(self) -> str:
        share = f" {numbers.percent(self._share)}" if self._share else ""
        return f"Opening {self._name}…{share}"

    def _ask(
        self, load: Load, show: Callable[[Any], None], name: str, *, is_agreed: bool = False
    ) -> None:
        """Call `load` with the arguments of `load_any_size`, and `show` with its result.

        name       of what is opened, for whoever waits
        is_agreed  whether the user has agreed to the size of the picture
        """
        self._drop()
        if name != self._name:  # else it is the next step of the same opening
            self._rest()
        self._stepping = None
        self._is_stopped = is_stopped = Event()
        request, pixel_type = self._newest, self.pixel_type
        self._name, self._share = name, 0.0
        self._slow.start()
        self.busy.emit(name)

        def look_through() -> Any:
            if request != self._newest:
                return None  # nobody would see it
            found = load(ask=not is_agreed, is_stopped=is_stopped.is_set, say=say)
            if isinstance(found, Gathered):
                return replace(found, picture=_stored_as(found.picture, pixel_type))
            return _stored_as(found, pixel_type) if isinstance(found, Picture) else found

        def say(share: float) -> None:
            self._read.emit(request, share)

        def answer(tell: Callable[[Any], None], outcome: Any) -> None:
            if request == self._newest:
                self._stepping = None
                self._slow.stop()
                tell(outcome)
            if request == self._newest:  # that asked for nothing else
                self._rest()

        def fail(error: Exception) -> None:
            if isinstance(error, LargePictureError):
                self.asked.emit(str(error), go_on)
            else:
                self.failed.emit(str(error))

        def go_on() -> None:
            self._ask(load, show, name, is_agreed=True)
            self._slow.stop()
            self._say_slow()

        leave = partial(answer, lambda _: None, None)
        self._background.run(look_through, partial(answer, show), partial(answer, fail), leave)


@dataclass(frozen=True, slots=True)
class LookedAt:
    """The sessions, and what may be pictures, among some paths.

    sessions   files of sessions, and folders that hold one
    others     files that may be pictures, and folders of them
    is_folder  whether there is one of the others, and that is a folder
    """

    sessions: tuple[Path, ...]
    others: tuple[Path, ...]
    is_folder: bool


@dataclass(frozen=True, slots=True)
class Gathered:
    """The pictures that were found among files, or in a folder.

    together  the files, to be walked through; empty: the folder of the picture is
    sentence  says how many there are
    """

    picture: Picture
    together: tuple[Path, ...]
    sentence: str


def _looked_at(paths: Sequence[Path]) -> LookedAt:
    parts: dict[bool, list[Path]] = {True: [], False: []}
    for path in paths:
        parts[is_session(path)].append(path)
    sessions, others = tuple(parts[True]), tuple(parts[False])
    # `Path.is_dir` raises where a name is too long.
    is_folder = len(others) == 1 and os.path.isdir(others[0])  # noqa: PTH112
    return LookedAt(sessions, others, is_folder)


def _gather(paths: Sequence[Path], **how: Any) -> Gathered:
    """Return what is among files or in a folder, with the first picture that can be read.

    how  as `image_files.load_any_size` has it
    Raises ImageFileError.
    """
    found = pictures_among(paths)
    picture = _first_of(found[:MAX_TRIES], **how)
    if len(paths) == 1:
        count = f"{len(found):,} pictures" if len(found) > 1 else "One picture"
        is_one = paths[0] == found[0]  # a file, not a folder
        return Gathered(picture, (), "" if is_one else f"{count} in {paths[0].name}.")
    count = f"{len(found):,} pictures opened together; PgDn shows the next one."
    return Gathered(picture, tuple(found), count if len(found) > 1 else "")


def _first_of(paths: Sequence[Path], **how: Any) -> Picture:
    """Return the first that can be read.  Raises why the very first cannot where none can."""
    failures: list[ImageFileError] = []
    for path in paths:
        try:
            return image_files.load_any_size(path, **how)
        except LargePictureError:
            raise
        except ImageFileError as error:
            failures.append(error)
    raise failures[0]


def _among(together: Sequence[Path], start: Path, step: int) -> Path | None:
    """Return what comes `step` behind `start`; None at either end."""
    at = together.index(start) + step
    return together[at] if 0 <= at < len(together) else None


def _with_picture_there(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings without their picture where its file is not there, or not here.

    What a stranger's screenshot names on another computer is not looked for.
    """
    ref = PictureRef.from_data(settings.get("picture"))
    if ref is None:
        return {**settings, "picture": None}
    is_far = str(ref.path).startswith(("//", "\\\\"))
    if ref.path is None or (not is_far and ref.path.is_file()):
        return {**settings, "picture": ref.to_data()}
    return {**settings, "picture": None, MISSING: ref.name}


def _in_words(paths: Sequence[Path]) -> str:
    return paths[0].name if len(paths) == 1 else f"{len(paths):,} files"


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
