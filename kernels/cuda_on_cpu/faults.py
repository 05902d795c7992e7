"""Sentences for accesses that may not be: of what array, which row and column, in which line."""

from __future__ import annotations

from kernels.cuda_on_cpu.cpu_device import DEVICE
from kernels.cuda_on_cpu.cpu_runs import Ended
from kernels.cuda_on_cpu.run_report import DYNAMIC_ARRAY, NOWHERE, STATIC_ARRAY, Kind, Report
from kernels.cuda_on_cpu.run_words import NEAR_NULL, line_in_words, placed, refused_in_words
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import Rung

SHARED = "shared memory"
PICTURES = ("the picture", "the answer")


def fault_in_words(rung: Rung, ended: Ended) -> tuple[str, int | None]:
    """Return the access that ended the run in a sentence, and its line."""
    report = ended.reports.fault
    thread, line = placed(rung, ended, report.here)
    does = "writes" if report.is_store else "reads"
    array = array_of(ended, report)
    if not array and (refused := refused_in_words(ended)):
        return f"{thread} {refused}.", line
    if report.kind == Kind.RACE:
        other = _other(rung, ended, report)
        return f"{thread} {does} {_element(ended, report, array)}{other}", line
    if report.kind == Kind.READ_ONLY:
        return f"{thread} writes to {array}, which is only to be read.", line
    if report.kind == Kind.MISALIGNED:
        return (
            f"{thread} {does} {report.size} bytes at once of {array}, {report.offset:,} bytes "
            f"from its begin: that must be a multiple of {report.size}.",
            line,
        )
    return f"{thread} {does} {_outside(ended, report, array)}.", line


def suspicion_in_words(rung: Rung, ended: Ended) -> tuple[str, int | None]:
    """Return in a sentence what was read and can be no sample, and its line."""
    report = ended.reports.suspicion
    thread, line = placed(rung, ended, report.here)
    array = array_of(ended, report)
    if report.kind == Kind.PADDING:
        does = "writes" if report.is_store else "reads"
        return f"{thread} {does} {_outside(ended, report, array)}.", line
    element = _element(ended, report, array)
    return f"{thread} reads {element}, which no thread has written before.", line


def array_of(ended: Ended, report: Report) -> str:
    """Return the name of the array that a report is of; empty: of none."""
    if report.array == NOWHERE:
        return ""
    if report.array in (DYNAMIC_ARRAY, STATIC_ARRAY):
        return SHARED
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


def _element(ended: Ended, report: Report, array: str) -> str:
    """Return which part of an array that exists is meant."""
    if array in PICTURES:
        y, x = _place(ended, report)
        return f"column {_pixel(ended, x)} of row {y} of {array}"
    if array == SHARED and report.size == 4:
        return f"number {report.offset // 4:,} of {array}"
    return f"byte {report.offset:,} of {array}"


def _outside(ended: Ended, report: Report, array: str) -> str:
    """Return what is meant by an access beyond an array, in rows and columns of a picture."""
    if not array:
        if report.address < NEAR_NULL:
            return "through a null pointer"
        return "memory far outside of all arrays"
    if array in PICTURES:
        return _outside_picture(ended, report, array)
    if report.offset < 0:
        return f"{-report.offset:,} bytes before the start of {array}"
    return f"byte {report.offset:,} of {array}, which has {report.array_bytes:,}"


def _outside_picture(ended: Ended, report: Report, array: str) -> str:
    job = ended.job
    y, x = _place(ended, report)
    if y < 0 or y >= job.height:
        has = f", which has {job.height}" if y >= 0 else ""
        return f"row {_minus(y)} of {array}{has}"
    has = f", which has {job.width}" if x >= 0 else ""
    return f"column {_pixel(ended, x)} of row {y} of {array}{has}"


def _place(ended: Ended, report: Report) -> tuple[int, int]:
    """Return the row and the sample in it.  Near the end of a gap, it is before the next row."""
    job = ended.job
    pitch, samples = Facts(job, DEVICE)["PITCH"], job.width * job.channels
    y, x = divmod(report.offset // job.picture.itemsize, pitch)
    gap = pitch - samples
    reach = max(job.reach * job.channels, 1)
    if x >= samples and pitch - x <= min(reach, gap - gap // 2):
        return y + 1, x - pitch
    return y, x


def _pixel(ended: Ended, sample: int) -> str:
    return _minus(sample // ended.job.channels)


def _minus(number: int) -> str:
    return str(number).replace("-", "−")
