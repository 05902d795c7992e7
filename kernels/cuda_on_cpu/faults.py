"""Sentences for accesses that may not be: of what array, which row and column, in which line."""

from __future__ import annotations

from kernels.cuda_on_cpu.array_words import SHARED, Accessed
from kernels.cuda_on_cpu.cpu_device import DEVICE
from kernels.cuda_on_cpu.cpu_runs import Ended
from kernels.cuda_on_cpu.run_report import DYNAMIC_ARRAY, GIFT, NOWHERE, STATIC_ARRAY, Kind, Report
from kernels.cuda_on_cpu.run_words import element_in_words, line_in_words, placed, refused_in_words
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import Rung


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
