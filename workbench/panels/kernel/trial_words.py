"""Words on what a trial or a search for a bug found: the verdict, and rows of facts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kernels.core.job import Job
from kernels.core.timing import gives_speed_up
from kernels.core.verdict import Check
from kernels.cuda_child.worker_pool import Held
from kernels.cuda_on_cpu.counting import LineCount, RunCounts
from kernels.cuda_on_cpu.findings import Finding
from kernels.cuda_on_cpu.kernel_trial import Built, KernelTrial
from kernels.cuda_on_cpu.regions import Region
from kernels.engine.engine import all_implementations
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import BLOCK, Rung
from workbench.base import numbers
from workbench.model.rung_times import RungTimes
from workbench.session.kernel_trial import KernelText

ON_THE_CPU = "Run on the CPU: no time."
NOT_YET = "Not verified yet."
NOT_RIGHT = "✗ The answer shown is right, and the kernel is not: see above."
NOT_EVERY_RUN = f"{NOT_RIGHT} No time."
BY_CHANCE = "✗ Right on the GPU by chance; run on the CPU it is not: see above. No time."
OF_GOOD = "Of the last text that ran: {verdict}"
NO_BUG = "No bug found: bounds, races, barriers and the answer are in order."


def refused_words(name: str, sentence: str) -> str:
    """Name the file in a sentence on why its text does not run."""
    if sentence.startswith((f"{name},", f"{name}:")):
        return sentence
    line = sentence.startswith("Line ")
    return f"{name}, line{sentence[4:]}" if line else f"{name}: {sentence}"


def part_words(region: Region) -> str:
    """Name a part of the picture: "the 253×189 pixels at (10, 20)"."""
    if region.is_whole:
        return "the whole picture"
    return f"the {region.width}×{region.height} pixels at ({region.left}, {region.top})"


def searched_words(region: Region) -> str:
    """Name the part of the picture that a bug was found on; empty: the whole."""
    if region.is_whole:
        return ""
    return f"Found on {part_words(region)}: rows and columns count from there."


def verdict_words(tried: KernelTrial) -> str:
    """The verdict, the part that was compared and, where the output is right, the time."""
    check, part, no_time = tried.check, part_words(tried.region), f" {ON_THE_CPU}"
    if tried.on_gpu:
        no_time = ""
        if check is not None and not check.is_full:
            part = f"{check.checked:,} of {check.total:,} pixels"
    if check is None:
        return NOT_YET if tried.on_gpu else f"✗ Not verified, on {part}.{no_time}"
    if check.bug or (check.ok and tried.problem):
        return NOT_EVERY_RUN if tried.on_gpu else f"{NOT_RIGHT}{no_time}"
    verdict = _check_words(check, tried.region, part)
    if tried.kernel is None or not tried.ok:
        return f"{verdict}{no_time}"
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


AS_WRITTEN = "Counted on a smaller part, as the text has it: no compiler has spared anything."
TIPS = {
    "Registers": "Registers per thread. More of them can leave room for fewer threads.",
    "Spills": "Local memory of a thread: registers that were spilled, and arrays of its own that "
    "it indexes as it runs. Both lie in the GPU's memory.",
    "Shared memory": "Shared memory of a block whose size is fixed in the text.",
    "Occupancy": "Warps that a multiprocessor holds at once, of those that it can hold at most.",
    "Memory held": "By the processes that run your kernels: one works, one stands by in case that "
    "the other has to be ended. CUDA itself takes some hundred MB of the GPU's memory besides, "
    "each. They end with the window.",
    "Beside the ladder": "Medians of this session, of the same job with the same L2 cache: of the "
    "rung that it changes a thing about, and of the fastest one measured. The panel "
    "Implementation measures the others.",
    "Loads": f"Bytes loaded from global memory for each sample that it computes. {AS_WRITTEN}",
    "Stores": f"Bytes stored in global memory for each sample that it computes. {AS_WRITTEN}",
    "Operations": f"Of float32, for each sample that it computes. {AS_WRITTEN}",
    "Sectors": "Sectors of 32 bytes that a warp's request to global memory touches, on average: "
    "four hold 32 floats side by side, one 32 bytes.",
    "Bank conflicts": "Transactions that a warp's request to shared memory takes: more than one "
    "where lanes want different words of one bank.",
}
NONE_YET = "no rung was timed on this job yet"


def _row(name: str, words: str) -> FactRow:
    return FactRow(name, words, TIPS[name])


def build_rows(built: Built, before: Built | None) -> list[FactRow]:
    """The facts of a build, each beside that of the last save if it differs.

    before  the build of the last save; None: there is none
    """
    then, rows = _build_facts(before) if before else {}, []
    for name, fact in _build_facts(built).items():
        old = then.get(name, fact)
        words = fact if old == fact else f"{fact} ({old} at the last save)"
        if name == "Occupancy" and built.occupancy:
            words += f". {built.occupancy.limit}"
        rows.append(_row(name, words))
    return rows


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


def held_rows(held: Held) -> Iterator[FactRow]:
    """Yield a row on the memory that is held, if any is."""
    if held.children:
        processes = f"{held.children} process{'es' if held.children > 1 else ''}"
        device = f", {numbers.byte_count(held.device_bytes)} of the GPU's"
        yield _row("Memory held", f"{numbers.byte_count(held.host_bytes)}{device}, in {processes}")


def ladder_rows(tried: KernelTrial, rung: Rung, times: RungTimes) -> Iterator[FactRow]:
    """Yield a row of speed-ups over rungs, if the kernel has a time."""
    if tried.kernel is None or not tried.kernel.cache:
        return
    rungs = {each.key: each.title for each in all_implementations() if each.kind == "cuda"}
    known = {
        key: time
        for key, time in times.of_work(tried.job, tried.kernel.cache).items()
        if key in rungs and not time.is_wrong
    }
    fastest = min(known, key=lambda key: known[key].median_ms, default="")
    parts = []
    for key in dict.fromkeys(key for key in (rung.after, fastest) if key in known):
        if gives_speed_up(tried.kernel, known[key].timing):  # not of a single run
            median_ms = known[key].median_ms
            ratio = numbers.times_as_fast(median_ms / tried.kernel.median_ms)
            parts.append(f"{ratio} {rungs[key]} ({numbers.duration(median_ms)})")
    yield _row("Beside the ladder", "; ".join(parts) or NONE_YET)


SHARED = "shared memory"
TRANSACTION_BYTES = 128  # of shared memory, at most: one word of each bank
OPERATIONS = ("multiply-adds", "multiplications", "additions", "divisions and roots")


def count_rows(counts: RunCounts, sample_bytes: int) -> list[FactRow]:
    """Rows of the counts, of a picture with `sample_bytes` per sample."""
    samples = counts.stored.get("picture", 0) / sample_bytes
    if not samples:
        return []
    outside = [each for each in counts.lines if each.array != SHARED and each.requests]
    shared = [each for each in counts.lines if each.array == SHARED and each.requests]
    facts = {
        "Loads": _of_arrays(counts.loaded, samples),
        "Stores": _of_arrays(counts.stored, samples),
        "Operations": _operations(counts.operations, samples),
        "Sectors": _cost("", outside, _ratio) if outside else "",
        "Bank conflicts": _conflicts(shared),
    }
    return [_row(name, words) for name, words in facts.items() if words]


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


def _of_arrays(each_bytes: Mapping[str, int], samples: float) -> str:
    """Write "picture 2.1 B, sums 6 B per sample"; empty without any."""
    parts = [f"{name} {_rate(count / samples)} B" for name, count in each_bytes.items() if count]
    return f"{', '.join(parts)} per sample" if parts else ""


def _operations(operations: Sequence[int] | None, samples: float) -> str:
    if operations is None:
        return ""
    named = zip(operations, OPERATIONS, strict=True)
    parts = [f"{_rate(count / samples)} {name}" for count, name in named if count]
    return f"{', '.join(parts)} per sample" if parts else "none"


def _conflicts(lines: Sequence[LineCount]) -> str:
    if not lines:
        return ""
    has_conflicts = max(map(_turns, lines)) > 1
    return _cost(" transactions", lines, _turns) if has_conflicts else "none"


def _cost(what: str, lines: Sequence[LineCount], key: Callable[[LineCount], float]) -> str:
    """Write "2.1 per request, most in line 34: 2.9", the latter where that differs."""
    worst = max(lines, key=key)
    average = _rate(sum(each.cost for each in lines) / sum(each.requests for each in lines))
    most = _rate(_ratio(worst))
    is_special = worst.line is not None and most != average
    where = f", most in line {worst.line}: {most}" if is_special else ""
    return f"{average}{what} per request{where}"


def _ratio(line: LineCount) -> float:
    return line.cost / line.requests


def _turns(line: LineCount) -> float:
    """Its transactions over those that its bytes need."""
    return _ratio(line) / max(1.0, line.bytes / line.requests / TRANSACTION_BYTES)


def _rate(number: float) -> str:
    """Write a number with two decimals where it is small: "2.06", "25"."""
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.2g}"


class SavedBuilds:
    """The builds of the last two texts that were saved, and of the one that was tried last."""

    def __init__(self) -> None:
        self._tried: tuple[KernelText, Built] | None = None
        self._saved: list[tuple[KernelText, Built]] = []  # the newest last

    def forget(self) -> None:
        """Begin with another kernel."""
        self._tried, self._saved = None, []

    def take(self, asked: KernelText, built: Built, is_saved: bool) -> Built | None:
        """Keep the build of a text; return that of the last save before, if for the same job."""
        self._tried = asked, built
        if is_saved:
            self.note_saved(asked.text)
        others = [each for each in self._saved if each[0].text != asked.text]
        if not others or not others[-1][0].job.same_work(asked.job):
            return None
        return others[-1][1]

    def note_saved(self, text: str) -> None:
        """Keep the text tried last, if it is this one, as the newest saved."""
        if self._tried is None or self._tried[0].text != text:
            return
        others = [each for each in self._saved if each[0].text != text]
        self._saved = [*others[-1:], self._tried]
