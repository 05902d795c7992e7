"""Sentences on what a trial or a search for a bug found."""

from __future__ import annotations

import math

from kernels.core.errors import FIRST_ERROR
from kernels.core.job import Job
from kernels.core.verdict import Check
from kernels.cuda_child.gpu_trial import GpuTrial
from kernels.cuda_on_cpu.bug import Finding
from kernels.cuda_on_cpu.compile_errors import Diagnostic
from kernels.cuda_on_cpu.regions import Region
from kernels.cuda_on_cpu.trial import CpuTrial
from kernels.rungs.cuda_text import line_without_end
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import BLOCK, Rung
from workbench.base import numbers

ON_THE_CPU = "Run on the CPU: no time."
NOT_YET = "Not verified yet."
NOT_RIGHT = "✗ The answer shown is right, and the kernel is not: see above."
NOT_EVERY_RUN = f"{NOT_RIGHT} No time."
BY_CHANCE = "✗ Right on the GPU by chance; run on the CPU it is not: see above. No time."
OF_GOOD = "Of the last text that ran: {verdict}"
NO_BUG = "No bug found: bounds, races, barriers and the answer are in order."


def refused_words(name: str, sentence: str) -> str:
    """Return a sentence on why a text does not run with the name of its file."""
    if sentence.startswith(f"{name},") or sentence.startswith(f"{name}:"):
        return sentence
    line = sentence.startswith("Line ")
    return f"{name}, line{sentence[4:]}" if line else f"{name}: {sentence}"


def part_words(region: Region) -> str:
    """Return what part of the picture it was: "the 253×189 pixels at (10, 20)"."""
    if region.is_whole:
        return "the whole picture"
    return f"the {region.width}×{region.height} pixels at ({region.left}, {region.top})"


def searched_words(region: Region) -> str:
    """Say what part of the picture a bug was found on, where that is not the whole."""
    if region.is_whole:
        return ""
    return f"Found on {part_words(region)}: rows and columns count from there."


def diagnostics_of(tried: CpuTrial | GpuTrial, rung: Rung) -> tuple[Diagnostic, ...]:
    """Return what the compiler said of a text; each of NVRTC's errors stands on a line."""
    if isinstance(tried, CpuTrial):
        return tried.diagnostics
    found = FIRST_ERROR.findall(tried.log)
    return tuple(
        Diagnostic(file, line_without_end(rung.source, int(line), text), 0, True, text)
        for file, line, text in found
    )


def verdict_words(tried: CpuTrial | GpuTrial) -> str:
    """Say whether the answer is right, where it was looked at, and how long it took, if it is."""
    if isinstance(tried, GpuTrial):
        return _gpu_words(tried)
    part = part_words(tried.region)
    if tried.check is None:
        return f"✗ Not verified, on {part}. {ON_THE_CPU}"
    if tried.check.bug or (tried.check.ok and tried.problem):
        return f"{NOT_RIGHT} {ON_THE_CPU}"
    return f"{_check_words(tried.check, tried.region, part)} {ON_THE_CPU}"


def _gpu_words(tried: GpuTrial) -> str:
    if tried.check is None:
        return NOT_YET
    if tried.check.bug or (tried.check.ok and tried.problem):
        return NOT_EVERY_RUN
    whole = Region(0, 0, tried.job.width, tried.job.height, True)
    check = tried.check
    part = part_words(whole) if check.is_full else f"{check.checked:,} of {check.total:,} pixels"
    verdict = _check_words(check, whole, part)
    if tried.kernel is None or not tried.ok:
        return verdict
    count = len(tried.kernel.samples_ms)
    of = f" (median of {count})" if count > 1 else ""
    return f"{verdict} {numbers.duration(tried.kernel.median_ms)}{of} on {tried.device_name}."


def _check_words(check: Check, region: Region, part: str) -> str:
    if not math.isfinite(check.bound):
        return f"✗ Not verified, on {part}: with values this large float32 sums overflow."
    if check.unsearched:
        return f"Output right on {part}; {check.unsearched.removesuffix('.')}."
    if check.ok:
        unseen = f"; {check.unseen}" if check.unseen else ""
        return f"✓ Verified on {part}: largest error {check.max_error:.3g}{unseen}."
    y, x, channel = check.worst
    samples = f"{check.wrong:,} sample{'s' if check.wrong > 1 else ''}"
    return (
        f"✗ Wrong in {samples} of {part}; the worst, off by {check.max_error:.3g}, is "
        f"channel {channel} of pixel ({region.left + x}, {region.top + y})."
    )


def pixel_of(rung: Rung, job: Job, finding: Finding) -> tuple[int, int] | None:
    """Return the pixel (x, y) of its part that the thread of a finding computes.

    None where threads do not stand for samples side by side.
    """
    (only, *others) = rung.passes
    if others or only.grid or None in (finding.thread, finding.block) or only.covers != BLOCK:
        return None
    assert finding.thread is not None
    assert finding.block is not None
    facts = Facts(job)
    across, down = (facts.value(expression) for expression in only.covers)
    x = (finding.block[0] * across + finding.thread[0]) // job.channels
    y = finding.block[1] * down + finding.thread[1]
    is_inside = x < finding.region.width and y < finding.region.height
    return (x, y) if is_inside else None
