"""How a report's times were measured: the machines, the method, the commands that repeat it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kernels.core.cpu_load import disturbed_in_words
from kernels.core.plain_data import parse_toml
from kernels.core.timing import CONFIDENCE, ENOUGH_SAMPLES, MAX_EQUAL, RESAMPLES, SAME_WITHIN
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.plan import PICTURE_KINDS, Plan
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
from workbench.files.formats import EXTENSIONS
from workbench.model.names import implementation_title
from workbench.model.plan_draft import BUILT_IN
from workbench.report.tables import is_on_gpu, machine_name

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
    for name in dict.fromkeys(name for each in all_of_them for name in each):
        title, written = CEILINGS.get(name, (name, numbers.three_digits))
        values = sorted({written(each[name]) for each in all_of_them if name in each})
        yield f"{title} {' to '.join((values[0], *values[1:][-1:]))}"


Measured = Sequence[tuple[str, Measurement]]  # with the implementation's key
FILE = Path(__file__).with_name("method.toml")
SENTENCES: dict[str, str] = parse_toml(FILE.read_text("utf-8"), FILE.name)


def _say(name: str, **values: object) -> str:
    return SENTENCES[name].strip().format(**values)


def paragraphs(sessions: Sequence[Session]) -> list[tuple[str, str]]:
    """Describe under a few titles the method of these sessions, and nothing beyond it."""
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
    if any(is_on_gpu(key) for key, _ in measured):
        yield _say("on_gpu")
        if caches := {each.kernel.cache for _, each in measured if each.kernel.cache}:
            yield _say("both_caches" if len(caches) > 1 else caches.pop())
    if any(is_own(key) for key, _ in measured):
        yield _say("own")
    if any(not is_on_gpu(key) for key, _ in measured):
        yield _say("on_cpu")
    if compiled := [each.compile_ms for _, each in measured if each.compile_ms is not None]:
        yield _say("compiled", took=numbers.duration(max(compiled)))
    if any(each.transfers for _, each in measured):
        yield _say("transfers")


def _samples(sessions: Sequence[Session], measured: Measured) -> Iterator[str]:
    if not (kernels := [each.kernel for _, each in measured]):
        return
    samples = span(len(each.samples_ms) for each in kernels)
    yield _say("samples", warmups=span(each.warmups for each in kernels), samples=samples)
    if any(len(each.rounds) > 1 for each in kernels):
        yield _say("rounds", rounds=span(len(each.rounds) or 1 for each in kernels))
    else:  # a stable spread ends no round
        for rule in dict.fromkeys(session.plan.sampling for session in sessions):
            most = {"samples": rule.max_samples, "seconds": rule.max_seconds}
            if rule.noise is None:
                yield _say("limit", **most)
            else:
                yield _say("noise_limit", noise=100 * rule.noise, least=rule.min_samples, **most)
    if words := disturbed_in_words(each.load for _, each in measured):
        yield words
    ended = Counter(each.ended for each in kernels if each.ended)
    if endings := [_say(f"ended_{name}", count=f"{count:,}") for name, count in ended.items()]:
        yield f"Of {numbers.plural(len(kernels), 'measurement')}, {list_of(endings)}."


def _statistics(is_compared: bool) -> Iterator[str]:
    yield _say(
        "statistics",
        confidence=100 * CONFIDENCE,
        resamples=RESAMPLES,
        same=100 * SAME_WITHIN,
        enough=ENOUGH_SAMPLES,
        most=MAX_EQUAL,
    )
    if is_compared:
        gpu, short, cpu = (100 * each for each in (GPU_WITHIN, SHORT_WITHIN, CPU_WITHIN))
        yield _say("sessions", gpu=gpu, short=short, short_us=1000 * SHORT_MS, cpu=cpu)


def _verified(measured: Measured) -> Iterator[str]:
    if checks := [each.check for _, each in measured if each.check is not None]:
        yield _say("verified")
    right = [each for each in checks if each.ok]
    counts = {
        "right in every pixel": sum(each.is_full for each in right),
        "right in edges, corners and random tiles": sum(not each.is_full for each in right),
        "wrong": len(checks) - len(right),
        "not checked": len(measured) - len(checks),
    }
    if found := list_of(f"{count:,} {what}" for what, count in counts.items() if count):
        yield f"Outputs: {found}."
    yield _say("only_verified")


def _speed_up(measured: Measured) -> Iterator[str]:
    threads: dict[str, set[int]] = {}
    for key, each in measured:
        if not is_on_gpu(key) and each.threads:
            threads.setdefault(key, set()).add(each.threads)
    yield _say("speed_up")
    if threads:
        named = [f"{implementation_title(key)}: {span(each)}" for key, each in threads.items()]
        yield _say("threads", threads=", ".join(named))


def _conditions(measured: Measured) -> Iterator[str]:
    if not (health := [each.health for _, each in measured if each.health is not None]):
        return
    seen = {
        "MHz": [mhz for each in health for mhz in each.sm_mhz or ()],
        "°C": [celsius for each in health for celsius in each.temperature_c or ()],
    }
    if ranges := [f"{span(values)} {unit}" for unit, values in seen.items() if values]:
        yield _say("meanwhile", ranges=list_of(ranges))
    if reasons := sorted({reason for each in health for reason in each.throttled}):
        count = sum(bool(each.throttled) for each in health)
        yield _say("held_down", reasons=", ".join(reasons), cells=numbers.plural(count, "cell"))
    else:
        yield _say("not_held_down")


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
    title = re.sub(r"(?<=\d)×(?=\d)", "x", session.plan.title.lower())
    stem = re.sub(r"[^a-z0-9]+", "-", title).strip("-") or "plan"
    lines, file = _lines(f"{stem}.toml", stem, ""), f"{stem}.toml"
    names = [each for each in session.plan.pictures if each not in PICTURE_KINDS]
    files = {
        each: each if Path(each).suffix.lower() in EXTENSIONS else f"{each}.png" for each in names
    }
    unsaved = [each for each in names if each != files[each] and files[each] not in BUILT_IN]
    if there := [each for each in files.values() if each not in BUILT_IN]:
        lines = f"# in the folder of {list_of(there)}, with {file} saved there:", *lines
    for each in unsaved:
        lines = f"# {each} has no file: save it as {files[each]} first.", *lines
    pictures = tuple(files.get(each, each) for each in session.plan.pictures)
    return Commands(lines, file, as_toml(replace(session.plan, pictures=pictures)))


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
