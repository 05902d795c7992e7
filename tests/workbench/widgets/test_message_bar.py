"""The message bar: what it says, how long, and how one gets rid of it."""

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QTextEdit,
    QToolButton,
    QWidget,
)

from workbench.base import theme
from workbench.widgets import message_bar
from workbench.widgets.floating import Floating
from workbench.widgets.message_bar import DetailsDialog, MessageBar


@pytest.fixture
def window(qapp, qtbot):
    theme.apply(qapp, "light")
    window = QWidget()
    qtbot.addWidget(window)
    window.bar = MessageBar(window)
    window.resize(700, 400)
    window.show()
    qtbot.waitExposed(window)
    QTest.mouseMove(window, QPoint(699, 0))  # a test before may have left it where the bar is
    return window


@pytest.fixture
def short(window, monkeypatch):
    """The timer of infos, which go after a moment."""
    assert message_bar.INFO_MS == 3000
    monkeypatch.setattr(message_bar, "INFO_MS", 20)
    monkeypatch.setattr(message_bar, "READING_MS", 0)
    return window.bar.findChild(QTimer)


def test_a_bug_with_a_very_long_sentence_does_not_fill_the_window(window):
    window.bar.show_bug("RecursionError: " + 5000 * "again ", "a traceback")
    assert window.bar.sentence.endswith("…")
    assert window.bar.height() < window.height() / 2


def test_it_is_hidden_until_there_is_something_to_say(window):
    bar = window.bar
    assert bar.isHidden()
    bar.show_message("warning", "The picture was converted to 8 bits.")
    assert bar.isVisible()
    assert bar.sentence == "The picture was converted to 8 bits."
    bar.clear()
    assert bar.isHidden()
    assert bar.kind is None


@pytest.mark.parametrize("kind", ["info", "warning", "error"])
def test_the_kind_is_said_by_word_and_icon_too(window, kind):
    window.bar.show_message(kind, "Something happened.")
    labels = window.bar.findChildren(QLabel)
    assert message_bar.WORDS[kind] in [label.text() for label in labels]
    assert any(not label.pixmap().isNull() for label in labels)
    assert window.bar.accessibleName() == f"{message_bar.WORDS[kind]}: Something happened."


@pytest.mark.usefixtures("short")
def test_an_info_goes_by_itself_and_an_error_stays(window, qtbot):
    window.bar.show_message("info", "Saved.")
    qtbot.waitUntil(window.bar.isHidden)
    window.bar.show_message("info", "Saved.")
    window.bar.show_message("error", "The disk is full.")
    qtbot.wait(60)
    assert window.bar.kind == "error"
    assert window.bar.isVisible()


@pytest.mark.usefixtures("short")
def test_an_info_that_is_to_stay_does(window, qtbot):
    window.bar.show_message("info", "The report is there.", stays=True)
    qtbot.wait(60)
    assert window.bar.isVisible()
    window.bar.show_message("info", "Saved.")
    qtbot.waitUntil(window.bar.isHidden)


def test_what_can_be_done_has_a_button_each(window):
    done = []
    acts = [window.bar.findChild(QPushButton, name) for name in ("act", "act-1")]
    window.bar.show_message(
        "info",
        "There.",
        actions=[("&Open", lambda: done.append(0)), ("&Go", lambda: done.append(1))],
    )
    assert [each.accessibleName() for each in acts] == ["Open", "Go"]
    for each in acts:
        each.click()
    assert done == [0, 1]
    window.bar.show_message("info", "Else.")
    assert all(each.isHidden() for each in acts)


def test_an_info_does_not_go_from_under_the_pointer(window, qtbot, short):
    timer = short
    window.bar.show_message("info", "Saved.")
    QTest.mouseMove(window.bar, QPoint(40, 10))
    qtbot.waitUntil(lambda: not timer.isActive() or window.bar.isHidden())
    if window.bar.isHidden():
        pytest.fail("went from under the pointer")
    QTest.mouseMove(window, QPoint(300, 20))
    qtbot.waitUntil(window.bar.isHidden)


def test_it_can_be_dismissed_by_button_and_by_escape(window, qtbot):
    window.bar.show_message("error", "The disk is full.")
    window.bar.findChild(QToolButton, "dismiss").click()
    assert window.bar.isHidden()
    window.bar.show_message("error", "The disk is full.")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert window.bar.isHidden()


def test_clearing_one_kind_leaves_the_others(window):
    window.bar.show_message("error", "The disk is full.")
    window.bar.clear("info")
    assert window.bar.isVisible()
    window.bar.clear("error")
    assert window.bar.isHidden()


def test_markup_in_a_message_is_text(window):
    window.bar.show_message("error", "<b>x</b> is not a picture & never was.")
    assert window.bar.sentence == "<b>x</b> is not a picture & never was."


@pytest.mark.parametrize("sentence", ["A long sentence that goes on. " * 20, "/a_path" * 80])
def test_long_messages_wrap_and_are_not_clipped(window, qtbot, sentence):
    window.bar.show_message("error", sentence, "details")
    text = window.bar.findChild(QTextEdit, "sentence")

    def fits():
        assert text.document().size().height() <= text.height() + 1
        assert text.document().idealWidth() <= text.viewport().width()
        assert window.bar.height() >= text.height()

    qtbot.waitUntil(fits)
    assert window.width() == 700


def test_details_are_one_click_away_to_read_and_to_copy(window, qtbot):
    more = window.bar.findChild(QPushButton, "details")
    window.bar.show_message("error", "It broke.")
    assert more.isHidden()
    window.bar.show_message("error", "It broke.", "Traceback: line 3")
    more.click()
    dialog = window.bar.findChild(DetailsDialog)
    assert dialog.findChild(QPlainTextEdit, "detailsText").toPlainText() == "Traceback: line 3"
    dialog.findChild(QPushButton, "copy").click()
    assert QGuiApplication.clipboard().text() == "It broke.\n\nTraceback: line 3"
    dialog.reject()
    qtbot.waitUntil(lambda: window.bar.findChild(DetailsDialog) is None)


def test_it_is_repainted_in_the_colours_of_a_new_theme(window, qapp):
    window.bar.show_message("error", "It broke.")
    theme.apply(qapp, "dark")
    qapp.processEvents()
    middle = window.bar.grab().toImage().pixelColor(window.bar.width() // 2, 4)
    theme.apply(qapp, "light")
    assert middle.name() == theme.DARK.panel


def test_it_floats_over_the_view_and_follows_its_width(window, qtbot):
    beneath = QWidget(window)
    beneath.setGeometry(0, 0, 700, 400)
    beneath.show()
    window.bar.show_message("error", "The disk is full. " * 8)
    hit = window.childAt(window.bar.geometry().center())
    assert hit is window.bar or window.bar.isAncestorOf(hit)
    wide = window.bar.height()
    assert wide < 120, "as high as the sentence needs, from the first"
    window.resize(420, 400)
    qtbot.waitUntil(lambda: window.bar.geometry().right() < 420)
    qtbot.waitUntil(lambda: window.bar.height() > wide)
    assert window.bar.y() > window.height() / 2, "off the middle"
    assert window.rect().contains(window.bar.geometry())


def test_a_message_stands_at_the_lower_edge_above_what_floats_there(window):
    bar = window.bar
    bar.show_message("info", "Saved.")
    assert window.height() - bar.geometry().bottom() < 20
    card = Floating(window, QLabel("a choice"))
    card.show()
    QApplication.processEvents()
    bar.show_message("info", "Saved.")
    assert not bar.geometry().intersects(card.geometry())
    assert card.y() - bar.geometry().bottom() < 20


def test_a_long_info_is_there_as_long_as_reading_takes(window):
    timer = window.bar.findChild(QTimer)
    window.bar.show_message("info", "Saved.")
    assert timer.interval() == message_bar.INFO_MS
    window.bar.show_message("info", "What was pinned is of that picture. " * 4)
    assert timer.interval() > 2 * message_bar.INFO_MS


def test_what_is_taken_back_takes_its_message_along_but_no_error_and_none_that_stays(window):
    bar = window.bar
    bar.show_message("info", "Copied the result.")
    bar.outdate()
    assert bar.isHidden()
    for kind, stays in (("error", False), ("warning", False), ("info", True)):
        bar.show_message(kind, "Something else.", stays=stays)
        bar.outdate()
        assert bar.isVisible()
