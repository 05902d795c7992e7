"""Format numbers for people: three significant digits, a unit that suits, a no-break space."""

from __future__ import annotations

import math

GAP = "\u202f"  # narrow and no-break: a number and its unit stay on one line
MISSING = "—"

Units = tuple[tuple[float, str], ...]  # how many of the base unit one is; smallest unit first
_DURATIONS: Units = ((1e-3, "µs"), (1.0, "ms"), (1e3, "s"))
_BYTES: Units = ((1, "B"), (1 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB"))
_PIXEL_RATES: Units = ((1e-3, "kP/s"), (1.0, "MP/s"), (1e3, "GP/s"))
_BYTE_RATES: Units = ((1e-6, "kB/s"), (1e-3, "MB/s"), (1.0, "GB/s"), (1e3, "TB/s"))
_PIXELS: Units = ((1.0, "MP"), (1e3, "GP"))


def three_digits(value: float) -> str:
    """Return three significant digits, never an exponent: 0.0123, 1.20, 12.3, 123, 1,230."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.3g}")
    if abs(rounded) >= 100:
        return f"{rounded:,.0f}"
    return _plain(f"{rounded:#.3g}")


def in_digits(value: float) -> str:
    """Return a sample's value: 255, -12.5, 0.0001234, NaN, ∞.

    Whole numbers as they are, others to four digits.
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if value == round(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.4g}"


def duration(ms: float) -> str:
    """Return a duration: 123 µs, 1.23 ms, 12.3 s."""
    return _with_unit(ms, _DURATIONS)


def duration_range(low_ms: float, high_ms: float) -> str:
    """Return both ends in the unit of the upper one: 1.20 – 1.31 ms."""
    scale, unit = _unit_for(high_ms, _DURATIONS)
    low, high = three_digits(low_ms / scale), three_digits(high_ms / scale)
    return f"{low}{GAP}–{GAP}{high}{GAP}{unit}"


def megapixels(value: float) -> str:
    """Return millions of pixels: 0.0655 MP, 16.8 MP."""
    return _with_unit(value, _PIXELS)


def pixel_rate(megapixels_per_s: float) -> str:
    """Return a throughput: 843 MP/s, 12.1 GP/s."""
    return _with_unit(megapixels_per_s, _PIXEL_RATES)


def byte_rate(gb_per_s: float) -> str:
    """Return a bandwidth, decimal as they are given: 12.3 GB/s, 3.40 TB/s."""
    return _with_unit(gb_per_s, _BYTE_RATES)


def byte_count(count: int) -> str:
    """Return a size, binary as memory is given: 512 B, 48.0 KiB."""
    scale, unit = _unit_for(count, _BYTES)
    text = str(count) if scale == 1 else three_digits(count / scale)
    return f"{text}{GAP}{unit}"


def ratio(value: float) -> str:
    """Return a ratio: 0.0042×, 0.42×, 4.2×, 12.3×, 123×."""
    if 0 < value < 0.0995:
        return f"{_plain(f'{value:#.2g}')}×"
    decimals = 2 if value < 0.995 else 1 if value < 99.95 else 0
    return f"{value:,.{decimals}f}×"


def ratio_between(value: float, low: float, high: float) -> str:
    """Return a ratio and its interval, if it has one: 12.3× (11.9× to 12.6×)."""
    return f"{ratio(value)} ({ratio(low)} to {ratio(high)})" if low < high else ratio(value)


def _with_unit(value: float, units: Units) -> str:
    scale, unit = _unit_for(value, units)
    return f"{three_digits(value / scale)}{GAP}{unit}"


def _unit_for(value: float, units: Units) -> tuple[float, str]:
    """Return the largest unit of which there is at least one, once rounded: 999.9 µs is 1.00 ms."""
    rounded = float(f"{abs(value):.3g}")
    return max((u for u in units if u[0] <= rounded), default=units[0])


def _plain(text: str) -> str:
    """Return `text` without an exponent or a point at its end: "1.23e-05" as "0.0000123"."""
    if "e" not in text:
        return text.rstrip(".")
    mantissa, exponent = text.split("e")
    return f"{float(text):.{len(mantissa) - 2 - int(exponent)}f}"
