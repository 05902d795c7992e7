"""Several files, folders and what is dragged: opened, walked through, shown in the gallery."""

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from kernels.pictures.generated import noise
from tests.workbench.driving import (
    child,
    drop,
    settle,
    trigger,
    until,
)
from workbench.files.image_files import save
from workbench.panels.gallery.gallery import Wall
from workbench.panels.gallery.thumbnails import CAPTION, MAX_THUMBNAILS
from workbench.window.picture_intake import words_for

NAMES = ("img1.png", "img2.jpg", "img10.png", "other.png")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "holiday"
    folder.mkdir()
    for number, name in enumerate(NAMES):
        save(folder / name, noise(20 + number, 30, 3))
    (folder / "notes.txt").write_text("no picture")
    return folder


def name_of(window):
    picture = window.store.state.picture
    return None if picture is None else picture.name


def place(window):
    return child(window, "place-words", QLabel).text() if window.place.isVisible() else ""


def test_a_dropped_folder_opens_its_first_picture_and_says_how_many_there_are(
    qtbot, window, folder
):
    settle(qtbot, window, lambda: drop(window, folder))
    assert name_of(window) == "img1.png"
    assert window.messages.sentence == "4 pictures in holiday."
    until(qtbot, lambda: place(window) == "1 of 4")
    settle(qtbot, window, lambda: trigger(window, "Next in folder"))
    until(qtbot, lambda: place(window) == "2 of 4")
    words = child(window, "place-words", QLabel)
    assert words.isEnabled()
    settle(qtbot, window, lambda: window.opener.open_built_in("noise"))
    assert not words.isEnabled()  # pale: that is none of the four


def test_undo_in_the_gallery_marks_the_picture_before_and_gathers_none(qtbot, window, folder):
    settle(qtbot, window, lambda: drop(window, folder))
    trigger(window, "Gallery")
    wall = window.gallery.get().findChild(Wall)
    until(qtbot, lambda: wall.currentIndex().row() == 0)
    wall.setFocus()
    for _ in range(2):
        settle(qtbot, window, lambda: trigger(window, "Next in folder"))
    until(qtbot, lambda: wall.currentIndex().row() == 2)
    control = Qt.KeyboardModifier.ControlModifier
    QTest.keyPress(window.windowHandle(), Qt.Key.Key_Control, control)
    for row in (1, 0):
        settle(qtbot, window, lambda: QTest.keyClick(window.windowHandle(), Qt.Key.Key_Z, control))
        until(qtbot, lambda row=row: wall.currentIndex().row() == row)
        assert [each.row() for each in wall.selectedIndexes()] == [row]
    QTest.keyRelease(window.windowHandle(), Qt.Key.Key_Control)


def test_several_dropped_files_are_walked_through_and_nothing_else(qtbot, window, folder):
    dropped = [folder / "other.png", folder / "img2.jpg", folder / "notes.txt"]
    settle(qtbot, window, lambda: drop(window, *dropped))
    assert name_of(window) == "other.png"
    assert "2 pictures" in window.messages.sentence
    until(qtbot, lambda: place(window) == "1 of 2")
    settle(qtbot, window, lambda: trigger(window, "Next in folder"))
    assert name_of(window) == "img2.jpg"
    until(qtbot, lambda: place(window) == "2 of 2")
    trigger(window, "Next in folder")
    until(qtbot, lambda: "img2.jpg is the last" in window.messages.sentence)
    settle(qtbot, window, lambda: window.opener.open_file(folder / "img10.png"))
    until(qtbot, lambda: place(window) == "3 of 4")  # its folder's again


def test_a_pasted_picture_ends_no_walk(qtbot, window, folder):
    settle(qtbot, window, lambda: drop(window, folder))
    until(qtbot, lambda: place(window) == "1 of 4")
    QGuiApplication.clipboard().setImage(QImage(20, 30, QImage.Format.Format_RGB32))
    settle(qtbot, window, lambda: trigger(window, "Paste picture"))
    assert window.store.state.picture.path is None
    assert place(window) == "1 of 4"
    settle(qtbot, window, lambda: trigger(window, "Next in folder"))
    assert name_of(window) == "img2.jpg"


def test_a_message_in_the_status_bar_moves_no_button(qtbot, window, folder):
    settle(qtbot, window, lambda: drop(window, folder))
    until(qtbot, lambda: place(window) == "1 of 4")
    names = ("zoom", "fit", "one_to_one", "original", "pin", "place-back", "place-forth")

    def places():
        parts = [child(window, name) for name in names]
        return [(each.isVisible(), each.mapTo(window, QPoint())) for each in parts]

    before = places()
    assert all(is_seen for is_seen, _ in before)
    window.statusBar().showMessage("Undid: kernel size 5 → 7, which is a long sentence. " * 4)
    qtbot.wait(50)
    assert places() == before
    window.chip.setText("NVIDIA GeForce RTX 4090")  # the GPU was found meanwhile
    qtbot.wait(50)
    assert places() == before


# -- the gallery


def wall(window):
    window.docks.bring_forward("Gallery")
    return child(window, "shelf", Wall)


def thumbnails(of):
    of.grab()  # a tile that is painted gets its thumbnail
    return [of.model().index(row, 0).data(CAPTION) for row in range(of.model().rowCount())]


def told(of, row):
    return of.model().index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole)


def test_the_gallery_shows_the_folder_of_the_open_picture(qtbot, window, folder):
    settle(qtbot, window, lambda: drop(window, folder / "img2.jpg"))
    shown = wall(window)
    until(qtbot, lambda: shown.model().stringList() == list(NAMES))
    assert child(window, "shelf-words", QLabel).text() == "4 pictures in holiday"
    assert shown.currentIndex().row() == 1
    until(qtbot, lambda: all(thumbnails(shown)))
    QTest.keyClick(shown, Qt.Key.Key_End)
    settle(qtbot, window, lambda: QTest.keyClick(shown, Qt.Key.Key_Return))
    assert name_of(window) == "other.png"
    at = shown.visualRect(shown.model().index(0, 0)).center()
    left = Qt.MouseButton.LeftButton
    settle(qtbot, window, lambda: QTest.mouseClick(shown.viewport(), left, pos=at))
    assert name_of(window) == "img1.png"


def test_of_thousands_of_files_only_those_in_view_are_read(qtbot, window, tmp_path):
    (tmp_path / "many").mkdir()
    first = tmp_path / "many" / "0.png"
    save(first, noise(8, 8))
    for number in range(1, 3000):
        (tmp_path / "many" / f"{number}.png").hardlink_to(first)
    settle(qtbot, window, lambda: drop(window, tmp_path / "many" / "1500.png"))
    shown = wall(window)
    until(qtbot, lambda: shown.model().rowCount() == 3000)
    assert shown.currentIndex().row() == 1500
    box = shown.viewport().rect()
    until(qtbot, lambda: box.intersects(shown.visualRect(shown.model().index(1500, 0))))
    until(qtbot, lambda: told(shown, 1500).endswith("uint8"))
    known = [row for row in range(3000) if told(shown, row).endswith("uint8")]
    assert len(known) < MAX_THUMBNAILS


def drag_over(window, *paths):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(200, 200), copy, data, left, none)
    QApplication.sendEvent(window, enter)
    return data


def sign(window):
    return window.statusBar().currentMessage()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Qt 6.12 wants a QPointF
def test_what_letting_go_would_do_is_shown_while_dragging(qtbot, window, folder):
    kept = drag_over(window, folder)
    assert sign(window) == "Open holiday"
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert sign(window) == ""
    kept = drag_over(window, folder / "img1.png", folder / "img2.jpg")
    assert sign(window) == "Open 2 files"
    assert words_for(kept) == "Open 2 files"
    settle(qtbot, window, lambda: drop(window, folder / "img1.png"))
    assert sign(window) == ""
