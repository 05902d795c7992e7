"""Format numbers for people: three significant digits, a unit that suits, a no-break space."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal

GAP = "\u202f"  # narrow and no-break: a number and its unit stay on one line
MISSING = "—"

Units = tuple[tuple[float, str], ...]  # how many of the base unit one is; smallest unit first
_DURATIONS: Units = ((1e-3, "µs"), (1.0, "ms"), (1e3, "s"))
_BYTES: Units = ((1, "B"), (1 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB"))
_FILE_BYTES: Units = ((1, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"))
_PIXEL_RATES: Units = ((1e-3, "kP/s"), (1.0, "MP/s"), (1e3, "GP/s"))
_BYTE_RATES: Units = ((1e-6, "kB/s"), (1e-3, "MB/s"), (1.0, "GB/s"), (1e3, "TB/s"))


def plural(count: int, noun: str) -> str:
    """Count: "1 sample", "1,200 samples"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def three_digits(value: float) -> str:
    """Format three significant digits, never an exponent: 0.0123, 1.20, 12.3, 123, 1,230."""
    return f"{Decimal(f'{value:#.3g}'):,f}" if value else "0"


def in_digits(value: float) -> str:
    """Format a sample's value: 255, -12.5, 0.0001234, NaN, ∞."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if value == round(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.4g}"


def within(value: float, most: int) -> str:
    """Format a sample's value in at most `most` characters, if need be with fewer digits."""
    if len(text := in_digits(value)) <= most:
        return text
    whole = [f"{value:.0f}"] if abs(value) >= 1000 else []
    texts = [*whole, *(f"{value:.{digits}g}" for digits in (3, 2, 1))]
    shortest = f"{value:.0e}".replace("e+", "e")
    return next((text for text in texts if len(text) <= most), shortest)


def duration(ms: float) -> str:
    """Format a duration: 123 µs, 1.23 ms, 12.3 s."""
    return _with_unit(ms, _DURATIONS)


def duration_range(low_ms: float, high_ms: float, middle_ms: float) -> str:
    """Format both ends in the unit of the duration beside them: 1.20 – 1.31 ms."""
    scale, unit = _unit_for(middle_ms, _DURATIONS)
    low, high = three_digits(low_ms / scale), three_digits(high_ms / scale)
    return f"{low}{GAP}–{GAP}{high}{GAP}{unit}"


def pixel_rate(megapixels_per_s: float) -> str:
    """Format a throughput: 843 MP/s, 12.1 GP/s."""
    return _with_unit(megapixels_per_s, _PIXEL_RATES)


def byte_rate(gb_per_s: float) -> str:
    """Format a bandwidth, decimal as they are given: 12.3 GB/s, 3.40 TB/s."""
    return _with_unit(gb_per_s, _BYTE_RATES)


def byte_count(count: int) -> str:
    """Format a size, binary as memory is given: 512 B, 48.0 KiB."""
    return _with_unit(count, _BYTES)


def file_size(count: int) -> str:
    """Format the size of a file, decimal: 512 B, 1.20 MB."""
    return _with_unit(count, _FILE_BYTES)


def error(value: float) -> str:
    """Format an error in few digits: "2.4e-7", "0" where there is none, whole numbers as such."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if 0.01 <= value < 1e5:
        return f"{value:.2g}" if value < 99.5 else f"{value:.0f}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def percent(share: float, digits: int = 0) -> str:
    """Format a share of one as a percentage: "90 %"."""
    return f"{100 * share:.{digits}f}{GAP}%"


def ratio(value: float) -> str:
    """Format a ratio: 0.0042×, 0.42×, 4.2×, 12.3×, 123×."""
    if 0 < value < 0.0995:
        return f"{Decimal(f'{value:#.2g}'):f}×"
    decimals = 2 if value < 0.995 else 1 if value < 99.95 else 0
    return f"{value:,.{decimals}f}×"


def fine_ratio(value: float) -> str:
    """Format a ratio of which a hundredth may be the difference: 0.995×, 1.02×, 12.3×."""
    return f"{three_digits(value)}×"


def speed_up(value: float, written: Callable[[float], str] = ratio) -> str:
    """Format a ratio of speeds: "12.3×", or "29.4× slower".

    written  formats the ratio, with or without hundredths
    """
    if is_slower(value, written):
        return f"{written(1 / value)} slower"
    return written(max(value, 1.0))


def times_as_fast(value: float) -> str:
    """Format a ratio before a name: "1.9× as fast as", "29.4× slower than"."""
    return f"{speed_up(value)} {'than' if is_slower(value) else 'as fast as'}"


def is_slower(value: float, written: Callable[[float], str] = ratio) -> bool:
    """True if a ratio reads as slower than 1.0×."""
    return value < 1 and written(1 / value) != written(1.0)


def speed_up_between(value: float, low: float, high: float) -> str:
    """Format a ratio with its interval: 12.3× (11.9× to 12.6×)."""
    between = " to ".join(map(ratio, speed_up_ends(value, low, high)))
    return f"{speed_up(value)} ({between})" if low < high else speed_up(value)


def speed_up_ends(value: float, low: float, high: float) -> tuple[float, float]:
    """Interval of the number that `speed_up` writes: inverted where it is slower."""
    return (1 / high, 1 / low) if is_slower(value) else (low, high)


def _with_unit(value: float, units: Units) -> str:
    scale, unit = _unit_for(value, units)
    digits = f"{value:,.0f}" if unit == "B" else three_digits(value / scale)  # bytes are whole
    return f"{digits}{GAP}{unit}"


def _unit_for(value: float, units: Units) -> tuple[float, str]:
    """Largest unit of which there is at least one: 999.9 µs is 1.00 ms."""
    rounded = float(f"{abs(value):.3g}")
    return max((u for u in units if u[0] <= rounded), default=units[0])


def star(disturbances: Sequence[str]) -> str:
    """ "*" to mark a time that was disturbed; empty where nothing did."""
    return "*" if disturbances else ""


def why_starred(disturbances: Sequence[str]) -> str:
    """Format "* Disturbed: other programs kept 2.0 of 2 cores busy."; empty where nothing did."""
    return f"* Disturbed: {'; '.join(disturbances)}." if disturbances else ""
