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
from PySide6.QtCore import QMimeData, QObject, Signal, Slot

from kernels.core.errors import OutOfMemoryError
from kernels.pictures.generated import PICTURES
from workbench.base.background import Background
from workbench.base.memory import require_memory
from workbench.files import image_files
from workbench.files.image_files import PictureRef
from workbench.files.needs import RESULTS
from workbench.files.neighbours import Shelf, neighbours, pictures_among, shelf_of
from workbench.files.picture_errors import ImageFileError, LargePictureError
from workbench.imaging.pictures import Picture
from workbench.model.state import State
from workbench.session import clipboard
from workbench.session.exporter import FILTERED, SHOWS, read_settings
from workbench.session.session_store import is_session
from workbench.session.store import Store

START_PICTURE = "scene"
MISSING = "missing"  # beside the settings of a screenshot: the name of its picture
MAX_TRIES = 20  # files that cannot be read, in front of the first one that can

Load = Callable[..., Any]


class Opener(QObject):
    """A loader in the background, which answers only the newest request.

    pixel_type  what pictures are stored as from now on; None: as in their files
    together    files that were opened together, to be walked through; empty: a folder's

    Signals:
        opened(picture): a Picture was loaded.
        gathered(sentence): how many were found; the first of them is opened next.
        stored(picture): the one in view, in another pixel type.
        not_stored(picture, sentence): why it is as it was; `picture` is the one in view.
        restored(data, name): a screenshot called `name` held these settings.
        offered(data, name): so did the picture that is opened next, the result of them.
        asked(sentence, go_on, has_copy): a picture is so large that nothing happens until
            go_on(is_reduced) is called; has_copy: a reduced copy can be opened in its place.
        busy(name): something is being opened that is called so; empty: nothing is any more.
        progressed(share): which share of it has been read; `stop` ends it.
        failed(sentence): why there is no new picture; the old one stays.
        ended(sentence): there is no next or no previous picture.
    """

    opened = Signal(object)
    gathered = Signal(str)
    stored = Signal(object)
    not_stored = Signal(object, str)
    restored = Signal(object, str)
    offered = Signal(object, str)
    asked = Signal(str, object, bool)
    busy = Signal(str)
    progressed = Signal(float)
    _read = Signal(int, float)
    failed = Signal(str)
    ended = Signal(str)

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.pixel_type: str | None = None
        self._background = background
        self._newest = 0
        self._is_stopped = Event()  # of the newest request
        self._stepping: tuple[Path, int, int] | None = None  # from a file by a step, or to a page
        self._barred: dict[Path, Path] = {}  # only the background's thread touches it
        self.together: tuple[Path, ...] = ()
        self._name = ""  # of what is being opened
        self._read.connect(self._say_share)

    def open_file(
        self, path: Path, page: int = 1, take: Callable[[Picture], None] | None = None
    ) -> None:
        """Open a picture; or `take` it instead, unless something else is requested first."""
        self._ask(partial(image_files.load_any_size, path, page=page), path.name, take)

    def open_page(self, path: Path, page: int) -> None:
        """Open a page of the file that is open; asked for again meanwhile, it still comes."""
        if self._stepping != (path, 0, page):
            self.open_file(path, page)
            self._stepping = path, 0, page

    def look_at(self, paths: Sequence[Path], take: Callable[[LookedAt], None]) -> None:
        """Find out what `paths` are, and `take` that, unless something else is requested first."""
        self._ask(lambda **_: _looked_at(paths), _in_words(paths), take)

    def open_together(self, paths: Sequence[Path]) -> None:
        """Open the first of several pictures, or of a folder; the others follow."""
        self._ask(partial(_gather, paths), _in_words(paths))

    def open_ref(self, ref: PictureRef) -> None:
        if ref.path is not None:
            self.open_file(ref.path, ref.page)
        elif ref.built_in is not None:
            self.open_built_in(ref.built_in)

    def open_built_in(self, key: str = START_PICTURE) -> None:
        title, make = PICTURES[key].title, PICTURES[key].make
        self._ask(lambda **_: Picture(title, make(), built_in=key), title)

    def open_dropped(self, path: Path) -> None:
        """Open a picture, or take the settings of a screenshot of this program."""
        self._ask(partial(_dropped, path), path.name)

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
                clipboard.NAME,
            )

    def open_neighbour(self, path: Path, step: int) -> None:
        """Open the next (1) or previous (-1) picture of those opened together, or of a folder.

        If that cannot be opened, the next call continues behind it.  While it is being opened, the
        same request again changes nothing: with a key held down, pictures follow as they load.
        """
        if self._stepping == (path, step, 0):
            return
        together = self.together

        def load(**how: Any) -> Picture | str:
            start = self._barred.get(path, path)
            is_one_of = start in together
            if is_one_of:
                at = together.index(start) + step
                neighbour = together[at] if 0 <= at < len(together) else None
            else:
                neighbour = neighbours(start)[step > 0]
            if neighbour is None:
                which = "last" if step > 0 else "first"
                of = f"of {len(together)} opened together" if is_one_of else "in its folder"
                return f"{start.name} is the {which} picture {of}."
            self._barred = {path: neighbour}
            picture = image_files.load_any_size(neighbour, **how)
            self._barred = {}
            return picture

        self._ask(load, path.parent.name)
        self._stepping = path, step, 0

    def store_again(self, picture: Picture) -> None:
        """Store `picture` in the present pixel type; one that is being opened still comes."""
        self._background.run(
            partial(_stored_as, picture, self.pixel_type),
            self.stored.emit,
            lambda error: self.not_stored.emit(picture, str(error)),
            of="picture in another pixel type",
        )

    def stop(self) -> None:
        """Drop every request so far to open something."""
        self._newest += 1
        self._is_stopped.set()
        self._rest()

    def _show(self, found: Picture | Gathered | dict[str, Any] | str) -> None:
        if isinstance(found, str):
            self.ended.emit(found)
            return
        if isinstance(found, dict):
            self.restored.emit(found, self._name)
            return
        if isinstance(found, Gathered):
            self.together = found.together
            if found.settings:
                self.offered.emit(found.settings, self._name)
            if found.sentence:
                self.gathered.emit(found.sentence)
            found = found.picture
        elif found.path is not None and found.path not in self.together:
            self.together = ()  # from here on one walks through its folder
        self.opened.emit(found)

    def _rest(self) -> None:
        self._stepping = None
        if self._name:
            self._name = ""
            self.busy.emit("")

    @Slot(int, float)
    def _say_share(self, request: int, share: float) -> None:
        if request == self._newest and self._name:
            self.progressed.emit(share)

    def _ask(
        self,
        load: Load,
        name: str,
        show: Callable[[Any], None] | None = None,
        **agreed: bool,
    ) -> None:
        self._newest += 1
        self._is_stopped.set()
        if name != self._name:  # else it is the next step of the same opening
            self._rest()
        self._stepping = None
        self._is_stopped = is_stopped = Event()
        request, pixel_type = self._newest, self.pixel_type
        self._name = name
        self.busy.emit(name)

        def work() -> Any:
            if request != self._newest:
                return None  # superseded
            say = partial(self._read.emit, request)
            how = {"ask": not agreed, **agreed}
            found = load(is_stopped=is_stopped.is_set, say=say, **how)
            if isinstance(found, Gathered):
                return replace(found, picture=_stored_as(found.picture, pixel_type))
            return _stored_as(found, pixel_type) if isinstance(found, Picture) else found

        def answer(tell: Callable[[Any], None], outcome: Any = None) -> None:
            if request == self._newest:
                self._stepping = None
                tell(outcome)
            if request == self._newest:  # that asked for nothing else
                self._rest()

        def fail(error: Exception) -> None:
            if isinstance(error, LargePictureError):
                self.asked.emit(str(error), go_on, error.has_copy)
            else:
                self.failed.emit(str(error))

        def go_on(is_reduced: bool = False) -> None:
            self._ask(load, name, show, is_reduced=is_reduced)

        self._background.run(
            *(work, partial(answer, show or self._show), partial(answer, fail)),
            partial(answer, lambda _: None),
        )


@dataclass(frozen=True, slots=True)
class LookedAt:
    """The sessions, and possible pictures, among some paths."""

    sessions: tuple[Path, ...]  # their files, and folders that hold one
    others: tuple[Path, ...]  # files that may be pictures, and folders of them
    is_folder: bool  # there is one of the others, and that is a folder


@dataclass(frozen=True, slots=True)
class Gathered:
    """The pictures that were found among files, or in a folder."""

    picture: Picture
    together: tuple[Path, ...] = ()  # the files, to be walked through; empty: the folder is
    sentence: str = ""  # with their number
    settings: dict[str, Any] | None = None  # inside the picture, if it is a result


def _looked_at(paths: Sequence[Path]) -> LookedAt:
    sessions = tuple(path for path in paths if is_session(path))
    others = tuple(path for path in paths if path not in sessions)
    # `Path.is_dir` raises where a name is too long.
    is_folder = len(others) == 1 and os.path.isdir(others[0])  # noqa: PTH112
    return LookedAt(sessions, others, is_folder)


def _dropped(path: Path, **how: Any) -> dict[str, Any] | Picture | Gathered:
    # `Path.is_dir` raises where a name is too long.
    if os.path.isdir(path):  # noqa: PTH112
        return _gather([path], **how)
    # Reading a pipe would block; `load` has messages for whatever is no file.
    inside = read_settings(path) if os.path.isfile(path) else None  # noqa: PTH113
    if inside and inside.get(SHOWS) != FILTERED:
        ref = PictureRef.from_data(inside.get("picture"))
        if ref is None:
            return {**inside, "picture": None}
        is_far = str(ref.path).startswith(("//", "\\\\"))
        if ref.path is None or (not is_far and ref.path.is_file()):
            return {**inside, "picture": ref.to_data()}
        return {**inside, "picture": None, MISSING: ref.name}
    picture = image_files.load_any_size(path, **how)
    return Gathered(picture, settings=inside) if inside else picture


def _gather(paths: Sequence[Path], **how: Any) -> Gathered:
    found = pictures_among(paths)
    picture = _first_of(found[:MAX_TRIES], **how)
    if len(paths) == 1:
        count = f"{len(found):,} pictures" if len(found) > 1 else "One picture"
        is_one = paths[0] == found[0]  # a file, not a folder
        return Gathered(picture, (), "" if is_one else f"{count} in {paths[0].name}.")
    count = f"{len(found):,} pictures opened together; PgDn shows the next one."
    return Gathered(picture, tuple(found), count if len(found) > 1 else "")


def _first_of(paths: Sequence[Path], **how: Any) -> Picture:
    """Load the first that can be read; raises the reason of the very first."""
    failures: list[ImageFileError] = []
    for path in paths:
        try:
            return image_files.load_any_size(path, **how)
        except LargePictureError:
            raise
        except ImageFileError as error:
            failures.append(error)
    raise failures[0]


def _in_words(paths: Sequence[Path]) -> str:
    return paths[0].name if len(paths) == 1 else f"{len(paths):,} files"


def _stored_as(picture: Picture, pixel_type: str | None) -> Picture:
    try:
        if pixel_type is not None and not picture.is_stored_as(pixel_type):
            # There will be several: this one, and the results made from it.
            require_memory((1 + RESULTS) * picture.samples.size * np.dtype(pixel_type).itemsize)
        return picture.stored_as(pixel_type).looked_through()
    except MemoryError as error:
        raise OutOfMemoryError(
            f"There is too little memory to store {picture.name} as {pixel_type}; close other "
            "programs or choose a smaller picture."
        ) from error


class Walk(QObject):
    """A watcher that looks, in the background, among which pictures the one in view is.

    shelf  the latest
    path   of the picture opened last; what is in no folder ends no walk

    Signals:
        placed(shelf): a Shelf; None: the folder cannot be looked into.
    """

    placed = Signal(object)

    def __init__(
        self, store: Store, opener: Opener, background: Background, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._store, self._opener, self._background = store, opener, background
        self.shelf: Shelf | None = None
        self.path: Path | None = None
        store.changed.connect(self._look)

    @Slot(object, object)
    def _look(self, old: State, new: State) -> None:
        picture = new.picture
        if picture is old.picture or picture is None or picture.path is None:
            return
        self.path = picture.path

        def place(shelf: Shelf | None) -> None:
            if self._store.state.picture is picture:
                self.shelf = shelf
                self.placed.emit(shelf)

        look = partial(shelf_of, picture.path, self._opener.together)
        self._background.run(look, place, lambda _: place(None))
