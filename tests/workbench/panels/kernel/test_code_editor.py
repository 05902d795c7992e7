"""The editor of kernels: what keys do to its text, what it sets off, and how one leaves it."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QTextCharFormat
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

from tests.workbench.driving import child
from workbench.base import theme
from workbench.panels.kernel.code_editor import CodeEditor, Mark
from workbench.panels.kernel.editor_aids import Completion, FindRow, known_words
from workbench.panels.kernel.typing_aids import bracket_pair

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
KERNEL = """__global__ void convolve(const sample* src) {
    float sum = 0.0f;  // not ( this
    for (int i = 0; i < KSIZE; ++i) {
        sum += src[i];
    }
}
"""


@pytest.fixture
def page(qtbot):
    """An editor with what belongs to it, between two fields."""
    page = QWidget()
    page.editor = CodeEditor()
    page.find_row = FindRow(page.editor)
    page.completion = Completion(page.editor)
    page.before, page.behind = QLineEdit(), QLineEdit()
    column = QVBoxLayout(page)
    for part in (page.before, page.editor, page.find_row, page.behind):
        column.addWidget(part)
    qtbot.addWidget(page)
    page.resize(700, 500)
    page.show()
    page.editor.setFocus()
    qtbot.waitUntil(page.editor.hasFocus)
    return page


@pytest.fixture
def editor(page):
    return page.editor


def keys(editor, *pressed):
    for each in pressed:
        if isinstance(each, str):
            QTest.keyClicks(editor, each)
        else:
            QTest.keyClick(editor, *(each if isinstance(each, tuple) else (each,)))


def put(editor, text):
    """Show `text` with the cursor at |."""
    at = text.index("|")
    editor.begin_with(text.replace("|", ""))
    cursor = editor.textCursor()
    cursor.setPosition(at)
    editor.setTextCursor(cursor)


def seen(editor):
    """The text with the cursor as |."""
    text, at = editor.toPlainText(), editor.textCursor().position()
    return f"{text[:at]}|{text[at:]}"


def select(editor, begin, end):
    cursor = editor.textCursor()
    cursor.setPosition(begin)
    cursor.setPosition(end, cursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)


def colour_at(editor, text):
    """The colour in which the highlighter shows the first letter of `text`."""
    before = editor.toPlainText().partition(text)[0]
    at = len(before.encode("utf-16-le")) // 2  # as Qt counts letters
    block = editor.document().findBlock(at)
    for each in block.layout().formats():
        if each.start <= at - block.position() < each.start + each.length:
            return each.format.foreground().color().name()
    return None


# -- typing


@pytest.mark.parametrize(
    ("before", "pressed", "after"),
    [
        ("|x", [Qt.Key.Key_Tab], "    |x"),
        ("ab|", [Qt.Key.Key_Tab], "ab  |"),
        ("      |x", [(Qt.Key.Key_Backtab, SHIFT)], "    |x"),
        ("|x", [(Qt.Key.Key_Backtab, SHIFT)], "|x"),
        ("    a;|", [Qt.Key.Key_Return], "    a;\n    |"),
        ("if (a) {|", [Qt.Key.Key_Return], "if (a) {\n    |"),
        ("if (a) {|}", [Qt.Key.Key_Return], "if (a) {\n    |\n}"),
        ("{\n    a;\n    |", ["}"], "{\n    a;\n}|"),
        ("a = {1|", ["}"], "a = {1}|"),
        ("      |x", [Qt.Key.Key_Backspace], "    |x"),
        ("ab|", [Qt.Key.Key_Backspace], "a|"),
        ("    a;|", [(Qt.Key.Key_Slash, CTRL)], "    // a;|"),
        ("    // a;|", [(Qt.Key.Key_Slash, CTRL)], "    a;|"),
        ("|", [(Qt.Key.Key_Slash, CTRL)], "|"),
    ],
)
def test_keys_do_to_code_what_one_expects(before, pressed, after, editor):
    put(editor, before)
    keys(editor, *pressed)
    assert seen(editor) == after


def test_several_lines_move_and_are_commented_together_and_one_undo_takes_it_back(editor):
    editor.begin_with("a;\n\n  b;\nc;")
    select(editor, 0, 7)  # up to the start of c's line
    keys(editor, Qt.Key.Key_Tab)
    assert editor.toPlainText() == "    a;\n\n      b;\nc;"
    keys(editor, (Qt.Key.Key_Slash, CTRL))
    assert editor.toPlainText() == "    // a;\n\n    //   b;\nc;"
    keys(editor, (Qt.Key.Key_Slash, CTRL))
    assert editor.toPlainText() == "    a;\n\n      b;\nc;"
    keys(editor, (Qt.Key.Key_Z, CTRL), (Qt.Key.Key_Z, CTRL), (Qt.Key.Key_Z, CTRL))
    assert editor.toPlainText() == "a;\n\n  b;\nc;"


@pytest.mark.parametrize("now", ["a\nx\nc", "𝕂\n", ""])
def test_another_text_from_outside_can_be_undone(editor, now):
    editor.begin_with("a\nb\nc")
    editor.replace_text(now)
    assert editor.toPlainText() == now
    keys(editor, (Qt.Key.Key_Z, CTRL))
    assert editor.toPlainText() == "a\nb\nc"


# -- the keyboard


def test_tab_stays_in_the_source_and_two_ways_lead_out(page, editor):
    keys(editor, Qt.Key.Key_Tab)
    assert editor.hasFocus()
    keys(editor, (Qt.Key.Key_Tab, CTRL))
    assert page.behind.hasFocus()
    editor.setFocus()
    keys(editor, Qt.Key.Key_Escape, (Qt.Key.Key_Backtab, SHIFT))
    assert page.before.hasFocus()
    editor.setFocus()
    keys(editor, Qt.Key.Key_Escape, Qt.Key.Key_Tab)
    assert page.behind.hasFocus()
    editor.setFocus()
    keys(editor, Qt.Key.Key_Escape, "x", Qt.Key.Key_Tab)  # a letter: it goes on being written
    assert editor.hasFocus()


def test_keys_of_the_panel_are_not_the_windows_while_one_types(editor):
    asked = []
    editor.actions_by_key = {"Ctrl+S": lambda: asked.append("Ctrl+S")}
    event = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_S, CTRL)
    event.ignore()
    QApplication.sendEvent(editor, event)
    assert event.isAccepted()
    keys(editor, (Qt.Key.Key_S, CTRL))
    assert asked == ["Ctrl+S"]
    other = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Q, CTRL)
    other.ignore()
    QApplication.sendEvent(editor, other)
    assert not other.isAccepted()


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("f|(a[1])", (1, 6)),
        ("f(a[1])|", (6, 1)),
        ("f(a|[1])", (3, 5)),
        ("|{ // }\n}", (0, 7)),
        ('|( ")" )', (0, 6)),
        ("|( ')' /* ) */ )", (0, 14)),
        ("|(]", (0, -1)),
        ("|{ ( }", (0, -1)),
        ("a|b", None),
        ("// |(", None),
        ("/* 😀 */ |(a)", (9, 11)),  # Qt counts that letter as two
    ],
)
def test_a_bracket_finds_its_other_half(text, pair):
    at = text.index("|")
    place = at + text[:at].count("😀")
    found = bracket_pair(text.replace("|", ""), place)
    assert found == pair


def selected(editor):
    return [each.cursor.selectedText() for each in editor.extraSelections()]


def test_a_comment_that_opens_or_closes_recolours_what_follows_and_a_new_line_moves_it(editor):
    colors = theme.colors(editor.palette())
    put(editor, "|int a;\nint b;\n// ä 😀 x\nint c;\n")
    assert colour_at(editor, "int b") == colors.accent
    keys(editor, "/*")
    assert {colour_at(editor, each) for each in ("int a", "int b", "int c")} == {colors.muted}
    keys(editor, "*/")
    assert {colour_at(editor, each) for each in ("int a", "int b", "int c")} == {colors.accent}
    keys(editor, Qt.Key.Key_Return)
    assert colour_at(editor, "// ä") == colors.muted
    assert {colour_at(editor, each) for each in ("int a", "int b", "int c")} == {colors.accent}
    assert colour_at(editor, " c;") is None


def test_an_error_stands_on_its_line_and_moves_with_it(editor):
    editor.begin_with(KERNEL)
    editor.show_marks(
        [Mark(4, 16, "src is a pointer to samples"), Mark(4, 9, "and sum is a float")]
    )
    assert editor.marked_lines() == {3: "error"}
    assert "pointer" in editor.sentence_at(3)
    assert "float" in editor.sentence_at(3)
    waves = [
        each.cursor.selectedText()
        for each in editor.extraSelections()
        if each.format.underlineStyle() == QTextCharFormat.UnderlineStyle.WaveUnderline
    ]
    assert waves == ["src", "sum"]
    editor.go_to_mark(4)
    assert editor.textCursor().positionInBlock() == 15
    cursor = editor.textCursor()
    cursor.setPosition(0)
    editor.setTextCursor(cursor)
    keys(editor, Qt.Key.Key_Return)
    assert editor.marked_lines() == {4: "error"}
    editor.show_marks([])
    assert editor.marked_lines() == {}


def test_find_goes_through_all_places_and_round(page, editor):
    editor.begin_with(KERNEL)
    page.find_row.ask_text()
    field = child(page, "kernel-find", QLineEdit)
    assert field.hasFocus()
    QTest.keyClicks(field, "SUM")
    assert editor.textCursor().selectedText() == "sum"
    assert editor.textCursor().blockNumber() == 1
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert editor.textCursor().blockNumber() == 3
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert editor.textCursor().blockNumber() == 1
    QTest.keyClick(field, Qt.Key.Key_Return, SHIFT)
    assert editor.textCursor().blockNumber() == 3
    assert child(page, "kernel-find-count").text() == "2 of 2"
    QTest.keyClicks(field, "x")
    assert child(page, "kernel-find-count").text() == "none"
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert not page.find_row.isVisible()
    assert not any(text.lower() == "sum" for text in selected(editor))


# -- completion


def offered(page):
    """The words that the list offers, as they read."""
    shown = page.completion.popup()
    rows = page.completion.completionModel()
    return [rows.index(n, 0).data() for n in range(rows.rowCount())] if shown.isVisible() else []


def test_words_of_the_prelude_are_offered_with_their_meaning(page, editor):
    keys(editor, "re")
    assert any(
        each.startswith("read_sample  ") and "beyond the edges" in each for each in offered(page)
    )
    keys(editor, "ad_s")
    keys(page.completion.popup(), Qt.Key.Key_Return)
    assert editor.toPlainText() == "read_sample"
    assert offered(page) == []


def test_the_words_of_the_prelude_are_read_from_it():
    words = known_words()
    assert words["KSIZE"] == "the weights, or a window, are KSIZE x KSIZE"
    assert words["read_along"].startswith("(const T* row, int x, int width) Sample x of a row")
    assert {"CLAMP", "uint8", "RADIUS", "to_sample", "DYNAMIC_SHARED", "blockIdx"} <= set(words)
