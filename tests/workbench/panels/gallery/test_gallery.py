"""The gallery shows what there is, fetches what is missing, and never holds up the window."""

import shutil
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton

from kernels.pictures.generated import PICTURES
from tests.workbench.files.kodak_server import KodakServer
from workbench.files.kodak import NAMES, KodakSet
from workbench.panels.gallery.gallery import Gallery, Wall
from workbench.panels.gallery.thumbnails import CAPTION, KEY


class Remembered(dict):
    """Settings in memory."""

    set = dict.__setitem__


class Opened(list):
    """An opener that only notes the files."""

    def open_file(self, path):
        self.append(path)

    open_built_in = open_file


@pytest.fixture
def opened():
    return Opened()


@pytest.fixture
def show(qtbot, bugs_met, opened, themed):
    galleries = []

    def make(folder, mirror="http://127.0.0.1:9/"):
        settings = Remembered({"kodak-folder": str(folder), "mirror": mirror})
        gallery = Gallery(settings, opened, SimpleNamespace(shelf=None, placed=Mock()), None)
        gallery.bugs = bugs_met
        gallery.resize(700, 620)
        with qtbot.waitActive(gallery):
            gallery.show()
            gallery.activateWindow()
        galleries.append(gallery)
        return gallery

    yield make
    for gallery in galleries:
        gallery.close_threads()
        gallery.close()
        gallery.deleteLater()
        assert gallery.bugs == []


@pytest.fixture
def server(kodak):
    server = KodakServer(kodak)
    yield server
    server.close()


def wall(gallery):
    return gallery.findChild(Wall)


def keys(gallery):
    model = wall(gallery).model()
    return [model.index(row, 0).data(KEY) for row in range(model.rowCount())]


def button(gallery, name):
    return gallery.findChild(QPushButton, name)


def captions(gallery):
    """What stands below the tiles; a tile that is painted gets its thumbnail."""
    of = wall(gallery)
    of.grab()
    return [of.model().index(row, 0).data(CAPTION) for row in range(of.model().rowCount())]


def listed(folder, *numbers):
    """The keys of these photographs and of the built-in pictures."""
    return [*(folder / NAMES[number - 1] for number in numbers), *PICTURES]


def wait_for_offer(qtbot, gallery):
    qtbot.waitUntil(lambda: button(gallery, "kodak_download").isVisible())


def test_the_kodak_pictures_and_the_built_in_ones_get_thumbnails(show, kodak, qtbot):
    gallery = show(kodak)
    qtbot.waitUntil(lambda: keys(gallery) == listed(kodak, *range(1, 25)))
    gallery.resize(1400, 1400)  # all of them are seen
    qtbot.waitUntil(lambda: all(captions(gallery)))
    assert captions(gallery)[3] == "512×768 RGB uint8"
    gallery.resize(350, 1400)
    qtbot.waitUntil(lambda: wall(gallery).gridSize().width() < 200)
    shown, index = wall(gallery), wall(gallery).model().index(0, 0)
    apart = 4  # the margin of a tile
    assert shown.sizeHintForIndex(index).width() - apart < shown.gridSize().width()
    assert not button(gallery, "kodak_download").isVisible()


def test_enter_and_a_click_choose_a_picture(show, kodak, opened, qtbot):
    gallery = show(kodak)
    shown = wall(gallery)
    qtbot.waitUntil(lambda: len(keys(gallery)) > 24)
    shown.setFocus()
    qtbot.waitUntil(shown.hasFocus)
    qtbot.keyClick(shown, Qt.Key.Key_Right)
    qtbot.keyClick(shown, Qt.Key.Key_Return)
    place = shown.visualRect(shown.model().index(4, 0)).center()
    qtbot.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.keyClick(shown, Qt.Key.Key_End)
    qtbot.keyClick(shown, Qt.Key.Key_Space)
    assert opened == [kodak / NAMES[1], kodak / NAMES[4], list(PICTURES)[-1]]


def test_missing_pictures_are_downloaded_on_request(show, server, tmp_path, qtbot):
    for name in NAMES[:21]:
        shutil.copyfile((server.folder / name), tmp_path / name)
    gallery = show(tmp_path, server.address)
    wait_for_offer(qtbot, gallery)
    assert button(gallery, "kodak_download").text() == "Dow&nload 3 of 24 pictures (2 MB)"
    assert server.asked == [], "nothing is fetched unasked"
    button(gallery, "kodak_download").click()
    qtbot.waitUntil(lambda: keys(gallery) == listed(tmp_path, *range(1, 25)))
    qtbot.waitUntil(lambda: not gallery.findChild(QProgressBar).isVisible())
    assert KodakSet(tmp_path).missing() == ()
    assert server.asked == list(NAMES[21:])


def test_a_download_shows_its_progress_and_can_be_cancelled_and_resumed(
    show, server, tmp_path, qtbot
):
    gallery = show(tmp_path, server.address)
    wait_for_offer(qtbot, gallery)
    server.gate.clear()
    button(gallery, "kodak_download").click()
    bar = gallery.findChild(QProgressBar, "kodak_progress")
    qtbot.waitUntil(lambda: bar.isVisible() and bar.value() > 0)
    button(gallery, "kodak_cancel").click()
    server.gate.set()
    wait_for_offer(qtbot, gallery)
    assert not gallery.findChild(QLabel, "kodak_trouble").isVisible()
    assert KodakSet(tmp_path).missing() != ()
    button(gallery, "kodak_download").click()
    qtbot.waitUntil(lambda: KodakSet(tmp_path).missing() == ())


def test_closing_in_the_middle_of_a_download_leaves_nothing_half(show, server, tmp_path, qtbot):
    gallery = show(tmp_path, server.address)
    wait_for_offer(qtbot, gallery)
    server.gate.clear()
    button(gallery, "kodak_download").click()
    bar = gallery.findChild(QProgressBar, "kodak_progress")
    qtbot.waitUntil(lambda: bar.value() > 0)
    server.gate.set()
    gallery.close_threads()
    assert all(path.name in NAMES for path in tmp_path.iterdir())
