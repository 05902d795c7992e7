"""A PNG of 16 bits is read exactly, or refused without a word from libpng on stderr."""

import struct
import zlib

import numpy as np
import pytest

from tests.picture_files import png_chunk, samples
from workbench.files import image_files, png
from workbench.files.picture_errors import ImageFileError

COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}
PASSES = (
    *((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4)),
    *((0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)),
)


def written(picture, *, order=0, filter_=0, rows=None, more=(), **header):
    """A PNG file's bytes, its rows as they are; `header` holds fields that are wrong."""
    height, width, channels = picture.shape
    fields = {"width": width, "height": height, "depth": 16, "colours": COLOURS[channels]}
    fields |= {"packing": 0, "filtering": 0, "order": order} | header
    parts = [picture[y::dy, x::dx] for x, y, dx, dy in PASSES] if order else [picture]
    lines = [
        bytes([filter_]) + row.astype(">u2").tobytes()
        for part in parts
        if part.size
        for row in part
    ]
    packed = zlib.compress(b"".join(lines[:rows]))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", *fields.values())), *more, (b"IDAT", packed)]
    return png.SIGNATURE + b"".join(png_chunk(*each) for each in (*chunks, (b"IEND", b"")))


@pytest.mark.parametrize("size", [(22, 29), (1, 1), (3, 5), (8, 1)])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("channels", COLOURS)
def test_every_kind_is_read_exactly(tmp_path, channels, order, size):
    picture = samples("uint16", channels, *size)
    path = tmp_path / "a.png"
    path.write_bytes(written(picture, order=order, more=[(b"tEXt", b"beside it")]))
    assert np.array_equal(image_files.load(path).samples, picture)


@pytest.mark.parametrize(
    "how",
    [
        *({"filter_": 5}, {"rows": 20}, {"height": 23}, {"height": 8_000_000}),
        *({"width": 2_000_000}, {"order": 2}, {"packing": 1}, {"filtering": 1}),
    ],
)
def test_what_is_wrong_is_refused_and_nothing_is_said_on_stderr(tmp_path, capfd, how):
    path = tmp_path / "a.png"
    path.write_bytes(written(samples("uint16"), **how))
    with pytest.raises(ImageFileError, match=r"damaged|not a picture"):
        image_files.load(path)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("at", [20, 45, 60, -20])
def test_a_flipped_bit_is_seen_by_its_checksum(tmp_path, at):
    data = bytearray(written(samples("uint16")))
    data[at] ^= 1
    path = tmp_path / "a.png"
    path.write_bytes(data)
    with pytest.raises(ImageFileError, match=r"damaged|not a picture"):
        image_files.load(path)
