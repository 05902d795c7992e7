"""The journal of a batch: what became of each file, so that the batch can be gone on with.

It lies beside the results and only ever grows.  Each run begins with a line on what is asked for,
then comes a line for each file that is finished or has failed, and at the end of a run that was not
stopped one that says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from kernels import Result
from kernels.core.plain_data import parse_json
from kernels.core.safe_files import AppendLog, reason, whole_lines

NAME = "workbench-batch.jsonl"
FORMAT = 1
NOT_AGAIN = ("done", "skipped")  # what --resume leaves alone; what failed is tried again

Line = Mapping[str, Any]


class JournalError(Exception):
    """A journal cannot be used.  str(error) is one sentence for the user."""


class Journal(AppendLog):
    """The journal in the folder of the results, open for writing; one process at a time.

    known  the outputs that are done with, relative to the folder
    """

    def __init__(
        self, folder: Path, asked: Line, *, resuming: bool = False, name: str = NAME
    ) -> None:
        """Open the journal, and begin a run or go on with the last one.

        asked     what is done to every file, and how results are called
        resuming  leave alone what the last run is done with, if there was one
        name      of its file

        Raises JournalError where there is a run to resume and nobody asked for that, where it was
        another one, where another process goes on with it, and where nothing can be written.
        """
        self._folder = folder
        self._asked = json.loads(json.dumps(asked))  # as it is when it is read again
        with _refusals(folder / name):
            folder.mkdir(parents=True, exist_ok=True)
            super().__init__(folder / name, "a+")
        try:
            self.known = self._begin(resuming)
        except BaseException:
            self.close()
            raise

    def of(self, target: Path) -> str:
        """Return what `target`, a file in the folder, is called in the journal."""
        return target.relative_to(self._folder).as_posix()

    def append(self, line: Line) -> None:
        """Put a line behind all others; it is with the system then, and on the disk soon.

        Raises JournalError where it cannot be written, as on a full disk.
        """
        with _refusals(self.path):
            self.put(f"{json.dumps(line)}\n".encode())

    def _begin(self, resuming: bool) -> frozenset[str]:
        if not self.hold():
            raise JournalError(f"Another process is writing to {self.path}; wait for it.")
        with _refusals(self.path):
            last = _last_run(self.path)
            self.go_on_behind(last.whole)  # there is what a killed process left of a line
        if last.asked is None or not resuming:
            if not last.is_over:
                raise JournalError(
                    f"The last batch into {self._folder} did not come to its end; add --resume to "
                    f"do the rest, or remove {self.path} to begin anew."
                )
            self.append({"batch": FORMAT, "asked": self._asked})
            return frozenset()
        if differ := _differing(last.asked, self._asked):
            raise JournalError(
                f"The batch in {self.path} was begun with another {', '.join(differ)}; resume it "
                "with its own options, or write to another folder."
            )
        return frozenset(last.known)


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise JournalError(f"Cannot write {path}: {reason(error)}.") from error


def lines_of(path: Path) -> Iterator[Line]:
    """Yield what the whole lines of a journal say.  Raises JournalError where it cannot be read."""
    try:
        yield from (_parsed(line.text) for line in whole_lines(path))
    except OSError as error:
        raise JournalError(f"Cannot read {path}: {error.strerror}.") from error


def last_run(folder: Path, name: str = NAME) -> LastRun:
    """Return what there is to know of the last run into `folder`, without touching anything.

    Raises JournalError where its journal cannot be read.
    """
    try:
        return _last_run(folder / name)
    except (FileNotFoundError, NotADirectoryError):
        return LastRun()
    except OSError as error:
        raise JournalError(f"Cannot read {folder / name}: {error.strerror}.") from error


@dataclass(slots=True)
class LastRun:
    """The last run that a journal tells of.

    asked    what was asked for; None: there was none
    known    the outputs that it is done with
    failed   the sentences of the others, by their input
    is_over  whether it came to its end
    whole    the bytes up to the end of the last whole line, of all runs
    """

    asked: Line | None = None
    known: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    is_over: bool = True
    whole: int = 0


def _last_run(path: Path) -> LastRun:
    """Read a journal.  Raises OSError, and JournalError where the file is none."""
    run = LastRun()
    for line in whole_lines(path):
        said = _parsed(line.text)
        if run.whole == 0 and said.get("batch") != FORMAT:
            raise JournalError(f"{path} is no journal of this version; rename or remove it.")
        run.whole += line.length
        _add(run, said)
    return run


def _add(run: LastRun, said: Line) -> None:
    if isinstance(said.get("asked"), dict):
        run.asked, run.is_over = said["asked"], False
        run.known.clear()
        run.failed.clear()
    elif "ended" in said:
        run.is_over = True
    elif "status" in said:
        run.is_over = False
        if said["status"] in NOT_AGAIN:
            run.known.add(str(said.get("output")))
            run.failed.pop(str(said.get("input")), None)
        else:
            run.failed[str(said.get("input"))] = str(said.get("error"))


def _parsed(line: bytes) -> Line:
    """Return what a line says; nothing where it is damaged, so that its file is done again."""
    try:
        said = parse_json(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _differing(then: Line, now: Line) -> list[str]:
    """Return the names of what was asked for otherwise."""
    return [key for key in {**then, **now} if then.get(key) != now.get(key)]


Stage = Literal["decode", "upload", "filter", "download", "verify", "encode", "sync"]
STAGES: tuple[Stage, ...] = get_args(Stage)
BY_FILES: tuple[Stage, ...] = ("decode", "encode")  # which the same threads do
BY_DISK: tuple[Stage, ...] = ("sync",)  # which others wait for, as many of them
BY_ENGINE: tuple[Stage, ...] = ("upload", "filter", "download", "verify")  # and one thread does


def filtering_seconds(result: Result, took_s: float) -> dict[Stage, float]:
    """Return the seconds of filtering by stage; on a GPU both transfers are stages of their own."""
    moved: dict[Stage, float | None] = {"upload": result.upload_ms, "download": result.download_ms}
    seconds: dict[Stage, float] = {stage: ms / 1e3 for stage, ms in moved.items() if ms is not None}
    seconds["filter"] = max(took_s - sum(seconds.values()), 0.0)
    return seconds
