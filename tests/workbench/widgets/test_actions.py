"""Every action is in a menu, on a key, in the palette and in words; so is every control."""

from collections import Counter
from dataclasses import fields

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLabel, QMenu

from kernels.pictures.generated import noise
from tests.workbench.driving import settle, show_picture, until
from tests.workbench.widgets.test_keyboard import interactive, name_of
from workbench.model.state import Picture, State
from workbench.panels.compare.picture_view import PictureView
from workbench.panels.weights.weights_grid import WeightsGrid
from workbench.widgets.menu_lines import menu_lines, plain
from workbench.widgets.message_bar import Sentence
from workbench.window.help.shortcuts import ShortcutsDialog
from workbench.window.palette.entries import OWN_NAME

# What these hold are pictures and measurements, as many as there are: the palette finds them.
LISTS = {"Open recent", "Built-in picture", "Recent sessions", "Recorded sessions"}
NOT_OF_A_LIST = {"Forget these"}
# What stands beside a thing as well, and in the menu under a name that says of which thing.
TWINS = {
    "Copy the chart": "Copy chart",
    "Save as PNG…": "Chart…",
    "Explain this pixel": "This pixel",
}
MIN_LETTERS = 8  # of a tooltip that says something


@pytest.fixture
def window(qtbot, make_window):
    window = make_window()
    until(qtbot, lambda: window.device)
    show_picture(qtbot, window, noise(20, 30))
    window.activateWindow()
    return window


def own(lines):
    """Without what lists hold."""
    return [
        line
        for line in lines
        if not LISTS.intersection(line.path) or line.action.objectName() in NOT_OF_A_LIST
    ]


def shortcuts_of(window):
    """Each key that means something in this window, and not in one of its own that it opened."""
    actions = [
        each
        for each in window.findChildren(QAction)
        if any(isinstance(thing, QMenu) for thing in each.associatedObjects())
        or each.parent() is window
    ]
    keys = [key for each in actions for key in each.shortcuts()]
    return keys + [
        each.key() for each in window.findChildren(QShortcut) if window.isAncestorOf(each.parent())
    ]


def test_every_action_is_in_a_menu(window):
    in_menus = [line.action for line in menu_lines(window)]
    names = {plain(each.text()) for each in in_menus}
    of_menus = [menu.menuAction() for menu in window.findChildren(QMenu)]
    of_docks = [dock.toggleViewAction() for dock in window.docks.values()]  # the menu has others
    elsewhere = [
        plain(each.text())
        for each in window.findChildren(QAction)
        if each not in in_menus
        and not each.isSeparator()
        and each not in (*of_menus, *of_docks)
        and plain(each.text())
        and not type(each.parent()).__module__.startswith("pyqtgraph")  # whose menu never opens
    ]
    assert set(elsewhere) == set(TWINS), "an action is in no menu"
    assert set(TWINS.values()) <= names


def test_every_action_has_a_key_and_says_what_it_does(window):
    lines = own(menu_lines(window))
    assert len(lines) > 80
    keyless = [line.name for line in lines if not line.action.shortcuts()]
    assert keyless == []
    dumb = [
        line.name
        for line in lines
        if plain(line.action.toolTip()).strip("…. ") == line.name and line.action.isEnabled()
    ]
    assert dumb == [], "their tooltips say nothing but their names"


def test_no_key_means_two_things(window):
    keys = [key.toString() for key in shortcuts_of(window)]
    assert len(keys) > 80
    assert [key for key, count in Counter(keys).items() if count > 1] == []
    # Qt knows a key by its symbol as well: Shift and 1 may be "!".
    assert not {"!", '"', "§", "$", "%"} & set(keys)


def test_every_action_is_in_the_palette_and_on_the_page_of_keys(window):
    lines = own(menu_lines(window))
    entries = {(entry.where, entry.name): entry for entry in window.dialogs.entries()}
    page = ShortcutsDialog(menu_lines(window), window)
    shown = Counter(label.text() for label in page.findChildren(QLabel))
    for line in lines:
        if line.name != OWN_NAME:
            assert entries[" ▸ ".join(line.path), line.name].keys == line.keys
        assert shown[line.keys] >= 1, line.name
    page.close()


def test_keys_do_what_their_lines_in_the_menu_say(qtbot, window):
    """A few from every menu, pressed: Qt finds no second meaning for them."""
    lines = {line.action.objectName() or line.name: line.action for line in menu_lines(window)}
    names = ("Forget these", "Pin this result", "Fit", "Larger kernel", "Pixel", "Dark",
             "Close all sessions", "Published numbers, in grey")  # fmt: skip
    lines["Published numbers, in grey"].setEnabled(True)
    for name in names:
        done = []
        lines[name].triggered.connect(lambda *_, done=done: done.append(1))
        key = lines[name].shortcut()[0]
        QTest.keyClick(window, key.key(), key.keyboardModifiers())
        assert done == [1], name
    lines["Like the system"].trigger()
    assert QKeySequence("Ctrl+Shift+6") in lines["Pixel"].shortcuts()


def test_no_menu_is_too_long_to_be_read(window):
    for menu in window.findChildren(QMenu):
        if menu.menuAction() in window.menuBar().actions():
            shown = [line for line in menu.actions() if not line.isSeparator()]
            assert len(shown) <= 16, menu.title()


def test_every_control_has_a_tooltip_that_says_something(qtbot, window):
    window.weights.open()
    window.help_controller.show_place("start")
    silent = [
        name_of(each)
        for each in interactive(window)
        if not isinstance(each, PictureView | Sentence | QHeaderView)  # it would be in the way
        and not (isinstance(each, QAbstractItemView) and has_tips(each))
        and len(tip_of(each, window)) < MIN_LETTERS
        and each.objectName() not in TOLD_WHEN_THERE_IS_A_LAUNCH
        and each.objectName() not in READ_ONLY
    ]
    assert silent == []


TOLD_WHEN_THERE_IS_A_LAUNCH = {"anatomy-block"}
READ_ONLY = {"help-page", "weights-grid", "weights-response"}  # their cells say what they are


def tip_of(widget, window):
    """Its own, or that of what it stands in: Qt shows that one."""
    while widget is not None and widget is not window and not widget.isWindow():
        if widget.toolTip():
            return widget.toolTip()
        widget = widget.parentWidget()
    return ""


def has_tips(view):
    """Whether each of its lines has one; a list that is empty is filled when it is seen."""
    model = view.model()
    rows = range(model.rowCount()) if model else ()
    return all(model.index(row, 0).data(Qt.ItemDataRole.ToolTipRole) for row in rows)


# -- undo


OTHERS = {
    "picture": Picture("other.png", noise(20, 30)),
    "pixel_type": "float32",
    "filter": "box",
    "ksize": 9,
    "last_free_ksize": 7,
    "sigma": 3.0,
    "amount": 2.0,
    "matrix": ((1.0,),),
    "border": "wrap",
    "implementation": "sequential",
    "block_xy": (16, 16),
    "baseline": "parallel",
    "cache": "warm",
    "levels": (1.0, 2.0),
    "view_mode": "wipe",
    "negative_display": "offset",
    "divider": "level",
    "difference": "signed",
    "gain": 4.0,
    "offset": 0.5,
}


def test_every_setting_can_be_taken_back_and_set_again(qtbot, window):
    # What was chosen to run on is seen only in what runs.
    names = [each.name for each in fields(State) if each.name != "chosen_implementation"]
    assert sorted(OTHERS) == sorted(names), "a new field of State: say here what else it may be"
    window.undoing.forget()
    before = window.store.state
    for name in names:
        if name in ("picture", "pixel_type"):
            continue  # they take a while: test_undo has them
        window.store.update(**{name: OTHERS[name]})
        assert window.undoing.undo_words, name
        assert "_" not in window.undoing.undo_words, name
    for name in reversed(names):
        if name in ("picture", "pixel_type"):
            continue
        assert getattr(window.store.state, name) == OTHERS[name]
        window.undoing.undo()
        assert getattr(window.store.state, name) == getattr(before, name), name
    assert not window.undoing.undo_words
    while window.undoing.redo_words:
        window.undoing.redo()
    assert window.store.state.gain == 4.0
    assert window.store.state.matrix == ((1.0,),)


def type_cell(window, row, column, text):
    """Type a weight into the grid."""
    model = window.weights.editor.findChild(WeightsGrid).model()
    model.setData(model.index(row, column), text)


def test_weights_drawn_in_the_editor_are_taken_back(qtbot, window):
    window.undoing.forget()
    window.weights.open()
    editor = window.weights.editor
    settle(qtbot, window, lambda: type_cell(window, 2, 2, "5"))
    assert window.store.state.filter == "custom"
    drawn = window.store.state.matrix
    settle(qtbot, window, lambda: type_cell(window, 0, 0, "7"))
    assert window.store.state.matrix != drawn
    settle(qtbot, window, window.undoing.undo)
    if window.store.state.filter == "custom":  # both in a moment are one step
        assert window.store.state.matrix == drawn
        assert editor.drawing.matrix == drawn
        settle(qtbot, window, window.undoing.undo)
    assert window.store.state.filter == "gaussian"
