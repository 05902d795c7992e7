"""Jobs and their results: immutable values that may cross threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import BORDERS, RowStrip, even_parts
from kernels.core.cache import once_a_picture, read_only
from kernels.core.cpu_load import Load
from kernels.core.device import DeviceShare, Occupancy
from kernels.core.errors import BadJobError, CannotRunError
from kernels.core.health import Health, disturbances_of
from kernels.core.nonlinear import Morphology, Rank
from kernels.core.step import (
    LENGTH,
    MAX_OFFSET,
    OUTPUT,
    Correlation,
    Filter,
    Step,
    StepRun,
    Weights,
)
from kernels.core.timing import Cache, Timing
from kernels.core.verdict import LIVE_TAPS, Check

PIXEL_TYPES = ("uint8", "uint16", "float16", "float32")
MAX_STEPS = 8
# Fields that say how it is done, or are compared apart.  All others are the work: one that is added
# counts as work until it is named here.
NOT_WORK = ("picture", "steps", "devices", "is_flat", "strip", "list_way")


@dataclass(frozen=True, slots=True)
class Region:
    """The part of a picture that is filtered, in pixels; the rest stays as it is."""

    x: int
    y: int
    width: int
    height: int
    feather: int = 0  # pixels inside its edges, over which what is filtered fades in

    def shares(self, height: int, width: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Shares of the filtered picture by row, (height,), and by column: their product counts."""
        rows = _ramp(self.y, self.height, height, self.feather)
        return rows, _ramp(self.x, self.width, width, self.feather)

    def __str__(self) -> str:
        """Its size and place: "120×80 at 40,60"."""
        return f"{self.width}×{self.height} at {self.x},{self.y}"

    def of(self, samples: NDArray[Any]) -> NDArray[Any]:
        """The part's samples, a view of those of the whole picture, (H, W, C)."""
        return samples[self.y : self.y + self.height, self.x : self.x + self.width]


def _ramp(first: int, count: int, size: int, feather: int) -> NDArray[np.float32]:
    inside = np.arange(size) - first
    distance = np.minimum(inside, count - 1 - inside) + 1  # from the first pixel beyond
    return np.clip(distance / (feather + 1), 0, 1).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Job:
    """A picture and the steps to take; raises BadJobError where its parts do not fit together.

    picture         (H, W, C) of one of PIXEL_TYPES; C = 1 to 4, and the last of 2 or 4 channels
                    is alpha.  Copied unless C-contiguous.  Make it read-only where it can be: only
                    then may it stay on the device between jobs.  (H, W) is taken as one channel:
                    `picture` becomes its (H, W, 1) view, `is_flat` says so, and what the Engine
                    gives back is (H, W) again.
    steps           1 to MAX_STEPS filters; samples between them are float32, neither rounded nor
                    clipped (see `wide_from`).  A length follows weights without an offset, which it
                    is one filter with.
    border          is applied at each step, to what the step before gave
    is_rounded      whether samples are rounded to the picture's type after each filter instead, and
                    before they are mixed with its input
    region          the part that is filtered; None: all
    opaque          alpha of an opaque pixel, in sample values: colours are weighted by alpha before
                    all steps, which means filter as well, and divided by it at the end, so that
                    transparent pixels do not bleed into others; after ranks pixels get their own
                    back.  None: alpha passes through as is.
    filters_alpha   whether alpha is filtered as if it were a colour
    list_way        how a list runs as a whole on a GPU: one of `list_ways.WAYS`, or "auto"
    strip           which rows of a larger picture this one holds; None: it is whole

    A job that `is_one_launch` is what implementations run: one filter, or weights and a length,
    rounded once, of samples as they are.  Its `correlation`, `implementation` and so on are those
    of its first step.
    """

    picture: NDArray[Any] = field(repr=False)
    steps: tuple[Step, ...]
    border: str = "clamp"  # one of `borders.BORDERS`
    is_rounded: bool = False
    region: Region | None = None
    is_flat: bool = False  # whether the picture was given as (H, W); not to be set by hand
    devices: int = 1  # how many GPUs share the picture's rows; of no account on the CPU
    strip: RowStrip | None = None
    opaque: float | None = None
    filters_alpha: bool = False
    list_way: str = "auto"

    def __post_init__(self) -> None:
        if not self.picture.flags.c_contiguous:
            object.__setattr__(self, "picture", read_only(np.ascontiguousarray(self.picture)))
        if self.picture.ndim == 2:
            object.__setattr__(self, "picture", self.picture[:, :, np.newaxis])
            object.__setattr__(self, "is_flat", True)
        self._check_picture(self.picture)
        self._check_steps(self.steps)
        if self.is_flat and self.channels > 1:
            raise BadJobError("A picture of several channels is not flat; leave is_flat as it is.")
        if self.border not in BORDERS:
            raise BadJobError(f"Unknown border {self.border!r}; choose from {', '.join(BORDERS)}.")
        if self.region is not None:
            self._check_region(self.region)
        if self.channels not in (2, 4):
            object.__setattr__(self, "opaque", None)
        elif self.opaque is not None and not 0 < self.opaque <= MAX_OFFSET:
            raise BadJobError(f"An opaque alpha is above 0, not {self.opaque:g}.")
        if self.devices < 1:
            raise BadJobError(f"A job takes at least one GPU, not {self.devices}.")

    def _check_region(self, part: Region) -> None:
        height, width = self.whole_height, self.width
        is_inside = 0 <= part.x < part.x + part.width <= width
        if not (is_inside and 0 <= part.y < part.y + part.height <= height and part.feather >= 0):
            where = f"{part.x},{part.y},{part.width},{part.height}"
            raise BadJobError(f"The part {where} is not inside {width}×{height} pixels.")

    @property
    def whole_height(self) -> int:
        """Height in pixels of the whole picture, where this is a strip of it."""
        return self.strip.whole if self.strip else self.height

    def share(self, part: tuple[slice, slice] = (slice(None), slice(None))) -> NDArray[np.float32]:
        """Share of the filtered picture in the output: (H, W, 1), of a job with a region.

        part  the rows and columns that are wanted
        """
        assert self.region is not None
        rows, columns = self.region.shares(self.whole_height, self.width)
        rows = self.strip.of(rows) if self.strip else rows
        return (rows[part[0], np.newaxis] * columns[part[1]])[:, :, np.newaxis]

    @staticmethod
    def _check_picture(picture: NDArray[Any]) -> None:
        if picture.ndim != 3 or not 1 <= picture.shape[2] <= 4 or 0 in picture.shape:
            shapes = "(height, width) or (height, width, 1 to 4 channels)"
            raise BadJobError(f"A picture must be {shapes}, not {picture.shape}.")
        if str(picture.dtype) not in PIXEL_TYPES:
            types = ", ".join(PIXEL_TYPES)
            raise BadJobError(f"The pixel type must be {types}, not {picture.dtype}.")

    @staticmethod
    def _check_steps(steps: tuple[Step, ...]) -> None:
        count = sum(not each.is_length for each in steps)
        if not 1 <= count <= MAX_STEPS:
            raise BadJobError(f"A job takes 1 to {MAX_STEPS} steps, not {count}.")
        for before, step in zip((LENGTH, *steps), steps, strict=False):
            given = before.filter
            is_plain = isinstance(given, Correlation) and not given.offset
            is_plain = is_plain and before.blend == OUTPUT
            if step.is_length and not is_plain:
                raise BadJobError(
                    "A gradient's length follows weights that have no offset and are not mixed."
                )

    @classmethod
    def of(
        cls,
        picture: NDArray[Any],
        weights: Weights,
        border: str = "clamp",
        implementation: str = "sequential",
        block_xy: tuple[int, int] = (32, 8),
        title: str = "Custom weights",
        gradient: bool = False,
        **others: Any,
    ) -> Job:
        """One step, and perhaps a gradient's length; `others` are fields of a Step or a Job."""
        names = {each.name for each in fields(Step)}
        correlation = Correlation(weights, others.pop("offset", 0.0))
        of_step = {name: others.pop(name) for name in names & others.keys()}
        step = Step(correlation, implementation, block_xy, title=title, **of_step)
        return cls(picture, (step, *(LENGTH,) * bool(gradient)), border, **others)

    def but(self, **changes: Any) -> Job:
        """This job with other fields; those of a Step or its weights are its first step's."""
        names = {each.name for each in fields(Step)}
        of_weights = {name: changes.pop(name) for name in {"weights", "offset"} & changes.keys()}
        of_step = {name: changes.pop(name) for name in names & changes.keys()}
        if of_weights:
            of_step["filter"] = replace(self.correlation, **of_weights)
        if "gradient" in changes:
            changes["steps"] = (self.steps[0], *(LENGTH,) * bool(changes.pop("gradient")))
        steps = changes.pop("steps", self.steps)
        first = (replace(each, **of_step) for each in steps[:1])
        return replace(self, steps=(*first, *steps[1:]), **changes)

    def same_work(self, other: Job, *, any_content: bool = False) -> bool:
        """Return True if `other` has the same output, in whatever way it is computed.

        Pictures compare by identity: to compare their samples would take as long as a filter.

        any_content  pictures of one shape and pixel type will do: times depend on no more
        """
        names = [each.name for each in fields(self) if each.name not in NOT_WORK]
        mine, theirs = self.picture, other.picture
        is_alike = any_content and (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
        return (
            (mine is theirs or is_alike)
            and all(getattr(self, name) == getattr(other, name) for name in names)
            and len(self.steps) == len(other.steps)
            and all(map(Step.same_work, self.steps, other.steps))
        )

    def same_run(self, other: Job) -> bool:
        """True if `other` is the same work, computed in the same way."""
        mine, theirs = (
            [(e.implementation, e.own, e.block_xy) for e in job.steps if not e.is_length]
            for job in (self, other)
        )
        names = ("devices", "strip", "list_way")
        is_same_way = all(getattr(self, name) == getattr(other, name) for name in names)
        return is_same_way and mine == theirs and self.same_work(other)

    @property
    def is_one_launch(self) -> bool:
        """True for one filter, or weights and a length, with nothing done before or after it."""
        is_mixed = self.steps[-1].blend != OUTPUT or self.region is not None
        is_mixed = is_mixed or self.opaque is not None
        return len(self.steps) == 1 + self.has_length and not is_mixed

    @property
    def runs(self) -> tuple[StepRun, ...]:
        """The filters as implementations run them: a length with the weights before it."""
        runs: list[StepRun] = []
        for taken, step in enumerate(self.steps, start=1):
            before = runs.pop().steps if step.is_length else ()
            alone, blend = step, step.blend
            if blend != OUTPUT:
                alone = replace(step, mix=1.0, threshold=0.0, is_grey=False)
            if self.opaque is not None and isinstance(step.filter, Correlation):
                blend = blend._replace(offset=step.filter.offset / self.opaque)
                alone = replace(alone, filter=Correlation(step.filter.weights))
            filters_alpha = self.opaque is not None and step.filter.keeps_flat
            ranks = filters_alpha and isinstance(step.filter, Rank | Morphology)
            if self.opaque is not None and ranks:
                blend = blend._replace(opaque=self.opaque)
            keeps_alpha = ranks or not filters_alpha
            runs.append(StepRun((*before, alone), blend, taken, filters_alpha, keeps_alpha))
        return tuple(runs)

    @property
    def wide_from(self) -> int:
        """Index of the first of `runs` that is given float32 instead of the picture's type.

        Their number if none is.  What ranks give of integers are integers: as long as there is
        nothing else, rounding would change nothing.
        """
        runs = self.runs
        if self.is_rounded or self.pixel_type == "float32":
            return len(runs)
        if self.opaque is not None or self.pixel_type == "float16":
            return 0
        kept = takewhile(lambda run: run.keeps_integers(self.border), runs)
        return sum(1 for _ in kept)

    @property
    def is_wide(self) -> bool:
        """True if the last run is given float32, and the picture is of another type."""
        return self.wide_from < len(self.runs)

    def part(self, run: StepRun, picture: NDArray[Any]) -> Job:
        """The job of one of `runs`, given what those before it gave."""
        if run.blend.offset and picture.dtype != np.float32:
            picture = _in_floats(picture)  # without it, sums may be beyond what integers hold
        how: dict[str, Any] = {"is_rounded": False, "region": None, "is_flat": False}
        how |= {"list_way": "auto"}
        how |= {"opaque": None, "filters_alpha": run.filters_alpha}
        return replace(self, picture=picture, steps=run.steps, **how)

    @property
    def correlation(self) -> Correlation:
        """The first step's weights and offset.  Raises CannotRunError where it has none."""
        if not isinstance(self.filter, Correlation):
            raise CannotRunError(f"{self.title} has no weights.")
        return self.filter

    @property
    def filter(self) -> Filter:
        """The first step's filter."""
        return self.steps[0].filter

    @property
    def has_weights(self) -> bool:
        """True where the first step's filter is a weighted sum."""
        return isinstance(self.filter, Correlation)

    @property
    def implementation(self) -> str:
        """The first step's implementation."""
        return self.steps[0].implementation

    @property
    def own(self) -> str:
        """The text of the first step's user kernel."""
        return self.steps[0].own

    @property
    def block_xy(self) -> tuple[int, int]:
        """The first step's threads per block."""
        return self.steps[0].block_xy

    @property
    def has_length(self) -> bool:
        """True where the length of Sobel's derivatives follows the first step's weights."""
        return len(self.steps) > 1 and self.steps[1].is_length

    @property
    def title(self) -> str:
        """What people call the steps: "Gaussian blur ▸ Sharpen"."""
        return " ▸ ".join(each.title for each in self.steps if not each.is_length)

    @property
    def ksize(self) -> int:
        """K, the odd side of the first step's window."""
        return self.steps[0].filter.ksize

    @property
    def taps(self) -> int:
        """Products for a sample, of all steps."""
        return sum(each.filter.taps for each in self.steps)

    @property
    def radius(self) -> int:
        """Neighbours to each side of a sample: K // 2."""
        return self.ksize // 2

    @property
    def reach(self) -> int:
        """Distance in pixels, along an axis, at which a sample still counts: that of all steps."""
        return sum(each.filter.reach for each in self.steps)

    @property
    def halos(self) -> tuple[int, ...]:
        """How many pixels around an output are needed of the picture, and of each of `runs`."""
        reaches = [sum(step.filter.reach for step in run.steps) for run in self.runs]
        return tuple(sum(reaches[number:]) for number in range(len(reaches) + 1))

    @property
    def parts(self) -> tuple[RowStrip, ...]:
        """The rows for each of the GPUs that share the picture."""
        return even_parts(self.height, self.devices, self.reach, self.border)

    @property
    def height(self) -> int:
        """Height of the picture in pixels."""
        return int(self.picture.shape[0])

    @property
    def width(self) -> int:
        """Width of the picture in pixels."""
        return int(self.picture.shape[1])

    @property
    def channels(self) -> int:
        """Channels of the picture, alpha included: 1 to 4."""
        return int(self.picture.shape[2])

    @property
    def has_alpha(self) -> bool:
        """True if the last channel is alpha, which is copied, unless it is weighted with."""
        return self.channels in (2, 4) and not self.filters_alpha

    @property
    def keeps_alpha(self) -> bool:
        """True if there is alpha, which is the same afterwards, also where it is weighted with."""
        return self.has_alpha and all(run.keeps_alpha for run in self.runs)

    @property
    def colours(self) -> NDArray[Any]:
        """The picture without its alpha: a view."""
        return self.picture[:, :, : self.channels - self.has_alpha]

    @property
    def pixel_type(self) -> str:
        """The dtype of a sample, by name: "uint8", "float32"."""
        return str(self.picture.dtype)

    @property
    def megapixels(self) -> float:
        return self.height * self.width / 1e6

    @property
    def compulsory_bytes(self) -> int:
        """The least bytes to move: the picture read once and written once."""
        return 2 * int(self.picture.nbytes)


@once_a_picture
def _in_floats(picture: NDArray[Any]) -> NDArray[Any]:
    return read_only(picture.astype(np.float32))


@dataclass(frozen=True, slots=True)
class Sampling:
    """A rule for how often to repeat a job, and whether to check its output."""

    max_samples: int = 20  # 0: it runs once, for the output alone
    max_seconds: float = 0.2
    cache: Cache = "cold"
    check: bool = True
    check_taps: int | None = LIVE_TAPS  # products of the oracle; None: for every pixel
    min_samples: int = 1  # unless the first alone takes longer than max_seconds
    noise: float | None = None  # quartile range over median, settled below this
    warmups: int = 1  # runs that go before, for so long at least: see `sampling`
    warmup_seconds: float = 0.0
    # A first run of up to so long is followed by another: whatever disturbed it must not stay.
    again_seconds: float = 3.0


@dataclass(frozen=True, slots=True)
class Ran:
    """One CUDA launch, or one CPU function, as it really ran."""

    function: str
    threads: int | None = None  # CPU threads that it may use; None on the GPU
    grid: tuple[int, int] | None = None  # blocks, x then y; None on the CPU
    block: tuple[int, int] | None = None  # threads
    registers: int | None = None  # per thread; shared_bytes per block; None on the CPU
    shared_bytes: int | None = None

    def __str__(self) -> str:
        if self.grid is None or self.block is None:
            if self.threads is None:  # a library's launches, which it keeps to itself
                return self.function
            return f"{self.function}, {self.threads} thread{'s' if self.threads != 1 else ''}"
        return (
            f"{self.function}, grid {self.grid[0]}×{self.grid[1]}, "
            f"block {self.block[0]}×{self.block[1]}, {self.registers} registers, "
            f"{self.shared_bytes} B shared"
        )


@dataclass(frozen=True, slots=True)
class Pick:
    """The implementation and block shape that `auto` chose to run."""

    implementation: str
    block_xy: tuple[int, int] | None  # None: it has its own shape, or none
    why: str  # one sentence: what it was chosen by


@dataclass(frozen=True, slots=True)
class Progress:
    """A note that something is under way, in the -ing form: "compiling shared".

    The caller may stop or pause a computation wherever it yields one of these.
    """

    doing: str


@dataclass(frozen=True, slots=True)
class Sampled(Progress):
    """A note that the job was run once more; a comparison of several may switch now."""

    timing: Timing  # all samples so far


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The filtered picture and what is known of it so far; a later one of the job knows more.

    Where several GPUs shared it, `kernel` is the time from the first one's start until it knows
    that all have ended, and `ran` what the first launched.
    """

    job: Job
    picture: NDArray[Any] = field(repr=False)  # read-only; (H, W) as the job's was
    kernel: Timing | None  # the filtering alone; None: a user kernel without a time (yet)
    ran: tuple[Ran, ...]
    compile_ms: float | None = None  # or loading from disk; None: neither was needed
    upload_ms: float | None = None  # by the host's clock; None: it was there
    download_ms: float | None = None
    upload_copy_ms: float | None = None  # over the bus, by CUDA events
    download_copy_ms: float | None = None
    check: Check | None = None  # None: not checked (yet)
    device_name: str | None = None
    shares: tuple[DeviceShare, ...] = ()  # of each of several GPUs
    strips: int = 1  # in which it was filtered for want of memory; all times are sums
    picked: Pick | None = None  # by `auto`
    health: Health | None = None
    load: Load | None = None
    occupancy: Occupancy | None = None  # of a user kernel, whose process asked
    steps: tuple[Result, ...] = ()  # of a list's runs, each of its actual input
    list_way: str = ""  # how a list ran as a whole: one of `list_ways.WAYS`; empty: step by step
    why_other: str = ""  # why not in the way that the job asks for, a sentence

    def __repr__(self) -> str:
        """What was filtered with what, in how long, and the check: in a line."""
        took = f"{self.kernel.median_ms:.4g} ms" if self.kernel else "no time"
        size, title = "×".join(map(str, self.picture.shape)), self.job.title
        return f"<Result: {title}, {size} {self.picture.dtype}, {self.name}, {took}; {self.check}>"

    @property
    def disturbances(self) -> tuple[str, ...]:
        """Possible disturbances of the filtering's time, in words."""
        samples_ms = self.kernel.samples_ms if self.kernel else ()
        return disturbances_of(self.load, self.health, samples_ms)

    @property
    def is_wrong(self) -> bool:
        """True if it, or a step of its list, has failed its check."""
        return any(each.check and not each.check.ok for each in (self, *self.steps))

    @property
    def timed(self) -> Timing:
        """`kernel`, of whatever is no user kernel."""
        assert self.kernel is not None
        return self.kernel

    @property
    def implementation(self) -> str:
        """The key of the implementation that ran: the job's, or the pick of `auto`."""
        return self.picked.implementation if self.picked else self.job.implementation

    @property
    def block_xy(self) -> tuple[int, int] | None:
        """Threads per block of the first launch, x then y; None on the CPU."""
        return self.ran[0].block if self.ran else None

    @property
    def name(self) -> str:
        """The key of what ran: "shared", or "auto: shared 32×8" where it was picked."""
        if self.picked is None:
            return self.job.implementation
        block = "{}×{}".format(*self.block_xy) if self.block_xy else ""
        return f"{self.job.implementation}: {self.picked.implementation} {block}".rstrip()

    @property
    def total_ms(self) -> float | None:
        """Upload, kernel and download together, without compiling."""
        if self.kernel is None:
            return None
        return (self.upload_ms or 0.0) + self.kernel.median_ms + (self.download_ms or 0.0)

    @property
    def megapixels_per_s(self) -> float | None:
        """Millions of pixels filtered per second of kernel time."""
        kernel = self.kernel
        return None if kernel is None else self.job.megapixels / (kernel.median_ms / 1e3)

    @property
    def effective_gb_s(self) -> float | None:
        """Compulsory bytes over kernel time: what a perfect implementation needs."""
        kernel = self.kernel
        return None if kernel is None else self.job.compulsory_bytes / 1e6 / kernel.median_ms


Results = Iterator[Progress | Result]  # of one job, each knowing more than the one before
