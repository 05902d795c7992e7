"""Jobs and their results: immutable values that may cross threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import BORDERS, RowStrip, even_parts
from kernels.core.cpu_load import Load
from kernels.core.device import DeviceShare, Occupancy
from kernels.core.errors import BadJobError
from kernels.core.health import Health, disturbances_of
from kernels.core.timing import Cache, Timing
from kernels.core.verdict import LIVE_TAPS, Check

PIXEL_TYPES = ("uint8", "uint16", "float16", "float32")
MAX_KSIZE = 127
MAX_OFFSET = 65_535.0  # the largest sample of an integer type
# Fields of a Job that say how it is done, or what it is called.  All others are the work: one that
# is added counts as work until it is named here.
NOT_WORK = ("implementation", "own", "block_xy", "devices", "filter_title", "is_flat", "strip")
ARRAYS = ("picture", "weights")


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Job:
    """One filtering to do; raises BadJobError where its parts do not fit together.

    picture         (H, W, C) of one of PIXEL_TYPES, C-contiguous; C = 1 to 4, and the last of 2 or
                    4 channels is alpha, which passes through untouched.  Make it read-only where it
                    can be: only then may it stay on the device between jobs.  (H, W) is taken as
                    one channel: `picture` becomes its (H, W, 1) view, `is_flat` says so, and what
                    the Engine gives back is (H, W) again.
    weights         (K, K) float32, K odd, applied as drawn (correlation), finite
    implementation  a key of `engine.all_implementations()`, "auto", or the name of a file of the
                    user's own, "mine.cu"
    own             the text of that file; of no account where it is none
    block_xy        threads per block; x counts samples (pixel × channel) along a row
    strip           which rows of a larger picture this one holds; None: it is whole
    gradient        after the weights, the length √(gx² + gy²) of Sobel's derivatives of what they
                    give, which is kept unrounded and has the border applied to it; rounded once
    offset          added to every weighted sample but alpha, in sample values, before it is
                    rounded: at most MAX_OFFSET either way, and 0 with a gradient
    """

    picture: NDArray[Any] = field(repr=False)
    weights: NDArray[np.float32] = field(repr=False)
    border: str = "clamp"  # one of `borders.BORDERS`
    implementation: str = "sequential"
    block_xy: tuple[int, int] = (32, 8)
    filter_title: str = "Custom weights"
    gradient: bool = False
    offset: float = 0.0
    is_flat: bool = False  # whether the picture was given as (H, W); not to be set by hand
    own: str = field(default="", repr=False)
    devices: int = 1  # how many GPUs share the picture's rows; of no account on the CPU
    strip: RowStrip | None = None

    def __post_init__(self) -> None:
        if self.picture.ndim == 2:
            object.__setattr__(self, "picture", self.picture[:, :, np.newaxis])
            object.__setattr__(self, "is_flat", True)
        self._check_arrays(self.picture, self.weights)
        if self.is_flat and self.channels > 1:
            raise BadJobError("A picture of several channels is not flat; leave is_flat as it is.")
        if self.border not in BORDERS:
            raise BadJobError(f"Unknown border {self.border!r}; choose from {', '.join(BORDERS)}.")
        if not abs(self.offset) <= MAX_OFFSET:
            raise BadJobError(f"An offset must be within ±{MAX_OFFSET:,.0f}, not {self.offset:g}.")
        if self.devices < 1:
            raise BadJobError(f"A job takes at least one GPU, not {self.devices}.")
        if self.gradient and self.offset:
            raise BadJobError("A gradient's length takes no offset; leave it at 0.")

    @staticmethod
    def _check_arrays(picture: NDArray[Any], weights: NDArray[np.float32]) -> None:
        if picture.ndim != 3 or not 1 <= picture.shape[2] <= 4 or 0 in picture.shape:
            shapes = "(height, width) or (height, width, 1 to 4 channels)"
            raise BadJobError(f"A picture must be {shapes}, not {picture.shape}.")
        if str(picture.dtype) not in PIXEL_TYPES:
            types = ", ".join(PIXEL_TYPES)
            raise BadJobError(f"The pixel type must be {types}, not {picture.dtype}.")
        if not picture.flags.c_contiguous:
            raise BadJobError("A picture's samples must be contiguous in memory.")
        if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or len(weights) % 2 == 0:
            raise BadJobError(f"Weights must be square with an odd size, not {weights.shape}.")
        if len(weights) > MAX_KSIZE:
            raise BadJobError(f"Weights of size {len(weights)} are above {MAX_KSIZE}, the largest.")
        if weights.dtype != np.float32 or not np.isfinite(weights).all():
            raise BadJobError("Weights must be finite float32 numbers.")

    def same_work(self, other: Job, *, any_content: bool = False) -> bool:
        """Return True if `other` has the same output, in whatever way it is computed.

        Pictures compare by identity: to compare their samples would take as long as a filter.

        any_content  pictures of one shape and pixel type will do: times depend on no more
        """
        others = [each.name for each in fields(self) if each.name not in (*NOT_WORK, *ARRAYS)]
        mine, theirs = self.picture, other.picture
        is_alike = any_content and (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
        return (
            (mine is theirs or is_alike)
            and all(getattr(self, name) == getattr(other, name) for name in others)
            and (self.weights is other.weights or np.array_equal(self.weights, other.weights))
        )

    def same_run(self, other: Job) -> bool:
        """True if `other` is the same work, computed in the same way."""
        names = ("implementation", "own", "block_xy", "devices", "strip")
        is_same_way = all(getattr(self, name) == getattr(other, name) for name in names)
        return is_same_way and self.same_work(other)

    @property
    def ksize(self) -> int:
        """K, the odd side of the weights."""
        return int(self.weights.shape[0])

    @property
    def radius(self) -> int:
        """Neighbours to each side of a sample: K // 2."""
        return self.ksize // 2

    @property
    def reach(self) -> int:
        """Distance in pixels, along an axis, at which a sample still counts."""
        return self.radius + self.gradient

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
        """True if the last channel is alpha, which is copied, not filtered."""
        return self.channels in (2, 4)

    @property
    def pixel_type(self) -> str:
        """The dtype of a sample, by name: "uint8", "float32"."""
        return str(self.picture.dtype)

    @property
    def megapixels(self) -> float:
        """Pixels in millions."""
        return self.height * self.width / 1e6

    @property
    def compulsory_bytes(self) -> int:
        """The least bytes to move: the picture read once and written once."""
        return 2 * int(self.picture.nbytes)


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

    @property
    def disturbances(self) -> tuple[str, ...]:
        """Possible disturbances of the filtering's time, in words."""
        samples_ms = self.kernel.samples_ms if self.kernel else ()
        return disturbances_of(self.load, self.health, samples_ms)

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
