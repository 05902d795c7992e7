"""The kinds of chart, found in the modules of this folder.

Each module with KINDS, a tuple of `ChartKind`, is read: add a row to one of these tables, or a
module with one, and it is in every list of charts.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache

from kernels.sweeps.record import Session
from workbench.charts.data.points import Data
from workbench.charts.kinds.chart_kind import ChartKind, data_of


@cache
def chart_kinds() -> tuple[ChartKind, ...]:
    """Return every kind in this folder, in the order in which they are shown."""
    modules = [
        importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)
    ]
    found = [kind for module in modules for kind in getattr(module, "KINDS", ())]
    return tuple(sorted(found, key=lambda kind: kind.order))


def kinds_for(sessions: Sequence[Session] | Data) -> tuple[ChartKind, ...]:
    """Return the kinds that can show something of these sessions, the fitting ones first.

    First of all those that fit the session that was begun or opened last.
    """
    data = data_of(sessions)
    able = [kind for kind in chart_kinds() if kind.why_not(data) is None]
    plans = [session.plan for session in data.sessions]
    newest = plans[data.choices.newest or 0 :][:1]

    def place(kind: ChartKind) -> int:
        wanted = (newest, plans)
        return next((n for n, of in enumerate(wanted) if any(map(kind.fits, of))), len(wanted))

    return tuple(sorted(able, key=place))


def first_kind(sessions: Sequence[Session] | Data) -> ChartKind | None:
    """Return the kind that suits what is varied, else any that can show something."""
    return next(iter(kinds_for(sessions)), None)
