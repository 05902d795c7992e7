"""Cells, sessions and moments in the words that the report uses throughout."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from kernels.sweeps.cell import Cell
from kernels.sweeps.record import Machine, Session
from workbench.charts.data import chart_dimensions
from workbench.charts.data.chart_words import held_fixed
from workbench.model.names import cpu_name, kind_of
from workbench.report.tables import Column

COUNTS = ("channels", "counts", "devices")  # whose header says what is counted
WAYS = (
    "implementations",
    "caches",
    "devices",
    "blocks",
)  # the dimensions that are no part of the work


def value_of(dimension: str, cell: Cell) -> str:
    """Return what `cell` has there: "1024²", "5×5", "Shared-memory tile"; or an empty text."""
    value = chart_dimensions.of(cell, dimension)
    if value is None:
        return ""
    return str(value) if dimension in COUNTS else chart_dimensions.in_words(dimension, value)


def column_of(dimension: str) -> Column:
    """Return the column that `value_of` fills."""
    return Column(chart_dimensions.label(dimension), dimension in COUNTS)


def varied(session: Session) -> tuple[str, ...]:
    """Return the dimensions in which its cells differ.

    Those of its plan as far as it was measured.
    """
    cells = [record.cell for record in session.records]
    values = {
        name: {chart_dimensions.of(cell, name) for cell in cells} - {None}
        for name in chart_dimensions.NAMES
    }
    return tuple(name for name, there in values.items() if len(there) > 1)


def outer_dimensions(session: Session) -> tuple[str, ...]:
    """Return what tells apart the works that its cells do."""
    return tuple(name for name in varied(session) if name not in WAYS)


def header_dimensions(session: Session) -> tuple[str, ...]:
    """Return what tells its cells apart, and the implementation in any case."""
    several = varied(session)
    inner = tuple(name for name in WAYS if name in several or name == "implementations")
    return (*outer_dimensions(session), *inner)


def conditions(session: Session) -> str:
    """Return all that its cells have in common, as a sentence."""
    cells = [record.cell for record in session.records]
    return sentence(held_fixed(cells, ("implementations",)))


def is_on_gpu(implementation: str) -> bool:
    """Return whether it is a rung of the ladder, or a kernel of the user's own."""
    return kind_of(implementation) == "cuda"


def machine_name(machine: Machine) -> str:
    """Return its GPU; or its CPU, without how many cores that has."""
    return machine.gpu or cpu_name(machine.cpu)


def sentence(words: str) -> str:
    """Return `text` with a capital and a full stop; nothing stays nothing."""
    return f"{words[0].upper()}{words[1:].removesuffix('.')}." if words else ""


def moment(seconds: float) -> str:
    """Return a moment in words: "21 November 2025, 04:40 UTC"."""
    at = datetime.fromtimestamp(seconds, UTC)
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def plural(count: int, noun: str) -> str:
    """Return "1 sample", "1,200 samples"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def were(count: int, noun: str) -> str:
    """Return "1 sample was", "1,200 samples were"."""
    return f"{plural(count, noun)} {'was' if count == 1 else 'were'}"


def numbered(kind: str, found: Sequence[int]) -> str:
    """Return "Figure 2", "Figures 2 and 3" or "Figures 2 to 5", if they follow each other."""
    match found:
        case []:
            return ""
        case [only]:
            return f"{kind} {only}"
        case [first, *_, last]:
            return f"{kind}s {first} {'and' if len(found) == 2 else 'to'} {last}"
    raise AssertionError


def span(values: Iterable[int]) -> str:
    """Return "20", or "10 to 100"."""
    found = sorted(set(values))
    return f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"
