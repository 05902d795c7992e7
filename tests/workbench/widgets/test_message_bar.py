"""The message bar: what it says, how long, and how one gets rid of it."""

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QToolButton, QWidget

from workbench.base import theme
from workbench.widgets import message_bar
from workbench.widgets.message_bar import DetailsDialog, MessageBar, Sentence
from workbench.widgets.watch import Watch

LONG = "A sentence that is longer than two lines are. " * 8


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


@pytest.mark.usefixtures("short")
def test_an_info_goes_by_itself_and_one_with_a_button_and_an_error_stay(window, qtbot):
    window.bar.show_message("info", "Saved.")
    qtbot.waitUntil(window.bar.isHidden)
    for kind, acts in (("info", [("&Open", print)]), ("error", [])):
        window.bar.show_message(kind, "The disk is full.", actions=acts)
        qtbot.wait(60)
        assert (window.bar.kind, window.bar.isVisible()) == (kind, True)


def test_what_can_be_done_has_a_button_each(window):
    done, acts = [], [window.bar.findChild(QPushButton, name) for name in ("act", "act-1")]
    both = [("&Open", lambda: done.append(0)), ("&Go", lambda: done.append(1))]
    window.bar.show_message("info", "There.", actions=both)
    assert [each.accessibleName() for each in acts] == ["Open", "Go"]
    for each in acts:
        each.click()
    assert done == [0, 1]
    window.bar.show_message("info", "Else.")
    assert all(each.isHidden() for each in acts)


def test_it_can_be_dismissed_by_button_and_by_escape(window, qtbot):
    window.bar.show_message("error", "The disk is full.")
    window.bar.findChild(QToolButton, "dismiss").click()
    assert window.bar.isHidden()
    window.bar.show_message("error", "The disk is full.")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert window.bar.isHidden()


def test_details_are_one_click_away_to_read_and_to_copy(window, qtbot):
    more = window.bar.findChild(QPushButton, "details")
    window.bar.show_message("error", "It broke.")
    assert more.isHidden()
    window.bar.show_message("error", "It broke.", "Traceback: line 3")
    more.click()
    dialog = window.bar.findChild(DetailsDialog)
    assert dialog.focusWidget().objectName() == "copy"
    assert dialog.findChild(QPlainTextEdit, "detailsText").toPlainText() == "Traceback: line 3"
    dialog.findChild(QPushButton, "copy").click()
    assert QGuiApplication.clipboard().text() == "It broke.\n\nTraceback: line 3"
    dialog.reject()
    qtbot.waitUntil(lambda: window.bar.findChild(DetailsDialog) is None)


def test_what_is_taken_back_takes_its_message_along_but_no_error_and_none_that_stays(window):
    bar = window.bar
    bar.show_message("info", "Saved the result.", actions=[("&Open", print)])
    bar.outdate()
    assert bar.isHidden()
    for kind, stays in (("error", False), ("warning", False), ("info", True)):
        bar.show_message(kind, "Something else.", stays=stays)
        bar.outdate()
        assert bar.isVisible()


@pytest.fixture
def lying(window):
    """The bar over part of another, behind which there is a button."""
    window.picture, bar = QPushButton(window), QWidget(window)
    window.part, window.button = QPushButton(bar), QPushButton(bar)
    window.picture.setGeometry(0, 0, 700, 366)
    bar.setGeometry(0, 366, 700, 34)
    window.part.setGeometry(0, 3, 400, 29)
    window.button.setGeometry(640, 3, 60, 29)
    for each in (window.picture, bar):
        each.show()
    window.bar.lie_over(window.part, window.button, window.picture)
    return window.bar


def test_it_lies_over_its_part_and_gives_the_keyboard_back(window, lying, qtbot):
    for words in ("Saved.", "This takes two lines of smaller letters in the part of the bar."):
        lying.show_message("info", words)
        assert lying.width() == window.part.width()
        assert window.part.parentWidget().geometry().contains(lying.geometry())
    window.part.resize(120, 29)  # where there is little room, it lies over what is beside, too
    qtbot.waitUntil(lambda: lying.width() == 640)
    window.part.resize(400, 29)
    lying.show_message("info", "Saved.", actions=[("&Open", lambda: None)])
    window.activateWindow()
    lying.findChild(QPushButton, "act").setFocus()
    lying.clear()
    assert window.picture.hasFocus()
    window.part.parentWidget().hide()
    lying.show_message("info", "Saved.")
    assert lying.geometry().bottom() > 380, "at the window's edge while there is no bar"


@pytest.mark.parametrize("width", [400, 120])
def test_once_it_lies_there_nothing_asks_for_the_layout_again(window, lying, qapp, width):
    window.part.resize(width, 29)
    asked = []
    Watch(lying, QEvent.Type.LayoutRequest).seen.connect(lambda: asked.append(True))
    lying.show_message("warning", LONG, actions=[("&Open", print)])
    for _ in range(5):
        asked.clear()
        qapp.processEvents()
    assert asked == []


def test_what_two_lines_do_not_hold_is_in_a_tooltip_and_one_click_away(window, lying):
    lying.show_message("warning", LONG)
    shown, more = lying.findChild(Sentence), lying.findChild(QPushButton, "details")
    assert window.part.parentWidget().geometry().contains(lying.geometry())
    assert shown.document().firstBlock().layout().lineCount() == 2
    assert shown.toPlainText().endswith("…")
    assert shown.toolTip() == lying.sentence == LONG
    more.click()
    dialog = lying.findChild(DetailsDialog)
    assert dialog.findChild(QPlainTextEdit, "detailsText").toPlainText() == LONG
    dialog.reject()
    lying.show_message("warning", "Short.")
    assert (more.isVisible(), shown.toolTip(), shown.toPlainText()) == (False, "", "Short.")
