"""A very large picture: what it takes is said before it is opened, and it can be left, or stopped.

The real size, 30,000 × 30,000, was tried once by hand; here the limits are lowered instead.
"""

import struct
import tracemalloc
import zlib
from collections import deque

import numpy as np
import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QPushButton

from kernels import filters
from kernels.core.job import Job
from kernels.core.verdict import Tolerance
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.pictures.generated import noise
from tests.picture_files import png_chunk
from tests.workbench.driving import child, click, settle, until, view
from workbench.files import image_files, needs, png
from workbench.files.image_files import load
from workbench.files.picture_errors import ImageFileError, LargePictureError, StoppedError
from workbench.imaging import differences, display, display_mapping
from workbench.imaging.differences import searching, subtracting
from workbench.imaging.display import Display, show, to_display
from workbench.imaging.display_mapping import DisplayMapping, shown_bytes

SIDE = 30_000


@pytest.fixture
def large(monkeypatch):
    """Every picture is large, and shown as if it were."""
    monkeypatch.setattr(needs, "is_large", lambda *_: True)
    monkeypatch.setattr(display_mapping, "COMPACT_PIXELS", 1000)


def saved(tmp_path, name, *shape, pixel_type="uint8"):
    image_files.save(tmp_path / name, noise(*shape, pixel_type=pixel_type))
    return tmp_path / name


# -- from the header alone


def huge_tiff(path):
    """A whole one, as long as the system says, but nothing of it is on the disk."""
    tags = [(256, SIDE), (257, SIDE), (258, 8), (259, 1), (262, 1), (273, 256), (277, 1)]
    tags += [(278, SIDE), (279, SIDE**2)]
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    with path.open("wb") as file:
        file.write(b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + b"\0\0\0\0")
        file.truncate(256 + SIDE**2)


def huge_png(path, bit_depth=8):
    header = struct.pack(">IIBBBBB", SIDE, SIDE, bit_depth, 0, 0, 0, 0)
    data = png_chunk(b"IDAT", zlib.compress(b"\0" * 100)) + png_chunk(b"IEND", b"")
    path.write_bytes(png.SIGNATURE + png_chunk(b"IHDR", header) + data)


def huge_pgm(path, largest=255):
    with path.open("wb") as file:
        file.write(f"P5 {SIDE} {SIDE} {largest}\n".encode())
        file.truncate(file.tell() + SIDE**2 * (1 if largest < 256 else 2))


@pytest.mark.parametrize(
    ("make", "words", "needed"),
    [
        (huge_tiff, {}, "18.7"),
        (huge_png, {}, "18.7"),
        (huge_png, {"bit_depth": 16}, "21.2"),
        (huge_pgm, {}, "18.7"),
        (huge_pgm, {"largest": 65535}, "21.2"),
    ],
)
def test_what_a_huge_picture_takes_is_said_before_any_of_it_is_taken(
    make, words, needed, tmp_path, monkeypatch
):
    monkeypatch.setattr(needs, "memory_available_bytes", lambda: 36 * 2**30)
    make(tmp_path / "huge", **words)
    with pytest.raises(LargePictureError):  # and what is imported for it stays out of the account
        load(tmp_path / "huge", ask=True)
    tracemalloc.start()
    try:
        with pytest.raises(LargePictureError) as caught:
            load(tmp_path / "huge", ask=True)
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()
    said = str(caught.value).replace("\u202f", " ")
    for told in ("huge", "30,000×30,000", f"{needed} GiB", "36.0 GiB"):
        assert told in said


@pytest.mark.parametrize(("mode", "channels"), [("difference", 1), ("mismatch of all", 3)])
def test_a_mode_takes_no_more_at_its_peak_than_is_said(mode, channels, monkeypatch):
    monkeypatch.setattr(differences, "TELL_S", 0.0)
    samples = noise(500, 500, channels)
    samples.flags.writeable = False
    job = Job.of(samples, filters.get("gaussian").weights(3), "mirror")
    answer = to_pixel_type(filtered(job), samples.dtype)
    answer ^= 128
    shown = to_display(answer)
    tracemalloc.start()
    try:
        steps = (
            subtracting(samples, answer, 255.0)
            if mode == "difference"
            else searching(job, answer, shown, Tolerance(25))
        )
        found = deque(filter(None, steps), maxlen=1)[0]
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.display.size == (500, 500)
    assert 4 * 500**2 < kept < peak < (needs.IN_COLOUR + needs.WORKED_OUT) * 500**2


def test_where_memory_may_be_short_that_is_said_and_where_it_is_the_picture_is_refused(
    tmp_path, monkeypatch
):
    huge_tiff(tmp_path / "huge.tif")
    monkeypatch.setattr(needs, "memory_available_bytes", lambda: 3 * 2**30)
    with pytest.raises(LargePictureError, match="may be too little: save your work first"):
        load(tmp_path / "huge.tif", ask=True)
    monkeypatch.setattr(needs, "memory_available_bytes", lambda: 2 * 2**30)
    for ask in (True, False):
        with pytest.raises(ImageFileError, match="choose a smaller picture") as caught:
            load(tmp_path / "huge.tif", ask=ask)
        assert not isinstance(caught.value, LargePictureError)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.bmp", "a.ppm"])
def test_reading_ends_where_nobody_wants_the_picture_any_more(tmp_path, name):
    path = saved(tmp_path, name, 60, 70, 3)
    asked = []

    def is_stopped():
        asked.append(True)
        return len(asked) > 3

    with pytest.raises(StoppedError):
        load(path, is_stopped=is_stopped)
    assert load(path).samples.shape == (60, 70, 3)


# -- what is painted


def colours(shown: Display, level=0):
    """(H, W, 3) blue, green, red, as Qt would paint it."""
    image = shown.images[level].convertToFormat(QImage.Format.Format_RGB32)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)
    return rows[..., :3].copy()


@pytest.mark.parametrize("pixel_type", ["uint8", "uint16", "float16", "float32"])
@pytest.mark.parametrize("levels", [None, (0.2, 0.7)])
def test_large_grey_pictures_are_shown_as_small_ones_from_a_quarter_of_the_memory(
    pixel_type, levels, monkeypatch
):
    samples = noise(700, 900, 1, pixel_type)
    if levels is not None and pixel_type.startswith("u"):
        levels = tuple(each * np.iinfo(pixel_type).max for each in levels)
    small = show(samples, DisplayMapping(levels))
    monkeypatch.setattr(display_mapping, "COMPACT_PIXELS", 1000)
    monkeypatch.setattr(display, "BAND_PIXELS", 1 << 14)
    large = show(samples, DisplayMapping(levels))
    for level in range(len(small.images)):
        np.testing.assert_array_equal(colours(large, level), colours(small, level))
    assert sum(each.nbytes for each in large.pixels) <= shown_bytes(700, 900, 1) * 1.01
    is_seen_as_it_is = pixel_type == "uint8" and levels is None
    assert np.shares_memory(large.pixels[0], samples) == is_seen_as_it_is


@pytest.mark.parametrize("channels", [2, 3, 4])
def test_in_bands_a_picture_is_shown_as_in_one_go(channels, monkeypatch):
    samples = noise(90, 70, channels, "uint16")
    whole = colours(to_display(samples))
    monkeypatch.setattr(display, "BAND_PIXELS", 1500)  # rows of whole squares of the checkerboard
    np.testing.assert_array_equal(colours(to_display(samples)), whole)


# -- in the window


def test_a_large_picture_is_opened_once_the_user_agrees(qtbot, window, tmp_path, large):
    path = saved(tmp_path, "large.png", 150, 200)
    window.opener.open_file(path)
    until(qtbot, lambda: window.messages.kind == "warning")
    assert window.messages.sentence.startswith("large.png is large, 200×150")
    assert window.store.state.picture is None
    result = settle(qtbot, window, lambda: click(child(window, "act", QPushButton)))
    assert window.store.state.picture.path == path
    assert window.messages.kind is None
    shown = view(window, "After").display
    assert shown.images[0].format() == QImage.Format.Format_Grayscale8
    np.testing.assert_array_equal(shown.pixels[0], result.picture[..., 0])
    for mode in ("wipe", "difference", "mismatch"):
        window.store.update(view_mode=mode)
        until(qtbot, lambda m=mode: not window.analysis_thread.is_under_way(m))
    window.compare.go_to(3, 4)  # so near that values stand in the pixels
    window.grab()
    assert window.messages.kind is None
