"""PNG files that are packed here are read as what was written, by libpng and by Pillow."""

import io

import imagecodecs
import numpy as np
import pytest
from PIL import Image

from kernels.pictures.generated import of_kind
from workbench.files import image_files, png


def written(samples, *more):
    return b"".join(png.parts_of(samples, more))


def noise(*shape, dtype=np.uint8):
    return np.random.default_rng(1).integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("size", [(1, 1), (1, 40), (40, 1), (7, 5), (33, 64)])
def test_samples_come_back_whatever_their_shape(size, channels, dtype, monkeypatch):
    monkeypatch.setattr(png, "BAND_BYTES", 1000)  # some bands, one of them cut short
    samples = noise(*size, channels, dtype=dtype)
    found = imagecodecs.png_decode(written(samples))
    np.testing.assert_array_equal(found.reshape(samples.shape), samples)
    assert found.dtype == dtype


def test_each_row_has_the_filter_that_leaves_less():
    stripes = np.tile(noise(1, 64, 3), (8, 1, 1))  # rows are alike, and pixels are not
    assert png.filtered(stripes)[1:, 0].tolist() == [png.UP] * 7
    columns = np.tile(noise(8, 1, 3), (1, 64, 1))
    assert png.filtered(columns)[:, 0].tolist() == [png.SUB] * 8


def test_chunks_stand_in_their_order_and_their_checksums_are_right():
    data = written(noise(9, 8, 3), (b"tEXt", b"Title\0a"))
    file = io.BytesIO(data)
    found = list(png.chunks(file))
    assert [each.kind for each in found] == [b"IHDR", b"tEXt", b"IDAT", b"IEND"]
    assert all(png.read_chunk(file, each) is not None for each in found)
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        assert (image.size, image.text) == ((8, 9), {"Title": "a"})


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_a_photograph_is_no_larger_than_libpng_has_it(dtype, monkeypatch, tmp_path):
    photo = of_kind("photo", 200, 300, 3, dtype)
    monkeypatch.setattr(png, "MAX_CHUNK_BYTES", 10_000)  # in several parts
    image_files.save(tmp_path / "ours.png", photo)
    assert (tmp_path / "ours.png").stat().st_size < len(imagecodecs.png_encode(photo, level=1))
    np.testing.assert_array_equal(image_files.load(tmp_path / "ours.png").samples, photo)
