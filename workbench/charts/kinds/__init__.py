"""The kinds of chart: their words in `kinds.toml`, their figures in the modules of this folder.

Each module with KINDS, which names the `ChartKind` of a key, is read: with an entry there and its
words in the file, a kind is in every list of charts.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from kernels.core.plain_data import parse_toml
from kernels.core.timing import EQUAL
from kernels.sweeps.record import Session
from workbench.charts.data.points import Data
from workbench.charts.kinds.chart_kind import ChartKind, data_of


@cache
def chart_kinds() -> tuple[ChartKind, ...]:
    """Every kind in this folder, in the order in which they are shown."""
    found: dict[str, ChartKind] = {}
    for each in pkgutil.iter_modules(__path__):
        found |= getattr(importlib.import_module(f"{__name__}.{each.name}"), "KINDS", {})
    file = Path(__file__).with_name("kinds.toml")
    words = parse_toml(file.read_text("utf-8").replace("{EQUAL}", EQUAL), file.name)
    return tuple(replace(found[key], key=key, **words[key]) for key in words)


def kinds_for(sessions: Sequence[Session] | Data) -> tuple[ChartKind, ...]:
    """The kinds that can show something of these sessions, the fitting ones first.

    First of all those that fit the session that was begun or opened last.
    """
    data = data_of(sessions)
    plans = [session.plan for session in data.sessions]
    newest = plans[data.choices.newest or 0 :][:1]
    able = [kind for kind in chart_kinds() if kind.why_not(data) is None]
    return tuple(
        sorted(able, key=lambda k: (not any(map(k.fits, newest)), not any(map(k.fits, plans))))
    )


def first_kind(sessions: Sequence[Session] | Data) -> ChartKind | None:
    """The kind that suits the varied dimensions, else any that can show something."""
    return next(iter(kinds_for(sessions)), None)
