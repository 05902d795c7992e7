"""One module a kind of chart: add a module and it is in every list of charts.

A module has

    TITLE, TIP     what it is called in a list, and a sentence on what it shows
    READING        how to read it, for the help: what its marks are, what to look for and what not
    ORDER          where it stands in that list, and which one is shown first
    made_for(plan) -> bool              whether it is the natural first look at such a sweep
    ABOUT_ANSWERS  optional: True where it looks at answers and not at times: a plan that has a
                   tolerance asks for those
    why_not(data) -> str | None         why it can show nothing of this data, in words
    figure(data, title) -> Figure       pure data, see `workbench.charts.data.figure`

`data` is a `workbench.charts.data.slices.Data`: the sessions' points, and what somebody chose.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from kernels.sweeps.plan import Plan
from kernels.sweeps.record import Session
from workbench.charts.data.figure import Choices, Figure
from workbench.charts.data.slices import Data

NOTHING = "Nothing is measured yet."


@dataclass(frozen=True, slots=True)
class ChartKind:
    """What one module of this folder says about itself; see the folder's docstring."""

    key: str
    title: str
    tip: str
    reading: str
    order: int
    made_for: Callable[[Plan], bool]
    refuses: Callable[[Data], str | None]
    make: Callable[[Data, str], Figure]
    about_answers: bool = False

    def fits(self, plan: Plan) -> bool:
        """Whether it is the natural first look at such a sweep."""
        return self.made_for(plan) and (plan.tolerance is None or self.about_answers)

    def why_not(self, sessions: Sequence[Session] | Data) -> str | None:
        """Why it can show nothing of these sessions, in words; None if it can."""
        data = _data(sessions)
        return self.refuses(data) if data.points else NOTHING

    def figure(self, sessions: Sequence[Session] | Data, choices: Choices | None = None) -> Figure:
        """The chart of these sessions; ValueError where `why_not` has a reason."""
        data = _data(sessions, choices)
        if reason := self.why_not(data):
            raise ValueError(reason)
        return replace(self.make(data, self.title), kind=self.key)


@cache
def chart_kinds() -> tuple[ChartKind, ...]:
    """Every kind of this folder, in the order to show them."""
    found = (_read(info.name) for info in pkgutil.iter_modules(__path__))
    return tuple(sorted((kind for kind in found if kind), key=lambda kind: kind.order))


def kinds_for(sessions: Sequence[Session] | Data) -> tuple[ChartKind, ...]:
    """Those that can show something of these sessions, what was asked for first."""
    data = _data(sessions)
    able = [kind for kind in chart_kinds() if kind.why_not(data) is None]
    plans = [session.plan for session in data.sessions]
    return tuple(sorted(able, key=lambda kind: not any(kind.fits(plan) for plan in plans)))


def first_kind(sessions: Sequence[Session] | Data) -> ChartKind | None:
    """The one that what is varied asks for, else any that can show something."""
    return next(iter(kinds_for(sessions)), None)


def _data(sessions: Sequence[Session] | Data, choices: Choices | None = None) -> Data:
    return sessions if isinstance(sessions, Data) else Data(sessions, choices)


def _read(name: str) -> ChartKind | None:
    module = importlib.import_module(f"{__name__}.{name}")
    if not hasattr(module, "made_for"):
        return None  # a helper of the folder, not a kind
    return ChartKind(
        name,
        module.TITLE,
        module.TIP,
        module.READING,
        module.ORDER,
        module.made_for,
        module.why_not,
        module.figure,
        getattr(module, "ABOUT_ANSWERS", False),
    )
