"""The journal of a batch: what became of each file, so that the batch can be resumed.

It lies where `place_of` says, and only ever grows: a line on each run's options, then one for each
file that is finished or has failed, and at the end of a run that was not stopped one that says so.

A batch may be split into shards, processes anywhere, that have a journal each.  A result's shard
depends on its name alone, so that files which come or go meanwhile move no other one.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any, BinaryIO, Literal, get_args
from zlib import crc32

from kernels.core.errors import KernelError
from kernels.core.plain_data import parse_json
from kernels.core.safe_files import MAX_LINE, AppendLog, hold, reason, whole_lines
from workbench.base.paths import data_folder
from workbench.batch.pairs import FilePair

NAME = "workbench-batch.jsonl"
FORMAT = 1
KEPT = 50  # journals in the user's data, and those that can be resumed
SHARDS = re.compile(r"workbench-batch-(\d+)-of-(\d+)\.jsonl")

Line = Mapping[str, Any]
Status = Literal["done", "skipped", "failed", "wrong"]
Stage = Literal["decode", "upload", "filter", "download", "verify", "encode", "sync"]
STAGES: tuple[Stage, ...] = get_args(Stage)


class JournalError(KernelError):
    """A journal cannot be used."""


class Journal(AppendLog):
    """The journal of a batch into a folder, open for writing; one process at a time.

    last  the run that is resumed, or one without results

    All of it raises JournalError.
    """

    def __init__(
        self,
        folder: Path,
        asked: Line,
        *,
        resuming: bool = False,
        replacing: bool = False,
        path: Path | None = None,
    ) -> None:
        """Open the journal, and begin a run or resume the last one.

        path       its file; None: beside the results
        asked      the options of the filter, and of the names of results
        resuming   leave alone what the last run is done with, if there was one
        replacing  write files anew, and unless `resuming` forget what the last run has left
        """
        self.folder, path = folder, path or folder / NAME
        self._lock: BinaryIO | None = None
        for each in (folder, path.parent):
            make_folder(each)
        with _failures(path):
            super().__init__(path, "a+")
        try:
            self.last = self._begin(asked, resuming, replacing)
        except BaseException:
            self.close()
            raise

    def hold(self) -> bool:
        """Lock the journal, and where it is not beside the results these as well."""
        is_beside = self.path.parent == self.folder
        self._lock = None if is_beside else hold(self.path.with_name("lock"))
        return (is_beside or self._lock is not None) and super().hold()

    def close(self) -> None:
        """Write everything to the disk and close the file."""
        super().close()
        if self._lock is not None:
            self._lock.close()

    def append(self, line: Line) -> None:
        """Put a line behind all others; it is with the system then, and on the disk soon."""
        with _failures(self.path):
            self.put(f"{json.dumps(line)}\n".encode())

    def _begin(self, asked: Line, resuming: bool, replacing: bool) -> LastRun:
        with _failures(self.path):
            if not self.hold():
                raise JournalError(f"Another process is writing to {self.folder}; wait for it.")
            last = _read(self.path)
            self.go_on_behind(last.whole)  # there is what a killed process left of a line
        if last.asked is None or not resuming:
            if not (last.is_over or resuming or replacing):
                raise JournalError(
                    f"The last batch into {self.folder} did not come to its end; add --resume to "
                    "do the rest, or --replace to begin anew."
                )
            self.append({"batch": FORMAT, "asked": asked, "replace": replacing})
            return LastRun(replaces=replacing)
        if differ := last.differing(asked):
            raise JournalError(
                f"The batch in {self.path} was begun with other options ({', '.join(differ)}); "
                "resume it with its own options, or write to another folder."
            )
        if replacing:
            self.append({"replace": True})
            last.replaces = True
        return last


def place_of(inputs: Iterable[Path], folder: Path) -> Path:
    """The file of the journal of a batch from `inputs`, folders or files, into `folder`.

    It is beside the results where one is already, or where the user's data cannot be written.
    """
    beside, data = folder / NAME, data_folder()
    above = (data, *data.absolute().parents)  # `Path.exists` and `Path.is_dir` may raise
    there = next(each for each in above if os.path.exists(each))  # noqa: PTH110
    if os.path.lexists(beside) or not os.access(there, os.W_OK):
        return beside
    named = {each.absolute() for each in inputs}
    sources = {str(each) for each in named if each.parent not in named}
    into = folder.absolute()  # batches into one folder share a folder, and the lock in it
    return data / "batches" / f"{into.name}-{_key([str(into)])}" / f"{_key(sorted(sources))}.jsonl"


def prune() -> None:
    """Remove journals in the user's data, of batches that came to their end; the newest stay."""
    found: list[Path] = []
    with suppress(OSError):  # other batches remove some meanwhile
        found += (data_folder() / "batches").glob("*/*.jsonl")
    for each in sorted(found, key=lambda path: (stamp_of(path) or [0, 0])[1])[:-KEPT]:
        with suppress(OSError):
            if (lock := hold(each.with_name("lock"))) is None:  # a batch begins there
                continue
            with lock, each.open("rb") as file:
                file.seek(max(each.stat().st_size - MAX_LINE, 0))
                if file.read().rpartition(b"\n{")[2].startswith(b'"ended"'):
                    each.unlink()
                if not any(each.parent.glob("*.jsonl")):
                    rmtree(each.parent, ignore_errors=True)


def _key(paths: Iterable[str]) -> str:
    return sha256("\0".join(paths).encode(errors="surrogateescape")).hexdigest()[:16]


def named_in(folder: Path, target: Path) -> str:
    """The name of `target`, a file in `folder`, in the journal of that."""
    return target.relative_to(folder).as_posix()


def make_folder(path: Path | None, *, parents: bool = True) -> None:
    """Make a folder, and those it is in, where it is not there.  Raises JournalError."""
    if path is not None:
        with _failures(path, "make the folder"):
            path.mkdir(parents=parents, exist_ok=True)


@contextmanager
def _failures(path: Path, doing: str = "write") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = reason(error) if doing == "write" else error.strerror
        if isinstance(error, FileExistsError):
            kind = "file" if os.path.exists(error.filename) else "link to nothing"  # noqa: PTH110
            why = f"a {kind} has that name"
        raise JournalError(f"Cannot {doing} {path}: {why}.") from error


def stamp_of(path: Path) -> list[int] | None:
    """Size and time of the last change of a file; None: it cannot be looked at."""
    with suppress(OSError):
        return [(found := path.stat()).st_size, found.st_mtime_ns]
    return None


@dataclass(slots=True)
class LastRun:
    """The last run of a journal."""

    asked: Line | None = None  # its options; None: there was none
    known: dict[str, tuple[Any, Any]] = field(default_factory=dict)  # stamps of what it has done
    failed: dict[str, str] = field(default_factory=dict)  # sentences of the others, by their input
    lines: dict[str, Line] = field(default_factory=dict)  # the last one of each output, if kept
    is_over: bool = True  # whether it came to its end
    replaces: bool = False  # write files anew that are there already
    whole: int = 0  # the bytes up to the end of the last whole line, of all runs

    def add(self, line: Line, *, keeps_lines: bool = False) -> None:
        """Go on to the next line."""
        if isinstance(line.get("asked"), dict):
            self.asked, self.is_over, self.replaces = line["asked"], False, False
            for each in (self.known, self.failed, self.lines):
                each.clear()
        elif "ended" in line:
            self.is_over = True
        elif "status" in line:
            self.is_over = False
            name, source = str(line.get("output")), str(line.get("input"))
            if keeps_lines:
                self.lines[name] = line
            if line["status"] in ("done", "skipped"):  # what failed is tried again
                self.known[name] = line.get("read"), line.get("written")
                self.failed.pop(source, None)
            else:
                self.failed[source] = str(line.get("error"))
        self.replaces |= line.get("replace") is True

    def differing(self, asked: Line) -> list[str]:
        """The options that are not as it was begun with, so that it cannot be resumed."""
        then = {"alpha": "apart", **(self.asked or {})}  # as earlier versions did, without a word
        now = json.loads(json.dumps(asked))  # as they are when they are read again
        return [key for key in {**then, **now} if then.get(key) != now.get(key)]

    def left(self, pairs: Iterable[FilePair], folder: Path) -> Iterator[FilePair]:
        """Yield those not done, or whose picture, or result in `folder`, is another by now."""
        for each in pairs:
            known = self.known.get(named_in(folder, each.target))
            now = stamp_of(each.target) if known else None
            skipped = None if self.replaces else now  # which has no stamp
            if not known or now is None or (known[1] or skipped) != now:
                yield each
            elif known[0] and stamp_of(each.source) not in (None, known[0]):
                yield replace(each, is_ours=True)


def last_run(path: Path) -> LastRun:
    """Read the last run of a journal, without touching anything.

    Raises JournalError where it cannot be read.
    """
    with _failures(path, "read"), suppress(FileNotFoundError, NotADirectoryError):
        return _read(path)
    return LastRun()


def _read(path: Path, *, keeps_lines: bool = False) -> LastRun:
    run = LastRun()
    for each in whole_lines(path):
        line = _parsed(each.text)
        if run.whole == 0 and line.get("batch") != FORMAT:
            raise JournalError(f"{path} is no journal of this version; rename or remove it.")
        run.whole += each.length
        run.add(line, keeps_lines=keeps_lines)
    return run


def _parsed(line: bytes) -> Line:
    """Parse a line; a damaged one is empty, so that its file is done again."""
    with suppress(ValueError):
        if isinstance(said := parse_json(line), dict):
            return said
    return {}


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` parts of a batch, counted from 1."""

    number: int
    count: int

    def has(self, output: str) -> bool:
        """True if the result called `output` in the journal belongs to it."""
        return crc32(output.encode(errors="surrogateescape")) % self.count == self.number - 1

    @property
    def journal_name(self) -> str:
        return f"workbench-batch-{self.number}-of-{self.count}.jsonl"


def journals_among(inputs: Iterable[Path]) -> Iterator[Path]:
    """Yield journals of shards: those named, and those in folders.  Raises JournalError."""
    for each in inputs:
        found = [each]
        if each.is_dir():
            found = sorted(path for path in each.iterdir() if SHARDS.fullmatch(path.name))
        if not found:
            raise JournalError(f"There are no journals of shards in {each}.")
        yield from found


def merge(journals: Iterable[Path], folder: Path) -> dict[str, int]:
    """Write the journals of all shards as that of one batch; returns the pictures by their status.

    folder  of the results, which can be resumed as a whole then

    Raises JournalError where a shard is missing or not at its end, or is of another batch.
    """
    runs: dict[Shard, LastRun] = {}
    for path in journals:
        if (named := SHARDS.fullmatch(path.name)) is None:
            raise JournalError(f"{path} is no journal of a shard.")
        with _failures(path, "read"):
            run = runs[Shard(int(named[1]), int(named[2]))] = _read(path, keeps_lines=True)
        if run.asked is None or not run.is_over:
            raise JournalError(f"{path} did not come to its end; resume it first (--resume).")
        if run.asked != next(iter(runs.values())).asked:
            raise JournalError(f"{path} is of a batch with other options than the first.")
    if len(sizes := {shard.count for shard in runs}) != 1:
        raise JournalError("These journals are of different numbers of shards; name those of one.")
    (count,) = sizes
    if missing := set(range(1, count + 1)) - {shard.number for shard in runs}:
        listed = ", ".join(map(str, sorted(missing)))
        raise JournalError(f"There is no journal of shard {listed} of {count}; run it first.")
    lines = [line for run in runs.values() for line in run.lines.values()]
    counts = dict(Counter(str(line["status"]) for line in lines))
    replaces = any(run.replaces for run in runs.values())
    with Journal(folder, run.asked or {}, replacing=replaces) as journal:
        for line in (*lines, {"ended": {"counts": counts}}):
            journal.append(line)
    return counts
