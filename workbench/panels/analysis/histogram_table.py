"""The numbers of histograms as a small table."""

from __future__ import annotations

import math
from html import escape

from workbench.base.numbers import in_digits
from workbench.imaging.histograms import PERCENTILES, Histogram

WIDEST = 6  # characters that a number may have
SMALL, LARGE = 0.01, 1e6  # beyond these the largest number is written as a multiple of a power
HEADS = ("min", *(f"{share:g} %" for share in PERCENTILES), "max", "mean")


def in_decibels(value: float) -> str:
    """Return a ratio in dB as text: "31.42 dB", or "∞" where nothing differs."""
    return f"{value:.2f} dB" if math.isfinite(value) else in_digits(value)


def as_share(value: float) -> str:
    """Return a share as text with four decimals: "0.9876"."""
    return f"{value:.4f}" if math.isfinite(value) else in_digits(value)


def as_table(histograms: tuple[tuple[Histogram, ...], ...], other: str) -> str:
    """Return an HTML table with a row for each channel of each picture.

    Notes below it give the power of ten that very small or large numbers are to be multiplied by,
    and count the samples that are not finite.
    """
    other = escape(other)
    each_row = [
        (f"{each.channel} {title}".replace(" ", "&nbsp;"), _values(each))
        for title, picture in zip((other, "after"), histograms, strict=True)
        for each in picture
    ]
    power = _power(max((abs(v) for _, values in each_row for v in values if v == v), default=0.0))
    rows = [_row("th", (f"{other}: dashed", *HEADS))]  # the line style in the chart
    for name, values in each_row:
        rows.append(_row("td", (name, *(_short(value / 10.0**power) for value in values))))
    notes = [f"all × 10<sup>{power}</sup>"] if power else []
    if odd := _not_finite(histograms, other):
        notes.append(f"not finite: {odd}")
    if notes:
        rows.append(f'<tr><td colspan="{len(HEADS) + 1}">{"; ".join(notes)}</td></tr>')
    return f'<table width="100%" cellspacing="0" cellpadding="2">{"".join(rows)}</table>'


def _values(histogram: Histogram) -> tuple[float, ...]:
    numbers = histogram.numbers
    return numbers.low, *numbers.percentiles, numbers.high, numbers.mean


def _power(largest: float) -> int:
    """Return the power of ten, a multiple of three, to scale numbers up to `largest`; 0: none."""
    if largest == 0 or SMALL <= largest < LARGE:
        return 0
    return 3 * math.floor(math.log10(largest) / 3)


def _short(value: float) -> str:
    """Return a number as in_digits does, but so short that a row has room for six of them."""
    texts = (in_digits(value), *(f"{value:.{digits}g}" for digits in (3, 2, 1)))
    return next((text for text in texts if len(text) <= WIDEST), f"{value:.2f}")


def _not_finite(histograms: tuple[tuple[Histogram, ...], ...], other: str) -> str:
    """Count the samples that are NaN or infinite: "R after 12, G after 3"."""
    return ", ".join(
        f"{each.channel} {title} {each.numbers.not_finite:,}"
        for title, picture in zip((other, "after"), histograms, strict=True)
        for each in picture
        if each.numbers.not_finite
    )


def _row(tag: str, cells: tuple[str, ...]) -> str:
    first, *others = cells
    rest = "".join(f'<{tag} align="right">{cell}</{tag}>' for cell in others)
    return f'<tr><{tag} align="left">{first}</{tag}>{rest}</tr>'
