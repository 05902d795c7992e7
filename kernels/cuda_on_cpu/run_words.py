"""Sentences for how a run ended, with line, thread and block."""

from __future__ import annotations

from kernels.core.poison import WRITTEN_TO_PICTURE, outside_in_words, padding_in_words
from kernels.cuda_on_cpu.array_words import NEAR_NULL
from kernels.cuda_on_cpu.cpu_runs import Ended
from kernels.cuda_on_cpu.line_table import Row, lengths
from kernels.cuda_on_cpu.run_report import DYNAMIC_ARRAY, Kind, Report, Signal, Where
from kernels.cuda_on_cpu.shared_run import MAX_MEMORY
from kernels.rungs.rung import Rung

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
# Where it could write down nothing: before the kernel began, in what its file has run at first.
ENDED: dict[object, str] = {
    -Signal.SIGKILL: "it was killed",
    **dict.fromkeys((-Signal.SIGPROF, -Signal.SIGALRM), "it was still running at the deadline"),
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
    if report.kind == Kind.DEADLINE:
        return f"{beginning} was still running at the deadline: a loop that does not end?", line
    if refused := refused_in_words(ended):
        return f"{beginning} {refused}.", line
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
