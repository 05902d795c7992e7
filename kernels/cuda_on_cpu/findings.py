"""The outcome of trying a user kernel, and sentences for what is wrong with a run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

from kernels.core.device import Occupancy
from kernels.core.health import Health
from kernels.core.job import Job, Ran
from kernels.core.plain_data import table_beside
from kernels.core.timing import Timing
from kernels.core.verdict import Check
from kernels.cuda_on_cpu.compile_errors import Diagnostic
from kernels.cuda_on_cpu.counting import RunCounts
from kernels.cuda_on_cpu.cpu_runs import Ended
from kernels.cuda_on_cpu.elf import LineTable, short_name
from kernels.cuda_on_cpu.regions import DEVICE, Region
from kernels.cuda_on_cpu.shared_run import (
    DYNAMIC_ARRAY,
    GIFT,
    MAX_MEMORY,
    NOWHERE,
    WORDS,
    Kind,
    Report,
    Signal,
    Where,
)
from kernels.rungs.headers import Facts
from kernels.rungs.rung import Rung

OF_BOUNDS = Kind.READ_ONLY, Kind.ELEMENT, Kind.BEYOND, Kind.PADDING
BARRIER = " at this barrier "  # in the runtime's words for threads that wait in vain
SHARED = "shared memory"
NEAR_NULL = 1 << 16
_WORDS = table_beside(__file__)
FAULTS: dict[int, str] = {Kind[name]: words for name, words in _WORDS["fault"].items()}
CRASHES: dict[int, str] = {Signal[name]: words for name, words in _WORDS["crash"].items()}
ENDED: dict[object, str] = {-Signal[name]: words for name, words in _WORDS["ended"].items()}
TOO_SLOW = "The CPU is too slow for it: {done:.0%} of its blocks were done at the deadline."
STARVED = "was still running at the deadline, with most of its time on the CPU left: not finished."
REFUSED = f"lacks memory that was refused: a run may take {MAX_MEMORY >> 30} GiB."


@dataclass(frozen=True, slots=True)
class Finding:
    """A bug, in one sentence.

    kind           "compile", "refused", "barrier", "bounds", "misaligned", "race", "division",
                   "stack", "deadline", "crash", "uninitialised", "unwritten", "rows", "order" or
                   "wrong"; "order" where the answer depends on that of threads or launches
    line           of the rung's file; None: it is of none
    thread, block  x then y; None where no single thread is at fault
    region         of the job's picture, that it was run on
    is_unfinished  the run might have ended: the CPU is slow, or had no time for it
    is_far         it was found on that region repeated, where it is not
    """

    kind: str
    sentence: str
    region: Region
    line: int | None = None
    thread: tuple[int, int] | None = None
    block: tuple[int, int] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    is_unfinished: bool = False
    is_far: bool = False


def finding_of(rung: Rung, region: Region, ended: Ended) -> Finding | None:
    """The bug that ended a run, as far as the run can tell by itself; None: there is none."""
    report, refusal = ended.reports.fault, str(ended.said.get("refused", ""))
    # Of two threads that race the one that waits in vain at a barrier is the better reason.
    is_of_barrier = report.kind == Kind.RACE and BARRIER in refusal
    is_over = not ended.crashed and report.kind in (Kind.CRASH, Kind.DEADLINE)
    if is_of_barrier or is_over or report.kind == Kind.NOTHING:
        return _without_report(region, ended, refusal)
    found = reported(rung, region, ended, report)
    if ended.pace:  # of no thread's fault
        found = replace(found, sentence=TOO_SLOW.format(done=ended.pace), line=None)
    return replace(found, is_unfinished=ended.is_unfinished)


def reported(rung: Rung, region: Region, ended: Ended, report: Report) -> Finding:
    """The bug that a report of a run tells of."""
    kind = "bounds" if report.kind in OF_BOUNDS else Kind(report.kind).name.lower()
    if report.signal == Signal.SIGFPE:
        kind = "division"
    if report.signal == Signal.SIGSEGV and report.array == DYNAMIC_ARRAY:
        kind = "stack"
    words = f"{{who}} {_fault(rung, ended, report)}"
    return located(rung, ended, report.here, Finding(kind, "", region), words)


def located(rung: Rung, ended: Ended, where: Where, finding: Finding, words: str) -> Finding:
    """Name a thread and its line in a finding: "Line 23: thread (3, 7) of block (0, 1) ..."."""
    place, line = _line(rung, ended, where)
    sentence = words.format(who=f"{place}thread {where.thread} of block {where.block}")
    sentence = sentence[0].upper() + sentence[1:]
    return replace(finding, sentence=sentence, line=line, thread=where.thread, block=where.block)


def reads_old_answer(ended: Ended) -> bool:
    """True if a thread has read of the output what none had written."""
    report = ended.reports.suspicion
    return report.kind == Kind.UNINITIALISED and _array_of(ended, report) == WORDS["target"]


def _line(rung: Rung, ended: Ended, where: Where) -> tuple[str, int | None]:
    """Place code: "line 23: ", or "prelude.cuh, line 7: " where it is not of the rung's file."""
    row = where.row(LineTable(ended.library), rung.file)
    if row is None:
        return "", None
    is_own = row.file == rung.file
    return f"{'' if is_own else f'{row.file}, '}line {row.line}: ", row.line if is_own else None


def _without_report(region: Region, ended: Ended, refusal: str) -> Finding | None:
    """Tell how the run ended where no thread is known to be at fault."""
    _, is_undefined, symbol = refusal.partition("undefined symbol: ")
    if is_undefined:
        name = short_name(symbol.strip())
        refusal = f"A function is declared and called, but defined nowhere: {name}."
    if refusal:
        kind, line = "barrier" if BARRIER in refusal else "refused", ended.said.get("line")
        who = (_named("thread", refusal), _named("block", refusal))
        return Finding(kind, refusal, region, line if isinstance(line, int) else None, *who)
    if ended.crashed:
        why = ENDED.get(ended.said.get("ended"), "its process ended without a word")
        kind, sentence = "crash", f"The run came to no end: {why}."
        if ended.is_starved:
            kind, sentence = "deadline", f"The run {STARVED}"
        return Finding(kind, sentence, region, is_unfinished=ended.is_unfinished)
    return Finding("refused", ended.broken_rule, region) if ended.broken_rule else None


def _fault(rung: Rung, ended: Ended, report: Report) -> str:
    """What a thread does that ends its run: "reads row 45 of the picture, which has 45."."""
    array, place = _array_of(ended, report), _line(rung, ended, report.there)[0]
    if ended.is_starved:
        return STARVED
    if ended.reports.refused_bytes and (report.kind == Kind.CRASH or not array):
        return REFUSED
    if report.kind == Kind.CRASH:
        return _crash(ended, report)
    return FAULTS[report.kind].format(
        array=array,
        size=report.size,
        offset=_minus(report.offset, ","),
        length=report.array_bytes,
        does=_does(report.is_store),
        element=_element(ended.job, array, report),
        outside=_outside(ended.job, array, report.offset, report.array_bytes, report.address),
        there=report.there,
        other_does=_does(report.other_stores),
        in_line=f" in {place.removesuffix(': ')}" if place else "",
    )


def _crash(ended: Ended, report: Report) -> str:
    if ended.beside:
        name, offset = ended.beside
        return f"{_does(report.is_store)} {_outside(ended.job, name, offset, 0)}."
    if report.signal != Signal.SIGSEGV:
        return CRASHES.get(report.signal, "crashes.")
    if report.array == DYNAMIC_ARRAY:
        return (
            "has used up its stack: does a function call itself without end, or is an array of its "
            "own very large?"
        )
    is_null = report.address < NEAR_NULL and not report.size
    return "follows a null pointer." if is_null else "accesses memory far outside of all arrays."


def _array_of(ended: Ended, report: Report) -> str:
    known = {NOWHERE: "", DYNAMIC_ARRAY: SHARED, GIFT: "memory from malloc"}
    if report.array in known:
        return known[report.array]
    names = ended.said.get("arrays", [])
    return str(names[report.array]) if report.array < len(names) else "an array"


def _element(job: Job, array: str, report: Report) -> str:
    if array in WORDS.values():
        y, x = _place(job, report.offset)
        return f"column {_minus(x // job.channels)} of row {y} of {array}"
    if report.size == 4:
        return f"number {report.offset // 4:,} of {array}"
    return f"byte {report.offset:,} of {array}"


def _outside(job: Job, array: str, offset: int, size: int, address: int = 0) -> str:
    if not array:
        return (
            "through a null pointer" if address < NEAR_NULL else "memory far outside of all arrays"
        )
    if array in WORDS.values():
        y, x = _place(job, offset)
        if y < 0 or y >= job.height:
            return f"row {_minus(y)} of {array}" + f", which has {job.height}" * (y >= 0)
        column = f"column {_minus(x // job.channels)} of row {y} of {array}"
        return column + f", which has {job.width}" * (x >= 0)
    if offset < 0:
        return f"{-offset:,} bytes before the start of {array}"
    return f"byte {offset:,} of {array}, which has {size:,}"


def _place(job: Job, offset: int) -> tuple[int, int]:
    """Row and sample; the end of the gap between two rows stands before the next row."""
    pitch, samples = Facts(job, DEVICE)["PITCH"], job.width * job.channels
    y, x = divmod(offset // job.picture.itemsize, pitch)
    gap = pitch - samples
    reach = max(job.reach * job.channels, 1)
    if x >= samples and pitch - x <= min(reach, gap - gap // 2):
        return y + 1, x - pitch
    return y, x


def _does(is_store: int) -> str:
    return "writes" if is_store else "reads"


def _minus(number: int, form: str = "") -> str:
    return format(number, form).replace("-", "−")


def _named(what: str, sentence: str) -> tuple[int, int] | None:
    found = re.search(rf"\b{what} \((\d+), (\d+)\)", sentence)
    return (int(found[1]), int(found[2])) if found else None


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
    answer       like the job's picture; None: the run did not finish
    check        of all of that output, against the reference
    problem      what went wrong, in a sentence; empty: nothing
    line         of the rung's file, that the problem names
    log          errors of the compiler; empty where it took the source
    is_lacking   a GPU takes the source, and the CPU runtime lacks a word of it
    is_unfinished  it might have ended: the CPU is slow, or had no time for it
    kernel       its time; only where that check, and those of all timed outputs, passed
    built        None where it did not compile, and on the CPU runtime
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

    @property
    def ok(self) -> bool:
        """True if nothing went wrong, and the output is right."""
        return not self.problem and self.check is not None and self.check.ok

    @property
    def is_at_fault(self) -> bool:
        """True if it ran, and broke a rule, whether or not its output is right elsewhere."""
        has_run = self.answer is not None or bool(self.line)
        return bool(self.problem) and has_run and not self.log
