"""How a report's times were measured: the machines, the method, the commands that repeat it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kernels.core.cpu_load import disturbed_in_words
from kernels.core.timing import CONFIDENCE, ENOUGH_SAMPLES, MAX_EQUAL, RESAMPLES, SAME_WITHIN
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import as_toml, presets
from kernels.sweeps.record import (
    CPU_WITHIN,
    GPU_WITHIN,
    SHORT_MS,
    SHORT_WITHIN,
    Machine,
    Measurement,
    Session,
)
from workbench.base import numbers
from workbench.charts.data.chart_words import list_of
from workbench.model.names import implementation_title
from workbench.report.tables import is_on_gpu, machine_name, plural

Written = Callable[[float], str]
CEILINGS: dict[str, tuple[str, Written]] = {
    "copy_gb_s": ("copying in the device's memory, bytes read and written", numbers.byte_rate),
    "l2_read_gb_s": ("reading from its L2 cache", numbers.byte_rate),
    "fma_tflop_s": ("float32 multiply-adds", lambda v: f"{numbers.three_digits(v)} TFLOP/s"),
    "empty_launch_ms": ("a launch that does nothing", numbers.duration),
}
LIMITS: dict[str, Callable[[int], str]] = {
    "multiprocessors": lambda count: f"{count} multiprocessors",
    "clock_khz": lambda khz: f"up to {khz / 1e6:.2f} GHz",
    "memory_bytes": lambda count: f"{numbers.byte_count(count)} memory",
    "l2_bytes": lambda count: f"{numbers.byte_count(count)} L2 cache",
}


def cards(machines: Iterable[Machine]) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Yield (name, card) of each computer; those that differ in measured ceilings alone are one."""
    found: dict[str, list[Machine]] = {}
    for machine in machines:
        found.setdefault(repr(replace(machine, ceilings={})), []).append(machine)
    for same in found.values():
        yield machine_name(same[0]), tuple(_card(same[0], [each.ceilings for each in same]))


def _card(machine: Machine, ceilings: Sequence[dict[str, float]]) -> Iterator[tuple[str, str]]:
    """Yield (what, value); what is unknown is left out."""
    without_code = machine.no_gpu.replace("`", "")  # of Markdown, which a page is not
    yield "GPU", machine.gpu or f"none. {without_code}".rstrip()
    yield from (("CPU", machine.cpu), ("Memory", machine.memory), ("System", machine.system))
    if machine.gpu and machine.limits:
        limits = [LIMITS[key](value) for key, value in machine.limits.items() if key in LIMITS]
        yield "GPU's limits", ", ".join(limits)
    if any(ceilings):
        yield "Measured ceilings", "; ".join(_ceilings(ceilings))
    if machine.software:
        yield "Software", ", ".join(f"{name} {value}" for name, value in machine.software.items())


def _ceilings(all_of_them: Sequence[dict[str, float]]) -> Iterator[str]:
    """Yield the ceilings in words; those of another version stay as they are called."""
    for name in dict.fromkeys(name for each in all_of_them for name in each):
        title, written = CEILINGS.get(name, (name, numbers.three_digits))
        values = sorted({written(each[name]) for each in all_of_them if name in each})
        yield f"{title} {' to '.join((values[0], *values[1:][-1:]))}"


# ------------------------------------------------------------------------ method

Measured = Sequence[tuple[str, Measurement]]  # with the implementation's key

CACHES = {
    ("cold",): "The GPU's L2 cache was emptied before each sample (cold), outside what is timed.",
    ("warm",): "The GPU's L2 cache was left as the sample before had filled it (warm).",
    (
        "cold",
        "warm",
    ): "Samples from an emptied L2 cache (cold) and a filled one (warm) stand apart.",
}


def paragraphs(sessions: Iterable[Session]) -> list[tuple[str, str]]:
    """Describe under a few titles the method of these sessions, and nothing beyond it."""
    sessions = list(sessions)
    measured = [
        (record.cell.implementation, record.outcome)
        for session in sessions
        for record in session.records
        if not isinstance(record.outcome, str)
    ]
    parts = (
        ("Time", _time(measured)),
        ("Samples", _samples(sessions, measured)),
        ("Statistics", _statistics(len(sessions) > 1)),
        ("Verified", _verified(measured)),
        ("Speed-up", _speed_up(measured)),
        ("Conditions", _conditions(measured)),
    )
    return [(title, text) for title, said in parts if (text := " ".join(said))]


def _time(measured: Measured) -> Iterator[str]:
    """Describe what is timed on GPU and CPU, and from which cache."""
    if any(is_on_gpu(key) for key, _ in measured):
        yield (
            "On the GPU a time is that of the kernel alone, between two CUDA events around its "
            "launches on a stream that is kept busy, without the time that Python takes."
        )
        caches = {each.kernel.cache for _, each in measured} - {None}
        yield from (CACHES[key] for key in CACHES if key == tuple(sorted(map(str, caches))))
    if any(is_own(key) for key, _ in measured):
        yield (
            "A user kernel ran in a process of its own, each time on a picture that it had not "
            "seen, and every output that was timed was checked."
        )
    if any(not is_on_gpu(key) for key, _ in measured):
        yield "On the CPU it is that of the filtering, by a monotonic clock."
    compiled = [each.compile_ms for _, each in measured if each.compile_ms is not None]
    if compiled:
        took = numbers.duration(max(compiled))
        yield f"Compiling or loading a kernel took {took} at most and is in no time here."
    if any(each.transfers for _, each in measured):
        yield (
            "Upload and download were timed from and to ordinary (pageable) memory and page-locked "
            "(pinned) memory. A total is upload, filter time and download one after another."
        )


def _samples(sessions: Sequence[Session], measured: Measured) -> Iterator[str]:
    """Describe how many samples there are and why there are not more."""
    kernels = [each.kernel for _, each in measured]
    if not kernels:
        return
    yield f"Warm-up runs, which do not count: {span(each.warmups for each in kernels)}."
    yield f"Samples, of which a time is the median: {span(len(k.samples_ms) for k in kernels)}."
    if any(len(each.rounds) > 1 for each in kernels):
        yield (
            "Every cell was measured in rounds, with parts of all others in between, in shuffled "
            "order, so that what drifted hit all alike. Intervals come from how far the rounds lie "
            f"apart: {span(len(each.rounds) or 1 for each in kernels)} of them."
        )
    else:  # a stable spread ends no round
        yield from dict.fromkeys(_stopping_rule(session.plan) for session in sessions)
    if words := disturbed_in_words(each.load for _, each in measured):
        yield words


def _stopping_rule(plan: Plan) -> str:
    rule = plan.sampling
    limits = f"after {rule.max_samples} samples or {rule.max_seconds:g} s"
    if rule.noise is None:
        return f"The limit: {limits}."
    return (
        f"The limit: quartile range over median settled below {100 * rule.noise:g} %, after "
        f"{rule.min_samples} samples at least, or {limits}."
    )


def _statistics(is_compared: bool) -> Iterator[str]:
    """Describe the spread of a time, and which two times count as different."""
    yield (
        "Beside a median stand the quartiles; no sample was left out. Two times count as different "
        f"only where the {100 * CONFIDENCE:g} % interval of their ratio ({RESAMPLES:,} bootstrap "
        "resamples of both medians, from the medians of their rounds where there were rounds) lies "
        f"wholly beyond {100 * SAME_WITHIN:g} %; of fewer than {ENOUGH_SAMPLES} samples there is "
        "no such interval, and they have to differ by more than a fifth. Otherwise they are equal: "
        f"within {100 * SAME_WITHIN:g} % where their medians are that near, else within noise; in "
        f"a ratio of more than {MAX_EQUAL:g} they are too noisy to tell."
    )
    if is_compared:
        yield (
            "Times of two sessions have to differ by more, since even the same work does: by "
            f"{100 * GPU_WITHIN:g} % on the GPU, {100 * SHORT_WITHIN:g} % under "
            f"{1000 * SHORT_MS:g} µs, and {100 * CPU_WITHIN:g} % on the CPU; where one of them was "
            "disturbed there is no verdict."
        )


def _verified(measured: Measured) -> Iterator[str]:
    """Describe the check, how many outputs it covered, and its findings."""
    checks = [each.check for _, each in measured if each.check is not None]
    if checks:
        yield (
            "Verified means that the output of the last timed run was compared with the same "
            "filtering in float64. A sample may be off by what float32 arithmetic can lose, "
            "c·n·2⁻²⁴·Σ|w|·max|p|, with weights w, pixels p, n additions in a row and a factor c "
            "of each implementation; an integer has to be the rounding of a value within that "
            "bound."
        )
    right = [each for each in checks if each.ok]
    counts = {
        "right in every pixel": sum(each.is_full for each in right),
        "right in edges, corners and random tiles": sum(not each.is_full for each in right),
        "wrong": len(checks) - len(right),
        "not checked": len(measured) - len(checks),
    }
    found = list_of([f"{count:,} {what}" for what, count in counts.items() if count])
    if found:
        yield f"Of the outputs, {found}."
    yield "A time counts only where the output was verified."


def _speed_up(measured: Measured) -> Iterator[str]:
    """Describe what speed-ups are against, and with how many threads."""
    threads: dict[str, set[int]] = {}
    for key, each in measured:
        if not is_on_gpu(key) and each.threads:
            threads.setdefault(key, set()).add(each.threads)
    yield "A speed-up compares filter times and leaves the transfers out, unless it says otherwise."
    if threads:
        named = [f"{implementation_title(key)}: {span(each)}" for key, each in threads.items()]
        yield f"Threads on the CPU: {', '.join(named)}."


def _conditions(measured: Measured) -> Iterator[str]:
    """Describe clocks and temperature over all of it, and whether the device slowed down."""
    health = [each.health for _, each in measured if each.health is not None]
    if not health:
        return
    seen = (
        ("MHz", [mhz for each in health for mhz in each.sm_mhz or ()]),
        ("°C", [celsius for each in health for celsius in each.temperature_c or ()]),
    )
    if ranges := [f"{span(values)} {unit}" for unit, values in seen if values]:
        yield f"Meanwhile the GPU was at {list_of(ranges)}."
    if reasons := sorted({reason for each in health for reason in each.throttled}):
        count = sum(bool(each.throttled) for each in health)
        yield f"Something held its clocks down ({', '.join(reasons)}) in {plural(count, 'cell')}."
    else:
        yield "Nothing was seen to hold its clocks down."


# ------------------------------------------------------------------------ commands


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands that measure a session again."""

    lines: tuple[str, ...]  # to type, in order
    file: str = ""  # name of the plan's file; "" where the plan is a preset
    toml: str = ""  # content of that file


def commands_for(session: Session) -> Commands:
    """The commands of the plan's preset, perhaps with options, or of a plan file."""
    for preset in presets():
        if (options := _options(session.plan, preset.plan)) is not None:
            return Commands(_lines(preset.key, preset.key, options))
    # Letters and digits that any shell takes: "Image size" as image-size.
    stem = re.sub(r"[^a-z0-9]+", "-", session.plan.title.lower()).strip("-") or "plan"
    return Commands(_lines(f"{stem}.toml", stem, ""), f"{stem}.toml", as_toml(session.plan))


def _lines(what: str, folder: str, options: str) -> tuple[str, ...]:
    return (f"workbench sweep {what}{options} --out {folder}", f"workbench report {folder}")


def _options(plan: Plan, preset: Plan) -> str | None:
    """The options that turn a preset into the plan; None where none do."""
    implementations, seconds = plan.implementations, plan.cell_seconds
    same = replace(preset, implementations=implementations, cell_seconds=seconds)
    if replace(same, own_texts=plan.own_texts) != plan:
        return None
    options = ""
    if implementations != preset.implementations:
        options += f" --implementations {','.join(implementations)}"
    if seconds != preset.cell_seconds:
        options += f" --seconds {seconds:g}"
    return options


def span(values: Iterable[int]) -> str:
    """Write the range of whole numbers: "20", or "10 to 100"."""
    found = sorted(set(values))
    return f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"
