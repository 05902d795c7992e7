"""Kernel time along a dimension: what the charts of time have in common."""

from __future__ import annotations

from workbench.charts.data.figure import Figure, Plot
from workbench.charts.data.sentences import by_source, fastest, pays_off
from workbench.charts.data.slices import Data
from workbench.charts.kinds import lines
from workbench.charts.kinds.common import is_log, made, times_axis

CAPTION = "Kernel time: median, quartiles as a bar"


def figure(data: Data, title: str, name: str) -> Figure:
    """Time against `name`, with who is fastest and from where the GPU pays off."""
    shown = lines.slice_along(data, name)
    series = lines.series_of(shown, name, lambda point: point.ms)
    log = is_log(shown, lines.ends(series), always=name != "ksizes")
    body = Plot(lines.x_axis(shown, name), times_axis(CAPTION, log=log), series)
    said = by_source(shown, lambda own: f"{fastest(own, name)} {pays_off(own, name)}".strip())
    return made(shown, title, body, said)
