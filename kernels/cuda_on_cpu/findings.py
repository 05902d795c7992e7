"""Sentences for what is wrong with a run: the bug, its line, its thread and block."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from kernels.core.job import Job
from kernels.core.poison import WRITTEN_TO_PICTURE, outside_in_words, padding_in_words
from kernels.cuda_on_cpu.compile_errors import Diagnostic
from kernels.cuda_on_cpu.cpu_runs import Ended
from kernels.cuda_on_cpu.elf import names_in
from kernels.cuda_on_cpu.guarded_layout import WORDS
from kernels.cuda_on_cpu.regions import DEVICE, Region
from kernels.cuda_on_cpu.shared_run import (
    DYNAMIC_ARRAY,
    GIFT,
    MAX_MEMORY,
    NOWHERE,
    STATIC_ARRAY,
    Kind,
    Report,
    Signal,
    Where,
)
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import Rung

KINDS = {
    Kind.DEADLINE: "deadline",
    Kind.BOUNDS: "bounds",
    Kind.READ_ONLY: "bounds",
    Kind.ELEMENT: "bounds",
    Kind.BEYOND: "bounds",
    Kind.PADDING: "bounds",
    Kind.MISALIGNED: "misaligned",
    Kind.RACE: "race",
    Kind.UNINITIALISED: "uninitialised",
}
BARRIER = " at this barrier "  # in the runtime's words for threads that wait in vain
SHARED = "shared memory"
NEAR_NULL = 1 << 16
CRASHES: dict[int, str] = {
    Signal.SIGBUS: "accesses memory that is not there",
    Signal.SIGFPE: "divides an integer by zero",
    Signal.SIGILL: (
        "accesses numbers at an address that is not a multiple of their size, or does not return "
        "what its function promises"
    ),
    Signal.SIGTRAP: "comes to a trap",
    Signal.SIGSYS: "asks the operating system for something, which no kernel may",
    Signal.SIGABRT: "is ended by a library, perhaps for want of memory",
}
TOO_SLOW = (
    "The CPU is too slow for it: {done:.0%} of its blocks were done at the deadline; a GPU may "
    "take it."
)
STARVED = "still running at the deadline, with most of its time on the CPU left: not finished."
OVERFLOW = (
    "has used up its stack: does a function call itself without end, or is an array of its own "
    "very large?"
)
# Where it could write down nothing: before the kernel began, in what its file has run at first.
ENDED: dict[object, str] = {
    -Signal.SIGKILL: "it was killed",
    -Signal.SIGPROF: "it was still running at the deadline",
    -Signal.SIGSYS: "it asked the operating system for something, which no kernel may",
}


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
    """

    kind: str
    sentence: str
    region: Region
    line: int | None = None
    thread: tuple[int, int] | None = None
    block: tuple[int, int] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    is_unfinished: bool = False


@dataclass(frozen=True, slots=True)
class _Accessed:
    """An access of a thread: to what array, and where in it.

    array   its name in words; empty: none is near
    offset  of the access from the array's begin; `size` is the access's, `whole` the array's
    """

    job: Job
    array: str
    offset: int
    size: int
    whole: int
    address: int

    @property
    def element(self) -> str:
        """The part of an existing array."""
        if self.array in WORDS.values():
            y, x = self._place
            return f"column {self._pixel(x)} of row {y} of {self.array}"
        if self.array == SHARED and self.size == 4:
            return f"number {self.offset // 4:,} of {self.array}"
        return f"byte {self.offset:,} of {self.array}"

    @property
    def outside(self) -> str:
        """The place beyond an array, in rows and columns of a picture."""
        if not self.array:
            is_null = self.address < NEAR_NULL
            return "through a null pointer" if is_null else "memory far outside of all arrays"
        if self.array in WORDS.values():
            return self._outside_picture
        if self.offset < 0:
            return f"{-self.offset:,} bytes before the start of {self.array}"
        return f"byte {self.offset:,} of {self.array}, which has {self.whole:,}"

    @property
    def misaligned(self) -> str:
        """The place of an access that begins between two numbers."""
        return (
            f"{self.size} bytes at once of {self.array}, {self.offset:,} bytes from its begin: "
            f"that must be a multiple of {self.size}"
        )

    @property
    def _outside_picture(self) -> str:
        y, x = self._place
        if y < 0 or y >= self.job.height:
            has = f", which has {self.job.height}" if y >= 0 else ""
            return f"row {_minus(y)} of {self.array}{has}"
        has = f", which has {self.job.width}" if x >= 0 else ""
        return f"column {self._pixel(x)} of row {y} of {self.array}{has}"

    @property
    def _place(self) -> tuple[int, int]:
        """Row and sample; the end of the gap between two rows stands before the next row."""
        job, pitch = self.job, Facts(self.job, DEVICE)["PITCH"]
        samples = job.width * job.channels
        y, x = divmod(self.offset // job.picture.itemsize, pitch)
        gap = pitch - samples
        reach = max(job.reach * job.channels, 1)
        if x >= samples and pitch - x <= min(reach, gap - gap // 2):
            return y + 1, x - pitch
        return y, x

    def _pixel(self, sample: int) -> str:
        return _minus(sample // self.job.channels)


def finding_of(rung: Rung, region: Region, ended: Ended) -> Finding | None:
    """The bug that ended a run, as far as the run can tell by itself; None: there is none."""
    return _Words(rung, region, ended).finding()


def suspicion_of(rung: Rung, region: Region, ended: Ended) -> Finding:
    """The read that can be no sample, for a run that has one."""
    return _Words(rung, region, ended).suspicion()


def located(rung: Rung, ended: Ended, where: Where, finding: Finding, words: str) -> Finding:
    """Name a thread and its line in a finding: "Line 23: thread (3, 7) of block (0, 1) ..."."""
    who, line = _Words(rung, finding.region, ended).placed(where)
    sentence = words.format(who=who)
    return replace(finding, sentence=sentence, line=line, thread=where.thread, block=where.block)


def reads_old_answer(ended: Ended) -> bool:
    """True if a thread has read of the output what none had written."""
    report = ended.reports.suspicion
    return report.kind == Kind.UNINITIALISED and _array_of(ended, report) == WORDS["target"]


class _Words:
    """The reports of a run in words."""

    def __init__(self, rung: Rung, region: Region, ended: Ended) -> None:
        self._rung, self._region, self._ended = rung, region, ended
        self._refusal = str(ended.said.get("refused", ""))

    def finding(self) -> Finding | None:
        """The bug that ended the run."""
        ended, report = self._ended, self._ended.reports.fault
        # Of two threads that race the one that waits in vain at a barrier is the better reason.
        is_of_barrier = report.kind == Kind.RACE and BARRIER in self._refusal
        if is_of_barrier or report.kind == Kind.NOTHING:
            return self._without_report()
        if not ended.crashed and report.kind in (Kind.CRASH, Kind.DEADLINE):
            return self._without_report()
        kind = KINDS.get(Kind(report.kind), "crash")
        if report.signal == Signal.SIGFPE:
            kind = "division"
        if report.signal == Signal.SIGSEGV and report.array == DYNAMIC_ARRAY:
            kind = "stack"
        found = self._of_report(kind, report, self._crash_or_fault(report))
        if ended.pace:  # of no thread's fault
            found = replace(found, sentence=TOO_SLOW.format(done=ended.pace), line=None)
        return replace(found, is_unfinished=ended.is_unfinished)

    def suspicion(self) -> Finding:
        """The read that can be no sample."""
        report = self._ended.reports.suspicion
        accessed = self._accessed(report)
        words = f"reads {accessed.element}, which no thread has written before."
        if report.kind == Kind.PADDING:
            words = f"{_does(report.is_store)} {accessed.outside}."
        return self._of_report(KINDS[Kind(report.kind)], report, words)

    def placed(self, where: Where) -> tuple[str, int | None]:
        """Place a thread: "Line 23: thread (3, 7) of block (0, 1)", and the line."""
        beginning, line = self._line(where)
        thread = f"thread {where.thread} of block {where.block}"
        return (f"{beginning}: {thread}" if beginning else f"T{thread[1:]}"), line

    def _line(self, where: Where) -> tuple[str, int | None]:
        """Place code: "Line 23", or "Prelude.cuh, line 7" where it is not of the rung's file."""
        row = where.row(self._ended.lines, self._rung.file)
        if row is None:
            return "", None
        if row.file == self._rung.file:
            return f"Line {row.line}", row.line
        return f"{row.file}, line {row.line}", None

    def _of_report(self, kind: str, report: Report, words: str) -> Finding:
        (who, line), here = self.placed(report.here), report.here
        return Finding(kind, f"{who} {words}", self._region, line, here.thread, here.block)

    def _without_report(self) -> Finding | None:
        """Tell how the run ended where no thread is known to be at fault."""
        ended = self._ended
        if self._refusal:
            line = ended.said.get("line")
            kind = "barrier" if BARRIER in self._refusal else "refused"
            sentence = _undefined(self._refusal) or self._refusal
            line = line if isinstance(line, int) else None
            thread, block = _named("thread", sentence), _named("block", sentence)
            return Finding(kind, sentence, self._region, line, thread, block)
        if ended.crashed:
            kind = "deadline" if ended.is_starved else "crash"
            is_unfinished = ended.is_unfinished
            return Finding(kind, self._silent(), self._region, is_unfinished=is_unfinished)
        for name, offset in ended.outside:
            return Finding("refused", outside_in_words(name, offset), self._region)
        if ended.changed:
            return Finding("refused", WRITTEN_TO_PICTURE, self._region)
        for name, row in ended.padding:
            return Finding("refused", padding_in_words(name, row), self._region)
        return None

    def _silent(self) -> str:
        if self._ended.is_starved:
            doing = "killed after" if self._ended.said.get("late") else "still running at"
            return f"The run was {doing} the deadline: not finished."
        why = ENDED.get(self._ended.said.get("ended"), "its process ended without a word")
        return f"The run came to no end: {why}."

    def _crash_or_fault(self, report: Report) -> str:
        if report.kind == Kind.ELEMENT:
            has = f"an array that has {report.array_bytes:,}, numbered from 0"
            return f"uses element {_minus(report.offset, ',')} of {has}."
        if report.kind == Kind.BEYOND:
            return "accesses what lies beyond the array that its pointer is of."
        if self._ended.is_starved:
            return f"was {STARVED}"
        if report.kind == Kind.DEADLINE:
            return "was still running at the deadline: a loop that does not end?"
        return self._crash(report) if report.kind == Kind.CRASH else self._fault(report)

    def _crash(self, report: Report) -> str:
        ended = self._ended
        if refused := _refused_memory(ended):
            return refused
        if ended.beside:
            name, offset = ended.beside
            beside = _Accessed(ended.job, name, offset, report.size, 0, report.address)
            return f"{_does(report.is_store)} {beside.outside}."
        if report.signal != Signal.SIGSEGV:
            return f"{CRASHES.get(report.signal, 'crashes')}."
        if report.array == DYNAMIC_ARRAY:
            return OVERFLOW
        is_null = report.address < NEAR_NULL and not report.size
        return (
            "follows a null pointer." if is_null else "accesses memory far outside of all arrays."
        )

    def _fault(self, report: Report) -> str:
        """Describe an access that breaks a rule."""
        accessed, does = self._accessed(report), _does(report.is_store)
        if not accessed.array and (refused := _refused_memory(self._ended)):
            return refused
        if report.kind == Kind.RACE:
            return f"{does} {accessed.element}{self._other(report)}"
        if report.kind == Kind.READ_ONLY:
            return f"writes to {accessed.array}, which is only to be read."
        if report.kind == Kind.MISALIGNED:
            return f"{does} {accessed.misaligned}."
        return f"{does} {accessed.outside}."

    def _accessed(self, report: Report) -> _Accessed:
        array = _array_of(self._ended, report)
        facts = (report.offset, report.size, report.array_bytes, report.address)
        return _Accessed(self._ended.job, array, *facts)

    def _other(self, report: Report) -> str:
        there = report.there
        where = self._line(there)[0]
        in_line = f" in {where[0].lower()}{where[1:]}" if where else ""
        block = "" if there.block == report.here.block else f" of block {there.block}"
        return (
            f", which thread {there.thread}{block} {_does(report.other_stores)}{in_line}, with no "
            "barrier between the two."
        )


def _array_of(ended: Ended, report: Report) -> str:
    """The name of the array that a report is of; empty: of none."""
    known = {NOWHERE: "", DYNAMIC_ARRAY: SHARED, STATIC_ARRAY: SHARED, GIFT: "memory from malloc"}
    if report.array in known:
        return known[report.array]
    names = ended.said.get("arrays", [])
    return str(names[report.array]) if report.array < len(names) else "an array"


def _undefined(refusal: str) -> str:
    """The sentence where the library cannot be loaded; empty: that is not why."""
    _, is_it, symbol = refusal.partition("undefined symbol: ")
    if not is_it:
        return ""
    name = (names_in(symbol.strip()) or [symbol.strip()])[-1]
    return f"A function is declared and called, but defined nowhere: {name}."


def _refused_memory(ended: Ended) -> str:
    """The words for a thread that lacks memory which it requested; empty: it got all."""
    if not (count := ended.reports.refused_bytes):
        return ""
    return f"lacks {_size(count)} of memory that was refused: a run may take {_size(MAX_MEMORY)}."


def _size(count: int) -> str:
    units = ((30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "B"))
    bits, unit = next(each for each in units if count >> each[0])
    return f"{count / (1 << bits):.3g} {unit}"


def _does(is_store: int) -> str:
    return "writes" if is_store else "reads"


def _minus(number: int, form: str = "") -> str:
    return format(number, form).replace("-", "−")


def _named(what: str, sentence: str) -> tuple[int, int] | None:
    """The first thread, or block, that a sentence names."""
    found = re.search(rf"\b{what} \((\d+), (\d+)\)", sentence)
    return (int(found[1]), int(found[2])) if found else None
