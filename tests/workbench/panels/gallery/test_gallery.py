"""The gallery shows what there is, fetches what is missing, and never holds up the window."""

import shutil

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton

from kernels.pictures.generated import PICTURES
from tests.workbench.files.kodak_server import KodakServer
from workbench.files.kodak import NAMES, KodakSet
from workbench.panels.gallery.gallery import Gallery
from workbench.widgets.tile_list import TileList


@pytest.fixture
def show(qtbot, bugs_met):
    galleries = []

    def make(folder, mirror="http://127.0.0.1:9/"):
        gallery = Gallery(folder, mirror)
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


def tiles(gallery, name):
    return gallery.findChild(TileList, name)


def trouble(gallery):
    return gallery.findChild(QLabel, "kodak_trouble")


def button(gallery, name):
    return gallery.findChild(QPushButton, name)


def has_all_thumbnails(of):
    keys = of.keys()
    return bool(keys) and all(of.caption(key) for key in keys)


def wait_for_offer(qtbot, gallery):
    qtbot.waitUntil(lambda: button(gallery, "kodak_download").isVisible())


def test_the_kodak_pictures_and_the_built_in_ones_get_thumbnails(show, kodak, qtbot):
    gallery = show(kodak)
    photographs, built_ins = tiles(gallery, "kodak_tiles"), tiles(gallery, "built_in_tiles")
    qtbot.waitUntil(lambda: has_all_thumbnails(photographs))
    qtbot.waitUntil(lambda: has_all_thumbnails(built_ins))
    assert photographs.keys() == list(range(1, 25))
    assert built_ins.keys() == list(PICTURES)
    assert photographs.caption(4) == "512×768 RGB uint8"
    assert not button(gallery, "kodak_download").isVisible()


def test_enter_and_a_click_choose_a_photograph(show, kodak, qtbot):
    gallery = show(kodak)
    photographs = tiles(gallery, "kodak_tiles")
    qtbot.waitUntil(lambda: len(photographs.keys()) == 24)
    photographs.setFocus()
    qtbot.waitUntil(photographs.hasFocus)
    qtbot.keyClick(photographs, Qt.Key.Key_Right)
    with qtbot.waitSignal(gallery.file_wanted) as wanted:
        qtbot.keyClick(photographs, Qt.Key.Key_Return)
    assert wanted.args == [kodak / NAMES[1]]
    place = photographs.visualRect(photographs.model().index(4, 0)).center()
    with qtbot.waitSignal(gallery.file_wanted) as wanted:
        qtbot.mouseClick(photographs.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert wanted.args == [kodak / NAMES[4]]


def test_missing_pictures_are_downloaded_on_request(show, server, tmp_path, qtbot):
    for name in NAMES[:21]:
        shutil.copyfile(_kodak_file(server, name), tmp_path / name)
    gallery = show(tmp_path, server.address)
    wait_for_offer(qtbot, gallery)
    assert button(gallery, "kodak_download").text() == "Dow&nload 3 pictures (2 MB)"
    assert server.asked == [], "nothing is fetched unasked"
    with qtbot.waitSignal(gallery.mirror_changed) as mirror:
        button(gallery, "kodak_download").click()
    assert mirror.args == [server.address]
    photographs = tiles(gallery, "kodak_tiles")
    qtbot.waitUntil(lambda: len(photographs.keys()) == 24)
    qtbot.waitUntil(lambda: has_all_thumbnails(photographs))
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
    assert not trouble(gallery).isVisible()
    assert KodakSet(tmp_path).missing() != ()
    button(gallery, "kodak_download").click()
    qtbot.waitUntil(lambda: KodakSet(tmp_path).missing() == ())


def test_a_folder_that_went_and_came_back_is_seen_when_it_is_shown_again(
    show, kodak, tmp_path, qtbot
):
    folder = tmp_path / "kodak"
    folder.mkdir()
    shutil.copyfile(kodak / NAMES[0], folder / NAMES[0])
    gallery = show(folder)
    photographs = tiles(gallery, "kodak_tiles")
    qtbot.waitUntil(lambda: photographs.keys() == [1])
    folder.rename(tmp_path / "elsewhere")
    gallery.hide()
    gallery.show()
    qtbot.waitUntil(lambda: photographs.keys() == [])
    assert "24 pictures" in button(gallery, "kodak_download").text()
    (tmp_path / "elsewhere").rename(folder)
    gallery.hide()
    gallery.show()
    qtbot.waitUntil(lambda: photographs.keys() == [1])
    qtbot.waitUntil(lambda: has_all_thumbnails(photographs))


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


def _kodak_file(server, name):
    return server.folder / name
