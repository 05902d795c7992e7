"""Sentences for how a run ended, and for accesses that may not be: array, line, thread, block."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.core.job import Job
from kernels.core.poison import WRITTEN_TO_PICTURE, outside_in_words, padding_in_words
from kernels.cuda_on_cpu.cpu_runs import Ended
from kernels.cuda_on_cpu.elf import Row, lengths
from kernels.cuda_on_cpu.regions import DEVICE
from kernels.cuda_on_cpu.shared_run import (
    DYNAMIC_ARRAY,
    GIFT,
    MAX_MEMORY,
    NOWHERE,
    PICTURES,
    STATIC_ARRAY,
    Kind,
    Report,
    Signal,
    Where,
)
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import Rung

SHARED = "shared memory"
NEAR_NULL = 1 << 16


@dataclass(frozen=True, slots=True)
class Accessed:
    """An access of a thread: to what array, and where in it.

    pitch        samples of a row of a picture
    array        its name in words; empty: none is near
    offset       of the access from the array's begin, in bytes
    size         of the access, in bytes
    array_bytes  of the whole array
    address      as the kernel has it
    """

    job: Job
    pitch: int
    array: str
    offset: int
    size: int
    array_bytes: int
    address: int

    @property
    def element(self) -> str:
        """Return which part of an array that exists is meant."""
        if self.array in PICTURES:
            y, x = self._place
            return f"column {self._pixel(x)} of row {y} of {self.array}"
        if self.array == SHARED and self.size == 4:
            return f"number {self.offset // 4:,} of {self.array}"
        return f"byte {self.offset:,} of {self.array}"

    @property
    def outside(self) -> str:
        """Return what is meant by an access beyond an array, in rows and columns of a picture."""
        if not self.array:
            if self.address < NEAR_NULL:
                return "through a null pointer"
            return "memory far outside of all arrays"
        if self.array in PICTURES:
            return self._outside_picture
        if self.offset < 0:
            return f"{-self.offset:,} bytes before the start of {self.array}"
        return f"byte {self.offset:,} of {self.array}, which has {self.array_bytes:,}"

    @property
    def misaligned(self) -> str:
        """Return what is meant by an access that begins between two numbers."""
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
        """Return row and sample; what is near the end of a gap stands before the next row."""
        job = self.job
        samples = job.width * job.channels
        y, x = divmod(self.offset // job.picture.itemsize, self.pitch)
        gap = self.pitch - samples
        reach = max(job.reach * job.channels, 1)
        if x >= samples and self.pitch - x <= min(reach, gap - gap // 2):
            return y + 1, x - self.pitch
        return y, x

    def _pixel(self, sample: int) -> str:
        return _minus(sample // self.job.channels)


def _minus(number: int) -> str:
    return str(number).replace("-", "−")


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
SLOW = "The CPU is too slow for it"
TOO_SLOW = f"{SLOW}: {{done:.0%}} of its blocks were done at the deadline; a GPU may take it."
NOT_FINISHED = ": not finished."
STARVED = f"still running at the deadline, with most of its time on the CPU left{NOT_FINISHED}"
# Where it could write down nothing: before the kernel began, in what its file has run at first.
ENDED: dict[object, str] = {
    -Signal.SIGKILL: "it was killed",
    -Signal.SIGPROF: "it was still running at the deadline",
    -Signal.SIGSYS: "it asked the operating system for something, which no kernel may",
}


def ended_in_words(rung: Rung, ended: Ended) -> tuple[str, int | None]:
    """Return what went wrong in a sentence, and the line of the rung's file that it names.

    An empty sentence: nothing did, as far as a run can tell by itself.
    """
    if "refused" in ended.said:
        line = ended.said.get("line")
        return _refused(str(ended.said["refused"])), line if isinstance(line, int) else None
    if ended.crashed:
        return _crash_in_words(rung, ended)
    for name, offset in ended.outside:
        return outside_in_words(name, offset), None
    if ended.changed:
        return WRITTEN_TO_PICTURE, None
    for name, row in ended.padding:
        return padding_in_words(name, row), None
    return "", None


def placed(rung: Rung, ended: Ended, where: Where) -> tuple[str, int | None]:
    """Return "Line 23: thread (3, 7) of block (0, 1)", and the line."""
    row = where.row(ended.lines, rung.file)
    beginning, line = line_in_words(rung, row)
    thread = f"thread {where.thread} of block {where.block}"
    return (f"{beginning}: {thread}" if beginning else f"T{thread[1:]}"), line


def line_in_words(rung: Rung, row: Row | None) -> tuple[str, int | None]:
    """Return "Line 23", or "Prelude.cuh, line 7" where it is not of the rung's file."""
    if row is None:
        return "", None
    if row.file == rung.file:
        return f"Line {row.line}", row.line
    return f"{row.file}, line {row.line}", None


def _refused(reason: str) -> str:
    if "undefined symbol: " in reason:
        symbol = reason.partition("undefined symbol: ")[2].strip()
        names = [symbol[at : at + int(n)] for n, at in lengths(symbol)] or [symbol]
        return f"A function is declared and called, but defined nowhere: {names[-1]}."
    return reason


def _crash_in_words(rung: Rung, ended: Ended) -> tuple[str, int | None]:
    report = ended.reports.fault
    if report.kind == Kind.NOTHING and ended.is_starved:
        doing = "killed after" if ended.said.get("late") else "still running at"
        return f"The run was {doing} the deadline{NOT_FINISHED}", None
    if report.kind == Kind.NOTHING:
        why = ENDED.get(ended.said.get("ended"), "its process ended without a word")
        return f"The run came to no end: {why}.", None
    beginning, line = placed(rung, ended, report.here)
    if report.kind == Kind.ELEMENT:
        return f"{beginning} {element_in_words(report)}.", line
    if report.kind == Kind.BEYOND:
        return f"{beginning} accesses what lies beyond the array that its pointer is of.", line
    if ended.pace:
        return TOO_SLOW.format(done=ended.pace), None
    if ended.is_starved:
        return f"{beginning} was {STARVED}", line
    if report.kind == Kind.DEADLINE:
        return f"{beginning} was still running at the deadline: a loop that does not end?", line
    if refused := refused_in_words(ended):
        return f"{beginning} {refused}.", line
    if ended.beside:
        name, offset = ended.beside
        pitch = Facts(ended.job, DEVICE)["PITCH"]
        facts = (name, offset, report.size, 0, report.address)
        does = "writes" if report.is_store else "reads"
        return f"{beginning} {does} {Accessed(ended.job, pitch, *facts).outside}.", line
    if report.signal == Signal.SIGSEGV:
        return f"{beginning} {_segmentation(report)}", line
    doing = CRASHES.get(report.signal, "crashes")
    return f"{beginning} {doing}.", line


def element_in_words(report: Report) -> str:
    """Return which element a thread uses that its array does not have."""
    has = f"an array that has {report.array_bytes:,}, numbered from 0"
    element = f"{report.offset:,}".replace("-", "−")
    return f"uses element {element} of {has}"


def refused_in_words(ended: Ended) -> str:
    """Return how a thread goes on without the memory that it asked for; empty: it got all."""
    if not (count := ended.reports.refused_bytes):
        return ""
    return f"lacks {_size(count)} of memory that was refused: a run may take {_size(MAX_MEMORY)}"


def _size(count: int) -> str:
    units = ((30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "B"))
    bits, unit = next(each for each in units if count >> each[0])
    return f"{count / (1 << bits):.3g} {unit}"


def _segmentation(report: Report) -> str:
    if report.array == DYNAMIC_ARRAY:
        return (
            "has used up its stack: does a function call itself without end, or is an array of "
            "its own very large?"
        )
    if report.address < NEAR_NULL and not report.size:
        return "follows a null pointer."
    return "accesses memory far outside of all arrays."


def fault_in_words(rung: Rung, ended: Ended) -> tuple[str, int | None]:
    """Return the access that ended the run in a sentence, and its line."""
    report = ended.reports.fault
    thread, line = placed(rung, ended, report.here)
    does = "writes" if report.is_store else "reads"
    if report.kind == Kind.ELEMENT:
        return f"{thread} {element_in_words(report)}.", line
    accessed = _accessed(ended, report)
    if not accessed.array and (refused := refused_in_words(ended)):
        return f"{thread} {refused}.", line
    if report.kind == Kind.RACE:
        other = _other(rung, ended, report)
        return f"{thread} {does} {accessed.element}{other}", line
    if report.kind == Kind.READ_ONLY:
        return f"{thread} writes to {accessed.array}, which is only to be read.", line
    if report.kind == Kind.MISALIGNED:
        return f"{thread} {does} {accessed.misaligned}.", line
    return f"{thread} {does} {accessed.outside}.", line


def suspicion_in_words(rung: Rung, ended: Ended) -> tuple[str, int | None]:
    """Return in a sentence what was read and can be no sample, and its line."""
    report = ended.reports.suspicion
    thread, line = placed(rung, ended, report.here)
    accessed = _accessed(ended, report)
    if report.kind == Kind.PADDING:
        does = "writes" if report.is_store else "reads"
        return f"{thread} {does} {accessed.outside}.", line
    return f"{thread} reads {accessed.element}, which no thread has written before.", line


def reads_old_answer(ended: Ended) -> bool:
    """Return whether a thread has read of the answer what none had written."""
    report = ended.reports.suspicion
    return report.kind == Kind.UNINITIALISED and _array_of(ended, report) == "the answer"


def _accessed(ended: Ended, report: Report) -> Accessed:
    job = ended.job
    return Accessed(
        job,
        Facts(job, DEVICE)["PITCH"],
        _array_of(ended, report),
        report.offset,
        report.size,
        report.array_bytes,
        report.address,
    )


def _array_of(ended: Ended, report: Report) -> str:
    """Return the name of the array that a report is of; empty: of none."""
    if report.array == NOWHERE:
        return ""
    if report.array in (DYNAMIC_ARRAY, STATIC_ARRAY):
        return SHARED
    if report.array == GIFT:
        return "memory from malloc"
    names = ended.said.get("arrays", [])
    return str(names[report.array]) if report.array < len(names) else "an array"


def _other(rung: Rung, ended: Ended, report: Report) -> str:
    row = report.there.row(ended.lines, rung.file)
    where = line_in_words(rung, row)[0]
    in_line = f" in {where[0].lower()}{where[1:]}" if where else ""
    does = "writes" if report.other_stores else "reads"
    block = "" if report.there.block == report.here.block else f" of block {report.there.block}"
    return (
        f", which thread {report.there.thread}{block} {does}{in_line}, with no barrier between "
        "the two."
    )
