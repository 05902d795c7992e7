"""A kernel's text and its file: read, saved, watched, and never lost where both change."""

from __future__ import annotations

import json
import os
import re
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from uuid import uuid4

from PySide6.QtCore import QObject, Signal, Slot

from kernels.core import plain_data, safe_files
from kernels.core.job import Job
from kernels.core.safe_files import hold
from kernels.rungs.headers import BEGIN, END, HeaderError
from kernels.rungs.own_kernels import text_in
from kernels.sweeps.machine import cpu, system
from workbench.base.background import Background, Throttle
from workbench.base.paths import data_folder
from workbench.model.intents import work_in_words
from workbench.session.kernel_folder import FileWatch, KernelFileError, KernelGoneError, is_own_file

NEW_NAME = "my_kernel.cu"
MAX_BYTES = 8_000_000  # JSON takes up to six bytes for a letter


@dataclass(frozen=True, slots=True)
class Unsaved:
    """A text that was typed and not saved.

    path      the file that it belongs to; None: it has none yet
    new_name  the name proposed for that
    """

    text: str
    path: Path | None
    new_name: str

    @property
    def name(self) -> str:
        return self.path.name if self.path else self.new_name


class KernelJournal:
    """The journal of this program, and those that others left.

    Never fails: where nothing can be written, `write` returns why.
    `note` and `set_aside` wait for no disk; all else does, and is called on one thread.
    """

    def __init__(self) -> None:
        self._folder = data_folder() / "unsaved-kernels"
        self._own: _Held | None = None
        self._left: tuple[Unsaved, _Held] | None = None
        self._noted: Unsaved | None = None
        self._leaving: deque[Unsaved] = deque()

    def note(self, unsaved: Unsaved | None) -> None:
        """Keep this text from the next `write` on, instead of the one before; None: nothing."""
        self._noted = unsaved

    def set_aside(self) -> None:
        """Leave the text to `left` at the next `write`: another one is typed from now on."""
        if self._noted is not None:
            self._leaving.append(self._noted)
            self._noted = None

    def write(self) -> str:
        """Write what was noted last, or remove it; returns why it cannot be kept, or ""."""
        try:
            while self._leaving:
                self._keep(self._leaving[0])
                self._leaving.popleft()
                self._let_go(is_wanted=True)
            if (noted := self._noted) is None:
                self._let_go(is_wanted=False)
            else:
                self._keep(noted)
        except OSError as error:
            return f"What you type is not kept if the program ends: {safe_files.reason(error)}."
        return ""

    def left(self) -> Unsaved | None:
        """The newest text that was not saved, by a program that has ended or by this one.

        It is held here, so that no other program offers it, until `drop_left`.
        """
        if self._left is None:
            found: list[tuple[float, Path]] = []
            with suppress(OSError):
                found = [(path.stat().st_mtime, path) for path in self._folder.glob("*.json")]
            for _, path in sorted(found, reverse=True):
                with suppress(OSError, ValueError, TypeError, KeyError):
                    if path.stat().st_size > MAX_BYTES:
                        raise ValueError(path)
                    with open(path, "rb", opener=safe_files.regular) as file:
                        data = plain_data.parse_json(file.read())
                    told = text, name, new = data["text"], data["path"], data.get("name", NEW_NAME)
                    if not all(isinstance(each, str) for each in told):
                        raise TypeError(path)
                    unsaved = Unsaved(text, Path(name) if name else None, new)
                    is_own = self._own is not None and path == self._own.path
                    if not is_own and (lock := hold(path.with_suffix(".lock"))) is not None:
                        self._left = unsaved, _Held(path, lock)
                        break
        return self._left[0] if self._left else None

    def drop_left(self, *, is_wanted: bool = False) -> None:
        """Let go of what `left` returned; unless it is still wanted, remove it."""
        if self._left is not None:
            self._left[1].close(is_wanted=is_wanted)
            self._left = None

    def close(self) -> None:
        """Let go of the files; what was not saved is offered the next time."""
        self.set_aside()
        self.write()
        self.drop_left(is_wanted=True)

    def _keep(self, noted: Unsaved) -> None:
        """Write a text.  Raises OSError."""
        if self._own is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / f"{uuid4().hex}.json"
            lock = hold(path.with_suffix(".lock"))
            assert lock is not None  # nobody else knows its name
            self._own = _Held(path, lock)
        # Not on the disk yet but with the system, which outlives the program.
        with safe_files.replacing(self._own.path, is_synced=False) as file:
            data = {"text": noted.text, "path": str(noted.path or ""), "name": noted.name}
            file.write(json.dumps(data).encode())

    def _let_go(self, *, is_wanted: bool) -> None:
        if self._own is not None:
            self._own.close(is_wanted=is_wanted)
            self._own = None


class _Held(NamedTuple):
    """A journal, and the lock beside it."""

    path: Path
    lock: BinaryIO

    def close(self, *, is_wanted: bool) -> None:
        """Unlock it; where it is not wanted, remove both."""
        if not is_wanted:  # first, or another program offers it
            with suppress(OSError):
                self.path.unlink()
        self.lock.close()
        if not is_wanted:
            with suppress(OSError):
                self.path.with_suffix(".lock").unlink()


KEEP_MS = 300  # of typing are lost at most, where the program is killed
OnFailure = Callable[[Exception], None]


class KernelFile(QObject):
    """The text that is typed and the one on disk, which is the truth where both changed.

    path  of the file; None: it has none yet
    text  as it is typed

    Signals:
        arrived(text): the text on disk is another, and is to be shown instead; it can be undone.
        began(text): another kernel is worked on from now on.
        named(): its path, or whether it is saved, may be another.
        saving(): the text is about to be written to its file, which may take a while.
        saved(): the text is on disk.
        said(sentence): what became of a text, in words.
    """

    arrived = Signal(str)
    began = Signal(str)
    named = Signal()
    saving = Signal()
    saved = Signal()
    said = Signal(str)

    def __init__(self, journal: KernelJournal, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._journal = journal
        self._keeping = Background((KernelFileError,), self)  # the disk may be slow, typing not
        self._soon = Throttle(KEEP_MS, self._keep, self)
        self.path: Path | None = None
        self.text = self._on_disk = self._new_name = ""
        self._newline = "\n"
        self._was_gone = False
        self._at_disk = 0  # how much is under way there
        self._opening = 0  # number of the newest that is begun, opened or brought back
        self._saving: tuple[str, Callable[[], object]] | None = None  # what the disk is waited for
        self._watch = FileWatch(self._keeping, self)
        self._watch.changed.connect(self._look)

    @property
    def name(self) -> str:
        return self.path.name if self.path else self._new_name

    @property
    def is_saved(self) -> bool:
        return self.path is not None and self.text == self._on_disk

    @property
    def is_at_disk(self) -> bool:
        """True while it is read or saved, or unsaved texts are looked for."""
        return self._at_disk > 0

    def begin(self, text: str, name: str) -> None:
        """Work on a new kernel, which has no file yet.

        name  the one proposed for its file
        """
        self._opening += 1
        self._begin(None, text, name=name)

    def open(
        self,
        path: Path,
        once_read: Callable[[bool], None] = lambda _: None,
        on_failure: OnFailure = lambda _: None,
    ) -> None:
        """Work on the kernel in a file, once it is read; until then nothing has changed.

        once_read  called before `began`, with True if it is in the user's folder
        """

        def take(found: _Read) -> None:
            once_read(found.is_users)
            self._begin(path.absolute(), found.text, found)

        self._read(partial(_read, path), take, on_failure)

    def bring_back(self, unsaved: Unsaved, once_read: Callable[[bool], None]) -> None:
        """Work on what was not saved in an earlier run; its file stays as it is until `save`."""

        def take(found: _Read | None) -> None:
            once_read(found is not None and found.is_users)
            self._begin(unsaved.path if found else None, unsaved.text, found, unsaved.name)
            self._note()

        self._read(partial(_beneath, unsaved.path), take, lambda _: None)

    def _read(
        self, reading: Callable[[], Any], take: Callable[[Any], None], on_failure: OnFailure
    ) -> None:
        """Read on the thread; an earlier read that has not finished is dropped."""
        self._opening += 1
        number = self._opening

        def if_newest(deliver: Callable[[Any], None], outcome: Any) -> None:
            if number == self._opening:
                deliver(outcome)

        self.do(reading, partial(if_newest, take), partial(if_newest, on_failure))

    def look_for_unsaved(self, then: Callable[[Unsaved | None], None]) -> None:
        """Find the newest text that was not saved, once the journal is written."""
        self.do(self._journal.left, then, lambda _: None)

    def drop_unsaved(self) -> None:
        """Remove what `look_for_unsaved` found: it was brought back, or is not wanted."""
        self._keeping.run(self._journal.drop_left, lambda _: None, lambda _: None)

    def type(self, text: str) -> None:
        """Take what is typed; it is kept in a moment, also if the program ends."""
        if text != self.text:
            self.text = text
            self._note()

    def save(
        self,
        path: Path | None = None,
        then: Callable[[], None] = lambda: None,
        on_failure: OnFailure = lambda _: None,
    ) -> None:
        """Write the text into its file, or into another one from then on; on the thread.

        What somebody else wrote meanwhile into its own file is not written over, but shown.
        """
        target = path or self.path
        assert target is not None
        target, text = target.absolute(), self.text
        self.saving.emit()
        known = self._on_disk if path is None else None
        writing = partial(_written, target, text, self._newline, known)
        self._saving = text, writing

        def take(found: _OnDisk | None) -> None:
            self._saving = None
            if found is None:
                self._on_disk, self._was_gone = text, False
                if target != self.path:
                    self.path = target
                    self._watch.begin(target)
                self._note()  # more may have been typed
            elif text == self.text:
                self._take_up(*found)
            else:  # more was typed, of which no copy is kept yet
                self._look()
                return
            self.saved.emit()
            then()

        def fail(error: Exception) -> None:
            self._saving = None
            on_failure(error)

        self.do(writing, take, fail)

    def do(
        self, work: Callable[[], Any], take: Callable[[Any], None], on_failure: OnFailure
    ) -> None:
        """Do `work` on the thread; it is under way until its outcome is taken."""
        self._at_disk += 1

        def end(deliver: Callable[..., None], *outcome: Any) -> None:
            try:
                deliver(*outcome)
            finally:
                self._at_disk -= 1

        self._keeping.run(
            work, partial(end, take), partial(end, on_failure), partial(end, lambda: None)
        )

    def close(self) -> None:
        """Let go of the file; what is not saved is offered the next time."""
        self._watch.begin(None)
        self._soon.stop()
        self._keeping.close()
        if self._saving is not None:  # the program ends: nothing else is left to wait
            text, writing = self._saving
            with suppress(KernelFileError):
                writing()
                if text == self.text:
                    self._journal.note(None)
        self._journal.close()

    def _begin(
        self, path: Path | None, text: str, found: _Read | None = None, name: str = NEW_NAME
    ) -> None:
        """Work on another text; `found` is on disk.  What would be lost is left to the journal."""
        if self.text != self._on_disk and self.text.strip():
            self._journal.set_aside()
        else:
            self._journal.note(None)
        self._keep()
        self._new_name, self._newline = name, found.newline if found else "\n"
        self.path, self.text, self._was_gone = path, text, False
        self._on_disk = found.text if found else ""
        self._watch.begin(path)
        self.named.emit()
        self.began.emit(text)

    def _note(self) -> None:
        if self.text == self._on_disk:
            self._journal.note(None)
            self._keep()
        else:
            self._journal.note(Unsaved(self.text, self.path, self._new_name))
            self._soon.ask()
        self.named.emit()

    @Slot()
    def _keep(self) -> None:
        def complain(sentence: str) -> None:
            if sentence:
                self.said.emit(sentence)

        self._keeping.run(self._journal.write, complain, lambda _: None)

    @Slot()
    def _look(self) -> None:
        """Look, on the thread, whether another text is on disk than was there."""
        path, texts = self.path, (self.text, self._on_disk)
        if path is None:
            return

        def take(found: _OnDisk) -> None:
            if path != self.path:
                return
            if texts == (self.text, self._on_disk):
                self._take_up(*found)
            else:  # more was typed, of which no copy is kept yet, or it was saved
                self._look()

        self._keeping.run(partial(_look_at, path, *texts), take, lambda _: None)

    def _take_up(self, found: str | None, newline: str, sentence: str) -> None:
        """Show the text on disk, if there is another than was; `sentence` says what it is not."""
        was_gone, self._was_gone = self._was_gone, found is None
        if sentence and not (found is None and was_gone):
            self.said.emit(sentence)
        if found is None or found == self._on_disk:
            return
        is_other = found != self.text
        self._on_disk = self.text = found
        self._newline = newline
        self._note()
        if is_other:
            self.arrived.emit(found)


_OnDisk = tuple[str | None, str, str]


class _Read(NamedTuple):
    """A file's text, how its lines end, and whether it is in the user's folder of kernels."""

    text: str
    newline: str
    is_users: bool


def _read(path: Path) -> _Read:
    try:
        return _Read(*read_kernel(path), is_own_file(path))
    except KernelFileError as error:
        if os.path.lexists(path):
            raise
        raise KernelGoneError(str(error)) from error


def _beneath(path: Path | None) -> _Read | None:
    """Read the file that a text belongs to; None: it has none any more."""
    if path is None:
        return None
    try:
        return _read(path)
    except KernelFileError:
        if not path.parent.is_dir():
            return None
        return _Read("", "\n", is_own_file(path))  # `save` writes it again


def _written(target: Path, text: str, newline: str, known: str | None) -> _OnDisk | None:
    """Write a text; where the file has another one than is `known`, return that instead."""
    if known is not None:
        found, its_newline, sentence = _look_at(target, text, known)
        if found not in (None, known, text):
            return found, its_newline, sentence
    write_kernel(target, text, newline)
    return None


def _look_at(path: Path, typed: str, known: str) -> _OnDisk:
    """The text on disk, its newline, and a sentence where a conflicting one is kept beside it."""
    try:
        found, newline = read_kernel(path)
    except KernelFileError as error:
        gone = f"{path.name} is no longer there; its text is kept here, Save writes it."
        return None, "", str(error) if path.exists() else gone
    if found in (known, typed) or typed == known:
        return found, newline, ""
    names = (f"{path.stem}.typed{n if n > 1 else ''}{path.suffix}" for n in count(1))
    copy = next(each for each in map(path.with_name, names) if not each.exists())
    try:
        write_kernel(copy, typed)
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
    """A file's text, its lines ending in \\n, and its newline.

    Raises KernelFileError.
    """
    try:
        text = text_in(path)
    except HeaderError as error:
        raise KernelFileError(str(error)) from error
    newline = "\r\n" if "\r\n" in text else "\n"
    return text.replace("\r\n", "\n").replace("\r", "\n"), newline


def write_kernel(path: Path, text: str, newline: str = "\n") -> None:
    """Write a text into a file, in place of what is there.  Raises KernelFileError."""
    try:
        with safe_files.replacing(path) as file:
            file.write(text.replace("\n", newline).encode())
    except (OSError, UnicodeEncodeError) as error:
        reason = safe_files.reason(error) if isinstance(error, OSError) else "it is no text"
        raise KernelFileError(f"{path.name} cannot be written: {reason}.") from error


TITLE = "Shared from Filter Workbench"
COMMENT = re.compile(rf"^// {TITLE}.*\n(?://.*\n)*\n?", re.M)  # and the blank line behind it
HEADER = re.compile(rf"\A{re.escape(BEGIN)}[ \t]*\n.*?^{re.escape(END)}[ \t]*\n", re.DOTALL | re.M)


def shared_text(text: str, verdict: str, job: Job | None, today: date) -> str:
    """Put a comment behind the header of `text`, in place of one from an earlier sharing.

    verdict  of the text, in words, with a time only where one was measured
    job      that it was tried on; None: it was not tried

    Names no file, user or host.
    """
    lines = [f"{TITLE}, {today.isoformat()}.", f"Verdict: {verdict}"]
    if job is not None:
        lines.append(
            f"Job: {work_in_words(job)}, border {job.border}, a picture of "
            f"{job.width}×{job.height} pixels, {job.channels} × {job.pixel_type}."
        )
    lines.append(f"Machine: {cpu()}; {system()}.")
    comment = "".join(f"// {' '.join(line.split())}\n" for line in lines)
    text = COMMENT.sub("", text)
    header = HEADER.match(text)
    at = header.end() if header else 0
    return f"{text[:at]}{comment}\n{text[at:]}"
