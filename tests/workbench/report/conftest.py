"""What the report's tests share: charts that are drawn once, though many reports have the same."""

import pytest

from workbench.report import drawings


@pytest.fixture(scope="session", autouse=True)
def charts_are_drawn_once():
    """Most of a report's time is its charts', and most tests report the same few sessions."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("svg_of", "strokes_of"):
            patch.setattr(drawings, name, remembered(getattr(drawings, name)))
        yield


def remembered(draw):
    """Return `draw`, which draws each figure once: two that read the same look the same."""
    drawn = {}

    def draw_once(figure, *options):
        key = repr((figure, options))
        if key not in drawn:
            drawn[key] = draw(figure, *options)
        return drawn[key]

    return draw_once
