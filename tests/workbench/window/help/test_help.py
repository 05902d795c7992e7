"""The help has a page about everything, leads nowhere that is not there, and finds words."""

import re
from typing import get_args

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QTreeWidget, QWidget

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.engine.engine import all_implementations
from kernels.rungs.rung import Rung
from tests.workbench.driving import child, pick, trigger, until
from workbench.charts.kinds import chart_kinds
from workbench.model.names import modes
from workbench.model.state import ViewMode
from workbench.window import help_pages
from workbench.window.help_pages import Book, HelpPage, book_of, topic_of
from workbench.window.help_window import HelpWindow, PageView

LINK = re.compile(r"\(help:([^)]*)\)")
made = {}


@pytest.fixture
def book(request):
    """Made once, of the first window: all windows have the same."""
    if "book" not in made:
        window = request.getfixturevalue("window")
        made["book"] = book_of(window.docks, window)
    return made["book"]


@pytest.fixture
def opened(qtbot, book):
    """The help window alone, at its first page."""
    help_window = HelpWindow(book)
    qtbot.addWidget(help_window)
    help_window.show()
    help_window.show_place("start")
    return help_window


# -- what there is to read


def test_there_is_a_page_about_everything(book):
    for each in all_implementations():
        assert each.idea in book.page(f"rung/{each.key}").plain
        if isinstance(each, Rung):
            assert " ".join(each.lesson.split()) in book.page(f"rung/{each.key}").plain
    for each in chart_kinds():
        page = book.page(f"chart/{each.key}")
        assert each.tip in page.plain
        assert each.reading in page.plain
        assert len(each.reading) > 150, each.key
    for key, mode in modes().items():
        assert book.page(f"mode/{key}").title == mode.title
    titles = book.page("filters").plain
    assert all(each.title in titles for each in filters.all_filters())
    assert all(border.capitalize() in titles for border in BORDERS)


def test_every_link_leads_to_a_page_and_that_of_keys_says_what_each_does(book):
    assert len({page.key for page in book.pages}) == len(book.pages)
    linked = {key for page in book.pages for key in LINK.findall(page.text)}
    assert len(linked) > 30
    assert [key for key in linked if book.page(key.partition("#")[0]) is None] == []
    rows = [each for each in book.page("keys").text.splitlines() if each and each[0] != "#"]
    assert [each for each in rows if not re.fullmatch(r"\|.*\|", each)] == []  # one line each
    text = book.page("keys").text
    assert "Open a picture first" not in text
    assert "There are none" not in text


def test_every_heading_has_a_text_that_holds_also_where_it_does_not_apply(book):
    for page in book.pages:
        lines = [each for each in page.text.splitlines() if each.strip()]
        pairs = zip(lines, [*lines[1:], "# the end"], strict=True)
        empty = [a for a, b in pairs if re.match("#+ ", a) and re.match("#+ ", b)]
        assert empty == [], page.key
        assert re.search(r"\b(The|the|a|an) \*\*[^*]*\*\* ", page.text) is None, page.key
    told = book.page("numbers").text
    assert "has no thread blocks" not in told
    assert "Only runs on a GPU" not in told


# -- finding


PAGES = (
    HelpPage("a", "One", "Halo", "Ring around a **tile**.\n\nMore of the [ring](help:b)."),
    HelpPage("b", "One", "Value tile", "What a block makes, without its halo."),
    HelpPage("c", "Two", "Bank", "Shared memory has 32."),
)


def test_all_words_have_to_be_there_and_none_finds_nothing():
    book = Book(PAGES)
    assert [each.key for each in book.find("RING halo")] == ["a"]
    assert book.find("ring bank") == []
    assert book.find("  ") == []
    assert book.find("help:b") == []  # that is a mark, and no word


def test_a_word_is_marked_where_one_begins_and_not_inside_others(opened):
    page = child(opened, "help-page", PageView)
    page.words = ("to",)
    page.preview(HelpPage("a", "One", "Drop", "Drop it onto To the tooltip, ton, photo."))
    marked = [each.cursor.selectedText() for each in page.extraSelections()]
    assert marked == ["To", "to", "to"]


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        *((f"{each}?", "mode/pixel") for each in ("why is this pixel 17", "explain this pixel")),
        *((each, "mode/pixel") for each in ("Why is this pixel white", "why this value")),
        *((each, "mode/result") for each in ("crop", "how do I crop a picture", "trim")),
        *(("undo", "keys"), ("save", "files"), ("white dots", "filters")),
        *(("border crop", "filters"), ("smooth the skin but keep the edges", "filters")),
    ],
)
def test_a_page_is_found_by_a_question_in_everyday_words(typed, key, book):
    assert [each.key for each in book.find(typed)][:1] == [key]


def test_a_sentence_marks_what_it_is_about_and_leads_to_its_best_line(opened):
    QTest.keyClicks(search(opened), "smooth the skin but keep the edges")
    page = child(opened, "help-page", PageView)
    marked = {each.cursor.selectedText().lower() for each in page.extraSelections()}
    assert marked == {"smooth", "skin", "keep", "edges"}
    assert page.textCursor().block().text().startswith("Bilateral")
    assert page.verticalScrollBar().value() > 0
    assert page.viewport().rect().contains(page.cursorRect())


# -- the window


def search(help_window):
    return child(help_window, "help-search", QLineEdit)


def test_the_keys_open_it_and_it_keeps_nobody_from_working(qtbot, window):
    trigger(window, "Help")
    help_window = window.findChild(HelpWindow)
    assert help_window.isVisible()
    assert not help_window.isModal()
    assert help_window.page.key == "start"
    help_window.show_place("charts")
    window.help_controller.close()
    trigger(window, "Help")
    assert help_window.page.key == "charts"  # where it was left
    until(qtbot, help_window.isActiveWindow)  # else the key would be the window's
    QTest.keyClick(help_window, Qt.Key.Key_Escape)
    assert not help_window.isVisible()


def test_typing_finds_and_selects_and_escape_brings_the_contents_back(opened):
    contents = child(opened, "help-contents", QTreeWidget)
    chapters = contents.topLevelItemCount()
    search(opened).setFocus()
    QTest.keyClicks(search(opened), "roofline")
    assert opened.page.key == "chart/roofline"
    page = child(opened, "help-page", PageView)
    assert page.textCursor().selectedText().lower() == "roofline"
    marked = [each.cursor.selectedText().lower() for each in page.extraSelections()]
    assert marked == ["roofline"] * page.document().toPlainText().lower().count("roofline")
    QTest.keyClick(search(opened), Qt.Key.Key_Down)
    assert QApplication.focusWidget() is contents or not opened.isActiveWindow()
    QTest.keyClicks(search(opened), "xyzzy")
    assert "No page has" in child(opened, "help-count").text()
    QTest.keyClick(search(opened), Qt.Key.Key_Escape)
    assert opened.isVisible()
    assert search(opened).text() == ""
    assert contents.topLevelItemCount() == chapters


def test_links_are_followed_and_gone_back(opened):
    opened.show_place("numbers#Verdict")
    opened.show_place("no such page")
    assert opened.page.key == "numbers"
    child(opened, "help-back").click()
    assert opened.page.key == "start"
    assert child(opened, "help-contents", QTreeWidget).currentItem().text(0) == opened.page.title
    child(opened, "help-forward").click()
    assert opened.page.key == "numbers"
    assert child(opened, "help-page").textCursor().block().text() == "Verdict"


# -- What's this


def test_every_panel_and_every_name_in_the_table_has_a_page(window, book):
    for title in window.docks:
        panel = window.docks.panel(title).get()
        assert topic_of(panel, window.store.state) != help_pages.START, title
    places = [*help_pages.topics().values(), *(f"mode/{mode}" for mode in get_args(ViewMode))]
    for place in places:
        key, _, section = place.partition("#")
        page = book.page(key)
        assert page is not None, place
        assert not section or f"\n{section}\n" in page.plain, place
    made_later = {"weights-editor"}
    for name in {*help_pages.topics(), help_pages.RUNG} - made_later:
        assert window.findChild(QWidget, name) is not None, name


def test_whats_this_is_about_what_is_chosen(window):
    assert topic_of(None, window.store.state) == help_pages.START
    assert topic_of(child(window, "speed-up"), window.store.state) == "numbers#Speed-up"
    assert topic_of(child(window, "ksize"), window.store.state) == "filters"
    pick(child(window, "implementation", QComboBox), "sequential")
    assert topic_of(child(window, "implementation"), window.store.state) == "rung/sequential"
    window.store.update(view_mode="mismatch")
    assert topic_of(window.compare, window.store.state) == "mode/mismatch"
    window.store.update(view_mode="side")
    child(window, "filter").setFocus()
    trigger(window, "What's this")
    # Offscreen nothing has the keyboard, so it may be about what is under the pointer.
    assert window.findChild(HelpWindow).page.key in ("filters", "start", "mode/result", "mode/side")
    window.help_controller.close()
