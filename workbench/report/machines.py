"""The card that describes the computer that measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kernels.sweeps.record import Machine
from workbench.base import numbers
from workbench.report.report_words import machine_name

CEILINGS = {
    "copy_gb_s": "copying in the device's memory, bytes read and written",
    "l2_read_gb_s": "reading from its L2 cache",
    "fma_tflop_s": "float32 multiply-adds",
    "empty_launch_ms": "a launch that does nothing",
}


def cards(machines: Iterable[Machine]) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Return (name, card) of each computer.

    Ceilings are measured anew for each sweep, so that machines which differ in them alone are
    one.
    """
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
        yield "GPU's limits", ", ".join(_limits(machine.limits))
    if any(ceilings):
        yield "Measured ceilings", "; ".join(_ceilings(ceilings))
    if machine.software:
        yield "Software", ", ".join(f"{name} {value}" for name, value in machine.software.items())


def _limits(limits: dict[str, int]) -> Iterator[str]:
    if "multiprocessors" in limits:
        yield f"{limits['multiprocessors']} multiprocessors"
    if "clock_khz" in limits:
        yield f"up to {limits['clock_khz'] / 1e6:.2f} GHz"
    if "memory_bytes" in limits:
        yield f"{numbers.byte_count(limits['memory_bytes'])} memory"
    if "l2_bytes" in limits:
        yield f"{numbers.byte_count(limits['l2_bytes'])} L2 cache"


def _ceilings(all_of_them: Sequence[dict[str, float]]) -> Iterator[str]:
    """Return the ceilings in words; those of another version stay as they are called."""
    for name in dict.fromkeys(name for each in all_of_them for name in each):
        values = sorted({_in_words(name, each[name]) for each in all_of_them if name in each})
        yield f"{CEILINGS.get(name, name)} {' to '.join((values[0], *values[1:][-1:]))}"


def _in_words(name: str, value: float) -> str:
    if name.endswith("_gb_s"):
        return numbers.byte_rate(value)
    if name.endswith("_tflop_s"):
        return f"{numbers.three_digits(value)} TFLOP/s"
    return numbers.duration(value) if name.endswith("_ms") else numbers.three_digits(value)
