"""What was hidden and pinned in a chart is brought back at once."""

from PySide6.QtGui import QAction

from tests.made_sessions import a_session
from tests.workbench.charts.test_chart_view import show, spoken, view  # noqa: F401
from tests.workbench.driving import child, click
from workbench.charts.chart_menu import ChartMenu


def hidden(view):  # noqa: F811
    return [entry.label for entry in view.figure.entries if entry.is_hidden]


def test_show_all_shows_all(qtbot, view):  # noqa: F811
    show(qtbot, view, a_session("ksizes"), kind="time_by_kernel")
    action = next(
        each
        for each in child(view, "chart-menu", ChartMenu).menu().actions()
        if "Show" in each.text() and isinstance(each, QAction)
    )
    assert not action.isEnabled()
    click(next(iter(spoken(view).values())))
    qtbot.waitUntil(lambda: len(hidden(view)) == 1)
    assert action.isEnabled()
    action.trigger()
    qtbot.waitUntil(lambda: hidden(view) == [])
    assert not action.isEnabled()
