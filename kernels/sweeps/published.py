"""Times that others published of the same cells, with what has to be known to read them."""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from kernels.sweeps.plan import Cell, Plan

NUMBERS = Path(__file__).with_name("published.csv")
NOTES = Path(__file__).with_name("published.toml")
# Where a publication has another name for what we have.
IMPLEMENTATIONS = {"cpu_sequential": "sequential"}
FILTERS = {"edge detection": "laplacian_diagonal"}
Essence = tuple[int, int, str, int | None]  # width, height, implementation and kernel size


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One published number, as it stands in the file.

    None or "" where the publication does not say: any value may stand there, but no cell stands
    for a row without a kernel size.
    """

    source: str  # institution, year where there is one, and title
    gpu: str
    table: str  # its number or name there
    width: int
    height: int
    channels: int | None
    pixel_type: str
    filter: str
    ksize: int | None
    block_xy: tuple[int, int] | None
    implementation: str
    milliseconds: float

    def stands_for(self, cell: Cell) -> bool:
        """Return True if it is a time of `cell`, whose picture, cache and border do not count."""
        return (
            _essence(cell) == _essence(self)
            and cell.count == 1
            and cell.pixel_type == self.pixel_type
            and self.channels in (None, cell.channels)
            and self.filter in ("", cell.filter)
            and (None in (self.block_xy, cell.block_xy) or self.block_xy == cell.block_xy)
        )


@dataclass(frozen=True, slots=True)
class Published:
    """A published time of one cell of a plan."""

    source: str
    by: str  # institution, and year where the publication has one: who a legend names
    gpu: str
    table: str
    cell: Cell
    milliseconds: float
    note: str  # sentences on how it was measured


@lru_cache(maxsize=32)
def published_for(plan: Plan) -> tuple[Published, ...]:
    """Every published time of a cell of `plan`; of the publication that it reproduces, if any.

    Of several tables of a publication with a cell that with most of the plan's counts.
    """
    cells: dict[Essence, list[Cell]] = {}
    for cell in plan.cells():
        cells.setdefault(_essence(cell), []).append(cell)
    found = [
        (row, cell)
        for row in rows()
        if plan.source in ("", row.source)
        for cell in [each for each in cells.get(_essence(row), []) if row.stands_for(each)][:1]
    ]
    sizes = Counter((row.source, row.gpu, row.table) for row, _ in found)
    best: dict[tuple[str, str, Cell], tuple[PublishedRow, Cell]] = {}
    for row, cell in found:
        key = row.source, row.gpu, cell
        size = sizes[row.source, row.gpu, row.table]
        if key not in best or size > sizes[row.source, row.gpu, best[key][0].table]:
            best[key] = row, cell
    return tuple(_published(row, cell) for row, cell in best.values())


@cache
def rows() -> tuple[PublishedRow, ...]:
    """Return every published number."""
    with NUMBERS.open(encoding="utf-8", newline="") as file:
        return tuple(_row(each) for each in csv.DictReader(file))


def _essence(of: PublishedRow | Cell) -> Essence:
    """The values that a cell and a time of it always have in common."""
    return of.width, of.height, of.implementation, of.ksize


def _published(row: PublishedRow, cell: Cell) -> Published:
    about = _notes()["publications"][row.source]
    note = f"{about.get('note', '')} {_notes()['common']}".strip()
    return Published(
        source=row.source,
        by=f"{about['institution']} {about.get('year', '')}".rstrip(),
        gpu=row.gpu,
        table=row.table,
        cell=cell,
        milliseconds=row.milliseconds,
        note=note,
    )


@cache
def _notes() -> dict[str, Any]:
    return tomllib.loads(NOTES.read_text(encoding="utf-8"))


def _row(text: dict[str, str]) -> PublishedRow:
    block = text["block_x"], text["block_y"]
    return PublishedRow(
        **{name: text[name] for name in ("source", "gpu", "table")},
        width=int(text["width"]),
        height=int(text["height"]),
        channels=_number(text["channels"]),
        pixel_type=text["dtype"],
        filter=FILTERS.get(text["filter"], text["filter"]),
        ksize=_number(text["kernel_size"]),
        block_xy=(int(block[0]), int(block[1])) if all(block) else None,
        implementation=IMPLEMENTATIONS.get(text["implementation"], text["implementation"]),
        milliseconds=float(text["milliseconds"]),
    )


def _number(text: str) -> int | None:
    return int(text) if text else None
