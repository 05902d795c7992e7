"""A PNG carries the settings it was made with, and gives them back or says why not."""

import json

import numpy as np
import pytest
from PIL import Image
from PySide6.QtGui import QColor, QImage

from workbench.files import png
from workbench.files.image_files import load
from workbench.files.picture_errors import ImageFileError
from workbench.session import exporter
from workbench.session.exporter import read_settings, save_png

SETTINGS = {"filter": "gaussian", "ksize": 5, "sigma": None, "block_xy": [32, 8], "name": "Größe ↔"}


def qimage():
    image = QImage(20, 10, QImage.Format.Format_RGB32)
    image.fill(QColor(200, 100, 50))
    return image


def test_settings_come_back_from_a_screenshot(tmp_path):
    save_png(tmp_path / "a.png", qimage(), SETTINGS)
    assert read_settings(tmp_path / "a.png") == SETTINGS
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


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
    data = exporter.KEYWORD + b"\0\0\0\0\0" + text
    path.write_bytes(png.insert_chunk(path.read_bytes(), b"iTXt", data))
    return path


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"7",
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
