"""A dropped screenshot brings back what it shows: a picture, or a window with picture and pins."""

import json

import numpy as np
import pytest
from PIL import Image
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QPushButton

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
from workbench.session import exporter
from workbench.session.exporter import read_settings, save_png


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


def test_settings_of_a_newer_version_are_said(tmp_path):
    newer = json.dumps({"version": exporter.VERSION + 1, "settings": {}}).encode()
    with pytest.raises(ImageFileError, match="newer version"):
        read_settings(with_text(tmp_path / "a.png", newer))


def test_an_empty_image_and_float_samples_are_refused(tmp_path):
    with pytest.raises(ImageFileError, match="no picture"):
        save_png(tmp_path / "a.png", QImage(), SETTINGS)
    with pytest.raises(ImageFileError, match="save as TIFF"):
        save_png(tmp_path / "a.png", np.zeros((2, 2, 1), np.float32), SETTINGS)
    assert list(tmp_path.iterdir()) == []
