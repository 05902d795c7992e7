"""What a user may do: each act is a choice, written down, and the doing of what was written down.

`choose(rng, stage)` returns the words of an act, fit for JSON, or None where there is nothing to do
it to.  `do(stage, *words)` does it; where that takes a while it is a generator of milliseconds to
wait.  The words alone repeat the act.
"""

from PySide6.QtCore import QMimeData, QPoint, QPointF, QSize, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QImage, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTableView,
)

from tests.soak import finding
from tests.soak.stage import is_there
from tests.workbench.driving import drop_data

LEAVES = ("Quit",)  # what ends the window, which the soak does itself
TEXTS = (
    "3",
    "7",
    "31",
    "0.5",
    "-1",
    "1e9",
    "1/9",
    "nan",
    "",
    "16, 64",
    "a–ż \u200f",
    "0 1 0; 1 -4 1",
)
CELLS = "1\t2\t1\n2\t4\t2\n1\t2\t1\n"
KEYS = [
    *(Qt.Key(code) for code in (*range(Qt.Key.Key_A, Qt.Key.Key_Z + 1), *range(0x30, 0x3A))),
    *(Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Tab),
    *(Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Space),
    *(Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Delete, Qt.Key.Key_Backspace),
    *(Qt.Key.Key_BracketLeft, Qt.Key.Key_BracketRight, Qt.Key.Key_Comma, Qt.Key.Key_Period),
    *(Qt.Key.Key_Plus, Qt.Key.Key_Minus, Qt.Key.Key_Question, Qt.Key.Key_F5, Qt.Key.Key_F9),
]
MODIFIERS = [0, 0, 0, 0, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier]
NEVER = {("Q", True)}  # Ctrl+Q
SIZES = ((640, 480), (1024, 700), (1280, 800), (1600, 900), (1920, 1080))


class Act:
    """One kind; `weight` says how often it is chosen."""

    def __init__(self, weight, choose, do):
        self.weight, self.choose, self.do = weight, choose, do


def _one_of(rng, found):
    return rng.choice(sorted(found)) if found else None


# -- menus and keys --------------------------------------------------------------------------------


def _choose_action(rng, stage):
    found = [name for name in finding.actions(stage.window) if name not in LEAVES]
    return (_one_of(rng, found),)


def _do_action(stage, name):
    if QApplication.activeModalWidget() is None and (
        action := finding.actions(stage.window).get(name)
    ):
        action.trigger()


def _choose_menu(rng, stage):
    return (_one_of(rng, finding.menus(stage.window.menuBar())),)


def _do_menu(stage, title):
    """Open a menu, which may be filled then, and leave it."""
    menu = finding.menus(stage.window.menuBar()).get(title)
    if menu is not None and QApplication.activeModalWidget() is None:
        menu.popup(stage.window.mapToGlobal(QPoint(20, 20)))
        yield 20
        menu.close()


def _choose_key(rng, stage):
    key, modifier = rng.choice(KEYS), rng.choice(MODIFIERS)
    modifier = Qt.KeyboardModifier(modifier)
    is_ctrl = modifier == Qt.KeyboardModifier.ControlModifier
    if (key.name.removeprefix("Key_"), is_ctrl) in NEVER:
        return None
    return key.value, modifier.value, rng.choice((1, 1, 2, 5))


def _do_key(stage, key, modifier, times):
    window = QGuiApplication.focusWindow()
    if window is None:
        stage.window.activateWindow()
        window = stage.window.windowHandle()
    for _ in range(times):
        if is_there(window):
            QTest.keyClick(window, Qt.Key(key), Qt.KeyboardModifier(modifier))
        yield 1
        window = QGuiApplication.focusWindow() or stage.window.windowHandle()


# -- what is dragged, stepped, picked, pressed and typed -------------------------------------------


def _choose_slider(rng, stage):
    return _one_of(rng, finding.widgets(QAbstractSlider)), [rng.random() for _ in range(5)]


def _do_slider(stage, name, shares):
    slider = finding.widgets(QAbstractSlider).get(name)
    for share in shares:
        if slider is None or not slider.isVisible():
            return
        slider.setValue(round(slider.minimum() + share * (slider.maximum() - slider.minimum())))
        yield 5
        slider = finding.widgets(QAbstractSlider).get(name)


def _choose_box(rng, stage):
    return _one_of(rng, finding.widgets(QAbstractSpinBox)), rng.choice((-9, -1, 1, 1, 5))


def _do_box(stage, name, steps):
    if box := finding.widgets(QAbstractSpinBox).get(name):
        box.stepBy(steps)


def _choose_pick(rng, stage):
    return _one_of(rng, finding.widgets(QComboBox)), rng.random()


def _do_pick(stage, name, share):
    combo = finding.widgets(QComboBox).get(name)
    if combo is None or combo.count() == 0:
        return
    row = int(share * combo.count())
    index = combo.model().index(row, 0)
    if combo.model().flags(index) & Qt.ItemFlag.ItemIsEnabled:
        combo.setCurrentIndex(row)
        combo.activated.emit(row)


def _choose_button(rng, stage):
    return (_one_of(rng, finding.widgets(QAbstractButton)),)


def _do_button(stage, name):
    if button := finding.widgets(QAbstractButton).get(name):
        button.click()


def _choose_tab(rng, stage):
    return _one_of(rng, finding.widgets(QTabBar)), rng.random()


def _do_tab(stage, name, share):
    if (bar := finding.widgets(QTabBar).get(name)) and bar.count():
        bar.setCurrentIndex(int(share * bar.count()))


def _choose_item(rng, stage):
    return _one_of(rng, finding.widgets(QAbstractItemView)), rng.random(), rng.random()


def _do_item(stage, name, down, across):
    view = finding.widgets(QAbstractItemView).get(name)
    model = view.model() if view else None
    if model is None or not model.rowCount():
        return
    column = int(across * model.columnCount()) if isinstance(view, QTableView) else 0
    index = model.index(int(down * model.rowCount()), column)
    view.setCurrentIndex(index)
    if model.flags(index) & Qt.ItemFlag.ItemIsEnabled:
        view.clicked.emit(index)
        view.activated.emit(index)


def _choose_text(rng, stage):
    found = {**finding.widgets(QLineEdit), **finding.widgets(QPlainTextEdit)}
    return _one_of(rng, found), rng.choice(TEXTS)


def _do_text(stage, name, text):
    edit = {**finding.widgets(QLineEdit), **finding.widgets(QPlainTextEdit)}.get(name)
    if edit is not None and not edit.isReadOnly():
        edit.setFocus()
        edit.selectAll()
        typed = QInputMethodEvent()
        typed.setCommitString(text or " ")
        QApplication.sendEvent(edit, typed)
        QTest.keyClick(edit, Qt.Key.Key_Return)


# -- the mouse -------------------------------------------------------------------------------------


def _choose_mouse(rng, stage):
    name = _one_of(rng, finding.widgets())
    button = rng.choice(("left", "left", "left", "right", "middle", "double", "wheel", "hover"))
    return name, button, [rng.random() for _ in range(rng.choice((2, 2, 6, 12)))]


def _do_mouse(stage, name, button, shares):
    """Press at the first point, drag over the others, let go at the last; or turn the wheel."""
    widget = finding.widgets().get(name)
    if widget is None or finding.window_of(widget).windowHandle() is None:
        return
    handle, points = None, []
    for across, down in zip(shares[::2], shares[1::2], strict=True):
        handle, point = finding.in_window(widget, across, down)
        points.append(point)
    kinds = {"right": Qt.MouseButton.RightButton, "middle": Qt.MouseButton.MiddleButton}
    pressed, none = kinds.get(button, Qt.MouseButton.LeftButton), Qt.KeyboardModifier.NoModifier
    if button == "wheel":
        turn = QPoint(0, 120 if shares[0] < 0.5 else -120)
        for point in points:
            if is_there(handle):
                QTest.wheelEvent(handle, QPointF(finding.within(handle, point)), turn)
            yield 5
        return
    QTest.mouseMove(handle, points[0])
    if button == "double":
        QTest.mouseDClick(handle, pressed, none, points[0])
    elif button != "hover":
        QTest.mousePress(handle, pressed, none, points[0])
    for point in points[1:]:
        yield 5
        if not is_there(handle):
            return
        QTest.mouseMove(handle, finding.within(handle, point))
    if button not in ("double", "hover") and is_there(handle):
        QTest.mouseRelease(handle, pressed, none, finding.within(handle, points[-1]))


# -- files and the clipboard -----------------------------------------------------------------------


def _choose_file(rng, stage):
    return _one_of(rng, stage.files), rng.choice(("open", "drop", "dialog"))


def _do_file(stage, name, how):
    path = stage.files[name]
    if how == "open":
        stage.window.open_paths([path])
    elif how == "drop":
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path))])
        drop_data(stage.window, data)
    else:
        stage.dialogs.next_to_open = path
        _do_action(stage, "Open…")
        stage.dialogs.next_to_open = None


def _choose_clipboard(rng, stage):
    return rng.choice(("picture", "file", "cells", "words", "nothing", "deep")), rng.choice(
        ("Paste picture", "")
    )


def _do_clipboard(stage, what, then):
    clipboard = QGuiApplication.clipboard()
    if what == "picture":
        image = QImage(40, 30, QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.darkCyan)
        clipboard.setImage(image)
    elif what == "deep":
        image = QImage(33, 21, QImage.Format.Format_RGBA64)
        image.fill(Qt.GlobalColor.darkMagenta)
        clipboard.setImage(image)
    elif what == "file":
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(stage.files["rgb8.png"]))])
        clipboard.setMimeData(data)
    elif what == "nothing":
        clipboard.clear()
    else:
        clipboard.setText(CELLS if what == "cells" else "no cells at all")
    if then:
        _do_action(stage, then)


# -- windows ---------------------------------------------------------------------------------------


def _choose_dock(rng, stage):
    docks = sorted(stage.window.docks)
    what = rng.choice(("hide", "show", "float", "left", "right", "bottom", "raise", "tab"))
    return rng.choice(docks), what, rng.choice(docks)


def _do_dock(stage, title, what, other):
    window, dock = stage.window, stage.window.docks[title]
    areas = {
        "left": Qt.DockWidgetArea.LeftDockWidgetArea,
        "right": Qt.DockWidgetArea.RightDockWidgetArea,
        "bottom": Qt.DockWidgetArea.BottomDockWidgetArea,
    }
    if what in areas:
        window.addDockWidget(areas[what], dock)
    elif what == "float":
        dock.setFloating(not dock.isFloating())
    elif what == "tab" and other != title and not dock.isFloating():
        window.tabifyDockWidget(window.docks[other], dock)
    elif what == "raise":
        window.bring_forward(title)
    else:
        dock.setVisible(what == "show")


def _choose_size(rng, stage):
    return (rng.choice(SIZES),)


def _do_size(stage, size):
    stage.window.resize(QSize(*size))


def _choose_away(rng, stage):
    dialogs = [name for name, each in finding.widgets(QDialog).items() if each.isWindow()]
    return (_one_of(rng, dialogs),)


def _do_away(stage, name):
    """Close a dialog, as Esc does."""
    dialog = finding.widgets(QDialog).get(name)
    if dialog is not None:
        dialog.reject()


def _choose_stop(rng, stage):
    return ()


def _do_stop(stage):
    """Let no sweep, tuning or comparison run for long."""
    stage.window.worker.cancel_sweep()
    stage.window.worker.cancel_tuning()
    stage.window.worker.cancel_comparison()


ACTS = {
    "action": Act(20, _choose_action, _do_action),
    "menu": Act(3, _choose_menu, _do_menu),
    "key": Act(14, _choose_key, _do_key),
    "slider": Act(8, _choose_slider, _do_slider),
    "box": Act(8, _choose_box, _do_box),
    "pick": Act(10, _choose_pick, _do_pick),
    "button": Act(12, _choose_button, _do_button),
    "tab": Act(4, _choose_tab, _do_tab),
    "item": Act(6, _choose_item, _do_item),
    "text": Act(6, _choose_text, _do_text),
    "mouse": Act(22, _choose_mouse, _do_mouse),
    "file": Act(8, _choose_file, _do_file),
    "clipboard": Act(4, _choose_clipboard, _do_clipboard),
    "dock": Act(5, _choose_dock, _do_dock),
    "size": Act(2, _choose_size, _do_size),
    "away": Act(10, _choose_away, _do_away),
    "stop": Act(3, _choose_stop, _do_stop),
}
