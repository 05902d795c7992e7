"""Every action is in a menu, on a key, in the palette and in words; so is every control."""

from collections import Counter
from dataclasses import fields

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu

from kernels.pictures.generated import noise
from kernels.rungs.rung import ladder
from tests.workbench.driving import ready, until
from tests.workbench.widgets.test_keyboard import interactive, name_of
from workbench.imaging.display_mapping import Tone
from workbench.imaging.pictures import Picture
from workbench.model.names import NEGATIVE_TITLES
from workbench.model.state import State, Step
from workbench.panels.compare.picture_view import PictureView
from workbench.widgets.actions import menu_lines, plain
from workbench.widgets.message_bar import Sentence
from workbench.window.help_pages import book_of
from workbench.window.palette import OWN_NAME

# What these hold are pictures and measurements, as many as there are: the palette finds them.
LISTS = {"Open recent", "Built-in picture", "Recent sessions", "Recent lists", "Recorded sessions"}
NOT_OF_A_LIST = {"Clear list"}
# What stands beside a thing as well, and in the menu under a name that says of which thing.
TWINS = {
    "Copy the chart": "Copy chart",
    "Save as PNG…": "Chart…",
    "Explain this pixel": "This pixel",
    "Save as…": "Save kernel as…",
    "Open in editor": "Edit kernel outside",
}
# What the chip on a picture lets one choose, as Settings does; and what a kernel of one's own
# begins with.
CHOICES = {*NEGATIVE_TITLES.values(), *(rung.title for rung in ladder())}
CHOICES |= {"Plain kernel", "My median", "My dilation", "None was open before"}
MIN_LETTERS = 8  # of a tooltip that says something


@pytest.fixture
def window(qtbot, make_window):
    return ready(qtbot, make_window(), noise(20, 30))


@pytest.fixture
def panels(window):
    """All panels, made: lines of a panel have stand-ins before."""
    for title in window.docks:
        window.docks.panel(title).get()


def own(lines):
    """Without what lists hold."""
    return [
        line
        for line in lines
        if not LISTS.intersection(line.path) or line.action.objectName() in NOT_OF_A_LIST
    ]


def shortcuts_of(window):
    """Each key that means something in this window, and not in one of its own that it opened.

    A shortcut of a single widget, such as each line of a plan has, counts once.
    """
    actions = [
        each
        for each in window.findChildren(QAction)
        if any(isinstance(thing, QMenu) for thing in each.associatedObjects())
        or each.parent() is window
    ]
    keys = [key for each in actions for key in each.shortcuts()]
    own = [each for each in window.findChildren(QShortcut) if window.isAncestorOf(each.parent())]
    local = Qt.ShortcutContext.WidgetShortcut
    wider = [each.key() for each in own if each.context() != local]
    of_one_part = {each.key().toString(): each.key() for each in own if each.context() == local}
    return [*keys, *wider, *of_one_part.values()]


def test_every_action_is_in_a_menu(qtbot, window):
    for title in window.docks:
        window.docks.panel(title).get()
    until(qtbot, lambda: set(elsewhere(window)) == set(TWINS) | CHOICES)
    assert set(TWINS.values()) <= {plain(line.action.text()) for line in menu_lines(window)}


def elsewhere(window):
    """The texts of the actions that are in no menu."""
    in_menus = [line.action for line in menu_lines(window)]
    of_menus = [menu.menuAction() for menu in window.findChildren(QMenu)]
    return [
        plain(each.text())
        for each in window.findChildren(QAction)
        if each not in in_menus
        and not each.isSeparator()
        and each not in of_menus
        and plain(each.text())
        and not type(each.parent()).__module__.startswith("pyqtgraph")  # whose menu never opens
    ]


def test_no_key_means_two_things_and_every_action_is_in_the_palette_and_on_the_page(panels, window):
    keys = [key.toString() for key in shortcuts_of(window)]
    assert len(keys) > 80
    assert [key for key, count in Counter(keys).items() if count > 1] == []
    # Qt knows a key by its symbol as well: Shift and 1 may be "!".
    assert not {"!", '"', "§", "$", "%"} & set(keys)
    lines = own(menu_lines(window))
    entries = {(entry.where, entry.name): entry for entry in window.dialogs.entries()}
    page = book_of(window.docks, window).page("keys").plain
    for line in lines:
        if line.name != OWN_NAME:
            assert entries[" ▸ ".join(line.path), line.name].keys == line.keys
        assert line.keys.replace("\\", "") in page, line.name


def test_keys_do_what_their_lines_in_the_menu_say(qtbot, window):
    """A few from every menu, pressed: Qt finds no second meaning for them."""
    window.sweep.get()  # its own lines replace others
    lines = {line.action.objectName() or line.name: line.action for line in menu_lines(window)}
    names = ("Clear list", "Pin this result", "Fit", "Larger kernel", "Pixel", "Dark",
             "Close all sessions", "Published numbers, in grey")  # fmt: skip
    for name in names:
        done = []
        lines[name].setEnabled(True)  # as with something to do
        lines[name].triggered.connect(lambda *_, done=done: done.append(1))
        key = lines[name].shortcut()[0]
        QTest.keyClick(window, key.key(), key.keyboardModifiers())
        assert done == [1], name
    lines["Follow system"].trigger()


def test_what_has_nothing_to_do_is_grey_and_says_why(window):
    lines = {line.name: line.action for line in menu_lines(window)}
    for name, reason in (
        ("Pause sweep", "No sweep is running"),
        ("Close all sessions", "No session is open"),
        ("Compare", "Show two sessions first"),
        ("Report", "nothing to report yet"),
        ("Next block shape", "no thread blocks"),
        ("Previous block shape", "no thread blocks"),
    ):
        assert not lines[name].isEnabled(), name
        assert reason in lines[name].toolTip()
        assert reason in lines[name].statusTip()


def test_every_control_has_a_tooltip_that_says_something(qtbot, window):
    window.docks.enter("Weights")
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


SLOW = ("picture", "pixel_type", "reference")  # test_undo and test_shown_files have them
OTHERS = {
    "reference": Picture("other.png", noise(20, 30)),
    "aside": (("ksize", 7),),
    "tone": Tone(ev=1.0),
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
    "percentile": 75.0,
    "is_disk": True,
    "sigma_colour": 0.2,
    "patch": 5,
    "strength": 0.1,
    "epsilon": 0.1,
    "threshold": 0.1,
    "devices": 2,
    "baseline": "parallel",
    "cache": "warm",
    "levels": (1.0, 2.0),
    "result_levels": (1.0, 2.0),
    "view_mode": "wipe",
    "negative_display": "offset",
    "divider": "level",
    "difference": "signed",
    "gain": 4.0,
    "offset": 0.5,
    "compared": 1,
    "region": (1, 2, 30, 20, 4),
    "mix": 0.5,
    "is_on": False,
    "is_rounded": True,
    "alpha": "apart",
    "whole": "strips",
    "before": (Step(),),
    "after": (Step("edges"),),
}


def test_every_setting_can_be_taken_back_and_set_again(qtbot, make_window):
    window = make_window()  # without a picture, so that nothing is computed
    until(qtbot, lambda: window.device)
    # What was chosen to run on is seen only in what runs, and a kernel's text is its file's.
    unseen = ("chosen_implementation", "own_kernel")
    names = [each.name for each in fields(State) if each.name not in unseen]
    assert sorted(OTHERS) == sorted(names), "a new field of State: say here what else it may be"
    window.undo_history.forget()
    before = window.store.state
    for name in names:
        if name in SLOW:
            continue
        window.store.update(**{name: OTHERS[name]})
        assert window.undo_history.undo_words, name
        assert "_" not in window.undo_history.undo_words, name
    for name in reversed(names):
        if name in SLOW:
            continue
        assert getattr(window.store.state, name) == OTHERS[name]
        window.undo_history.undo()
        assert getattr(window.store.state, name) == getattr(before, name), name
    assert not window.undo_history.undo_words
    while window.undo_history.redo_words:
        window.undo_history.redo()
    assert window.store.state.gain == 4.0
    assert window.store.state.matrix == ((1.0,),)
