"""The row of a picture in the journal: all that is kept of it once it is finished."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.batch.filtering import Outcome, Status
from workbench.batch.stages import Stage


@dataclass(frozen=True, slots=True)
class FinishedRow:
    """A row of the journal, small enough to be sent from one computer to another.

    source   what the picture is called
    output   what its result is called in the journal
    error    why there is none, one sentence; None: there is one
    remarks  what was converted on the way, and what was asked for and had no effect
    seconds  by stage
    log      of the compiler, where it refused; the journal leaves it out
    device   the GPU, where several share the pictures
    """

    source: str
    output: str
    status: Status
    error: str | None = None
    remarks: tuple[str, ...] = ()
    seconds: Mapping[Stage, float] | None = None
    log: str = ""
    device: int | None = None

    @property
    def line(self) -> dict[str, Any]:
        """Return what the journal says."""
        line = {
            "input": self.source,
            "output": self.output,
            "status": self.status,
            "error": self.error,
            "remarks": list(self.remarks),
            "seconds": {stage: round(took, 6) for stage, took in (self.seconds or {}).items()},
        }
        return line if self.device is None else {**line, "device": self.device}


def row_of(outcome: Outcome, output: str, device: int | None = None) -> FinishedRow:
    """Return the row of a picture whose result is called `output` in the journal."""
    return FinishedRow(
        source=outcome.pair.source_shown,
        output=output,
        status=outcome.status,
        error=outcome.error,
        remarks=(*outcome.remarks, *outcome.warnings),
        seconds=outcome.seconds,
        log=outcome.log,
        device=device,
    )


def rows_of(
    outcomes: Generator[Outcome, None, None], name_of: Callable[[Path], str]
) -> Generator[FinishedRow, None, None]:
    """Yield the row of each outcome, and keep none of their pictures in memory.

    name_of  from a result's file to what the journal calls it
    """
    with closing(outcomes):
        for outcome in outcomes:
            row = row_of(outcome, name_of(outcome.pair.target))
            del outcome  # its pictures would stay in memory while others are waited for
            yield row
