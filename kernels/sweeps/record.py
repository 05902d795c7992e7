"""Records of what was measured: one a cell, and a machine and a plan make a session."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernels.core.cpu_load import Load
from kernels.core.device import Occupancy
from kernels.core.health import Health, disturbances_of
from kernels.core.job import Ran, Result
from kernels.core.timing import Timing
from kernels.core.verdict import Check
from kernels.cuda.device_pictures import Transfers
from kernels.sweeps.plan import Cell, Plan


@dataclass(frozen=True, slots=True)
class Measurement:
    """The measurement of a cell that ran.

    kernel      the filtering alone
    ran         what really ran, in order
    check       of the output of the last run that was timed; None: not checked
    compile_ms  None: it was compiled before, as a sweep does with rungs
    transfers   None: not asked for, not to be measured, or there is no device
    health      the device's clocks, temperature and so on meanwhile; None on the CPU
    load        what else the CPU did meanwhile; None on the GPU, and where it is not known
    occupancy   of its first pass, from the driver; None on the CPU
    compulsory_bytes  all pictures read once and written once
    """

    kernel: Timing
    ran: tuple[Ran, ...]
    check: Check | None
    compile_ms: float | None = None
    transfers: Transfers | None = None
    health: Health | None = None
    load: Load | None = None
    occupancy: Occupancy | None = None
    compulsory_bytes: int = 0

    @classmethod
    def of(cls, result: Result, **more: object) -> Measurement:
        """Make one from what the engine gave, with `more` fields that it does not know."""
        return cls(
            kernel=result.timed,
            ran=result.ran,
            check=result.check,
            compile_ms=result.compile_ms,
            health=result.health,
            occupancy=result.occupancy,
            compulsory_bytes=result.job.compulsory_bytes,
            **more,  # type: ignore[arg-type]
        )

    @property
    def end_to_end_ms(self) -> float | None:
        """Return the time of upload, kernel and download, from and to ordinary memory.

        None where the transfers are unknown.
        """
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
        return disturbances_of(self.load, self.health)

    @property
    def threads(self) -> int | None:
        """Return the threads of the CPU that computed; None on the GPU."""
        return max((ran.threads or 0 for ran in self.ran), default=0) or None


@dataclass(frozen=True, slots=True)
class Record:
    """A cell and what came of it: a measurement, or the sentence that says why there is none.

    at  seconds since 1970 in UTC, when it was known
    """

    cell: Cell
    outcome: Measurement | str
    at: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Return True if nothing more will come.

        It has all rounds, or the reason why there are none.
        """
        if isinstance(self.outcome, str):
            return True
        return not self.outcome.kernel.rounds or bool(self.outcome.kernel.ended)

    @property
    def verified(self) -> Measurement | None:
        """Return the measurement if its output was found right: only then is it a speed."""
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
            return "Its answer was not checked."
        return None if check.ok else f"Its answer is {check}."

    @property
    def megapixels_per_s(self) -> float | None:
        """Return the megapixels filtered in a second of kernel time.

        None where that is not a speed.
        """
        if self.verified is None:
            return None
        return self.cell.megapixels / (self.verified.kernel.median_ms / 1e3)


@dataclass(frozen=True, slots=True)
class Machine:
    """A computer, and what runs on it.

    Every field is a text fit to print, "" where unknown.

    gpu       its name; "" where there is none, and then `no_gpu` says why
    limits    of the GPU: what the model needs, see `kernels.sweeps.roofline`
    software  name -> version: Python, NumPy, CuPy, driver, CUDA, OpenCV, numba, this program
    ceilings  measured, see `cuda.ceilings`; none without a GPU
    """

    cpu: str
    memory: str
    system: str
    gpu: str = ""
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
    """All records of one plan on one machine, in the order they were measured.

    started      seconds since 1970 in UTC
    is_recorded  read from a file, not measured here and now
    is_shipped   came with the program: recorded by its authors on the machine it names, and not by
                 whoever looks at it
    remarks      what was found odd about its file, a sentence each
    """

    plan: Plan
    machine: Machine
    started: float
    records: tuple[Record, ...] = ()
    is_recorded: bool = False
    is_shipped: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def origin(self) -> str:
        """Return "recorded" where it came with the program, "from a file" where it was opened.

        Empty where it was measured here and now.
        """
        if not self.is_recorded:
            return ""
        return "recorded" if self.is_shipped else "from a file"
