"""Charts of report tests are drawn once: that takes most of the time, and many are the same."""

import pytest

from workbench.charts.drawing import chart_export


@pytest.fixture(scope="session", autouse=True)
def charts_are_drawn_once():
    """Two figures that read the same look the same."""
    drawn, draw = {}, chart_export.svg_of

    def draw_once(figure, *options):
        key = repr(figure), options
        if key not in drawn:
            drawn[key] = draw(figure, *options)
        return drawn[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chart_export, "svg_of", draw_once)
        yield
