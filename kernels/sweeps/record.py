"""Records of what was measured, one per cell; sessions of them, and two side by side."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from kernels.core.cpu_load import Load
from kernels.core.device import Occupancy
from kernels.core.health import Health, disturbances_of
from kernels.core.job import Ran, Result
from kernels.core.timing import Comparison, Timing, compare, in_a_row
from kernels.core.verdict import Check
from kernels.cuda.device_pictures import Transfers
from kernels.sweeps.plan import Cell, Plan

FIRST = "1 run, first"  # of a session that was recorded when sweeps still let it count


@dataclass(frozen=True, slots=True)
class Measurement:
    """The measurement of a cell that ran."""

    kernel: Timing  # the filtering alone
    ran: tuple[Ran, ...]  # what really ran, in order
    check: Check | None  # of the output of the last run that was timed; None: not checked
    compile_ms: float | None = None  # None: it was compiled before, as a sweep does with rungs
    transfers: Transfers | None = None  # None: not planned, not to be measured, or no device
    health: Health | None = None  # the device's clocks and so on meanwhile; None on the CPU
    load: Load | None = None  # what else the CPU did meanwhile; None on the GPU, or not known
    occupancy: Occupancy | None = None  # of its first pass, from the driver; None on the CPU
    compulsory_bytes: int = 0  # all pictures read once and written once
    steps: tuple[Timing, ...] = ()  # of a list, each alone

    @classmethod
    def of(cls, result: Result, **more: object) -> Measurement:
        """Make one from what the engine gave, with `more` fields that it does not know."""
        return cls(
            kernel=_whole(result),
            ran=result.ran,
            check=result.check,
            compile_ms=result.compile_ms,
            health=result.health,
            occupancy=result.occupancy,
            compulsory_bytes=result.job.compulsory_bytes,
            steps=tuple(each.timed for each in result.steps),
            **more,  # type: ignore[arg-type]
        )

    @property
    def is_sum(self) -> bool:
        """True where a list was not timed in one go: its samples are sums of its steps'.

        Only the first of them tell, as rounds may have more samples of a step than of another.
        """
        first_ms = sum(each.samples_ms[0] for each in self.steps)
        return math.isclose(self.kernel.samples_ms[0], first_ms)

    @property
    def end_to_end_ms(self) -> float | None:
        """Time of upload, kernel and download, from and to ordinary memory; None if unknown."""
        if self.transfers is None:
            return None
        up, down = self.transfers.pageable_up, self.transfers.pageable_down
        return up.median_ms + self.kernel.median_ms + down.median_ms

    @property
    def effective_gb_s(self) -> float:
        """Return compulsory bytes over kernel time."""
        return self.compulsory_bytes / 1e6 / self.kernel.median_ms

    @property
    def disturbances(self) -> tuple[str, ...]:
        """Possible disturbances of the time, in words."""
        is_first = self.kernel.ended == "single" and not self.kernel.warmups
        return disturbances_of(self.load, self.health) + (FIRST,) * is_first

    @property
    def threads(self) -> int | None:
        """Return the threads of the CPU that computed; None on the GPU."""
        return max((ran.threads or 0 for ran in self.ran), default=0) or None


def _whole(result: Result) -> Timing:
    """The time of a result, with a sample for each of its steps' where it is the sum of theirs."""
    steps = [each.timed for each in result.steps]
    is_sum = steps and result.timed.samples_ms == (sum(each.median_ms for each in steps),)
    return in_a_row(steps) if is_sum else result.timed


@dataclass(frozen=True, slots=True)
class Record:
    """A cell and what came of it: a measurement, or the sentence that says why there is none."""

    cell: Cell
    outcome: Measurement | str
    at: float = 0.0  # seconds since 1970 in UTC, when it was known

    @property
    def is_complete(self) -> bool:
        """Return True if it has all rounds, or the reason why there are none."""
        if isinstance(self.outcome, str):
            return True
        return not self.outcome.kernel.rounds or bool(self.outcome.kernel.ended)

    @property
    def verified(self) -> Measurement | None:
        """The measurement if its output was found right: only then is it a speed."""
        if isinstance(self.outcome, str) or self.outcome.check is None:
            return None
        return self.outcome if self.outcome.check.ok else None

    @property
    def objection(self) -> str | None:
        """The reason why `verified` is None, in words, or None where it is not."""
        if isinstance(self.outcome, str):
            return self.outcome
        check = self.outcome.check
        if check is None:
            return "Its output was not checked."
        return None if check.ok else f"Its output is {check}."

    @property
    def megapixels_per_s(self) -> float | None:
        """Megapixels filtered in a second of kernel time; None where that is no speed."""
        found = self.verified
        return None if found is None else self.cell.megapixels / (found.kernel.median_ms / 1e3)


@dataclass(frozen=True, slots=True)
class Machine:
    """A computer, and what runs on it.

    Every field is a text fit to print, "" where unknown.

    limits    of the GPU: what the model needs, see `kernels.sweeps.roofline`
    software  name -> version: Python, NumPy, CuPy, driver, CUDA, OpenCV, numba, this program
    ceilings  measured, see `cuda.ceilings`; none without a GPU
    """

    cpu: str
    memory: str
    system: str
    gpu: str = ""  # its name; "" where there is none, and then `no_gpu` says why
    no_gpu: str = ""
    limits: dict[str, int] = field(default_factory=dict)
    software: dict[str, str] = field(default_factory=dict)
    ceilings: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name in legends: its GPU, or its CPU."""
        return self.gpu or self.cpu


@dataclass(frozen=True, slots=True)
class Session:
    """All records of one plan on one machine, in the order they were measured."""

    plan: Plan
    machine: Machine
    started: float  # seconds since 1970 in UTC
    records: tuple[Record, ...] = ()
    is_recorded: bool = False  # read from a file, not measured here and now
    is_shipped: bool = False  # came with the program: recorded by its authors, not by the user
    remarks: tuple[str, ...] = ()  # what was found odd about its file, a sentence each

    @property
    def origin(self) -> str:
        """ "recorded" if it came with the program, "from a file" if it was opened; else ""."""
        origin = "recorded" if self.is_shipped else "from a file"
        return origin if self.is_recorded else ""


# What was chosen or allocated once at a process's start, and what else runs on the computer, makes
# the same work differ from one session to the next.  `tests.benches.repeat` on a host with
# 16 cores and an H200: 23 % of 360 pairs differed by more than their intervals; by more than this,
# in a second run, 11 %, half of them of one sweep that was slowed twofold.  So what is
# known to have been disturbed gets no verdict at all.  A launch of some microseconds has a larger
# share of what differs: a clock's tick, where its memory lies.
CPU_WITHIN = 0.15
GPU_WITHIN = 0.03
SHORT_WITHIN, SHORT_MS = 0.05, 0.010  # on the GPU, where either of the two is shorter than this
EQUAL = (
    f"equal within {100 * GPU_WITHIN:g} % (under {1000 * SHORT_MS:g} µs {100 * SHORT_WITHIN:g} %, "
    f"CPU {100 * CPU_WITHIN:g} %) or noise"
)
OBJECTIONS = {
    "disturbed": "No verdict: a time was disturbed.",
    "only_a": "Only in A.",
    "only_b": "Only in B.",
}


@dataclass(frozen=True, slots=True)
class CellPair:
    """One cell, as it came out in the sessions A and B; None in one that does not have it.

    comparison  how B stands to A: a ratio of 2.0 is the time of A over that of B, and means that B
                takes half as long.  None unless both answers were checked and are right: what is
                wrong has no speed; nor has what was disturbed one to be compared.
    """

    cell: Cell
    a: Record | None
    b: Record | None
    comparison: Comparison | None = None

    @property
    def finding(self) -> str:
        """The verdict on B; or "disturbed", "incomparable", "only_a" or "only_b"."""
        if self.comparison is not None:
            return self.comparison.verdict
        if self.a is None or self.b is None:
            return "only_b" if self.a is None else "only_a"
        return "disturbed" if self.a.verified and self.b.verified else "incomparable"

    @property
    def objection(self) -> str | None:
        """The reason why there is no comparison, in words, or None where there is one."""
        if self.comparison is not None or self.finding in OBJECTIONS:
            return OBJECTIONS.get(self.finding)
        reasons = {name: each.objection for name, each in (("A", self.a), ("B", self.b)) if each}
        if len({*reasons.values()}) == 1:
            return f"Both: {reasons['A']}"
        return " ".join(f"{name}: {reason}" for name, reason in reasons.items() if reason)


def compare_sessions(a: Session, b: Session) -> tuple[CellPair, ...]:
    """Pair the cells of `a`, in its order, with equal ones of `b`; then those only `b` has."""
    of_a, of_b = ({record.cell: record for record in each.records} for each in (a, b))
    cells = dict.fromkeys((*of_a, *of_b))
    return tuple(_pair(cell, of_a.get(cell), of_b.get(cell)) for cell in cells)


def _pair(cell: Cell, a: Record | None, b: Record | None) -> CellPair:
    both = [each.verified for each in (a, b) if each and each.verified]
    if len(both) < 2 or any(each.disturbances for each in both):
        return CellPair(cell, a, b)
    of_a, of_b = (each.kernel for each in both)
    return CellPair(cell, a, b, compare(of_b, of_a, within_of(cell, of_a, of_b)))


def within_of(cell: Cell, *both: Timing) -> float:
    """The relative difference up to which two times of `cell` are the same: 0.03 is 3 %."""
    if not cell.cache:
        return CPU_WITHIN
    return SHORT_WITHIN if min(each.median_ms for each in both) < SHORT_MS else GPU_WITHIN


def summary_of(pairs: Iterable[CellPair]) -> tuple[Counter[str], float | None]:
    """Count the findings; with the geometric mean of the ratios, None without any."""
    pairs = tuple(pairs)
    logarithms = [math.log(pair.comparison.ratio) for pair in pairs if pair.comparison]
    mean = math.exp(math.fsum(logarithms) / len(logarithms)) if logarithms else None
    return Counter(pair.finding for pair in pairs), mean
