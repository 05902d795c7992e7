"""What is dropped or opened: screenshots bring back what they show, folders are walked through."""

import json

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QColor, QDragEnterEvent, QDragLeaveEvent, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from kernels.engine.auto import AUTO
from kernels.pictures.generated import noise
from tests.workbench.driving import (
    answer_file_dialogs,
    child,
    click,
    drop,
    settle,
    show_picture,
    trigger,
    until,
)
from workbench.files import png
from workbench.files.image_files import load, save
from workbench.files.picture_errors import ImageFileError
from workbench.model import choices
from workbench.model.state import State, Step
from workbench.panels.gallery.gallery import Wall
from workbench.panels.gallery.thumbnails import CAPTION, MAX_THUMBNAILS
from workbench.session import exporter
from workbench.session.exporter import read_settings, save_png
from workbench.window.picture_intake import words_for


@pytest.fixture
def said(window):
    """Everything that the message bar said, as some of it goes by itself."""
    sentences = []
    show = window.messages.show_message

    def show_and_keep(kind, sentence, *more, **how):
        sentences.append(sentence)
        show(kind, sentence, *more, **how)

    window.messages.show_message = show_and_keep
    return sentences


@pytest.fixture
def photo(tmp_path):
    save(tmp_path / "photo.png", noise(30, 40, 3))
    return tmp_path / "photo.png"


def shot_of(qtbot, window, path, monkeypatch, what):
    answer_file_dialogs(monkeypatch, path)
    with qtbot.waitSignal(window.exporter.saved):
        trigger(window, what)
    return path


def test_a_filtered_picture_opens_as_the_picture_it_is_and_offers_its_settings(
    qtbot, window, photo, tmp_path, monkeypatch
):
    settle(qtbot, window, lambda: drop(window, photo))
    result = settle(qtbot, window, lambda: window.store.choose(border="wrap", ksize=9))
    path = shot_of(qtbot, window, tmp_path / "filtered.png", monkeypatch, "Filtered picture…")
    settle(qtbot, window, lambda: window.store.choose(border="zero", ksize=3))
    settle(qtbot, window, lambda: drop(window, path))
    state = window.store.state
    assert (state.picture.name, state.border, state.ksize) == ("filtered.png", "zero", 3)
    np.testing.assert_array_equal(state.picture.samples, result.picture)
    assert "holds its settings" in window.messages.sentence
    settle(qtbot, window, lambda: click(child(window.messages, "act", QPushButton)))
    state = window.store.state
    assert (state.picture.name, state.border, state.ksize) == ("filtered.png", "wrap", 9)


def test_a_window_comes_back_with_its_picture_and_pins(
    qtbot, window, make_window, photo, tmp_path, monkeypatch
):
    settle(qtbot, window, lambda: drop(window, photo))
    trigger(window, "Pin this result")
    settle(qtbot, window, lambda: window.store.choose(border="wrap", ksize=9))
    path = shot_of(qtbot, window, tmp_path / "window.png", monkeypatch, "Window…")
    other = make_window()
    show_picture(qtbot, other, noise(8, 8))
    drop(other, path)
    until(qtbot, lambda: len(other.inspection.pins) == 1)
    until(qtbot, lambda: (other.store.state.ksize, other.store.state.border) == (9, "wrap"))
    assert other.store.state.picture.path == photo
    np.testing.assert_array_equal(
        other.inspection.pins[0].samples, window.inspection.pins[0].samples
    )
    with qtbot.waitSignal(other.opener.opened):
        drop(other, path)  # once more brings no pin twice
    until(qtbot, lambda: len(other.inspection.pins) == 1 and other.store.state.ksize == 9)


def test_steps_that_cannot_run_here_are_replaced_and_it_is_said(window, said):
    first = {**choices.to_data(State(before=(Step(),)))["before"][0], "implementation": "shared"}
    window.intake._take_settings({"filter": "box", "before": [first], "picture": None}, "a.png")
    assert [each.filter for each in window.store.state.steps] == ["gaussian", "box"]
    assert window.store.state.before[0].implementation == AUTO.key
    assert "Step 1 was to run on Shared-memory tile" in said[-1]
    window.intake._take_settings({"filter": "box", "before": [3]}, "b.png")
    assert "Steps that make no sense were left out." in said[-1]


def test_where_its_picture_is_gone_the_settings_come_back_and_that_is_said(
    qtbot, window, said, photo, tmp_path, monkeypatch
):
    settle(qtbot, window, lambda: drop(window, photo))
    settle(qtbot, window, lambda: window.store.choose(border="wrap"))
    trigger(window, "Pin this result")
    path = shot_of(qtbot, window, tmp_path / "window.png", monkeypatch, "Window…")
    photo.unlink()
    window.inspection.unpin()
    show_picture(qtbot, window, noise(8, 8))
    window.store.choose(border="zero")
    drop(window, path)
    until(qtbot, lambda: window.store.state.border == "wrap")
    assert window.store.state.picture.name == "made up.png"
    assert window.inspection.pins == ()
    gone = "Settings restored from window.png. photo.png, which it shows, is not there any more."
    until(qtbot, lambda: gone in said)


SETTINGS = {"filter": "gaussian", "ksize": 5, "sigma": None, "block_xy": [32, 8], "name": "Größe ↔"}


def qimage():
    image = QImage(20, 10, QImage.Format.Format_RGB32)
    image.fill(QColor(200, 100, 50))
    return image


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_samples_keep_their_depth_beside_the_settings(tmp_path, dtype, channels):
    top = np.iinfo(dtype).max + 1
    samples = np.random.default_rng(1).integers(0, top, (9, 7, channels), dtype)
    save_png(tmp_path / "a.png", samples, SETTINGS)
    picture = load(tmp_path / "a.png")
    assert picture.samples.dtype == dtype
    assert np.array_equal(picture.samples, samples)
    assert read_settings(tmp_path / "a.png") == SETTINGS


def test_other_programs_can_read_picture_and_settings(tmp_path):
    save_png(tmp_path / "a.png", qimage(), SETTINGS)
    with Image.open(tmp_path / "a.png") as image:
        image.load()
        assert image.getpixel((3, 3))[:3] == (200, 100, 50)
        assert json.loads(image.text["filter-workbench"])["settings"] == SETTINGS


def test_settings_written_behind_the_pixels_are_found(tmp_path):
    """Where another program put them when it saved the file again."""
    save_png(tmp_path / "a.png", qimage(), SETTINGS)
    whole = (tmp_path / "a.png").read_bytes()
    with (tmp_path / "a.png").open("rb") as file:
        ours = next(found for found in png.chunks(file) if found.kind == b"iTXt")
    text = whole[ours.offset - 8 : ours.offset + ours.length + 4]
    rest = whole.replace(text, b"")
    (tmp_path / "a.png").write_bytes(rest[:-12] + text + rest[-12:])
    assert read_settings(tmp_path / "a.png") == SETTINGS


def with_text(path, text):
    Image.new("RGB", (4, 4)).save(path)
    data = exporter.PREFIX + text
    path.write_bytes(b"".join(png.parts_with(path.read_bytes(), [(b"iTXt", data)])))
    return path


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b'{"version": 1}',
        b'{"version": "one", "settings": {}}',
        b'{"version": 1, "settings": 3}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"version": 1, "settings": {"border": ' + b"[" * 600 + b"]" * 600 + b"}}",
    ],
)
def test_damaged_settings_are_said(tmp_path, text):
    with pytest.raises(ImageFileError, match=r"settings inside a\.png are damaged"):
        read_settings(with_text(tmp_path / "a.png", text))


def test_settings_of_a_newer_version_and_what_is_no_picture_are_refused(tmp_path):
    with pytest.raises(ImageFileError, match="no picture"):
        save_png(tmp_path / "a.png", QImage(), SETTINGS)
    with pytest.raises(ImageFileError, match="save as TIFF"):
        save_png(tmp_path / "a.png", np.zeros((2, 2, 1), np.float32), SETTINGS)
    assert list(tmp_path.iterdir()) == []
    newer = json.dumps({"version": exporter.VERSION + 1, "settings": {}}).encode()
    with pytest.raises(ImageFileError, match="newer version"):
        read_settings(with_text(tmp_path / "a.png", newer))


# -- several files and folders: opened, walked through, shown in the gallery


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
    settle(qtbot, window, lambda: window.opener.open_built_in("noise"))
    assert place(window) == "– of 4", "that is none of them"
    settle(qtbot, window, lambda: trigger(window, "Next in folder"))
    until(qtbot, lambda: place(window) == "2 of 4")  # which was left


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
    assert place(window) == "– of 4"
    settle(qtbot, window, lambda: trigger(window, "Next in folder"))
    assert name_of(window) == "img1.png"  # the one that was left
    until(qtbot, lambda: place(window) == "1 of 4")


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


def test_todays_formats_come_in_by_drop_dialog_and_gallery(qtbot, window, tmp_path, monkeypatch):
    names = ["a.avif", "b.exr", "c.heic", "d.jp2", "e.jxl"]
    paths = [tmp_path / name for name in names]
    for path in paths:
        save(path, noise(20, 30, 3, "float16" if path.suffix == ".exr" else "uint8"))
    for path in paths:
        settle(qtbot, window, lambda path=path: drop(window, path))
        assert name_of(window) == path.name
    shown = wall(window)
    until(qtbot, lambda: shown.model().stringList() == names)
    until(qtbot, lambda: all(thumbnails(shown)))
    assert thumbnails(shown)[1] == "30×20 RGB float16"
    for path in paths:
        asked = answer_file_dialogs(monkeypatch, path)
        settle(qtbot, window, lambda: trigger(window, "Open…"))
        assert name_of(window) == path.name
        assert f"*{path.suffix}" in asked[0].types[0]


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
