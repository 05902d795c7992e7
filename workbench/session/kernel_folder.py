"""The user's kernels as implementations: their files, which are the truth, and the chosen text."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal, Slot

from kernels.engine.own_kernel import OwnKernel
from kernels.rungs.headers import HeaderError
from kernels.rungs.own_kernels import SUFFIX, is_own, read_own_kernel, text_hash
from kernels.rungs.rung import Rung
from workbench.base.background import Background, Throttle
from workbench.base.paths import data_folder
from workbench.model import intents
from workbench.model.state import OwnFile, State
from workbench.session.store import Store

FOLDER_VARIABLE = "FILTER_WORKBENCH_KERNELS"


class KernelFileError(Exception):
    """A kernel cannot be read, or kept in a file; str(error) is one sentence for the user."""


class KernelGoneError(KernelFileError):
    """A kernel's file is not there any more."""


def kernels_folder() -> Path:
    """Return the folder in the user's data, or the one FILTER_WORKBENCH_KERNELS names."""
    if folder := os.environ.get(FOLDER_VARIABLE):
        return Path(folder)
    return data_folder() / "kernels"


def is_own_file(path: Path) -> bool:
    """True if `path` lies in the user's folder of kernels, or would."""
    return path.resolve().is_relative_to(kernels_folder().resolve())


STEADY_MS = 5  # a file that is the same for so long is written
SETTLE_MS = 100  # one that is empty, or gone, is for so long: an editor puts another in its place
GONE_MS = 500  # a file may be away for that long while an editor puts another in its place
GONE = "{name} is not in your folder of kernels, so what runs was chosen anew."


Kernels = dict[str, Rung | str]  # what each file is, or why it makes no kernel, by name


class KernelFolder(QObject):
    """A reader of the user's folder of kernels, and of a file from elsewhere, in the background.

    kernels  what each file was when the folder was looked at last, or why it makes none, by name;
             the chosen one is newer in the State

    Signals:
        changed(): there are other files, or other texts in them.
        arrived(file): the chosen file with its text, an OwnFile, as it is to stand in the State.
        refused(sentence): why no kernel can be made of its text now; the one before it stays.
        mended(): after that, one can, or another implementation was chosen.
        lost(sentence): why there is nothing to run at all.
    """

    changed = Signal()
    arrived = Signal(object)
    refused = Signal(str)
    mended = Signal()
    lost = Signal(str)

    def __init__(self, store: Store, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.kernels: Kernels = {}
        self._store, self._background = store, background
        self._read: OwnFile | None = None
        self._admitted: Path | None = None
        self._refusal, self._is_missed = "", False
        self._watcher = QFileSystemWatcher(self)
        self._settling = Throttle(SETTLE_MS, self.look, self)
        self._watcher.fileChanged.connect(lambda _: self._settling.start(SETTLE_MS))
        self._watcher.directoryChanged.connect(lambda _: self._settling.start(SETTLE_MS))
        store.changed.connect(self._follow)

    @property
    def paths(self) -> dict[str, Path]:
        return {name: _path_of(name, self._admitted) for name in self.kernels}

    @property
    def all(self) -> tuple[OwnKernel, ...]:
        """All of them, as implementations to choose; the chosen one has its source."""
        state = self._store.state
        text = {state.implementation: intents.own_text(state)}
        return tuple(OwnKernel(name, text.get(name, "")) for name in self.kernels)

    def admit(self, path: Path) -> None:
        """Take a file from elsewhere in, in place of one of its name, until the window closes."""
        self._admitted = path.absolute()
        if self._store.state.implementation == path.name:  # and nothing else will have it read
            self.look()

    def why_another(self, name: str, text_sha256: object) -> str | None:
        """The reason why `name` is not here, or, if its SHA-256 is known, another source by now."""
        kernel = self.kernels.get(name)
        if kernel is None:
            return f"{name} is not in your folder of kernels."
        is_same = isinstance(kernel, Rung) and text_hash(kernel.source) == text_sha256
        return None if is_same or not text_sha256 else f"{name} has another text by now."

    @Slot()
    def look(self) -> None:
        """Find out which files there are, and read them."""
        chosen, admitted = self._store.state.implementation, self._admitted
        path = _path_of(chosen, admitted) if is_own(chosen) else None
        looking = partial(_found, kernels_folder(), path, admitted)
        self._background.run(looking, partial(self._take, path), lambda _: None)

    def _follow(self, old: State, new: State) -> None:
        """Read what is chosen now; what is taken back may be chosen with an earlier text."""
        chosen = new.implementation
        is_another = chosen != old.implementation
        if is_another:
            self._is_missed = False
            self._say_mended()
        if not is_own(chosen):
            return
        if self._read is not None and self._read.name == chosen and new.own_kernel != self._read:
            self.arrived.emit(self._read)
        if is_another:  # while another one was chosen, nobody looked at this file
            self.look()

    def _take(self, path: Path | None, found: tuple[Kernels, set[str]]) -> None:
        """Take what there is; the file at `path` was the chosen one."""
        kernels, there = found
        watch_only(self._watcher, there)
        if kernels != self.kernels:
            self.kernels = kernels
            self.changed.emit()
        if path is None or path.name != self._store.state.implementation:
            return
        match kernels.get(path.name):
            case Rung() as kernel:
                self._read, self._is_missed = OwnFile(path, kernel.source), False
                self._say_mended()
                if self._store.state.own_kernel != self._read:
                    self.arrived.emit(self._read)
            case sentence if self._read is None or self._read.name != path.name:
                self._lose(sentence or GONE.format(name=path.name))
            case None if self._is_missed:
                self._lose(GONE.format(name=path.name))
            case None:
                self._is_missed = True
                self._settling.start(GONE_MS)
            case sentence if sentence != self._refusal:
                self._refusal = sentence
                self.refused.emit(sentence)

    def _say_mended(self) -> None:
        if self._refusal:
            self._refusal = ""
            self.mended.emit()

    def _lose(self, sentence: str) -> None:
        self._read, self._refusal, self._is_missed = None, "", False
        self.lost.emit(sentence)


def _found(folder: Path, path: Path | None, admitted: Path | None) -> tuple[Kernels, set[str]]:
    """Read the kernels, and say what of the folder, the chosen file and its folder is there."""
    paths = [folder, path.parent, path] if path is not None else [folder]
    there = {str(each) for each in paths if each.exists()}  # before it is read
    try:
        # Kernels of the user's, not links to somebody else's.
        paths = [each for each in folder.iterdir() if each.suffix == SUFFIX and each.is_file()]
        files = {each.name: each for each in paths if is_own_file(each)}
    except OSError:
        files = {}
    if admitted is not None and admitted.is_file():
        files[admitted.name] = admitted
    return {name: _kernel_in(files[name]) for name in sorted(files, key=str.casefold)}, there


def _kernel_in(path: Path) -> Rung | str:
    try:
        return read_own_kernel(path)
    except HeaderError as error:
        return str(error)


def _path_of(name: str, admitted: Path | None) -> Path:
    return admitted if admitted is not None and admitted.name == name else kernels_folder() / name


class FileWatch(QObject):
    """A watch on one file and on its folder, since editors put another file in its place.

    Signals:
        changed(): it, or its folder, is another, and has come to rest.
    """

    changed = Signal()

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        """Make the watch; `background` looks at the file, whose disk may be slow."""
        super().__init__(parent)
        self._background = background
        self._path: Path | None = None
        self._found: tuple[set[str], Stamp] = set(), None
        self._watcher = QFileSystemWatcher(self)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(lambda: self._look(after_rest=True))
        self._watcher.fileChanged.connect(lambda _: self._look())
        self._watcher.directoryChanged.connect(lambda _: self._look())

    def begin(self, path: Path | None) -> None:
        """Watch this file from now on; None: nothing.  Notices of another are dropped."""
        self._path = path
        watch_only(self._watcher, set())
        self._look()

    def _look(self, *, after_rest: bool = False) -> None:
        """Look at the file, and again after a rest, in which it has to stay the same."""
        path = self._path
        self._timer.stop()
        if path is None:
            return

        def take(found: tuple[set[str], Stamp]) -> None:
            if path != self._path:
                return
            watch_only(self._watcher, found[0])  # one that was replaced is out of sight
            if after_rest and found == self._found:
                self.changed.emit()
                return
            self._found = found
            is_written = found[1] is not None and found[1][0] > 0
            self._timer.start(STEADY_MS if is_written else SETTLE_MS)

        self._background.run(partial(_seen, path), take, lambda _: None)


def watch_only(watcher: QFileSystemWatcher, wanted: set[str]) -> None:
    watched = {*watcher.files(), *watcher.directories()}
    if gone := sorted(watched - wanted):
        watcher.removePaths(gone)
    if missing := sorted(wanted - watched):
        watcher.addPaths(missing)


Stamp = tuple[int, int, int] | None  # of a file's contents; None: it is not there


def _seen(path: Path) -> tuple[set[str], Stamp]:
    there = {str(each) for each in (path, path.parent) if os.path.exists(each)}  # noqa: PTH110 - Path's may raise
    try:
        found = path.stat()
    except (OSError, ValueError):
        return there, None
    return there, (found.st_size, found.st_mtime_ns, found.st_ino)
