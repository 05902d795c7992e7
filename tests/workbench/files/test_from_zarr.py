"""OME-Zarr pictures as zarr itself writes them, and as they are refused."""

import numpy as np
import pytest

from kernels.core.job import PIXEL_TYPES
from kernels.pictures.generated import noise, stored_as
from workbench.files import chunked_zarr, image_files
from workbench.files.chunked_zarr import ChunkedZarr
from workbench.files.large_pictures import LargePicture
from workbench.files.neighbours import pictures_among
from workbench.files.picture_errors import ImageFileError

zarr = pytest.importorskip("zarr")

HEIGHT, WIDTH = 70, 45


def saved(path, samples, axes, version="0.5", chunks=None, levels=1, **how):
    """Write an OME-Zarr picture, as other programs do."""
    described = [{"name": each, "type": "space"} for each in axes]
    datasets = [{"path": f"s{level}"} for level in range(levels)]
    picture = {"axes": described, "datasets": datasets, "version": version}
    is_new = version != "0.4"
    said = {"multiscales": [picture]}
    attributes = {"ome": {"version": version, **said}} if is_new else said
    form = 3 if is_new else 2
    group = zarr.open_group(path, mode="w", zarr_format=form, attributes=attributes)
    chunks = chunks or (1,) * (samples.ndim - 2) + (16, 32)
    array = group.create_array("s0", shape=samples.shape, dtype=samples.dtype, chunks=chunks, **how)
    array[...] = samples
    return path


def rows_of(path, *spans, kept=5):
    with LargePicture(path, kept=kept) as picture:
        return np.concatenate([picture.rows(*span) for span in spans])


@pytest.mark.parametrize("version", ["0.4", "0.5"])
@pytest.mark.parametrize("axes", ["yx", "cyx", "tczyx"])
@pytest.mark.parametrize("pixel_type", PIXEL_TYPES)
def test_rows_are_those_that_were_written(tmp_path, version, axes, pixel_type):
    samples = stored_as(noise(HEIGHT, WIDTH, 1 if axes == "yx" else 3), pixel_type)
    stored = {
        "yx": samples[:, :, 0],
        "cyx": np.moveaxis(samples, 2, 0),
        "tczyx": np.moveaxis(samples, 2, 0)[None, :, None],
    }
    path = saved(tmp_path / "a.zarr", stored[axes], axes, version)
    found = rows_of(path, (0, 23), (18, 60), (55, HEIGHT), (3, 4))
    np.testing.assert_array_equal(
        found, np.concatenate([samples[a:b] for a, b in ((0, 23), (18, 60), (55, 70), (3, 4))])
    )
    assert (found.dtype, found.flags.c_contiguous) == (samples.dtype, True)
    with LargePicture(path) as picture:
        part = picture.part((13, 61), (7, 40))
    np.testing.assert_array_equal(part, samples[13:61, 7:40])
    assert (part.dtype, part.flags.c_contiguous) == (samples.dtype, True)


def test_shards_big_endian_samples_and_lower_resolutions(tmp_path):
    samples = noise(HEIGHT, WIDTH, 1)[:, :, 0].astype(">u2")
    path = saved(tmp_path / "a.zarr", samples, "yx", levels=3, shards=(64, 64))
    with LargePicture(path) as picture:
        np.testing.assert_array_equal(picture.rows(0, HEIGHT)[:, :, 0], samples)
        assert picture.notes == ("The highest of its 3 resolutions is filtered.",)


@pytest.mark.parametrize(
    ("shape", "axes", "how", "said"),
    [
        ((2, 9, 9), "zyx", {}, "has 2 planes"),
        ((3, 9, 9), "tyx", {}, "has 3 points in time"),
        ((5, 9, 9), "cyx", {}, "has 5 channels"),
        ((9, 9), "xy", {}, "has the axes x, y"),
        ((9, 9), "yx", {"version": "0.6"}, "of version 0.6; 0.4 and 0.5 can be read"),
    ],
)
def test_what_is_no_picture_is_refused_in_a_sentence(tmp_path, shape, axes, how, said):
    path = saved(tmp_path / "a.zarr", np.zeros(shape, np.uint8), axes, **how)
    with pytest.raises(ImageFileError, match=said):
        LargePicture(path)


def test_other_folders_and_types_are_refused(tmp_path):
    saved(tmp_path / "deep.zarr", np.zeros((9, 9), np.int32), "yx")
    zarr.open_group(tmp_path / "many.zarr", mode="w", zarr_format=2)
    (tmp_path / "empty.zarr").mkdir()
    broken = saved(tmp_path / "broken.zarr", np.ones((9, 9), np.uint8), "yx", chunks=(9, 9))
    (chunk,) = (broken / "s0" / "c").rglob("0/0")
    chunk.write_bytes(b"no chunk")
    for name, said in (
        ("deep", "samples of int32; save them as uint8"),
        ("many", "name the folder of one, such as many.zarr/0"),
        ("empty", "holds no OME-Zarr picture"),
        ("broken", "cannot be read: it is damaged"),
        ("not-there", "There is no folder not-there.zarr"),
    ):
        with pytest.raises(ImageFileError, match=said):
            LargePicture(tmp_path / f"{name}.zarr")


def test_the_window_says_what_opens_it(tmp_path):
    path = saved(tmp_path / "a.zarr", np.zeros((9, 9), np.uint8), "yx")
    assert pictures_among([path]) == [path]
    with pytest.raises(ImageFileError, match="`workbench apply` and `batch` filter from file"):
        image_files.load(path)


@pytest.mark.parametrize("size", [(1, 1), (70, 45), (300, 1100), (512, 1024)])
def test_what_is_laid_out_and_filled_in_is_a_sound_picture(tmp_path, size):
    samples, path = noise(*size, 3), tmp_path / "a.zarr.part"
    chunked_zarr.lay_out(path, samples.shape, samples.dtype, "a.zarr")
    with ChunkedZarr(path, 0) as made:
        for first in range(0, size[0], 90):
            made.fill(first, samples[first : first + 90])
            made.sync()
        assert made.finished(size[0]) == size[0]
    group = zarr.open_group(path, mode="r")
    np.testing.assert_array_equal(np.moveaxis(group["0"][...], 0, 2), samples)
    (picture,) = group.attrs["ome"]["multiscales"]
    assert [each["name"] for each in picture["axes"]] == ["c", "y", "x"]
    path = path.rename(tmp_path / "a.zarr")
    np.testing.assert_array_equal(rows_of(path, (0, size[0])), samples)


def test_a_chunk_that_was_cut_short_is_written_anew(tmp_path):
    samples, path = noise(600, 40, 1), tmp_path / "a.zarr.part"
    chunked_zarr.lay_out(path, samples.shape, samples.dtype, "a.zarr")
    with ChunkedZarr(path, 0) as made:
        made.fill(0, samples[:520])
        made.sync()
        assert [made.finished(rows) for rows in (255, 520, 600)] == [0, 512, 600]
    for chunk in (path / "0" / "c" / "0" / "1").iterdir():
        chunk.write_bytes(b"cut")
    with ChunkedZarr(path, 256) as made:
        made.fill(256, samples[256:])
    path = path.rename(tmp_path / "a.zarr")
    np.testing.assert_array_equal(rows_of(path, (0, 600)), samples)
