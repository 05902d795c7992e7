"""A kernel's text and its file: read, saved, watched, and never lost where both change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from kernels.core import atomic_files
from kernels.rungs.headers import HeaderError
from kernels.rungs.own_kernels import text_in
from workbench.base.background import Background
from workbench.base.throttle import Throttle
from workbench.files.kernel_files import KernelFileError
from workbench.session.file_watch import FileWatch
from workbench.session.kernel_journal import KernelJournal, Unsaved

KEEP_MS = 300  # of typing are lost at most, where the program is killed
NEW_NAME = "my_kernel.cu"


class KernelFile(QObject):
    """The text that is typed and the one on disk, which is the truth where both changed.

    Signals:
        arrived(text): the text on disk is another, and is to be shown instead; it can be undone.
        began(text): another kernel is worked on from now on.
        named(): its path, or whether it is saved, is another.
        saving(): the text is about to be written to its file, which may take a while.
        saved(): the text is on disk.
        said(sentence): what became of a text, in words.
        broke(sentence, details): a bug, with its traceback.
    """

    arrived = Signal(str)
    began = Signal(str)
    named = Signal()
    saving = Signal()
    saved = Signal()
    said = Signal(str)
    broke = Signal(str, str)

    def __init__(self, journal: KernelJournal, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._journal = journal
        self._keeping = Background((KernelFileError,), self)  # the disk may be slow, typing not
        self._keeping.broke.connect(self.broke)
        self._soon = Throttle(KEEP_MS, self._keep, self)
        self._path: Path | None = None
        self._new_name = ""
        self._text = self._on_disk = ""
        self._newline = "\n"
        self._was_gone = False
        self._watch = FileWatch(self._keeping, self)
        self._watch.changed.connect(self._look)

    @property
    def path(self) -> Path | None:
        """Return the file; None: it has none yet."""
        return self._path

    @property
    def text(self) -> str:
        """Return the text as it is typed."""
        return self._text

    @property
    def name(self) -> str:
        """Return its file's name, or the one proposed for it."""
        return self._path.name if self._path else self._new_name

    @property
    def is_saved(self) -> bool:
        """Return whether the text is on disk."""
        return self._path is not None and self._text == self._on_disk

    # -- what is worked on

    def begin(self, text: str, name: str) -> None:
        """Work on a new kernel, which has no file yet.

        name  the one proposed for its file
        """
        self._set_aside()
        self._new_name = name
        self._take(None, text, "")
        self.began.emit(text)

    def open(self, path: Path, once_read: Callable[[], None] = lambda: None) -> None:
        """Work on the kernel in a file.  Raises KernelFileError, and nothing has changed then.

        once_read  what to do before anybody is told of it
        """
        text, newline = read_kernel(path)
        once_read()
        self._set_aside()
        self._newline = newline
        self._take(path.absolute(), text, text)
        self.began.emit(text)

    def bring_back(self, unsaved: Unsaved) -> None:
        """Work on what was not saved in an earlier run; its file stays as it is until `save`."""
        on_disk = ""
        path = unsaved.path
        if path is not None:
            try:
                on_disk, self._newline = read_kernel(path)
            except KernelFileError:
                path = path if path.parent.is_dir() else None  # `save` writes it again
        self._set_aside()
        self._new_name = NEW_NAME
        self._take(path, unsaved.text, on_disk)
        self.began.emit(unsaved.text)
        self._note()

    def type(self, text: str) -> None:
        """Take what is typed; it is kept in a moment, also if the program ends."""
        if text == self._text:
            return
        self._text = text
        self._note()

    def save(self, path: Path | None = None) -> None:
        """Write the text into its file, or into another one from now on.

        Raises KernelFileError.
        """
        target = path or self._path
        assert target is not None
        target = target.absolute()
        if path is None:
            assert self._path is not None
            self._take_up(*_look_at(self._path, self._text, self._on_disk))
            self.saving.emit()  # what somebody else wrote meanwhile is not written over
        text = self._text
        write_kernel(target, text, self._newline)
        self._take(target, text, text)
        self._forget()
        self.saved.emit()

    def close(self) -> None:
        """Let go of the file; what is not saved is offered the next time."""
        self._watch.begin(None)
        self._soon.stop()
        self._keeping.close()
        self._journal.close()

    # -- the disk

    def _take(self, path: Path | None, text: str, on_disk: str) -> None:
        if path is None:
            self._newline = "\n"
        self._path, self._text, self._on_disk, self._was_gone = path, text, on_disk, False
        self._watch.begin(path)
        self.named.emit()

    def _set_aside(self) -> None:
        """Leave what would be lost to the journal, which offers it."""
        if self._text == self._on_disk or not self._text.strip():
            self._forget()
        else:
            self._journal.set_aside()

    def _note(self) -> None:
        if self._text == self._on_disk:
            self._forget()
        else:
            self._journal.note(Unsaved(self._text, self._path))
            self._soon.ask()
        self.named.emit()

    def _forget(self) -> None:
        self._journal.forget()
        self._keep()

    @Slot()
    def _keep(self) -> None:
        self._keeping.run(self._journal.write, self._complain, self._complain)

    def _complain(self, _outcome: object) -> None:
        if self._journal.complaint:
            self.said.emit(self._journal.complaint)

    @Slot()
    def _look(self) -> None:
        """Look, on the thread, whether another text is on disk than was there."""
        path, texts = self._path, (self._text, self._on_disk)
        if path is None:
            return
        self._watch.renew()

        def take(found: _OnDisk) -> None:
            if path != self._path:
                return
            if texts == (self._text, self._on_disk):
                self._take_up(*found)
            else:  # more was typed, of which no copy is kept yet, or it was saved
                self._look()

        self._keeping.run(partial(_look_at, path, *texts), take, lambda _: None)

    def _take_up(self, found: str | None, newline: str, sentence: str) -> None:
        """Show the text on disk, if it is another than was there; `sentence` says what it is not.

        found  None: there is none to be shown
        """
        was_gone, self._was_gone = self._was_gone, found is None
        if sentence and not (found is None and was_gone):
            self.said.emit(sentence)
        if found is None or found == self._on_disk:
            return
        is_other = found != self._text
        self._on_disk = self._text = found
        if is_other:
            self._newline = newline
        self._note()
        if is_other:
            self.arrived.emit(found)


_OnDisk = tuple[str | None, str, str]


def _look_at(path: Path, typed: str, known: str) -> _OnDisk:
    """Return the text on disk, how its lines end, and a sentence on what came of both.

    Where it is another than is `known`, and than was `typed`, what was typed is kept beside it.
    """
    try:
        found, newline = read_kernel(path)
    except KernelFileError as error:
        gone = f"{path.name} is no longer there; its text is kept here, Save writes it."
        return None, "", str(error) if path.exists() else gone
    if found in (known, typed) or typed == known:
        return found, newline, ""
    try:
        copy = keep_copy(path, typed)
    except KernelFileError as error:
        refused = f"{path.name} was changed outside, too, but is not shown: {error}"
        return None, "", refused
    return (
        found,
        newline,
        f"{path.name} was changed outside, too, and is shown as it is there; what you typed is "
        f"kept as {copy.name}, and Ctrl+Z brings it back.",
    )


def read_kernel(path: Path) -> tuple[str, str]:
    """Return a file's text, its lines ending in \\n, and how they end in the file.

    Raises KernelFileError.
    """
    try:
        text = text_in(path)
    except HeaderError as error:
        raise KernelFileError(str(error)) from error
    newline = "\r\n" if "\r\n" in text else "\n"
    return text.replace("\r\n", "\n").replace("\r", "\n"), newline


def keep_copy(path: Path, text: str) -> Path:
    """Write `text` beside `path`, under a name that is free, and return that.

    Raises KernelFileError.
    """
    copy = next(each for each in _names(path) if not each.exists())
    write_kernel(copy, text)
    return copy


def _names(path: Path) -> Iterator[Path]:
    number = 1
    while True:
        yield path.with_name(f"{path.stem}.typed{'' if number == 1 else number}{path.suffix}")
        number += 1


def write_kernel(path: Path, text: str, newline: str = "\n") -> None:
    """Write a text into a file, in place of what is there.  Raises KernelFileError."""
    try:
        with atomic_files.replacing(path) as file:
            file.write(text.replace("\n", newline).encode())
    except (OSError, UnicodeEncodeError) as error:
        reason = atomic_files.reason(error) if isinstance(error, OSError) else "it is no text"
        raise KernelFileError(f"{path.name} cannot be written: {reason}.") from error
