"""A plan of what to measure: lists of values, and the product of them as cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import product
from math import prod
from typing import Any, ClassVar, Literal

from kernels.core.errors import BadJobError, hint_of
from kernels.core.job import Sampling
from kernels.core.sampling import SWEEP_SAMPLING
from kernels.core.timing import Cache
from kernels.engine.auto import AUTO, Auto
from kernels.engine.engine import Implementation, all_implementations
from kernels.pictures.generated import KINDS
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung

Matrix = tuple[tuple[float, ...], ...]

PICTURE_KINDS = KINDS  # made in any size; any other name is a picture that is given


@dataclass(frozen=True, slots=True)
class Cell:
    """Everything that decides how long something takes."""

    implementation: str
    block_xy: tuple[int, int] | None = None  # None on the CPU, and where a rung has its own shape
    filter: str = "gaussian"  # of a list "", as its steps have their own
    ksize: int = 3  # of a list 1, which says nothing
    sigma: float | None = None  # None: the filter's own default for its size
    amount: float = 1.0
    matrix: Matrix | None = None  # the weights of the filter "custom"; None for all others
    border: str = "clamp"
    picture: str = "noise"  # one of PICTURE_KINDS, or the name of a picture that is given
    width: int = 512
    height: int = 512
    channels: int = 1
    pixel_type: str = "float32"
    count: int = 1  # of pictures one after another; a time is the sum of theirs, each sampled alone
    cache: Literal["cold", "warm"] | None = None  # of the GPU, before each sample; None on the CPU
    text_sha256: str = ""  # of a user kernel, by `own_kernels.text_hash`: its file may change
    devices: int = 1  # how many GPUs share the rows of each picture; on the CPU it means nothing
    list: str = ""  # steps, as `step_words.list_words` has them; "": one filter

    @property
    def megapixels(self) -> float:
        """Return the megapixels of all its pictures together."""
        return self.width * self.height * self.count / 1e6

    @property
    def pixels(self) -> int:
        return self.width * self.height

    @property
    def size_in_words(self) -> str:
        """Return "1024²" or "640×480"."""
        return f"{self.width}²" if self.width == self.height else f"{self.width}×{self.height}"

    @property
    def is_made(self) -> bool:
        """Return True if its picture is of one of PICTURE_KINDS, rather than from a file."""
        return self.picture in PICTURE_KINDS

    @property
    def block_in_words(self) -> str:
        """Return "32×8", or "" where there is no choice of a block shape."""
        return "{}×{}".format(*self.block_xy) if self.block_xy else ""

    @property
    def devices_in_words(self) -> str:
        """Return "2 GPUs", or "" where it is one, or none."""
        return f"{self.devices} GPUs" if self.devices > 1 else ""


def kind_of(cell: Cell) -> str:
    """ "cpu", "cuda" or "own", for a user kernel; "" for an implementation that is gone."""
    if is_own(cell.implementation):
        return "own"
    if cell.implementation == AUTO.key:
        return "cuda"  # where it has no choice but the CPU it is refused
    kinds = (each.kind for each in all_implementations() if each.key == cell.implementation)
    return next(kinds, "")


NOT_READ = "{key} is a kernel of your own, and its file is not there to be read."
MAX_CELLS = 200_000  # days of measuring, and some 0.5 GB of cells and records
SAMPLES_OF_MANY = 10  # of each of several pictures: as many of one as of any other


Way = tuple[str, str, Cache | None, int, tuple[int, int] | None]


@dataclass(frozen=True, slots=True)
class OwnText:
    """A user kernel that a plan measures, without its text."""

    key: str  # the name of its file, as `implementations` has it
    sha256: str  # see `Cell.text_sha256`
    own_block: bool = False  # whether it has a block shape of its own, and no choice
    kind: ClassVar = "cuda"  # only there it has a time


@dataclass(frozen=True, slots=True)
class Plan:
    """A sweep: each list is a dimension, one value in it is none.

    sizes            (width, height) in pixels; a picture that is given has its own
    sigma, matrix    as in Cell
    cell_seconds     a cell that is still at its first run after so long is given up, and says so
    source, table    the publication it reproduces, and where in it
    tolerance        an output may be off by so much; shown beside the rounding bound it always has
    own_texts        of those of the implementations that are user kernels; it does not
                     stand in a plan's file, whoever measures it reads theirs: see `own_texts`
    """

    title: str
    implementations: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...] = ((512, 512),)
    ksizes: tuple[int, ...] = (3,)
    blocks: tuple[tuple[int, int], ...] = ((32, 8),)
    filters: tuple[str, ...] = ("gaussian",)
    lists: tuple[str, ...] = ("",)  # of steps, in place of filters and all that goes with these
    borders: tuple[str, ...] = ("clamp",)
    pictures: tuple[str, ...] = ("noise",)  # kinds of picture, or names of given ones
    channels: tuple[int, ...] = (1,)
    pixel_types: tuple[str, ...] = ("float32",)
    counts: tuple[int, ...] = (1,)  # how many pictures, one after another
    caches: tuple[Cache, ...] = ("cold",)
    devices: tuple[int, ...] = (1,)  # how many GPUs share the rows of each picture
    sigma: float | None = None
    amount: float = 1.0
    matrix: Matrix | None = None
    transfers: bool = False  # measure up- and download as well, pageable and pinned
    cell_seconds: float = 10.0
    sampling: Sampling = SWEEP_SAMPLING
    source: str = ""
    table: str = ""
    note: str = ""  # what has to be known to read it
    tolerance: float | None = None
    own_texts: tuple[OwnText, ...] = ()

    @property
    def varied(self) -> tuple[str, ...]:
        """Fields of the dimensions with more than one value."""
        return tuple(name for name in DIMENSIONS if len(getattr(self, name)) > 1)

    def cells(self, given_sizes: Mapping[str, tuple[int, int]] | None = None) -> tuple[Cell, ...]:
        """The product of all dimensions, each cell once, the implementations changing first.

        given_sizes  (width, height) of pictures that are given; one without has plan.sizes
        Raises BadJobError for an unknown implementation, and for more cells than MAX_CELLS.
        """
        about: dict[str, Implementation | OwnText | Auto]
        about = {each.key: each for each in (*all_implementations(), *self.own_texts, AUTO)}
        for key in self.implementations:
            if key not in about and is_own(key):
                raise BadJobError(NOT_READ.format(key=key))
            if key not in about:
                hint = hint_of(key, list(about))
                raise BadJobError(f"There is no implementation {key!r}; {hint}")
        own = given_sizes or {}
        sized = [
            (picture, size)
            for picture in self.pictures
            for size in ((own[picture],) if picture in own else self.sizes)
        ]
        works = (
            *(sized, self.pixel_types, self.channels, self.counts),
            *(self.lists, self.filters, self.borders, self.ksizes),
        )
        ways = [way for key in self.implementations for way in self._ways(about[key])]
        if (number := prod(map(len, works)) * len(ways)) > MAX_CELLS:
            raise BadJobError(
                f"This plan has {number:,} cells; at most {MAX_CELLS:,} are allowed.  "
                "List fewer values."
            )
        cells = (
            Cell(
                implementation=key,
                block_xy=block_xy,
                **self._what(listed, chosen, ksize),
                border=border,
                picture=picture,
                width=size[0],
                height=size[1],
                channels=channels,
                pixel_type=pixel_type,
                count=count,
                cache=cache,
                devices=devices,
                text_sha256=text_sha256,
            )
            for (picture, size), pixel_type, channels, count, listed, chosen, border, ksize in (
                product(*works)
            )
            for key, text_sha256, cache, devices, block_xy in ways
        )
        return tuple(dict.fromkeys(cells))

    def _what(self, listed: str, chosen: str, ksize: int) -> dict[str, Any]:
        """The fields of a cell that say what is done."""
        if listed:
            return {"list": listed, "filter": "", "ksize": 1}
        matrix = self.matrix if chosen == "custom" else None
        own = {"sigma": self.sigma, "amount": self.amount, "matrix": matrix}
        return {"filter": chosen, "ksize": ksize, **own}

    def _ways(self, implementation: Implementation | OwnText | Auto) -> Iterator[Way]:
        """Yield the ways to run one: key, hash of a user kernel's text, cache, devices, block."""
        text_sha256 = implementation.sha256 if isinstance(implementation, OwnText) else ""
        has_shape = isinstance(implementation, Rung | OwnText) and not implementation.own_block
        hows = product(
            (None,) if implementation.kind == "cpu" else self.caches,
            self.devices if isinstance(implementation, Rung) else (1,),
            self.blocks if has_shape else (None,),
        )
        yield from ((implementation.key, text_sha256, *how) for how in hows)


def sampling_of(cell: Cell, sampling: Sampling) -> Sampling:
    """The sampling of each picture of `cell` in a plan with `sampling`."""
    sampling = replace(sampling, cache=cell.cache or sampling.cache)
    if cell.count == 1:
        return sampling
    samples = min(sampling.max_samples, SAMPLES_OF_MANY)
    warmup_seconds = sampling.warmup_seconds / cell.count
    return replace(
        sampling, min_samples=samples, max_samples=samples, warmup_seconds=warmup_seconds
    )


# Every field that is a list to vary, in the order in which their products are made.
DIMENSIONS = (
    *("pictures", "sizes", "pixel_types", "channels", "counts", "lists"),
    *("filters", "borders", "ksizes"),
    *("implementations", "caches", "devices", "blocks"),
)
assert set(DIMENSIONS) <= {each.name for each in fields(Plan)}
