"""Rows of large TIFFs, read and written tile by tile."""

import io
from contextlib import closing

import numpy as np
import pytest
import tifffile
from PIL import Image

from kernels.core.job import PIXEL_TYPES
from kernels.pictures.generated import noise, scene
from tests.picture_files import all_kinds
from tests.workbench.files.test_exif import photo
from tests.workbench.files.test_picture_matrix import KINDS, VARIANTS, stored, write_tiff
from workbench.files import image_encoders, image_files, large_pictures, tiff_rows
from workbench.files.image_files import load
from workbench.files.large_pictures import LargePicture
from workbench.files.picture_errors import ImageFileError
from workbench.files.tiff_rows import TILE, TiledTiff, lay_out
from workbench.imaging.pictures import NO_METADATA

TIFFS = {name: each for name, each in all_kinds().items() if name.endswith(".tif")}
BY_PILLOW = "fax.tif"  # which is read as a whole


def check(path, step=5, kept=3, seed=0):
    """The rows come as of the whole picture, from the top, with those kept again, and anywhere.

    So do rectangles.
    """
    whole = load(path)
    height = len(whole.samples)
    random = np.random.default_rng(seed)
    spans = [(max(top - kept, 0), min(top + step + kept, height)) for top in range(0, height, step)]
    spans += [sorted(random.integers(0, height + 1, 2)) for _ in range(3)]
    with LargePicture(path, kept=2 * kept) as large:
        assert (large.height, large.width, large.channels) == whole.samples.shape
        assert (large.dtype, large.metadata) == (whole.samples.dtype, whole.metadata)
        for first, end in spans:
            rows = large.rows(int(first), int(end))
            assert rows.flags.c_contiguous
            np.testing.assert_array_equal(rows, whole.samples[first:end], f"{path} {first} {end}")
            left, right = sorted(random.integers(0, whole.samples.shape[1] + 1, 2))
            if first < end and left < right:
                part = large.rows(int(first), int(end), columns=(int(left), int(right)))
                assert part.flags.c_contiguous
                assert part.dtype == large.dtype
                np.testing.assert_array_equal(part, whole.samples[first:end, left:right])
    return whole, large


@pytest.mark.parametrize("name", [each for each in TIFFS if each != BY_PILLOW])
def test_rows_of_every_kind_are_those_of_the_whole(name, tmp_path):
    (tmp_path / name).write_bytes(TIFFS[name])
    whole, large = check(tmp_path / name)
    assert large.notes == whole.notes


def test_rows_of_a_tiff_of_any_make_are_those_of_the_whole(tmp_path):
    for variant in VARIANTS[:50]:
        dtype, kind, *how = variant
        try:
            write_tiff(tmp_path / "a.tif", stored(dtype, KINDS[kind][1]), kind, *how)
            load(tmp_path / "a.tif")
        except (ValueError, NotImplementedError, RuntimeError, ImageFileError):
            continue
        with np.errstate(over="ignore"):
            check(tmp_path / "a.tif")


@pytest.mark.parametrize("colours", ["ycbcr", "rgb", "minisblack"])
@pytest.mark.parametrize("subsampling", [(1, 1), (2, 2)])
@pytest.mark.parametrize("layout", [{"tile": (32, 48)}, {"rowsperstrip": 32}])
def test_rows_of_a_slide_in_jpeg_are_those_of_the_whole(colours, subsampling, layout, tmp_path):
    samples = scene()[:90, :110] if colours != "minisblack" else scene()[:90, :110, 0]
    how = {"subsampling": subsampling} if colours == "ycbcr" else {}
    tifffile.imwrite(
        tmp_path / "a.tif", samples, photometric=colours, compression="jpeg", **how, **layout
    )
    check(tmp_path / "a.tif")


def test_rows_of_a_jpeg_in_other_colours_than_the_tiff_says_are_those_of_the_whole(tmp_path):
    how = {"photometric": "ycbcr", "subsampling": (1, 1), "compression": "jpeg"}
    tifffile.imwrite(tmp_path / "a.tif", scene()[:90, :110], rowsperstrip=32, **how)
    with tifffile.TiffFile(tmp_path / "a.tif", mode="r+b") as tiff:
        tiff.pages.first.tags["PhotometricInterpretation"].overwrite(2)
    check(tmp_path / "a.tif")


def test_a_jpeg_that_is_larger_than_its_tile_is_refused(tmp_path):
    samples = scene()[:64, :64]
    tifffile.imwrite(tmp_path / "a.tif", samples, photometric="ycbcr", compression="jpeg")
    with tifffile.TiffFile(tmp_path / "a.tif", mode="r+b") as tiff:
        for name in ("ImageLength", "RowsPerStrip"):
            tiff.pages.first.tags[name].overwrite(20)
    with pytest.raises(ImageFileError, match="damaged"):
        LargePicture(tmp_path / "a.tif")


@pytest.mark.parametrize("orientation", [1, 2, 3, 4])
def test_rows_are_those_of_the_upright_picture(orientation, tmp_path):
    picture = Image.fromarray(np.arange(20 * 30, dtype=np.uint16).reshape(20, 30))
    picture.save(tmp_path / "a.tif", tiffinfo={274: orientation, 271: "Maker"})
    whole, large = check(tmp_path / "a.tif")
    assert large.notes == whole.notes
    assert large.metadata.exif is not None


def test_segments_that_are_wanted_again_are_decoded_once(tmp_path, monkeypatch):
    samples = np.random.default_rng(1).integers(0, 255, (96, 40), np.uint8)
    tifffile.imwrite(tmp_path / "a.tif", samples, tile=(16, 16), compression="zlib")
    decoded = []
    read = tifffile.FileHandle.read_segments
    monkeypatch.setattr(
        tifffile.FileHandle,
        "read_segments",
        lambda file, offsets, counts, at: decoded.extend(at) or read(file, offsets, counts, at),
    )
    with LargePicture(tmp_path / "a.tif", kept=6) as large:
        decoded.clear()
        for top in range(0, 96, 20):
            large.rows(max(top - 3, 0), min(top + 23, 96))
    assert decoded == [*range(3, 18)]  # the first three were decoded to see what type they are of
    monkeypatch.setattr(large_pictures, "BAND_SAMPLES", 100)
    with LargePicture(tmp_path / "a.tif", pixel_type="float32") as large:
        decoded.clear()
        large.rows(0, 96, columns=(0, 30))
    assert len(decoded) == len(set(decoded)) == 12


def test_what_one_row_tells_of_values_too_large_is_no_count_of_all(tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", np.full((20, 30), 1e300))
    with LargePicture(tmp_path / "a.tif") as large:
        assert large.notes[0].endswith("; what is too large for it becomes infinite.")


def test_holes_are_read_as_they_are_of_the_whole(tmp_path):
    tiles = iter([np.full((16, 16), 9, np.uint8), None, None, np.full((16, 16), 7, np.uint8)])
    tifffile.imwrite(
        tmp_path / "a.tif", tiles, shape=(32, 32), dtype=np.uint8, tile=(16, 16), compression="zlib"
    )
    check(tmp_path / "a.tif")


@pytest.mark.parametrize(
    ("name", "said"),
    [("fax.tif", "packed in another way"), ("rgb.jpg", "does not fit into memory")],
)
def test_what_is_read_as_a_whole_only_is_refused(name, said, tmp_path):
    (tmp_path / name).write_bytes(all_kinds()[name])
    with pytest.raises(ImageFileError, match=said):
        LargePicture(tmp_path / name)


def test_what_is_packed_as_one_piece_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tiff_rows, "MAX_SEGMENT_BYTES", 5000)
    whole = np.zeros((100, 60), np.uint8)
    tifffile.imwrite(tmp_path / "a.tif", whole, compression="zlib", rowsperstrip=100)
    with pytest.raises(ImageFileError, match="pieces too large"):
        LargePicture(tmp_path / "a.tif")


def test_damage_is_told_where_it_is_met(tmp_path):
    file = io.BytesIO()
    samples = np.random.default_rng(1).integers(0, 255, (64, 40), np.uint8)
    tifffile.imwrite(file, samples, rowsperstrip=16, compression="zlib")
    data = bytearray(file.getvalue())
    file.seek(0)
    with tifffile.TiffFile(file) as tiff:
        start = tiff.pages.first.dataoffsets[2]
    data[start : start + 40] = bytes(40)
    (tmp_path / "a.tif").write_bytes(data)
    with LargePicture(tmp_path / "a.tif") as large:
        np.testing.assert_array_equal(large.rows(0, 32)[..., 0], samples[:32])
        with pytest.raises(ImageFileError, match="damaged"):
            large.rows(30, 40)


SHAPE = (TILE + 40, 2 * TILE + 30)


def filled(path, samples, rows, metadata=NO_METADATA):
    lay_out(path, samples.shape, samples.dtype, metadata)
    for top in range(0, len(samples), rows):
        with closing(TiledTiff(path)) as tiff:  # opened anew each time, as after a kill
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
    monkeypatch.setattr(image_encoders, "MAX_TIFF_BYTES", 0 if is_big else 2**31)
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
    with closing(TiledTiff(tmp_path / "a.tif")) as tiff:
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
