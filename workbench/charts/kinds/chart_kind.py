"""A kind of chart: its words for lists and help, and how it makes a figure of data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kernels.sweeps.plan import Plan
from kernels.sweeps.record import Session
from workbench.charts.data.figure import Choices, Figure
from workbench.charts.data.slices import Data

NOTHING = "Nothing is measured yet."


@dataclass(frozen=True, slots=True)
class ChartKind:
    """A row of a table of charts.

    key            stored in settings and presets, so it must not change
    title, tip     its name in a list, and a sentence on what it shows
    reading        how to read it, for the help: its marks, what to look for and what not
    order          its position in the list of all kinds
    refuses        why it cannot show some data, in words; None if it can
    make           makes the figure of data that it does not refuse, under a title
    made_for       whether it is the natural first look at a sweep of this plan
    about_answers  whether it shows answers rather than times, as a plan with a tolerance wants
    """

    key: str
    title: str
    tip: str
    reading: str
    order: int
    refuses: Callable[[Data], str | None]
    make: Callable[[Data, str], Figure]
    made_for: Callable[[Plan], bool] = lambda _: False
    about_answers: bool = False

    def fits(self, plan: Plan) -> bool:
        """Return whether it is the natural first look at a sweep of `plan`."""
        return self.made_for(plan) and (plan.tolerance is None or self.about_answers)

    def why_not(self, sessions: Sequence[Session] | Data) -> str | None:
        """Return why it cannot show these sessions, in words; None if it can."""
        data = data_of(sessions)
        return self.refuses(data) if data.points else NOTHING

    def figure(self, sessions: Sequence[Session] | Data, choices: Choices | None = None) -> Figure:
        """Return the chart of these sessions; ValueError where `why_not` gives a reason."""
        data = data_of(sessions, choices)
        if reason := self.why_not(data):
            raise ValueError(reason)
        return replace(self.make(data, self.title), kind=self.key)


def data_of(sessions: Sequence[Session] | Data, choices: Choices | None = None) -> Data:
    """Return the data of sessions; data itself is returned as it is."""
    return sessions if isinstance(sessions, Data) else Data(sessions, choices)
