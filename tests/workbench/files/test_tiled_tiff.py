"""A TIFF whose rows are filled in bit by bit is, in the end, like one that was saved at once."""

import numpy as np
import pytest
import tifffile

from kernels.core.job import PIXEL_TYPES
from kernels.pictures.generated import noise
from tests.workbench.files.test_exif import photo
from workbench.files import image_files, tiled_tiff
from workbench.files.tiled_tiff import TILE, TiledTiff, lay_out
from workbench.model.metadata import NO_METADATA

SHAPE = (TILE + 40, 2 * TILE + 30)


def filled(path, samples, rows, metadata=NO_METADATA):
    lay_out(path, samples.shape, samples.dtype, metadata)
    for top in range(0, len(samples), rows):
        with TiledTiff(path) as tiff:  # opened anew each time, as after a kill
            tiff.fill(top, samples[top : top + rows])
            tiff.sync()


@pytest.mark.parametrize("pixel_type", PIXEL_TYPES)
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_it_is_read_as_one_that_was_saved_at_once(pixel_type, channels, tmp_path):
    samples = noise(*SHAPE, channels, pixel_type)
    filled(tmp_path / "a.tif", samples, 100)
    image_files.save(tmp_path / "b.tif", samples)
    a, b = (image_files.load(tmp_path / name) for name in ("a.tif", "b.tif"))
    np.testing.assert_array_equal(a.samples, samples)
    assert (a.notes, a.samples.dtype) == (b.notes, b.samples.dtype)
    with (
        tifffile.TiffFile(tmp_path / "a.tif") as tiff,
        tifffile.TiffFile(tmp_path / "b.tif") as at_once,
    ):
        page, other = tiff.pages.first, at_once.pages.first
        assert page.is_tiled
        assert page.tags.valueof(34675) == other.tags.valueof(34675)  # the profile
        assert page.extrasamples == other.extrasamples


@pytest.mark.parametrize("is_big", [False, True])
def test_what_a_file_says_of_itself_goes_along(is_big, tmp_path, monkeypatch):
    monkeypatch.setattr(tiled_tiff, "MAX_TIFF_BYTES", 0 if is_big else 2**31)
    samples = noise(20, 30, 3)
    kept = image_files.load(photo(tmp_path / "camera.jpg")).metadata
    assert kept.exif is not None
    filled(tmp_path / "a.tif", samples, 8, kept)
    image_files.save(tmp_path / "b.tif", samples, metadata=kept)
    again, at_once = (image_files.load(tmp_path / name) for name in ("a.tif", "b.tif"))
    assert again.metadata == at_once.metadata
    assert again.metadata.exif is not None
    np.testing.assert_array_equal(again.samples, samples)
    with tifffile.TiffFile(tmp_path / "a.tif") as tiff:
        assert tiff.is_bigtiff == is_big


def test_one_that_is_only_laid_out_takes_next_to_nothing_of_the_disk(tmp_path):
    lay_out(tmp_path / "a.tif", (24_000, 30_000, 3), np.dtype(np.uint16), NO_METADATA)
    status = (tmp_path / "a.tif").stat()
    assert status.st_size > 4.3e9
    assert status.st_blocks * 512 < 1e6
    with TiledTiff(tmp_path / "a.tif") as tiff:
        tiff.fill(23_998, np.full((2, 30_000, 3), 7, np.uint16))
    with tifffile.TiffFile(tmp_path / "a.tif") as tiff:
        page = tiff.pages.first
        assert tiff.is_bigtiff
        last = page.decode(
            *next(
                tiff.filehandle.read_segments(
                    page.dataoffsets[-1:], page.databytecounts[-1:], [len(page.dataoffsets) - 1]
                )
            )
        )[0]
        assert last.shape == (1, TILE, TILE, 3)
        assert np.unique(np.nonzero(last[0, :, 0, 0])).tolist() == [23_998 % TILE, 23_999 % TILE]
