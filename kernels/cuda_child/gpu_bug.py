"""Find the bug of a kernel on the GPU: run it on a small picture under compute-sanitizer."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

from kernels.core.device import Device
from kernels.core.driving import in_place_of
from kernels.core.job import Job, Progress
from kernels.core.poison import WRITTEN_TO_PICTURE
from kernels.core.verdict import Check
from kernels.cuda.compute_sanitizer import Sanitizer
from kernels.cuda.listings import Place
from kernels.cuda_child.child_endings import RunEndedError
from kernels.cuda_child.device_layout import name_in_words
from kernels.cuda_child.sanitized_main import ToSanitize
from kernels.cuda_child.sanitized_run import Sanitized, StillRunningError, Tool, sanitized
from kernels.cuda_child.sanitizer_reports import Report
from kernels.cuda_on_cpu.array_words import SHARED, Accessed
from kernels.cuda_on_cpu.bug import Finding, wrong_in_words
from kernels.cuda_on_cpu.regions import Region, cropped, region_of, small_size
from kernels.cuda_on_cpu.whole_check import checked
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import Rung

TOOLS: tuple[Tool, ...] = ("memcheck", "racecheck", "synccheck")
NEAR = 1 << 20  # bytes from an array: further off, an access is of none
KINDS = {"outside": "bounds", "other": "crash"}  # of a Finding, where they are not called the same
BARRIERS = {
    "warp": "comes to a barrier that other threads of its warp do not come to",
    "block": "comes to a barrier that other threads of its block do not come to",
    "arguments": "comes to a barrier whose mask of threads is not right",
}


def finding_bug_on_gpu(
    rung: Rung,
    job: Job,
    device: Device,
    sanitizer: Sanitizer,
    *,
    at: tuple[int, int] | None = None,
) -> Iterator[Progress | Finding | None]:
    """Run a kernel under one tool after the other; the last that is yielded is its bug, or None.

    As on the CPU, what is read before it was written is a bug where the answer is wrong.
    Raises SanitizerError.

    at  the pixel (x, y) around which to run it; None: the middle
    """
    region = region_of(job, small_size(job), at)
    part = cropped(job, region)
    if reason := rung.why_not(part, device):
        yield Finding("refused", reason, region)
        return
    search = _Search(rung, part, region, device, sanitizer)
    try:
        yield from search.steps()
    except StillRunningError as error:
        yield Finding("deadline", str(error), region)
    except RunEndedError as error:
        kind = "compile" if error.log else "crash"
        yield Finding(kind, str(error), region, error.line)


@dataclass(frozen=True, slots=True)
class _Search:
    """A search on one part of a picture."""

    rung: Rung
    job: Job
    region: Region
    device: Device
    sanitizer: Sanitizer

    def steps(self) -> Iterator[Progress | Finding | None]:
        check: Check | None = None
        wrong = ""
        for tool in TOOLS:
            ran = yield from self._ran(tool)
            if finding := self._finding(ran):
                yield finding
                return
            if check is None and ran.answer is not None:
                check = yield from checked(self.rung, self.job, ran.answer)
                if not check.ok:
                    _, wrong = wrong_in_words(self.rung, self.job, ran.answer, check)
        if not wrong:
            yield None
            return
        ran = yield from self._ran("initcheck")
        on_gpu = Finding("wrong", f"On the GPU the kernel writes {wrong}.", self.region)
        yield self._finding(ran) or on_gpu

    def _ran(self, tool: Tool) -> Generator[Progress, None, Sanitized]:
        where = Progress(f"running {self.rung.title} on the GPU under compute-sanitizer: {tool}")
        asked = ToSanitize(self.rung, self.job, self.device.index, is_filled=tool != "initcheck")
        yield where
        return (yield from in_place_of(sanitized(self.sanitizer, tool, asked), where))

    def _finding(self, ran: Sanitized) -> Finding | None:
        """Return the first report in words: of a line of the kernel's own, if there is one."""
        if not ran.reports:
            if not ran.is_changed:
                return None
            return Finding("bounds", WRITTEN_TO_PICTURE, self.region)
        report = next((each for each in ran.reports if self._line(each.places)), ran.reports[0])
        line = self._line(report.places)
        beginning = f"{self._where(report.places)}: " if report.places else ""
        who = "a thread"
        if report.thread and report.block:
            who = f"thread {report.thread} of block {report.block}"
        who = who if beginning else f"{who[0].upper()}{who[1:]}"
        sentence = f"{beginning}{who} {self._does(report, ran)}."
        kind = KINDS.get(report.kind, report.kind)
        return Finding(kind, sentence, self.region, line, report.thread, report.block)

    def _does(self, report: Report, ran: Sanitized) -> str:
        """Return what a thread does, in words."""
        does = "writes" if report.is_store else "reads"
        if report.kind == "barrier":
            words = (each for name, each in BARRIERS.items() if name in report.headline)
            return next(words, "comes to a barrier in a way that is not allowed")
        if report.kind == "other":
            return f"fails: {report.headline}"
        if report.space == "local":
            how = "at an address that is no multiple of that"
            where = how if report.kind == "misaligned" else "outside of arrays of its own"
            return f"{does} {report.size} bytes {where}"
        accessed = self._accessed(report, ran)
        if report.kind == "misaligned":
            return f"{does} {accessed.misaligned}"
        if report.kind == "uninitialised":
            return f"reads {accessed.element}, which no thread has written before"
        if report.kind == "race" and report.earlier is not None:
            other = report.earlier
            did = "writes" if other.is_store else "reads"
            where = self._where(other.places)
            in_line = f" in {where[0].lower()}{where[1:]}" if where else ""
            return (
                f"{does} {accessed.element}, which thread {other.thread} {did}{in_line}, with no "
                "barrier between the two"
            )
        return f"{does} {accessed.outside}"

    def _accessed(self, report: Report, ran: Sanitized) -> Accessed:
        """Return what is accessed: of the array that begins or ends nearest to the address."""
        pitch, address, size = Facts(self.job, self.device)["PITCH"], report.address, report.size
        if report.space == "shared":
            job, all_bytes = self.job, ran.shared_bytes
            return Accessed(job, pitch, SHARED, address, size, all_bytes, address)
        far = {
            name: max(begin - address, address - (begin + count - 1), 0)
            for name, (begin, count) in ran.arrays.items()
        }
        name = min(far, key=lambda each: far[each], default="")
        if not name or far[name] > NEAR:
            return Accessed(self.job, pitch, "", 0, size, 0, address)
        begin, count = ran.arrays[name]
        in_words, offset = name_in_words(name), address - begin
        return Accessed(self.job, pitch, in_words, offset, size, count, address)

    def _line(self, places: tuple[Place, ...]) -> int | None:
        return next((each.line for each in places if each.file == self.rung.file), None)

    def _where(self, places: tuple[Place, ...]) -> str:
        """Return "Line 23", or "prelude.cuh, line 7" where none is of the kernel's own file."""
        if line := self._line(places):
            return f"Line {line}"
        return f"{places[0].file}, line {places[0].line}" if places else ""
