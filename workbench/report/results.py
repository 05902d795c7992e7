"""The file results.csv: every record of a report's sessions, with what only the report computes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

from kernels.sweeps.record import Session
from kernels.sweeps.session_csv import COLUMNS, Row, row_of, write_rows
from workbench.report.baselines import baseline_of

# A session's own table, as a sweep writes it, cannot know them: they take all of its records.
WORKED_OUT = ("baseline", "speed_up", "speed_up_low", "speed_up_high", "recorded")


def results_csv(sessions: Sequence[Session]) -> str:
    """Return a row for each record: the columns of a session's CSV, then WORKED_OUT.

    A speed-up is that of the report's tables, against the implementation named as `baseline`, with
    its interval; `recorded` is "yes" where the session came with the program.
    """
    file = io.StringIO(newline="")
    write_rows((*COLUMNS, *WORKED_OUT), (row for each in sessions for row in _rows(each)), file)
    return file.getvalue()


def _rows(session: Session) -> Iterator[Row]:
    baseline = baseline_of(session)
    for record in session.records:
        row = row_of(session, record) | {"recorded": "yes" if session.is_shipped else "no"}
        if baseline and (found := baseline.speed_up(record)):
            row |= {"baseline": baseline.key, "speed_up": found.ratio}
            low, high = found.interval or (None, None)
            row |= {"speed_up_low": low, "speed_up_high": high}
        yield row
