"""Words on what a trial or a search for a bug found: the verdict, and rows of facts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kernels.core.job import Job
from kernels.core.verdict import Check, place_words
from kernels.cuda_child.worker_pool import Held
from kernels.cuda_on_cpu.counting import LineCount, RunCounts
from kernels.cuda_on_cpu.findings import Built, Finding, KernelTrial
from kernels.cuda_on_cpu.regions import Region
from kernels.engine.engine import all_implementations
from kernels.rungs.headers import Facts
from kernels.rungs.rung import BLOCK, Rung
from workbench.base import numbers
from workbench.base.paths import asset_table
from workbench.model.rung_times import RungTimes

ON_THE_CPU = "Run on the CPU: no time."
NOT_RIGHT = "✗ The output shown is right, and the kernel is not. No time."
OF_GOOD = "Of the last text that ran: {verdict}"
SYMMETRIC = "; flipped weights would pass"
SYMMETRIC_TIP = "These weights are symmetric: flipped or transposed ones give the same output."
NO_BUG = "No bug found (bounds, races, barriers, output) on {}; “workbench check” tries more."


def part_words(region: Region) -> str:
    """Name a part of the picture: "the 253×189 pixels at (10, 20)"."""
    if region.is_whole:
        return "the whole picture"
    return f"the {region.width}×{region.height} pixels at ({region.left}, {region.top})"


def searched_words(bug: Finding) -> str:
    """Name the part of the picture that a bug was found on; empty: the whole, or no part of it."""
    if bug.region.is_whole or bug.is_far or bug.kind in ("compile", "refused"):
        return ""
    return f"Found on {part_words(bug.region)}: rows and columns count from there."


def no_bug_words(clean: Sequence[tuple[int, int]]) -> str:
    """Say that no bug was found with any of these block shapes, or with the kernel's own."""
    blocks = ", ".join("{}×{}".format(*each) for each in clean)
    return NO_BUG.format("this picture" + f", blocks of {blocks}" * (len(clean) > 1))


def verdict_words(tried: KernelTrial) -> str:
    """The verdict, the part that was compared and, where the output is right, the time."""
    check, part, no_time = tried.check, part_words(tried.region), f" {ON_THE_CPU}"
    if tried.on_gpu:
        no_time = ""
        if check is not None and not check.is_full:
            part = f"{check.checked:,} of {check.total:,} pixels"
    if check is None:
        return "Not verified yet." if tried.on_gpu else f"✗ Not verified, on {part}.{no_time}"
    if check.bug or (check.ok and tried.problem):
        return NOT_RIGHT
    verdict = _check_words(tried, check, part)
    if check.wrong:
        return verdict
    if tried.kernel is None or not tried.ok:
        return f"{verdict}{no_time}"
    count = len(tried.kernel.samples_ms)
    of = f" ({'median' if count > 2 else 'mean'} of {count})" if count > 1 else ""
    return f"{verdict} {numbers.duration(tried.kernel.median_ms)}{of} on {tried.device_name}."


def _check_words(tried: KernelTrial, check: Check, part: str) -> str:
    if not math.isfinite(check.bound):
        return f"✗ Not verified, on {part}: with values this large float32 sums overflow."
    if check.unsearched:
        end = "" if check.unsearched.endswith(("…", ".")) else "."
        return f"Output right on {part}; {check.unsearched}{end}"
    if check.ok:
        unseen = f"; {check.unseen}" if check.unseen else ""
        alike = SYMMETRIC * _is_symmetric(tried.job)
        return f"✓ Verified on {part}: largest error {check.max_error:.3g}{alike}{unseen}."
    (y, x, channel), region = check.worst, tried.region
    place = place_words(region.top + y, region.left + x, channel, tried.job.channels)
    samples = numbers.plural(check.wrong, "sample")
    why = f" {check.why}" if check.why else ""
    worst = f"The worst, at {place}, is off by {numbers.in_digits(check.max_error)}."
    return f"✗ Wrong in {samples} of {part}.{why} {worst}"


def _is_symmetric(job: Job) -> bool:
    """Whether weights that are transposed or flipped give the same output."""
    if not (job.is_one_launch and job.has_weights):
        return False
    weights = job.correlation.weights
    return all(np.array_equal(weights, each) for each in (weights.T, weights[::-1]))


def pixel_of(rung: Rung, job: Job, finding: Finding) -> tuple[int, int] | None:
    """The pixel (x, y) of its part that the thread of a finding computes.

    None where threads do not stand for samples side by side.
    """
    (only, *others), block, thread = rung.passes, finding.block, finding.thread
    if others or only.grid or thread is None or block is None or only.covers != BLOCK:
        return None
    facts = Facts(job)
    across, down = (facts.value(expression) for expression in only.covers)
    x = (block[0] * across + thread[0]) // job.channels
    y = block[1] * down + thread[1]
    is_inside = x < finding.region.width and y < finding.region.height
    return (x, y) if is_inside else None


class FactRow(NamedTuple):
    """A line of the card: its name, the fact in words, and its tooltip."""

    name: str
    words: str
    tip: str


TIPS = asset_table("tips.toml")["kernel-facts"]
NONE_YET = "no rung was timed on this job yet"


def _rows(facts: Mapping[str, str]) -> list[FactRow]:
    return [FactRow(name, words, TIPS[name]) for name, words in facts.items() if words]


def build_rows(built: Built, before: Built | None) -> list[FactRow]:
    """The facts of a build, each beside that of the last save if it differs.

    before  the build of the last save; None: there is none
    """
    facts, then = _build_facts(built), _build_facts(before or built)
    for name, fact in facts.items():
        if then.get(name, fact) != fact:
            facts[name] = f"{fact} ({then[name]} at the last save)"
    if built.occupancy:
        facts["Occupancy"] += f". {built.occupancy.limit}"
    return _rows(facts)


def _build_facts(built: Built) -> dict[str, str]:
    local, shared, held = built.local_bytes, built.shared_bytes, built.occupancy
    facts = {
        "Registers": f"{built.registers} per thread",
        "Spills": f"{numbers.byte_count(local)} per thread" if local else "none",
        "Shared memory": f"{numbers.byte_count(shared)} per block" if shared else "none",
    }
    if held is not None:
        of_most = f"{numbers.percent(held.share)}, {held.warps} of {held.most} warps"
        facts["Occupancy"] = of_most if held.most else f"{held.warps} warps"
    return facts


def held_rows(held: Held) -> list[FactRow]:
    """A row on the memory that is held, if any is."""
    host, device = (numbers.byte_count(each) for each in (held.host_bytes, held.device_bytes))
    words = f"{host}, {device} of the GPU's; processes: {held.children}"
    return _rows({"Memory held": words if held.children else ""})


def ladder_rows(tried: KernelTrial, rung: Rung, times: RungTimes) -> list[FactRow]:
    """A row of speed-ups over rungs, if the kernel has a time."""
    if tried.kernel is None or not tried.kernel.cache:
        return []
    rungs = {each.key: each.title for each in all_implementations() if each.kind == "cuda"}
    known = {
        key: time
        for key, time in times.of_work(tried.job, tried.kernel.cache).items()
        if key in rungs and not time.is_wrong
    }
    fastest = min(known, key=lambda key: known[key].median_ms, default="")
    parts = []
    for key in dict.fromkeys(key for key in (rung.after, fastest) if key in known):
        if not (tried.kernel.is_single or known[key].is_single):
            time = known[key]
            ratio = numbers.times_as_fast(time.median_ms / tried.kernel.median_ms)
            parts.append(f"{ratio}{numbers.star(time.disturbances)} {rungs[key]} ({time.duration})")
    return _rows({"Beside the ladder": "; ".join(parts) or NONE_YET})


SHARED = "shared memory"
TRANSACTION_BYTES = 128  # of shared memory, at most: one word of each bank
OPERATIONS = ("multiply-adds", "multiplications", "additions", "divisions, roots and powers")


def count_rows(counts: RunCounts, sample_bytes: int) -> list[FactRow]:
    """Rows of the counts, of a picture with `sample_bytes` per sample."""
    samples = counts.stored.get("picture", 0) / sample_bytes
    if not samples:
        return []
    requested = [each for each in counts.lines if each.requests]
    outside = [each for each in requested if each.array != SHARED]
    shared = [each for each in requested if each.array == SHARED]
    loads, stores = (
        [f"{name} {_rate(count / samples)} B" for name, count in each.items() if count]
        for each in (counts.loaded, counts.stored)
    )
    named = zip(counts.operations or (), OPERATIONS, strict=False)
    done = [f"{_rate(count / samples)} {name}" for count, name in named if count]
    has_conflicts = any(_turns(each) > 1 for each in shared)
    conflicts = _cost(" transactions", shared, _turns) if has_conflicts else "none"
    return _rows(
        {
            "Loads": _per_sample(loads),
            "Stores": _per_sample(stores),
            "Operations": _per_sample(done) or ("none" if counts.operations else ""),
            "Sectors": _cost("", outside, _ratio) if outside else "",
            "Bank conflicts": conflicts if shared else "",
        }
    )


class LineWords(NamedTuple):
    """The loads and stores of one line: in short, and a sentence for each array."""

    short: str
    sentences: str


def line_words(counts: RunCounts, sample_bytes: int) -> dict[int, LineWords]:
    """The counts beside each line of the text, counted from 1."""
    stored = (each.bytes for each in counts.lines if each.is_store and each.array == "picture")
    samples = sum(stored) / sample_bytes  # of the blocks that were looked at
    if not samples:
        return {}
    found: dict[int, list[LineCount]] = {}
    for each in counts.lines:
        if each.line is not None and each.requests:
            found.setdefault(each.line, []).append(each)
    return {
        line: LineWords(
            f"{_rate(sum(each.bytes for each in parts) / samples)} B",
            "\n".join(_sentence(each, samples) for each in parts),
        )
        for line, parts in found.items()
    }


def _sentence(count: LineCount, samples: float) -> str:
    """Write "Loads 25 B of picture per sample, 2.9 sectors per request."."""
    does = "Stores" if count.is_store else "Loads"
    cost = "transactions" if count.array == SHARED else "sectors"
    return (
        f"{does} {_rate(count.bytes / samples)} B of {count.array} per sample, "
        f"{_rate(_ratio(count))} {cost} per request."
    )


def _per_sample(parts: Sequence[str]) -> str:
    return f"{', '.join(parts)} per sample" if parts else ""


def _cost(what: str, lines: Sequence[LineCount], key: Callable[[LineCount], float]) -> str:
    """Write "2.1 per request, most in line 34: 2.9", the latter where that differs."""
    worst = max(lines, key=key)
    average = _rate(sum(each.cost for each in lines) / sum(each.requests for each in lines))
    most = _rate(_ratio(worst))
    is_special = worst.line is not None and most != average
    return f"{average}{what} per request" + (
        f", most in line {worst.line}: {most}" if is_special else ""
    )


def _ratio(line: LineCount) -> float:
    return line.cost / line.requests


def _turns(line: LineCount) -> float:
    return _ratio(line) / max(1.0, line.bytes / line.requests / TRANSACTION_BYTES)


def _rate(number: float) -> str:
    """Write a number with two decimals where it is small: "2.06", "25"."""
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.2g}"
