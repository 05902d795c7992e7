"""How much of its card a chart has, in the panel and in a window, for every kind and session."""

import pytest
from PySide6.QtWidgets import QLabel

from tests.made_sessions import a_session
from tests.workbench import scenes
from tests.workbench.driving import child, until
from workbench.base import theme
from workbench.charts.canvas import Canvas
from workbench.charts.chart_card import ChartCard, Legend
from workbench.charts.chart_view import ChartView
from workbench.charts.kinds import chart_kinds

SIZES_PX = ((292, 330), (520, 700), (1080, 700))
WIDE_PX = SIZES_PX[2:]  # there is room for any legend
SESSIONS = {
    "one": (a_session("sizes", is_recorded=True),),
    "two": (a_session("blocks"), a_session("sizes", is_recorded=True)),
    "three kinds": (a_session("everything"),),
}


@pytest.fixture
def view(qapp, qtbot):
    theme.apply(qapp, "light")
    view = ChartView()
    qtbot.addWidget(view)
    view.show()
    return view


@pytest.mark.parametrize("sessions", SESSIONS.values(), ids=list(SESSIONS))
@pytest.mark.parametrize("size", SIZES_PX, ids="{0[0]}×{0[1]}".format)
def test_the_plot_has_sixty_percent_of_its_card_and_a_legend_whole_rows(
    qtbot, view, size, sessions
):
    view.resize(*size)
    view.show_sessions(sessions)
    view.draw_now()
    card, canvas = view.findChild(ChartCard), child(view, "chart-canvas", Canvas)
    for kind in chart_kinds():
        if kind.why_not(sessions) is None:
            view.show_kind(kind.key)
            scenes.rest()  # what was laid out for the kind before is no answer
            assert canvas.height() >= 0.6 * card.height(), kind.key
            assert child(view, "chart-title", QLabel).isVisible(), kind.key
            assert size in WIDE_PX or is_legend_right(view), kind.key


def is_legend_right(view):
    """Whether a legend has whole rows, all of them where each bar has its name, or is not seen."""
    legend = view.findChild(Legend)
    if not (legend.entries and legend.isVisible()):
        return True
    is_whole = legend.height() == legend.widget().height()
    has_whole_rows = legend.height() % legend.entries[0].height() == 0
    return has_whole_rows and (view.figure.needs_legend or is_whole)


def test_what_is_folded_for_it_is_a_click_away(qtbot, view):
    view.resize(292, 420)
    view.show_sessions(SESSIONS["one"])
    view.draw_now()
    child(view, "chart-published").click()
    subtitle, notes = (child(view, name, QLabel) for name in ("chart-subtitle", "chart-notes"))
    until(qtbot, lambda: "recorded" not in subtitle.text())
    child(view, "chart-fold").click()
    assert subtitle.isVisible()
    assert "recorded" in subtitle.text()
    assert "Grey, as published" in notes.text()
    child(view, "chart-fold").click()

    def is_folded():
        view.resize(292, 420)  # they had made it higher
        return "recorded" not in subtitle.text()

    until(qtbot, is_folded)
