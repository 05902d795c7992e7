"""Rungs of the ladder: `.cu` files that describe themselves, and what they do for a job."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from kernels import filters
from kernels.core.cache import all_finite
from kernels.core.device import Device, NoDevice, cuda_version
from kernels.core.errors import CannotRunError, hint_of
from kernels.core.job import Job
from kernels.core.nonlinear import Bilateral, Guided, Morphology, NonLocalMeans, Rank
from kernels.core.verdict import Tolerance
from kernels.core.version import how_to_add
from kernels.oracle.checking import FLOAT32_MAX, largest_finite
from kernels.rungs.cuda_text import LADDER, Part, header_parts, with_lines
from kernels.rungs.headers import (
    Expression,
    Facts,
    Header,
    HeaderError,
    Template,
    WorkExpression,
    header_of,
    knobs,
    refusal,
)
from kernels.rungs.operands import FORMS, Operands, operands_of

TEXTS_KEPT = 256  # joined texts: the ladder's, and of user kernels the last ones
MAX_EXTENT = 2**31 - 1  # device code counts samples in 32 bits
MAX_SHARED_BYTES = 227 * 1024  # of a block on any GPU: those of compute capability 9.0 and 10.0
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
TWO_TARGETS_SINCE = 12_090  # NVRTC takes two architectures, as CuPy adds the card's own
PICTURE = "picture"
# What a rung may do, and what it is called.
FILTERS = {
    "weights": "weighted sums",
    "gradient": "the length of a gradient",
    "median": "medians",
    "extremes": "minima and maxima",
    "percentiles": "percentiles",
    "morphology": "openings, closings and their differences",
    "bilateral": "bilateral filters",
    "non_local_means": "non-local means",
    "guided": "guided filters",
    "list": "a whole list of steps",
    "any": "whatever is asked for",  # of a user kernel alone
}
OF_WEIGHTS = ("weights", "gradient")
# And of what has no weights one filter alone, by its key.
_ALONE = (each for each in filters.all_filters() if not each.has_weights)
WORDS = {**{each.key: each.title.lower() for each in _ALONE}, **FILTERS}
# By the kind of a step's filter, and of a Rank by its percentile.
_FILTER_OF = {Morphology: "morphology", Bilateral: "bilateral", Guided: "guided"}
_FILTER_OF |= {NonLocalMeans: "non_local_means"}
_RANKS = {0.0: "extremes", 50.0: "median", 100.0: "extremes"}
COMPARING = ("median", "extremes", "percentiles", "morphology")  # comparisons are no operations
NO_WORDS, NOTHING, TAPS = Expression(""), Expression("0"), Expression("KSIZE * KSIZE")
ALWAYS, NO_COUNT = Expression("1"), WorkExpression("")
HALO = Expression("HALO_X"), Expression("HALO_Y")
BLOCK = Expression("BLOCK_X"), Expression("BLOCK_Y")
# Of blocks that do not lie side by side, as `anatomy.launch_shapes` has them.
Layout = Literal[
    "", "rows_of_tiles", "frequencies_of_tiles", "rows_of_pairs", "frequencies_of_columns"
]


@dataclass(frozen=True, slots=True)
class Pass:
    """One launch: a CUDA function that reads one array and writes another.

    reads, writes  "picture", or the name of one of the rung's buffers
    covers         what a block writes: samples of a row, then rows; with a grid, what the numbers
                   that it writes are of
    halo           how far to either side, and above and below, it needs others for that
    rows_by        where covers has the most rows that a block may write: the picture's are shared
                   out evenly, a multiple of so many to each
    grid           blocks, x then y, of a pass whose blocks do not lie side by side on the picture
    library        instead of a function: "fft2" or "ifft2", by cuFFT, unscaled, of buffers
    shape          of what that transforms: transforms, rows, columns of complex64

    That describes it further, and may be left out; it is "not described" then:

    loads, stores  how many numbers, by what they belong to, by PASS_NAMES as well; without
                   stores those are a picture's samples
    layout         where its blocks stand on the picture if it has a grid: `anatomy.launch_shapes`

    Numbers are expressions over `headers.Facts`.  The function takes (reads, also_reads...,
    writes, the weights if they are an argument, height, width, pitch, first_row, end_row).  A pass
    that writes a buffer writes all rows of it, one that writes the picture those from first_row up
    to end_row.
    """

    function: str = "convolve"
    reads: str = PICTURE
    writes: str = PICTURE
    also_reads: tuple[str, ...] = ()  # further ones
    block: tuple[Expression, Expression] = BLOCK  # threads a block, x then y
    covers: tuple[Expression, Expression] = BLOCK
    halo: tuple[Expression, Expression] = HALO
    rows_by: Expression = NO_WORDS
    grid: tuple[Expression, Expression] | None = None
    shared_bytes: Expression = NOTHING  # dynamic shared memory a block
    library: Literal["", "fft2", "ifft2"] = ""
    shape: tuple[Expression, Expression, Expression] | None = None
    loads: tuple[tuple[str, WorkExpression], ...] = ()
    stores: tuple[tuple[str, WorkExpression], ...] = ()
    flops: WorkExpression = NO_COUNT  # operations on them
    layout: Layout = ""


@dataclass(frozen=True, slots=True)
class Rung:
    """A rung of the ladder, as its `.cu` file describes itself.

    includes      headers of the ladder's folder it is written in, after the prelude
    requires      pairs of an expression that has to hold and the sentence that says so if it does
                  not, with {expressions} worked out
    strips_differ  whether a sample's rounding depends on where the rows begin, so that a strip of a
                  picture may round otherwise than the whole
    headroom      how many times the largest sample its sums may reach, where that is more than
                  Σ|w|; pictures with which those might overflow are refused
    reduced_precision  whether its error is far above float32's: never to be picked unasked
    buffers       what lies between passes: a name, and its size in bytes as an expression
    is_strict     whether its text may not know that it runs on the CPU; never from the header
    """

    key: str  # the file's name without its number, "shared": stable, whatever is put in between
    file: str  # the file's name
    source: str
    title: str
    idea: str  # one sentence, shown in the window: what this rung does differently
    weights: str = "none"  # the form it wants them in, one of `operands.FORMS`
    lesson: str = ""  # a paragraph for learners, on the rung's page in the help
    after: str | None = None  # the rung it changes one thing about
    includes: tuple[str, ...] = ()
    requires: tuple[tuple[Expression, Template], ...] = ()
    finite_only: bool = False  # whether it refuses pictures with NaN or infinity
    strips_differ: bool = False
    headroom: Expression = NO_WORDS
    reduced_precision: bool = False
    capability: tuple[int, int] = (0, 0)  # the least compute capability that it can be compiled for
    architecture_specific: bool = False  # whether for that one alone: sm_90a
    filter: str = "weights"  # what it is for, one of WORDS: see `does`
    quick: Expression = ALWAYS  # where none before it on the ladder is known to be quicker
    own_block: str = ""  # why the block picker does not apply; empty where it does
    chain_length: Expression = TAPS  # n of `checking.error_bound`: the longest chain of additions
    error_factor: float = 1.0  # c of `checking.error_bound`
    buffers: tuple[tuple[str, Expression], ...] = ()
    passes: tuple[Pass, ...] = (Pass(),)
    is_strict: bool = False
    kind: Literal["cuda"] = "cuda"

    def why_not(self, job: Job, device: Device | NoDevice) -> str | None:
        """The reason why this rung cannot run `job` on `device`, for the user; None if it can."""
        if isinstance(device, NoDevice):
            return device.reason
        return (
            self._why_no_block(job, device)
            or self.why_not_anywhere(job)
            or self._why_other_card(device)
            or self._why_no_shared(job, device)
        )

    def why_not_anywhere(self, job: Job) -> str | None:
        """The reason why it cannot run `job` whatever the device; None if it can."""
        return self._why_other_work(job) or self._why_no_samples(job)

    def does(self, job: Job) -> bool:
        """True if it is for what `job` asks for: a median is a percentile, too."""
        asked, does = filter_of(job), self.filter
        if does in (asked, "any") or (asked, does) == ("median", "percentiles"):
            return True
        # A user kernel may be for one of what others do together, as the maximum alone.
        return does not in FILTERS and filters.get(does).makes(job.filter)

    def other_work(self, job: Job) -> str:
        """What it does instead of what `job` asks for, a sentence without its end; or empty."""
        asked = f"{job.title} asks for {WORDS[filter_of(job)]}"
        asked = asked if job.has_weights else f"the filter is {job.title}"
        words = f"{self.title} works out {WORDS[self.filter]}, and {asked}"
        return "" if self.does(job) else words

    def why_never(self, job: Job, device: Device | None = None) -> str | None:
        """The reason why it launches nothing for `job`, whatever the picture holds; None if it may.

        device  None: on any GPU
        """
        block = self._why_no_block(job, device) if device else None
        return self._why_other_work(job) or block or self._why_no_shared(job, device)

    def compiles_for(self, capability: tuple[int, int]) -> bool:
        """True if cards of that compute capability have all that it needs of them."""
        is_newer = capability > self.capability and not self.architecture_specific
        return is_newer or capability == self.capability

    def is_quick(self, job: Job) -> bool:
        """False for jobs that it does not do, or a rung before it is known to do sooner."""
        return self.does(job) and bool(Facts(job).value(self.quick))

    def tolerance(self, job: Job) -> Tolerance:
        """The error that the rung's output for `job` may have."""
        return Tolerance(self.chain(job), self.error_factor)

    def chain(self, job: Job) -> int:
        """Return n of `checking.error_bound`: the longest chain of additions."""
        return max(facts.value(self.chain_length) for facts in _facts_of_parts(job))

    def operands(self, job: Job) -> Operands:
        """Return the weights in the form that this rung wants them in."""
        return operands_of(self.weights, job)

    def defines(self, job: Job) -> dict[str, str]:
        """Return the knobs that this rung's text mentions: others must not recompile it."""
        mentioned = _mentioned(self.text)
        values = {**knobs(job), **self.operands(job).knobs}
        return {name: str(value) for name, value in values.items() if name in mentioned}

    @property
    def architecture(self) -> str:
        """The one that it is compiled for, whatever the card; empty: the card's own."""
        return "sm_{}{}a".format(*self.capability) if self.architecture_specific else ""

    @property
    def gradient(self) -> bool:
        """True if a length follows its weights."""
        return self.filter == "gradient"

    @property
    def text(self) -> str:
        """Return the whole of what is compiled, without the prelude's defaults for editors.

        Errors in it name the file that they are in, and its line.
        """
        return _text_of(self.includes, self.file, self.source)

    @property
    def headers(self) -> str:
        """The text before the rung's own source, for a file of its own."""
        return "".join(each.text for each in header_parts(self.includes))

    def _why_no_block(self, job: Job, device: Device) -> str | None:
        return None if self.own_block else device.why_no_block(job.block_xy)

    def _why_other_work(self, job: Job) -> str | None:
        if words := self.other_work(job):
            other = next((each.key for each in ladder() if each.does(job)), "opencv")
            return f"{words}; choose such a filter, or another implementation, such as {other}."
        try:
            for facts in _facts_of_parts(job):
                for condition, sentence in self.requires:
                    if not facts.value(condition):
                        return facts.text(sentence)
        except CannotRunError as error:
            return str(error)
        return None

    def _why_no_samples(self, job: Job) -> str | None:
        """The reason why the picture's samples, or their number, are too much; None if not."""
        other = "choose another implementation, such as shared."
        if self.finite_only and not all_finite(job.picture):
            words = f"{self.title} would spread beyond the filter's reach"
            return f"The picture holds NaN or infinity, which {words}; {other}"
        if self.headroom and job.picture.dtype == np.float32:  # others are far from overflowing
            largest = largest_finite(job.picture)
            times = max(facts.value(self.headroom) for facts in _facts_of_parts(job))
            if times * largest >= FLOAT32_MAX:
                words = f"sums of {self.title} might overflow"
                return f"With samples as large as {largest:.3g} {words}; {other}"
        reach = 2 * job.radius * job.channels + max(job.block_xy)
        if max(job.width * job.channels, job.height) + reach <= MAX_EXTENT:
            return None
        return (
            f"A picture of {job.width}×{job.height} pixels has more samples in a row than the CUDA "
            "implementations can count; choose a CPU implementation."
        )

    def _why_other_card(self, device: Device) -> str | None:
        if self.compiles_for(device.compute_capability):
            return self._why_other_compiler(device.nvrtc_version)
        needed, has = ("{}.{}".format(*e) for e in (self.capability, device.compute_capability))
        of = "instructions that only" if self.architecture_specific else ""
        words = f"{of} compute capability {needed}{' has' if of else ''}".strip()
        return f"{self.title} needs {words}; {device.name} has {has}."

    def _why_other_compiler(self, version: int) -> str | None:
        if not self.architecture_specific or not 0 < version < TWO_TARGETS_SINCE:
            return None
        return (
            f"{self.title} is compiled for {self.architecture} alone, which takes NVRTC "
            f"{cuda_version(TWO_TARGETS_SINCE)}; CuPy has {cuda_version(version)} here: "
            f"{how_to_add('nvidia-cuda-nvrtc-cu12>=12.9')}."
        )

    def _why_no_shared(self, job: Job, device: Device | None) -> str | None:
        needed = max(
            facts.value(each.shared_bytes)
            for facts in _facts_of_parts(job, device)
            for each in self.passes
        )
        most = device.shared_bytes_per_block if device else MAX_SHARED_BYTES
        if needed <= most:
            return None
        owner = f"{device.name} has" if device else "no GPU has more than"
        return (
            f"{self.title} needs {needed / 1024:,.1f} KiB of shared memory for such a picture, "
            f"size and block; {owner} {most / 1024:.0f} KiB a block."
        )


def filter_of(job: Job) -> str:
    """What of FILTERS a job of one launch asks for."""
    if not job.is_one_launch:
        return "list"
    if isinstance(job.filter, Rank):
        return _RANKS.get(job.filter.percentile, "percentiles")
    return _FILTER_OF.get(type(job.filter), "gradient" if job.has_length else "weights")


def _facts_of_parts(job: Job, device: Device | None = None) -> list[Facts]:
    """Facts of the parts of each GPU that shares `job`, one for each height.

    The length of a transform, for one, depends on the height of a part.
    """
    heights = dict.fromkeys(part.height for part in job.parts)
    return [Facts(job, device, height) for height in heights]


@lru_cache(TEXTS_KEPT)
def _text_of(includes: tuple[str, ...], file: str, source: str) -> str:
    return with_lines((*header_parts(includes), Part(file, 1, source)))


@cache
def _mentioned(text: str) -> frozenset[str]:
    return frozenset(IDENTIFIER.findall(text))


@dataclass(frozen=True, slots=True)
class BrokenRung:
    """A file of the ladder's folder that no rung can be made of."""

    key: str
    file: str
    reason: str  # the sentence that says what is wrong with it, and in which line
    idea: str = "A rung whose file cannot be used."
    kind: Literal["cuda"] = "cuda"

    @property
    def title(self) -> str:
        """Return the file's name, as it has no title."""
        return self.file

    def why_not(self, _job: Job, _device: Device | NoDevice) -> str:
        return self.reason


def ladder() -> tuple[Rung, ...]:
    """Return every rung that can be used, naive first."""
    return tuple(each for each in whole_ladder() if isinstance(each, Rung))


def broken_rungs() -> tuple[BrokenRung, ...]:
    """Return the files of the ladder's folders that cannot be used."""
    every = (*whole_ladder(), *whole_ladder(of_lists=True))
    return tuple(each for each in every if isinstance(each, BrokenRung))


def list_ladder() -> tuple[Rung, ...]:
    """Return every rung that does a whole list in one launch."""
    return tuple(each for each in whole_ladder(of_lists=True) if isinstance(each, Rung))


@cache
def whole_ladder(*, of_lists: bool = False) -> tuple[Rung | BrokenRung, ...]:
    """Return every file of the ladder, in its order.  The folder listing *is* the registry."""
    found: dict[str, Rung | BrokenRung] = {}
    for path in sorted((LADDER / "lists" if of_lists else LADDER).glob("*.cu")):
        key = _key_of(path)
        try:
            if key in found:
                raise refusal(path.name, f"{found[key].file} is called {key} already")
            found[key] = read_rung(path)
        except HeaderError as error:
            name = key if key not in found else path.stem
            found[name] = BrokenRung(name, path.name, str(error))
    return tuple(found.values())


def read_rung(path: Path) -> Rung:
    """Read one file.  Raises HeaderError where no rung can be made of it."""
    if not re.fullmatch(r"\d\d_\w+", path.stem):
        raise refusal(path.name, "a rung's file is called NN_key.cu, with two digits")
    try:
        source = path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError) as error:
        raise refusal(path.name, f"it cannot be read as UTF-8 text: {error}") from error
    return rung_of(_key_of(path), header_of(path.name, source), source)


def rung_of(key: str, header: Header, source: str) -> Rung:
    """Make a rung of a text and its header.  Raises HeaderError where none can be made of it."""
    of_us = {"kind": "cuda", "is_strict": False}
    rung = header.read(Rung, key=key, file=header.file, source=source, **of_us)
    _check(rung, header)
    return rung


def _key_of(path: Path) -> str:
    return re.sub(r"^\d\d_", "", path.stem)


def _check(rung: Rung, header: Header) -> None:
    if rung.filter not in WORDS:
        hint = hint_of(rung.filter, tuple(WORDS)).rstrip(".")
        raise header.error(f"there is no filter {rung.filter!r}; {hint}", "filter")
    if rung.weights not in FORMS:
        forms = ", ".join(FORMS)
        raise header.error(f"there are no weights {rung.weights!r}; choose from {forms}", "weights")
    if rung.filter not in OF_WEIGHTS and rung.weights not in ("none", "numbers", rung.filter):
        raise header.error(f"no weights come with {WORDS[rung.filter]}", "weights")
    for name in rung.includes:
        if not re.fullmatch(r"\w+", name) or not (LADDER / f"{name}.cuh").is_file():
            raise header.error(f"there is no header {name}.cuh beside it", "includes")
    text = rung.headers + rung.source
    arrays = {PICTURE, *(name for name, _ in rung.buffers)}
    for number, each in enumerate(rung.passes):
        for field, name in _named(each):
            if name not in arrays:
                what = f"{field} of a pass names {name}, which is not a buffer"
                raise header.error(what, field, number)
        if each.library and each.shape is None:
            raise header.error("a library's pass needs a shape", "library", number)
        # The edge of the word last: a pattern that begins with plain letters is found at once.
        word = re.escape(each.function)
        if not each.library and not re.search(rf"{word}(?<=\b{word})\s*\(", text):
            raise header.error(f"there is no function {each.function} in it", "function", number)


def _named(each: Pass) -> Iterator[tuple[str, str]]:
    """Yield the fields of a pass that name arrays, with each name; weights are always there."""
    yield from (("reads", each.reads), ("writes", each.writes))
    yield from (("also_reads", name) for name in each.also_reads)
    yield from (("loads", name) for name, _ in each.loads if name != "weights")
    yield from (("stores", name) for name, _ in each.stores)


# ---- Work, counted rather than measured. --------------------------------------------------------
#
# A header says how many numbers each pass loads and stores, and how many operations it spends on
# them: as its text asks for them, with what lies twice in a halo.  That is exact for borders that
# continue the picture, but for the last segments of ring and running_sums; zeros beyond the picture
# are not loaded.  Where operations depend on samples the usual path is counted.

BY_A_LIBRARY = "cuFFT does not say what it loads, stores and computes."


@dataclass(frozen=True, slots=True)
class Work:
    """The work of one job and of one rung that does it, in numbers.

    compulsory_bytes  the picture read once and written once
    samples           of the picture
    working_set_bytes the picture, the output and the rung's buffers between them

    Of the rung, None on the CPU and where `unknown` says why, as where no header describes it:

    picture_loads     samples of the picture that its threads ask for
    data_loads        the same, and numbers of buffers between passes
    loaded_bytes      of picture, buffers and weights in global memory, requested by its threads
    stored_bytes      to picture and buffers
    memory_bytes      what its passes have to move if each reads what it needs once
    flops             additions, multiplications, roots and powers of two, a multiply-add as two;
                      not what turns integers into floats, or scales halves for tensor cores
    """

    compulsory_bytes: int
    samples: int
    working_set_bytes: int
    picture_loads: int | None = None
    data_loads: int | None = None
    loaded_bytes: int | None = None
    stored_bytes: int | None = None
    memory_bytes: int | None = None
    flops: int | None = None
    unknown: str = ""

    @property
    def loads_a_sample(self) -> float | None:
        """Samples of the picture requested, over the samples of the output."""
        return None if self.picture_loads is None else self.picture_loads / self.samples

    @property
    def data_loads_a_sample(self) -> float | None:
        """Numbers of picture and buffers requested, over the samples of the output."""
        return None if self.data_loads is None else self.data_loads / self.samples

    @property
    def halo_share(self) -> float | None:
        """The share of requested samples that were requested before: 0 to 1."""
        return max(0.0, 1 - self.samples / self.picture_loads) if self.picture_loads else None

    @property
    def rung_intensity(self) -> float | None:
        """The rung's operations per byte: its flops over its memory_bytes."""
        if self.flops is None or self.memory_bytes is None:
            return None
        return self.flops / self.memory_bytes


def work_of(job: Job, rung: Rung | None, multiprocessors: int) -> Work:
    """The work of `job` and of `rung`; None: an implementation on the CPU.

    multiprocessors  of the device: some rungs make as many blocks as those keep busy
    The picture's samples play no part.
    """
    facts = Facts(job)
    facts["MULTIPROCESSORS"] = multiprocessors
    buffers = sum(facts.value(size) for _, size in rung.buffers) if rung else 0
    compulsory, samples = job.compulsory_bytes, int(facts["SAMPLES"])
    found = Work(compulsory, samples, compulsory + buffers)
    if rung is None or any(each.library for each in rung.passes):
        return replace(found, unknown=BY_A_LIBRARY if rung else "")
    done = [pass_work(each, facts) for each in rung.passes]
    flops = sum(each.flops or 0 for each in done) if says_flops(rung) else None
    found = replace(found, unknown=not_described(rung), flops=flops)
    if not says_loads(rung):
        return found
    loads = [item for each in done for item in each.loads.items()]
    sizes, moved = {PICTURE: samples}, 0  # the small weights not counted
    for each in done:
        needed = {name: min(count, sizes.get(name, 0)) for name, count in each.loads.items()}
        moved += facts.bytes_of(needed) + facts.bytes_of(each.stores)
        sizes |= {name: count for name, count in each.stores.items() if name != PICTURE}
    return replace(
        found,
        picture_loads=sum(count for name, count in loads if name == PICTURE),
        data_loads=sum(count for name, count in loads if name != "weights"),
        loaded_bytes=sum(facts.bytes_of(each.loads) for each in done),
        stored_bytes=sum(facts.bytes_of(each.stores) for each in done),
        memory_bytes=moved,
    )


def says_loads(rung: Rung) -> bool:
    """Return True if the header describes the loads of all passes."""
    return all(each.loads for each in rung.passes)


def says_flops(rung: Rung) -> bool:
    """Return True if the header describes the operations of all passes."""
    return all(each.flops for each in rung.passes)


def not_described(rung: Rung) -> str:
    """The sentence on what its header leaves out, a library's aside; empty: nothing."""
    if any(each.library for each in rung.passes):
        return ""
    lacks_flops = rung.filter not in COMPARING and not says_flops(rung)
    parts = ["loads"] * (not says_loads(rung)) + ["operations"] * lacks_flops
    words = f"{' and '.join(parts).capitalize()} of this rung are not described."
    return words if parts else ""


class PassWork(NamedTuple):
    """Loads and stores of one pass, all of its blocks, by what they belong to."""

    loads: Mapping[str, int]
    stores: Mapping[str, int]
    flops: int | None  # None where the header does not say it


def pass_work(each: Pass, facts: Facts) -> PassWork:
    """Evaluate the header's description of `each`, which is not a library's."""
    facts.take(each.covers, each.grid)
    stores = each.stores or ((each.writes, "SAMPLES"),)
    return PassWork(
        {name: facts.value(count) for name, count in each.loads},
        {name: facts.value(count) for name, count in stores},
        facts.value(each.flops) if each.flops else None,
    )
