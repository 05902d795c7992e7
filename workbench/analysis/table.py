"""The numbers of histograms as a small table."""

from __future__ import annotations

import math

from workbench.looking.histograms import PERCENTILES, Histogram

HEADS = ("min", *(f"{share:g} %" for share in PERCENTILES), "max", "mean")


def in_digits(value: float) -> str:
    """Whole numbers as they are, others to four digits: 255, -12.5, 0.0001234, nan."""
    if math.isfinite(value) and value == round(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.4g}"


def as_table(histograms: tuple[tuple[Histogram, ...], ...], other: str) -> str:
    """HTML: a row for each channel of each picture."""
    rows = [_row("th", ("", *HEADS))]
    for title, picture in zip((other, "after"), histograms, strict=True):
        for each in picture:
            numbers = each.numbers
            values = (numbers.low, *numbers.percentiles, numbers.high, numbers.mean)
            odd = f" (+{numbers.not_finite:,} not finite)" if numbers.not_finite else ""
            rows.append(_row("td", (f"{each.channel} {title}{odd}", *map(in_digits, values))))
    return f'<table width="100%" cellspacing="0" cellpadding="2">{"".join(rows)}</table>'


def _row(tag: str, cells: tuple[str, ...]) -> str:
    first, *others = cells
    rest = "".join(f'<{tag} align="right">{cell}</{tag}>' for cell in others)
    return f'<tr><{tag} align="left">{first}</{tag}>{rest}</tr>'
