"""A table as data, from which both the page's and LaTeX's are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    is_number     set to the right, in digits of one width
    is_published  somebody else's figures: grey, and its title says so
    """

    title: str
    is_number: bool = True
    is_published: bool = False


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of cells; begins: the first of several that belong together."""

    cells: tuple[str, ...]
    begins: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table, its title and its notes.

    key          unique in a report: the end of its id and of its LaTeX label
    headers      so many cells at the start of a row say what it is of
    notes        below it, a sentence each
    what         it lists, in a few words, for sentences that refer to it
    number       "Table 3" on the page; 0: it has none yet
    is_recorded  its figures came with the program
    """

    key: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    headers: int = 1
    notes: tuple[str, ...] = ()
    what: str = ""
    number: int = 0
    is_recorded: bool = False

    @property
    def label(self) -> str:
        """Return "Table 3", and "Table 3 (recorded)" where it is."""
        return labelled("Table", self.number, self.is_recorded)


def labelled(kind: str, number: int, is_recorded: bool) -> str:
    """Return what a figure or table is referred to by, with the mark of a recorded one."""
    return f"{kind} {number} (recorded)" if is_recorded else f"{kind} {number}"


def without_empty(table: Table) -> Table:
    """Return the table without columns that have nothing in any row; headers always stay."""
    kept = [
        at
        for at in range(len(table.columns))
        if at < table.headers or any(row.cells[at] for row in table.rows)
    ]
    rows = (TableRow(_chosen(row.cells, kept), row.begins) for row in table.rows)
    columns = tuple(table.columns[at] for at in kept)
    return replace(table, columns=columns, rows=tuple(rows))


def _chosen(cells: Sequence[str], kept: Sequence[int]) -> tuple[str, ...]:
    return tuple(cells[at] for at in kept)
