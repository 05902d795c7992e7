"""`workbench batch`, or `apply`, in a process of its own, followed and controlled."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QObject, QProcess, Signal

from kernels.core.plain_data import from_plain, parse_json, without_controls
from workbench.base.background import bugs
from workbench.batch.stage_times import BatchProgress

NICENESS = 10  # the window, and what is filtered live in it, goes first
PATIENCE_MS = 3000  # with one that is to stop at the end of the window
MAX_COMPLAINT = 20_000  # bytes: what a bug says, and not what a hundred thousand files do
NOT_STARTED = "The program could not start itself once more; close it and start it again."
SILENT = "It ended without a word; start it again."
BUG = "Traceback (most recent call last)"

How = Literal["ended", "stopped", "refused"]


@dataclass(frozen=True, slots=True)
class BatchEnd:
    """The end of a batch, by itself, as it was told to, or by a failure."""

    how: How
    counts: Mapping[str, int]  # pictures by their status
    seconds: float = 0.0  # it took, without pauses
    complaint: str = ""  # why it was refused
    filter: str = ""  # in words
    verified: int = 0  # pictures
    cut: int = 0  # of files with several pages, of which one was kept
    lossy: int = 0  # results that lack something of their pictures
    journal: str = ""  # its path; "": of one picture there is none


class BatchProcess(QObject):
    """A process that filters files; one at a time.

    Signals:
        progressed(progress): a BatchProgress.
        strips_done(path, rows, height, left_s): so many rows of a picture that is filtered in
            strips are finished, of how many, and how long the rest takes.
        picture_failed(path, sentence): a picture has no result, and why.
        ended(end): a BatchEnd; there is no more to come.
    """

    progressed = Signal(object)
    strips_done = Signal(str, int, int, float)
    picture_failed = Signal(str, str)
    ended = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._process: QProcess | None = None
        self._complaint = b""
        self._how: How = "refused"
        self._summary: Mapping[str, Any] = {}

    @property
    def is_running(self) -> bool:
        """True while a batch has begun and not ended."""
        return self._process is not None

    def start(self, words: Sequence[str]) -> None:
        """Start `workbench` with these words, `batch` or `apply` the first of them."""
        assert self._process is None
        self._complaint, self._how, self._summary = b"", "refused", {}
        process = self._process = QProcess(self)
        process.readyReadStandardOutput.connect(self._read)
        process.readyReadStandardError.connect(self._read_complaint)
        process.started.connect(self._give_way)
        process.finished.connect(self._finish)
        process.errorOccurred.connect(self._refuse)
        process.start(sys.executable, ["-m", "workbench", *words, "--control"])

    def tell(self, word: str) -> None:
        """Tell it to "pause", "resume", or "stop" after the pictures under way."""
        if self._process is not None:
            self._process.write(f"{word}\n".encode())

    def close(self) -> None:
        """Stop, and wait for the end; kill it if that does not come soon."""
        if (process := self._process) is None:
            return
        self.blockSignals(True)  # the window is closing
        self.tell("stop")
        process.closeWriteChannel()
        if not process.waitForFinished(PATIENCE_MS):
            process.kill()
            process.waitForFinished()

    def _give_way(self) -> None:
        assert self._process is not None
        if sys.platform != "win32":
            with suppress(OSError):  # it has ended already
                os.setpriority(os.PRIO_PROCESS, self._process.processId(), NICENESS)

    def _read(self) -> None:
        process = self._process
        while process is not None and process.canReadLine():
            with suppress(ValueError):
                if isinstance(said := parse_json(bytes(process.readLine().data())), dict):
                    self._take(said)

    def _take(self, line: Mapping[str, Any]) -> None:
        if "progress" in line:
            self.progressed.emit(from_plain(BatchProgress, line["progress"]))
        elif rows := line.get("rows"):
            self.strips_done.emit(rows["input"], rows["done"], rows["of"], rows["left_s"])
        elif line.get("status") in ("failed", "wrong"):
            self.picture_failed.emit(line["input"], line["error"])
        elif "ended" in line:
            self._how, self._summary = "ended", line["ended"]
        elif "stopped" in line:
            self._how, self._summary = "stopped", line["stopped"]

    def _read_complaint(self) -> None:
        assert self._process is not None
        said = bytes(self._process.readAllStandardError().data())
        self._complaint = (self._complaint + said)[-MAX_COMPLAINT:]

    def _refuse(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._end(BatchEnd("refused", {}, complaint=NOT_STARTED))

    def _finish(self) -> None:
        self._read()
        self._read_complaint()
        how, summary = self._how, self._summary
        said = self._complaint.decode(errors="replace").strip()
        if BUG in said:
            _, *lines = said.rpartition(BUG)[2].splitlines()
            last = next((line for line in lines if line and not line.startswith(" ")), BUG)
            bugs.met.emit(without_controls(last), said)
        # Sentences come without the program's name; of a bug only the last line does.
        lines = [line.removeprefix("workbench: ") for line in said.splitlines()]
        complaint = without_controls(lines[-1]) if lines else SILENT
        complaint = complaint if how == "refused" else ""
        told = ("counts", "seconds", "filter", "verified", "journal", "cut", "lossy")
        facts = {name: summary[name] for name in told if name in summary}
        self._end(BatchEnd(**{"how": how, "counts": {}, "complaint": complaint} | facts))

    def _end(self, end: BatchEnd) -> None:
        assert self._process is not None
        self._process.deleteLater()  # in a moment: it is what called
        self._process = None
        self.ended.emit(end)
