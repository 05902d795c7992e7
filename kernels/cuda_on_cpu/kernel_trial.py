"""The outcome of trying a user kernel, on the CPU runtime or on a GPU."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from numpy.typing import NDArray

from kernels.core.device import Occupancy
from kernels.core.health import Health
from kernels.core.job import Job, Ran
from kernels.core.timing import Timing
from kernels.core.verdict import Check
from kernels.cuda_on_cpu.compile_errors import Diagnostic
from kernels.cuda_on_cpu.counting import RunCounts
from kernels.cuda_on_cpu.regions import Region

Part = Literal["child", "compile", "guard", "run", "check", "end"]


@dataclass(frozen=True, slots=True)
class Built:
    """Resources of a compiled user kernel, and how it is launched.

    registers    per thread
    local_bytes  per thread: spilled registers, and arrays of its own
    shared_bytes per block, where the source fixes the size
    ran          its launches on the whole picture, the first of each pass
    """

    compile_ms: float
    registers: int
    local_bytes: int
    shared_bytes: int
    occupancy: Occupancy | None = None
    ran: tuple[Ran, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class KernelTrial:
    """The outcome of trying a user kernel so far; a later one of the same trial knows more.

    job          that ran: on the CPU runtime on `region` alone
    region       of the requested picture
    on_gpu       else it ran on the CPU runtime, where a kernel has no time
    answer       like the job's picture; None: the run did not finish
    check        of all of that output, against the reference
    problem      what went wrong, in a sentence; empty: nothing
    line         of the rung's file, that the problem names
    diagnostics  of the compiler, and its `log`: its errors, empty where it took the source
    is_lacking   a GPU takes the source, and the CPU runtime lacks a word of it
    is_unfinished  it might have ended: the CPU is slow, or had no time for it
    printed      by the kernel
    counts       of a smaller part, on the CPU runtime, where they were requested
    kernel       its time; only where that check, and those of all timed outputs, passed
    built        None where it did not compile, and on the CPU runtime
    health       of the GPU while it was timed; None: not known
    parts        of the trial, once there is a time: when each began, in seconds by `perf_counter`,
                 and when the last ended
    """

    job: Job
    region: Region
    on_gpu: bool = False
    answer: NDArray[Any] | None = field(default=None, repr=False)
    check: Check | None = None
    problem: str = ""
    line: int | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    log: str = ""
    is_lacking: bool = False
    is_unfinished: bool = False
    printed: str = ""
    counts: RunCounts | None = None
    kernel: Timing | None = None
    built: Built | None = None
    device_name: str = ""
    health: Health | None = None
    parts: tuple[tuple[Part, float], ...] = ()

    @property
    def ok(self) -> bool:
        """True if nothing went wrong, and the output is right."""
        return not self.problem and self.check is not None and self.check.ok

    @property
    def is_at_fault(self) -> bool:
        """True if it ran, and broke a rule, whether or not its output is right elsewhere."""
        has_run = self.answer is not None or bool(self.line)
        return bool(self.problem) and has_run and not self.log
