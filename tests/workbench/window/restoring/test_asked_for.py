"""After a crash, what the user asks for on the command line comes before what was left."""

import pytest
from PySide6.QtWidgets import QPushButton

from tests.workbench.driving import until
from tests.workbench.window.restoring.test_restoring import crashed
from workbench.base.settings import Settings
from workbench.model import choices
from workbench.model.state import State
from workbench.window.restoring.restoring import Restoring

LEFT = choices.to_data(State(filter="unsharp", ksize=9, amount=2.5))


@pytest.fixture
def left(home):
    return crashed({"settings": {"choices": LEFT, "theme": "dark"}, "picture": None})


def started(settings, is_asked):
    restoring = Restoring(settings, is_asked=is_asked)
    restoring.end()
    return settings


def test_choices_of_the_command_line_stay_and_the_other_settings_come_back(left):
    asked = Settings()
    asked.set("choices", {"filter": "sobel_x", "ksize": 3})
    started(asked, is_asked=True)
    assert asked.get("choices", {}) == {"filter": "sobel_x", "ksize": 3}
    assert asked.get("theme", "system") == "dark"


def test_without_a_wish_the_choices_come_back(left):
    settings = started(Settings(), is_asked=False)
    assert settings.get("choices", {})["filter"] == "unsharp"


def test_a_window_shows_what_was_asked_for_and_offers_the_rest(qtbot, left, make_window):
    settings = Settings()
    settings.set("choices", {"filter": "sobel_x", "ksize": 3})
    settings.save()
    restoring = Restoring(settings, is_asked=True)
    settings.save()
    window = make_window()
    restoring.begin(window.contents, window.intake, window.restarter, [])
    assert (window.store.state.filter, window.store.state.ksize) == ("sobel_x", 3)
    assert "ended unexpectedly" in window.messages.sentence
    yes = window.messages.findChild(QPushButton, "act")
    yes.click()
    until(qtbot, lambda: window.store.state.filter == "unsharp")
    assert window.store.state.amount == 2.5
    restoring.end()
