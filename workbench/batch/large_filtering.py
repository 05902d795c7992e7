"""Filter a picture larger than memory from one file into another, in strips of its rows.

While one strip is filtered, on the caller's thread, the next is read and the last is written, so
that two are in memory on either side, whatever the picture's size.  Every strip is read with the
rows around it that its output needs: see `kernels.core.borders`.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import stat
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels import Engine, Job, Result
from kernels.core import safe_files
from kernels.core.borders import RowStrip, block_rows, strips_of
from kernels.core.errors import DeviceLostError, OutOfMemoryError
from kernels.core.job import Pick, Progress, Region
from kernels.core.plain_data import parse_json
from kernels.core.safe_files import AppendLog, whole_lines
from kernels.core.step import Correlation, Step
from kernels.core.verdict import Check
from kernels.core.version import program_version
from kernels.engine.engine import PickRefusedError, StripFilter
from workbench.base import numbers
from workbench.base.memory import is_out_of_memory
from workbench.batch.journal import STAGES, Stage
from workbench.batch.stage_times import BY_ENGINE, longest, measuring, rows_in_words
from workbench.files import tiff_rows
from workbench.files.large_pictures import LargePicture
from workbench.files.picture_errors import ImageFileError
from workbench.files.tiff_rows import TILE, TiledTiff
from workbench.imaging.pictures import Metadata

FORMAT = 1
PART, JOURNAL = ".part", ".part.jsonl"  # behind the result's own name
_BEGINS = b'{"strips":'  # of a journal; a power failure may leave zeros


def is_begun(target: Path) -> bool:
    """True if there is a part of `target` that can be resumed."""
    part, journal = _beside(target)
    return part.exists() and journal.exists()


def _beside(target: Path) -> tuple[Path, Path]:
    return target.with_name(target.name + PART), target.with_name(target.name + JOURNAL)


class ResumableOutput:
    """The file that becomes `target`, open for writing; one process at a time.

    rows  so many are finished, from the top
    pick  what filters all rows, as `note_pick` got it; None: that is not decided

    All of it raises OSError where it cannot be written.
    """

    def __init__(
        self,
        target: Path,
        shape: tuple[int, int, int],
        dtype: np.dtype[Any],
        metadata: Metadata,
        asked: Mapping[str, Any],
    ) -> None:
        """Open what was begun, or begin a picture (H, W, C); `asked` decides what is in it.

        Raises ImageFileError where there can be no such file.
        """
        self.target = Path(os.path.realpath(target))
        self._part, path = _beside(self.target)
        self._asked = json.loads(json.dumps(asked))
        self.rows = 0
        self.pick: Pick | None = None
        if self.target.is_dir() or safe_files.is_special(self.target):
            raise ImageFileError(
                f"Cannot save {self.target.name}: what is written in strips has to be a file; "
                "choose another name."
            )
        self._refuse_others(path)
        self._journal = AppendLog(path, "a+")
        if not self._journal.hold():
            self._journal.close()
            raise ImageFileError(f"Another process is writing {target.name}; wait for it.")
        try:
            if not self._resumes():
                self._begin(shape, dtype, metadata)
            self._open = TiledTiff(self._part)
        except BaseException:
            with suppress(OSError):  # while no other process can hold them
                if not path.stat().st_size:
                    self._part.unlink(missing_ok=True)
                    path.unlink()
            self._journal.close()
            raise

    def add(self, samples: NDArray[Any]) -> None:
        """Put samples, (rows, W, C), below those that are finished."""
        self._open.fill(self.rows, samples)
        self._open.sync()
        self.rows += len(samples)
        self._put({"rows": self.rows})

    def note_pick(self, pick: Pick) -> None:
        """Keep what filters, before the first rows: what is resumed is filtered alike."""
        self.pick = pick
        self._put({"pick": {"implementation": pick.implementation, "block": pick.block_xy}})

    def finish(self, *, keeps: bool) -> None:
        """Give the result its name; `keeps` as `safe_files.put_in_place` has it."""
        self.close()
        with suppress(OSError):  # there is none yet, or a file system that knows no permissions
            self._part.chmod(stat.S_IMODE(self.target.stat().st_mode) & 0o777)
        safe_files.put_in_place(self._part, self.target, keeps=keeps)
        self._journal.path.unlink()

    def drop(self) -> None:
        self.close()
        self._part.unlink(missing_ok=True)
        self._journal.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of what was written, so that it can be resumed."""
        self._open.close()
        self._journal.close()

    def _put(self, line: Mapping[str, Any], *, sync: bool = False) -> None:
        self._journal.put(f"{json.dumps(line)}\n".encode(), sync=sync)

    def _refuse_others(self, journal: Path) -> None:
        """Raise ImageFileError where a file that has such a name is not this program's."""
        start = None  # no journal; an empty one is of a run that was killed as it began
        with suppress(FileNotFoundError), open(journal, "rb", opener=safe_files.regular) as file:
            start = file.read(len(_BEGINS))
        is_in_the_way = os.path.lexists(self._part) and (start is None or self._part.is_symlink())
        if is_in_the_way or (start or b"").strip(b"\0\n") not in (b"", _BEGINS):
            name = self._part.name if is_in_the_way else journal.name
            raise ImageFileError(
                f"Cannot save {self.target.name}: {name} is there already; move it away."
            )

    def _resumes(self) -> bool:
        """Go on where it was begun, if that was the same; a damaged journal is none."""
        kept = list(whole_lines(self._journal.path))
        try:
            lines: list[Any] = [parse_json(each.text) for each in kept]
        except ValueError:
            return False
        is_same = self._part.is_file() and lines[:1] == [self._first_line()]
        if not is_same or not all(isinstance(each, dict) for each in lines):
            return False
        self._journal.go_on_behind(sum(each.length for each in kept))
        for line in lines[1:]:
            self.rows = max(self.rows, int(line.get("rows", 0)))
            if self.pick is None and (pick := line.get("pick")) is not None:
                block = pick["block"] and (pick["block"][0], pick["block"][1])
                self.pick = Pick(str(pick["implementation"]), block, "as the first rows")
        return True

    def _begin(self, shape: tuple[int, int, int], dtype: np.dtype[Any], metadata: Metadata) -> None:
        self._journal.go_on_behind(0)
        self._part.unlink(missing_ok=True)
        needed = math.prod(shape) * dtype.itemsize
        if needed > (free := shutil.disk_usage(self._part.parent).free):
            raise ImageFileError(
                f"Cannot save {self.target.name}: it takes {numbers.file_size(needed)} of the "
                f"disk, and {numbers.file_size(free)} are free; choose another folder."
            )
        tiff_rows.lay_out(self._part, shape, dtype, metadata)
        self._put(self._first_line(), sync=True)

    def _first_line(self) -> dict[str, Any]:
        return {"strips": FORMAT, "bytes": self._part.stat().st_size, "asked": self._asked}


IN_MEMORY = 4  # strips: one read, one filtered, its output, and one written
FLOAT_BYTES = 4  # of a sample, wherever the filter works on float32
MIN_STRIPS = 8  # of any picture, so that reading and writing overlap with filtering
# Of a strip few pixels are checked, in many places: as long as so many times their products take.
SPREAD_COST = 32
# Failures that may be gone another time, such as a full disk, or a GPU that others need, too.
PASSING = (ImageFileError, DeviceLostError, OutOfMemoryError)


@dataclass(frozen=True, slots=True)
class StripsDone(Progress):
    """A note on how far a picture is."""

    rows: int  # that are finished
    height: int
    left_s: float  # for the rest


@dataclass(frozen=True, slots=True, eq=False)
class LargeAnswer:
    """The outcome of a picture that was filtered in strips, and is in its file."""

    shape: tuple[int, int, int]  # (H, W, C)
    first: Result | None  # of the first strip, which tells what ran; None: all was finished before
    strips: int  # in how many it was filtered now
    resumed: int  # rows that were finished before
    took_s: float
    seconds: Mapping[Stage, float]  # by stage: of three threads at a time
    check: Check | None = None  # None: not checked

    @property
    def limit(self) -> Stage | None:
        """The longest stage of the busiest thread; None where nothing was left to do."""
        return longest(self.seconds, (("decode",), BY_ENGINE, ("encode",)))

    @property
    def megapixels_per_s(self) -> float:
        """The millions of pixels that were read, filtered and written per second."""
        return (self.shape[0] - self.resumed) * self.shape[1] / 1e6 / self.took_s


def filtering_file(
    engine: Engine,
    picture: LargePicture,
    target: Path,
    like: Job,
    named: str | None = None,
    *,
    region: Region | None = None,
    memory_bytes: int,
    max_taps: int | None = 0,
    for_now: bool = False,
    keeps: bool = False,
) -> Generator[Progress, None, LargeAnswer]:
    """Filter `picture` into `target`, or resume that where it was begun.

    It may be stopped, and resumed later; an output that is found to be wrong is not kept.

    target        a TIFF
    like          a job of the same steps, pixel type and channels; its picture does not count
    named         the implementation; None: those that the steps name, or the best that can run it
    region        the part of the picture that is filtered; None: all
    memory_bytes  for all strips together
    max_taps      as `StripFilter` has it, for all strips together
    for_now       as `StripFilter` has it
    keeps         leave a file alone that is there by the end; its rows are kept then, too

    Raises ImageFileError and the errors of `kernels.core.errors`.
    """
    rows = rows_a_strip(picture, like, memory_bytes, for_now=for_now)
    shape = (picture.height, picture.width, picture.channels)
    asked, refused = _asked(picture, like, named), frozenset[Pick]()
    if region is not None:
        asked["region"] = asdict(region)
    while True:
        try:
            part = ResumableOutput(target, shape, picture.dtype, picture.metadata, asked)
        except OSError as error:
            raise _failure(error, target) from error
        how: dict[str, Any] = {"region": region, "refused": refused, "for_now": for_now}
        strip_filter = partial(StripFilter, engine, like, named, **how)
        try:
            answer = yield from _Run(picture, part, like).going(rows, max_taps, strip_filter)
            is_wrong = answer.check is not None and not answer.check.ok
            is_changed = picture.is_changed
            part.drop() if is_wrong or is_changed else part.finish(keeps=keeps)
        except PickRefusedError as error:  # from the top, with the next pick
            part.drop()
            refused |= {error.pick}
            continue
        except (GeneratorExit, KeyboardInterrupt):
            part.close()
            raise
        except Exception as error:
            failure = _failure(error, target)
            if not (part.rows and isinstance(failure, PASSING)):
                part.drop()
            else:
                part.close()
                kept = f"{part.rows:,} of {picture.height:,} rows are finished and kept"
                failure.args = (f"{failure} {kept}: the same command does the rest.",)
            if failure is error:
                raise
            raise failure from error
        if is_changed:
            name = picture.path.name
            raise ImageFileError(f"{name} was changed while it was filtered; filter it again.")
        return answer


def _failure(error: Exception, target: Path) -> Exception:
    if isinstance(error, OSError):
        return ImageFileError(f"Cannot save {target.name}: {safe_files.reason(error)}.")
    if is_out_of_memory(error) and not isinstance(error, OutOfMemoryError):
        return OutOfMemoryError("Out of memory for its strips; allow less.")
    return error


def rows_a_strip(
    picture: LargePicture, like: Job, memory_bytes: int, *, for_now: bool = False
) -> int:
    """The rows to filter at once: whole tiles, if there is memory for them.

    for_now  whether it has to be whole blocks, as the picture's own

    Raises ImageFileError where there is too little memory for that.
    """
    samples = picture.width * picture.channels
    row_bytes = IN_MEMORY * picture.row_bytes + _copies(like) * FLOAT_BYTES * samples
    left = memory_bytes - picture.decoding_bytes - min(TILE, picture.height) * picture.row_bytes
    rows = int(left // row_bytes - 2 * like.reach)
    least = min(block_rows(samples), picture.height) if for_now else 1
    if rows < least:
        needed = memory_bytes - left + (2 * like.reach + least) * row_bytes
        raise ImageFileError(
            f"{picture.path.name} does not fit into memory, and its strips take at least "
            f"{numbers.byte_count(2 * needed)}; allow more."
        )
    rows = min(rows, max(-(-picture.height // MIN_STRIPS), TILE))
    return rows - rows % (TILE if rows > TILE else least)


def _copies(like: Job) -> int:
    """How many copies of a strip there are in float32, beside it and its output."""
    if not like.is_one_launch:  # what each run gave, the first one's input, and one at work
        return len(like.runs) + 2 + (like.opaque is not None)
    return 2 if like.has_length or like.pixel_type == "float16" else 0


def _asked(picture: LargePicture, like: Job, named: str | None) -> dict[str, Any]:
    """All that decides what is in the file, as JSON has it."""
    return {
        "version": program_version(),
        "source": [str(picture.path), *picture.stamp],
        "shape": [picture.height, picture.width, picture.channels, str(picture.dtype)],
        "border": like.border,
        "is_rounded": like.is_rounded,
        "opaque": like.opaque,
        "implementation": named,
        "steps": list(map(_asked_of_step, like.steps)),
    }


def _asked_of_step(step: Step) -> list[Any]:
    how: list[Any] = [*step.blend, step.implementation, *step.block_xy]
    if isinstance(step.filter, Correlation):
        weights = np.ascontiguousarray(step.filter.weights).tobytes()
        return [*how, sha256(weights).hexdigest(), step.filter.offset]
    return [*how, repr(step.filter)]


@dataclass(slots=True, eq=False)
class _Run:
    picture: LargePicture
    part: ResumableOutput
    like: Job
    seconds: dict[Stage, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    first: Result | None = None
    check: Check | None = None

    def going(
        self, rows: int, max_taps: int | None, make_filter: Callable[..., StripFilter]
    ) -> Generator[Progress, None, LargeAnswer]:
        """Do all strips that are not finished.  Raises PickRefusedError."""
        like, began, resumed = self.like, perf_counter(), self.part.rows
        shape = (self.picture.height, self.picture.width, self.picture.channels)
        strips = list(strips_of(shape[0], rows, like.reach, like.border, resumed))
        taps = max_taps and max(max_taps // (SPREAD_COST * max(len(strips), 1)), 1)
        strip_filter = make_filter(taps, pick=self.part.pick)
        writing: Future[None] | None = None
        with (
            ThreadPoolExecutor(1, "strips-in") as reader,
            ThreadPoolExecutor(1, "strips-out") as writer,  # which writes what it has begun
        ):
            for strip, picture in self._coming(reader, strips):
                answer = yield from self._filtered(strip_filter, strip, picture)
                if writing is not None:
                    writing.result()
                    done = self.part.rows
                    per_s = (done - resumed) / max(perf_counter() - began, 1e-9)
                    left_s = (shape[0] - done) / per_s
                    yield StripsDone(rows_in_words(done, shape[0], left_s), done, shape[0], left_s)
                if self.check is not None and not self.check.ok:
                    writing = None
                    break
                writing = writer.submit(self._write, answer[strip.own])
                del answer  # which would stay in memory with the next
            if writing is not None:
                writing.result()
        return LargeAnswer(
            shape=shape,
            first=self.first,
            strips=len(strips),
            resumed=resumed,
            took_s=perf_counter() - began,
            seconds={stage: seconds for stage, seconds in self.seconds.items() if seconds},
            check=self.check,
        )

    def _coming(
        self, reader: ThreadPoolExecutor, strips: list[RowStrip]
    ) -> Iterator[tuple[RowStrip, NDArray[Any]]]:
        """Yield strips and their pictures; while one is worked on, the next is read."""
        # Memory that is used again: new pages cost the system more than filling them.
        highest = max((each.height for each in strips), default=0)
        shape = (highest, self.picture.width, self.picture.channels)
        rooms = [np.empty(shape, self.picture.dtype) for _ in range(2)]
        reading: Future[NDArray[Any]] | None = None
        for number, strip in enumerate(strips):
            picture = self._read(strip, rooms[0]) if reading is None else reading.result()
            if number + 1 < len(strips):
                reading = reader.submit(self._read, strips[number + 1], rooms[(number + 1) % 2])
            yield strip, picture

    def _read(self, strip: RowStrip, into: NDArray[Any]) -> NDArray[Any]:
        began, made = perf_counter(), 0
        for first, end in strip.spans:
            self.picture.rows(first, end, into[made : made + end - first])
            made += end - first
        self.seconds["decode"] += perf_counter() - began
        return into[:made]

    def _write(self, samples: NDArray[Any]) -> None:
        began = perf_counter()
        self.part.add(samples)
        self.seconds["encode"] += perf_counter() - began

    def _filtered(
        self, strip_filter: StripFilter, strip: RowStrip, picture: NDArray[Any]
    ) -> Generator[Progress, None, NDArray[Any]]:
        """Filter and check a strip; the end is its output."""
        result, seconds = yield from measuring(strip_filter.filtering(picture, strip))
        for stage, took_s in seconds.items():
            self.seconds[stage] += took_s
        if checks := [each.check for each in (*result.steps, result) if each.check is not None]:
            total = self.picture.height * self.picture.width
            before = self.check or Check(0.0, (0, 0, 0), 0, 0, 0.0, 0, total)
            worst = next((each for each in checks if not each.ok), checks[-1])
            self.check = before.with_strip(worst, strip.first - strip.above)
        if self.first is None:
            self.first = _without_samples(replace(result, job=self.like))
        if (pick := strip_filter.pick) is not None and self.part.pick is None:
            self.part.note_pick(pick)
        return result.picture


def _without_samples(result: Result) -> Result:
    """The result, and those of its steps, that keep no strip in memory."""
    tiny = np.zeros((1, 1, result.job.channels), result.picture.dtype)
    job = replace(result.job, picture=tiny, strip=None)
    return replace(result, picture=tiny, job=job, steps=tuple(map(_without_samples, result.steps)))
