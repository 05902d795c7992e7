"""Do in a window what a user does, through its widgets, and wait for what comes of it."""

import re
import warnings
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QMenu, QMessageBox, QWidget

from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.panels.compare.picture_view import PictureView
from workbench.window.main_window import MainWindow

QFileDialog_selected = QFileDialog.selectedFiles
PATIENCE_MS = 60_000  # for a machine that has much else to do


def child(window, name, kind=QWidget):
    """The widget with this object name; of a window also one of a panel that was never open."""
    found = window.findChild(kind, name)
    if isinstance(window, MainWindow):
        for title in window.docks:
            if found is None:
                window.docks.panel(title).get()
                found = window.findChild(kind, name)
    assert found is not None, f"there is no {name}"
    return found


def settle(qtbot, window, act=lambda: None):
    """Do `act` and wait for the last word on what the window then asks for; returns the Result."""

    def is_the_answer(result):
        return answers(result, window.store.state)

    with qtbot.waitSignal(window.live.settled, check_params_cb=is_the_answer) as settled:
        act()
    return settled.args[0]


def answers(result, state):
    """Whether `result` is of the job that `state` asks for."""
    return result.job.same_run(intents.job_for(state))


def until(qtbot, condition):
    qtbot.waitUntil(lambda: bool(condition()))


def show_picture(qtbot, window, samples, **facts):
    """Open `samples` as if they had been loaded, and wait until they are filtered."""
    picture = Picture("made up.png", samples, **facts)
    return settle(qtbot, window, lambda: window.opener.opened.emit(picture))


def ready(qtbot, window, samples):
    """Wait until the window knows its GPU, open this picture, and return the window, in front."""
    until(qtbot, lambda: window.device)
    show_picture(qtbot, window, samples)
    window.activateWindow()
    return window


def with_pixel(qtbot, window, samples):
    """The window with this picture, and the panel Pixel open."""
    show_picture(qtbot, window, samples)
    trigger(window, "This pixel")
    until(qtbot, window.pixel.get().isVisible)
    return window


def pick(combo: QComboBox, data):
    """Choose the entry that holds `data`.  (Offscreen there is nothing for a list to drop into.)"""
    row = combo.findData(data)
    assert row >= 0, f"{combo.objectName()} has no {data}"
    assert combo.model().flags(combo.model().index(row, 0)) & Qt.ItemFlag.ItemIsEnabled
    combo.setCurrentIndex(row)
    combo.activated.emit(row)


def question(window):
    """The question that the window asks."""
    (box,) = [each for each in window.findChildren(QMessageBox) if each.isVisible()]
    return box


def answer(window, text):
    """Answer it with the button that says `text`."""
    box = question(window)
    click(next(each for each in box.buttons() if each.text().replace("&", "") == text))
    assert not box.isVisible()


def type_into(box, text):
    """Replace what stands in a box by `text`, and press Enter."""
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, text)
    QTest.keyClick(box, Qt.Key.Key_Return)


def click(widget):
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)


def trigger(window, name):
    """Choose the action of this name in a menu."""
    action(window, name).trigger()


def action(window, name):
    found = [each for each in window.findChildren(QAction) if each.text().replace("&", "") == name]
    assert found, f"there is no action {name}"
    return max(found, key=lambda each: bool(each.objectName()))  # rather than to hide a panel


def open_recent(window):
    """Fill the menu of recent files as if it opened, and return it."""
    menu = next(each for each in window.findChildren(QMenu) if each.title() == "Open &recent")
    menu.aboutToShow.emit()
    return menu


def view(window, name):
    """The picture called "Before" or "After" in a window."""
    return pane_of(window.compare, name)


def pane_of(compare, name):
    """The picture of this name in a CompareView, whose main view is called by its mode."""
    if name in ("After", "Before and after", "Comparison"):
        return compare.main
    views = compare.findChildren(PictureView)
    return next(each for each in views if each.accessibleName() == name)


def part_values(text):
    """Channels and numbers of each part of what the read-out says: {"before": ["R", "1", …]}."""
    parts = re.split(r"\s{3,}(?=before|pinned|after|difference)", text)[1:]
    return {title: words.split() for title, _, words in (part.partition("  ") for part in parts)}


def move(compare, transform):
    """Have every picture shown by `transform`, as by wheel and mouse; None fits it."""
    pane_of(compare, "Before").moved.emit(transform)


def drop(window, *paths, image=None):
    """Drop files, or an image, on the window.  Returns whether they were welcome."""
    data = QMimeData()
    if paths:
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    if image is not None:
        data.setImageData(image)
    return drop_data(window, data)


def drop_data(window, data):
    point, copy = QPoint(200, 200), Qt.DropAction.CopyAction
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    with warnings.catch_warnings():  # Qt 6.12 wants a QPointF, which 6.11 does not take
        warnings.simplefilter("ignore", DeprecationWarning)
        enter = QDragEnterEvent(point, copy, data, left, none)
    enter.ignore()
    QApplication.sendEvent(window, enter)
    if enter.isAccepted():
        QApplication.sendEvent(window, QDropEvent(point, copy, data, left, none))
    return enter.isAccepted()


@dataclass
class AskedFor:
    """What a file dialog asked for: where it began, which name it proposed, and of which types."""

    title: str
    folder: Path
    name: str
    types: list[str]
    kind: str


def answer_file_dialogs(monkeypatch, *paths, kind=None):
    """Answer the file dialogs from here on with these paths, or none; returns what they ask for."""
    asked = []

    def read(dialog):
        types, chosen = dialog.nameFilters(), QFileDialog_selected(dialog)
        name = Path(chosen[0]).name if chosen else ""
        folder = Path(dialog.directory().absolutePath())
        found = AskedFor(dialog.windowTitle(), folder, name, types, dialog.selectedNameFilter())
        asked.append(found)
        return bool(paths)

    monkeypatch.setattr(QFileDialog, "exec", read)
    monkeypatch.setattr(QFileDialog, "selectedFiles", lambda _: list(map(str, paths)))
    monkeypatch.setattr(QMessageBox, "exec", lambda _: QMessageBox.StandardButton.Yes)  # replace it
    if kind is not None:
        monkeypatch.setattr(QFileDialog, "selectedNameFilter", lambda _: kind)
    return asked


def grey(image: QImage, x, y):
    """The brightness of a pixel on the screen, 0 to 255."""
    return image.pixelColor(x, y).lightness()
