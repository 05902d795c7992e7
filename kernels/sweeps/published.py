"""Times that others published of the same cells, with what has to be known to read them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

from kernels.core.plain_data import table_beside
from kernels.engine.auto import AUTO
from kernels.sweeps.plan import Cell, Plan, kind_of

NUMBERS = Path(__file__).with_name("published.csv")
# Where a publication has another name for what we have.
OURS = {"cpu_sequential": "sequential", "edge detection": "laplacian_diagonal"}
# Columns that a cell has as well: those of the first row always, any of the others may be empty,
# where the publication does not say.
SAID = ("width", "height", "implementation", "kernel_size")
OPEN = ("dtype", "channels", "filter", "block_x", "block_y")
Row = dict[str, str]  # of the file
_NOTES = table_beside(__file__)


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

    So does what cannot run here, without a GPU: all of that publication, and what stands beside
    `auto`.  Of several tables of a publication with a cell that with most of the plan's counts.  A
    cell's picture, cache and border do not count.
    """
    cells: dict[tuple[str, ...], list[tuple[Cell, Row]]] = {}
    theirs = (each["implementation"] for each in rows() if each["source"] == plan.source)
    every = dict.fromkeys((*plan.implementations, *theirs, AUTO.key))
    for cell in replace(plan, implementations=tuple(every)).cells():
        if cell.count == 1 and not cell.list:
            said = (cell.width, cell.height, cell.implementation, cell.ksize)
            others = (cell.pixel_type, cell.channels, cell.filter, *(cell.block_xy or ("", "")))
            row = dict(zip((*SAID, *OPEN), map(str, (*said, *others)), strict=True))
            cells.setdefault(tuple(row[name] for name in SAID), []).append((cell, row))
    found: list[tuple[Row, Cell]] = []
    for row in rows():
        if plan.source in ("", row["source"]):
            alike = cells.get(tuple(row[name] for name in SAID), [])
            found += [(row, cell) for cell, values in alike if _fits(row, values)][:1]
    sizes = Counter(_place(row) for row, _ in found)
    best: dict[tuple[str, str, Cell], Row] = {}
    for row, cell in found:
        key = row["source"], row["gpu"], cell
        if key not in best or sizes[_place(row)] > sizes[_place(best[key])]:
            best[key] = row
    gpu = {row["source"] for (_, _, cell), row in best.items() if kind_of(cell) != "cpu"}
    return tuple(_published(row, cell, gpu) for (_, _, cell), row in best.items())


@cache
def rows() -> tuple[Row, ...]:
    """Every published number as the file has it, with our names."""
    with NUMBERS.open(encoding="utf-8", newline="") as file:
        return tuple(
            {name: OURS.get(value, value) for name, value in row.items()}
            for row in csv.DictReader(file)
        )


def _fits(row: Row, cell: Row) -> bool:
    return all(row[name] == cell[name] or "" in (row[name], cell[name]) for name in OPEN)


def _place(row: Row) -> tuple[str, str, str]:
    return row["source"], row["gpu"], row["table"]


def _published(row: Row, cell: Cell, gpu: Container[str]) -> Published:
    """Of a source in `gpu` a time on the GPU is here as well."""
    about = _NOTES["publications"][row["source"]]
    on_gpu = about.get("on_gpu", "") if row["source"] in gpu else ""
    return Published(
        source=row["source"],
        by=f"{about['institution']} {about.get('year', '')}".rstrip(),
        gpu=row["gpu"],
        table=row["table"],
        cell=cell,
        milliseconds=float(row["milliseconds"]),
        note=f"{about.get('note', on_gpu)} {about.get('common', _NOTES['common'])}".strip(),
    )
