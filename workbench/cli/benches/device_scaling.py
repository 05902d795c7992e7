"""The jobs that show how much sooner several GPUs are done than one, timed in turns.

Strong: one picture, shared by ever more GPUs.  Weak: as many times the rows as there are GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from kernels import Engine
from kernels.core.comparison import Comparison, compare
from kernels.core.device_share import DeviceShare
from kernels.core.job import Job, Result, Sampling
from kernels.core.timing import Timing
from kernels.core.verdict import Check
from kernels.engine.auto import with_pick
from workbench.cli import made_jobs

WEIGHTS = (("gaussian", 5), ("random", 31))  # of the first memory is the limit, else arithmetic
STRONG_SIDES = (2048, 4096, 8192, 16_384)  # pixels of float32
WEAK_SIDES = (2048, 4096, 8192)
IN_A_ROUND = Sampling(min_samples=10, max_samples=10, max_seconds=5.0, warmups=2, check=False)
ONCE = Sampling(max_samples=0, check=False)

Kind = Literal["strong", "weak"]


@dataclass(frozen=True, slots=True)
class ScalingCell:
    """One job that one GPU does, and several.

    side  of the picture that one GPU has
    """

    kind: Kind
    weights: str
    ksize: int
    side: int

    def __str__(self) -> str:
        return f"{self.kind} {self.weights} {self.ksize}×{self.ksize} {self.side}×{self.side}"

    def job(self, devices: int) -> Job:
        """Return what that many GPUs do."""
        rows = self.side * (devices if self.kind == "weak" else 1)
        made = made_jobs.job(self.weights, self.ksize, (rows, self.side))
        return replace(made, devices=devices)


@dataclass(slots=True)
class DeviceTimes:
    """The times of one number of GPUs.

    kernels  as `Result.kernel` has them, halo included, the picture there already
    whole    from this computer's memory and back: upload, filtering, download
    """

    job: Job
    kernels_ms: list[float] = field(default_factory=list)
    whole_ms: list[float] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    shares: tuple[DeviceShare, ...] = ()
    check: Check | None = None

    @property
    def kernel(self) -> Timing:
        """Return the time of filtering."""
        return Timing(tuple(self.kernels_ms), "cold", rounds=tuple(self.rounds))

    @property
    def whole(self) -> Timing:
        """Return the time with both transfers, one sample in each round."""
        return Timing(tuple(self.whole_ms), "cold")

    def add(self, result: Result, whole: Result) -> None:
        """Add the times of a round."""
        self.kernels_ms += result.timed.samples_ms
        self.rounds.append(len(result.timed.samples_ms))
        assert whole.total_ms is not None
        self.whole_ms.append(whole.total_ms)
        self.shares = result.shares
        self.check = self.check or result.check


@dataclass(frozen=True, slots=True)
class Scaling:
    """The times of a cell, by the number of GPUs; the first is one."""

    cell: ScalingCell
    implementation: str
    times: tuple[DeviceTimes, ...]

    def against_one(self, found: DeviceTimes, *, whole: bool = False) -> Comparison:
        """Return how these GPUs compare with one."""
        one = self.times[0]
        return compare(found.whole, one.whole) if whole else compare(found.kernel, one.kernel)


def scaling_cells() -> Iterator[ScalingCell]:
    """Yield all that is measured."""
    for weights, ksize in WEIGHTS:
        yield from (ScalingCell("strong", weights, ksize, side) for side in STRONG_SIDES)
        yield from (ScalingCell("weak", weights, ksize, side) for side in WEAK_SIDES)


def scaling_of(engine: Engine, cell: ScalingCell, counts: Sequence[int], rounds: int) -> Scaling:
    """Measure one cell: all numbers of GPUs take turns, and every second round turns them round.

    All run what `auto` picks for one.  Raises the errors of `kernels.core.errors`.
    """
    pick = next(engine.picks(cell.job(1)))
    times = [DeviceTimes(with_pick(cell.job(count), pick)) for count in counts]
    fresh = {each.job.picture.shape: each.job.picture.copy() for each in times}
    for number in range(rounds):
        for each in times if number % 2 == 0 else reversed(times):
            result = engine.run(each.job, replace(IN_A_ROUND, check=number == 0))
            # A picture that may change is not kept on a GPU: it is uploaded every time.
            moved = replace(each.job, picture=fresh[each.job.picture.shape])
            each.add(result, engine.run(moved, ONCE))
    return Scaling(cell, pick.implementation, tuple(times))
