"""Pages, frames and planes: each is what another program wrote or a player would show."""

import os
import struct
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from tests.picture_files import all_kinds
from workbench.files import from_pillow
from workbench.files.image_files import PictureRef, load, load_any_size, page_count
from workbench.files.large_pictures import LargePicture
from workbench.files.picture_errors import ImageFileError

RNG = np.random.default_rng(5)
STACK = RNG.integers(0, 65536, (12, 9, 11), np.uint16)
FILES = Path(__file__).parents[4] / "shared" / "defects" / "files"

# -- TIFF, as ImageJ, OME and others write it


def stack(kind, path):
    by_axes = STACK.reshape(2, 3, 2, 9, 11)  # t, z, c
    match kind:
        case "plain":
            tifffile.imwrite(path, STACK, metadata=None)
        case "ImageJ":
            tifffile.imwrite(path, by_axes, imagej=True)
        case "ImageJ, one IFD":
            words = "ImageJ=1.53t\nimages=12\nchannels=2\nslices=3\nframes=2\nhyperstack=true\n"
            how = {"photometric": "minisblack", "metadata": None, "description": words}
            tifffile.imwrite(path, STACK[0], byteorder=">", **how)
            with tifffile.TiffFile(path) as tiff, path.open("r+b") as file:
                file.seek(tiff.pages.first.dataoffsets[0])
                file.write(STACK.astype(">u2").tobytes())
        case "OME":
            tifffile.imwrite(
                path, by_axes, ome=True, metadata={"axes": "TZCYX"}, compression="zlib"
            )
        case "JPEG":  # which Pillow reads
            grey = (STACK >> 8).astype(np.uint8)
            tifffile.imwrite(path, grey, compression="jpeg", metadata=None)


@pytest.mark.parametrize("kind", ["plain", "ImageJ", "ImageJ, one IFD", "OME", "JPEG"])
def test_every_plane_of_a_stack_is_a_page_that_says_what_the_file_does(kind, tmp_path):
    path = tmp_path / "stack.tif"
    stack(kind, path)
    assert page_count(path) == 12
    for number in (1, 4, 12):
        picture = load(path, page=number)
        if kind != "JPEG":
            assert np.array_equal(picture.samples[..., 0], STACK[number - 1])
        elif number > 1:
            assert not np.array_equal(picture.samples, load(path).samples)
        assert (picture.page.number, picture.page.count) == (number, 12)
    said = "t 1, z 2, c 2" if "ImageJ" in kind or kind == "OME" else ""
    assert load(path, page=4).page.label == said
    for missing in (0, 13):
        with pytest.raises(ImageFileError, match=f"has no page {missing}; its last is page 12"):
            load(path, page=missing)


def test_of_one_directory_with_five_planes_each_is_read():
    path = FILES / "imagej_one_ifd_of_5.tif"
    if not path.exists():
        pytest.skip("the file of others is not here")
    assert [load(path, page=n).page.label for n in (1, 5)] == ["z 1", "z 5"]
    assert np.array_equal(load(path, page=4).samples[..., 0], tifffile.imread(path)[3])


def test_the_strip_of_such_a_stack_is_one_plane_or_all_and_of_no_other_bits(tmp_path):
    path = tmp_path / "stack.tif"
    stack("ImageJ, one IFD", path)
    for count in (STACK.nbytes, (1 << 32) - 1):  # or more than there is
        with tifffile.TiffFile(path, mode="r+b") as tiff:
            tiff.pages.first.tags["StripByteCounts"].overwrite(count)
        assert np.array_equal(load(path, page=4).samples[..., 0], STACK[3])
    stack("ImageJ, one IFD", path)
    with tifffile.TiffFile(path, mode="r+b") as tiff:
        tiff.pages.first.tags["BitsPerSample"].overwrite(8)
    with pytest.raises(ImageFileError, match="damaged"):
        load(path)


def test_a_page_of_a_plain_tiff_is_read_without_the_others(tmp_path, monkeypatch):
    path, made, init = tmp_path / "plain.tif", [], tifffile.TiffPage.__init__
    with tifffile.TiffWriter(path) as tiff:
        for value in range(40):
            tiff.write(np.full((2, 3), value, np.uint8), contiguous=False)
    spy = lambda *args, **how: made.append(1) or init(*args, **how)  # noqa: E731
    monkeypatch.setattr(tifffile.TiffPage, "__init__", spy)
    assert load(path, page=30).samples.ravel().tolist() == [29] * 6
    assert len(made) < 10


def test_a_stack_in_a_shape_with_axes_says_which_plane_it_is(tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", STACK[:3], metadata={"axes": "ZYX"}, photometric=0)
    assert load(tmp_path / "a.tif", page=2).page.label == "z 2"


@pytest.mark.parametrize("name", ["rgb8.png", "rgba.avif", "rgba.jxl", "rgba.jp2"])
def test_pages_of_what_can_have_but_one_are_counted_by_its_start(name, tmp_path, monkeypatch):
    def read_all(*_):
        raise AssertionError

    path, data = tmp_path / name, all_kinds()[name]
    monkeypatch.setattr(Path, "read_bytes", read_all)
    path.write_bytes(data if name.endswith("jp2") else data[: len(data) // 2])
    assert page_count(path) == 1


def test_pages_are_of_any_size_and_kind_and_a_colour_one_is_one(tmp_path):
    path = tmp_path / "mixed.tif"
    colour = RNG.integers(0, 256, (30, 20, 3), np.uint8)
    with tifffile.TiffWriter(path) as tiff:
        tiff.write(STACK[0], metadata=None)
        tiff.write(colour, photometric="rgb", metadata=None)
    assert page_count(path) == 2
    assert np.array_equal(load(path, page=2).samples, colour)


def test_a_page_that_is_larger_than_memory_is_read_by_rows(tmp_path, monkeypatch):
    stack("ImageJ, one IFD", tmp_path / "a.tif")
    with LargePicture(tmp_path / "a.tif", page=7) as large:
        assert np.array_equal(large.rows(2, 9)[..., 0], STACK[6, 2:])
    monkeypatch.setattr("workbench.files.needs.memory_available_bytes", lambda: 300)
    picture = load_any_size(tmp_path / "a.tif", page=7)
    assert picture.large is not None
    assert picture.page.number == 7
    ref = PictureRef.from_data(PictureRef.of(picture).to_data())
    assert ref == PictureRef.of(picture)
    assert ref.load().page.number == 7


# -- animations

WIDTH, HEIGHT, COLOURS = 10, 8, 128
PALETTE = RNG.integers(0, 256, (COLOURS, 3), np.uint8)


def a_frame(rng, beyond=0):
    """One that may reach so many pixels over the right edge, which is not seen."""
    left, top = rng.integers(0, WIDTH - 1), rng.integers(0, HEIGHT - 1)
    width, height = rng.integers(1, WIDTH - left + 1), rng.integers(1, HEIGHT - top + 1)
    if rng.random() < 0.3:
        left, top, width, height = 0, 0, WIDTH + beyond, HEIGHT
    clear = int(rng.integers(0, COLOURS)) if rng.random() < 0.6 else None
    indices = rng.integers(0, COLOURS, (height, width))
    if clear is not None:
        indices[rng.random((height, width)) < 0.5] = clear
    return left, top, indices, clear, int(rng.integers(0, 4))


def gif(frames):
    """A GIF in which every code has eight bits, so that nothing need be packed."""
    made = b"GIF89a" + struct.pack("<HHBBB", WIDTH, HEIGHT, 0xF6, 5, 0) + PALETTE.tobytes()
    for left, top, indices, clear, disposal in frames:
        flags = disposal << 2 | (clear is not None)
        made += b"!\xf9\x04" + struct.pack("<BHBB", flags, 4, clear or 0, 0)
        height, width = indices.shape
        made += b"," + struct.pack("<HHHHB", left, top, width, height, 0) + b"\x07"
        codes = bytes([COLOURS, *indices.ravel(), COLOURS + 1])
        made += bytes([len(codes)]) + codes + b"\0"
    return made + b";"


def played(frames):
    """What a player shows at each frame, (H, W, 4), as the specification has it."""
    canvas = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    for left, top, indices, clear, disposal in frames:
        before, indices = canvas.copy(), indices[:, : WIDTH - left]
        box = canvas[top : top + indices.shape[0], left : left + indices.shape[1]]
        is_drawn = np.full(indices.shape, True) if clear is None else indices != clear
        box[is_drawn] = np.dstack([PALETTE[indices], np.full(indices.shape, 255)])[is_drawn]
        yield canvas.copy()
        if disposal == 2:
            box[:] = 0
        elif disposal == 3:
            canvas = before


def seen(samples):
    """The samples as (H, W, 4), black where they are clear."""
    if samples.shape[2] == 3:
        samples = np.dstack([samples, np.full(samples.shape[:2], 255, np.uint8)])
    return np.where(samples[..., 3:] > 0, samples, 0)


@pytest.mark.parametrize("seed", range(25))
def test_frames_of_a_gif_are_drawn_over_each_other_as_a_player_does(seed, tmp_path):
    rng, path = np.random.default_rng(seed), tmp_path / "a.gif"
    frames = [a_frame(rng), *(a_frame(rng, seed % 3) for _ in range(5))]
    path.write_bytes(gif(frames))
    shown = dict(enumerate(played(frames), 1))
    for number in (2, 3, 4, 6, 5, 1):  # forwards, backwards, and some left out
        picture = load(path, page=number)
        assert np.array_equal(seen(picture.samples), shown[number]), (number, frames)
    assert picture.page.count == 6


@pytest.mark.parametrize("extension", ["png", "webp"])
def test_frames_of_other_animations_are_what_was_drawn(extension, tmp_path):
    path, drawn = tmp_path / f"a.{extension}", RNG.integers(0, 256, (5, 20, 30, 4), np.uint8)
    drawn[..., 3] = np.where(drawn[..., 3] > 100, 255, 0)
    first, *others = map(Image.fromarray, drawn)
    how = {"lossless": True, "exact": True} if extension == "webp" else {"disposal": 1, "blend": 0}
    first.save(path, save_all=True, append_images=others, duration=40, **how)
    for number in (5, 2, 3, 1):
        assert np.array_equal(seen(load(path, page=number).samples), seen(drawn[number - 1]))


def test_frames_are_kept_until_another_file_is_opened(tmp_path):
    frames = [Image.new("L", (4, 4), 40 * k) for k in range(4)]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    frames[0].save(tmp_path / "b.tif")
    load(tmp_path / "a.gif", page=2)
    assert [path.name for path, *_ in from_pillow._drawn] == ["a.gif"]
    load(tmp_path / "b.tif")
    assert not from_pillow._drawn


def test_frames_kept_are_not_those_of_a_file_put_in_its_place(tmp_path):
    for number in (2, 3):  # the third would be drawn over the second one that is kept
        pages = RNG.integers(0, 256, (4, 9, 9), np.uint8)
        first, *others = map(Image.fromarray, pages)
        first.save(tmp_path / "a.gif", save_all=True, append_images=others)
        os.utime(tmp_path / "a.gif", (1e9, 1e9))
        shown = load(tmp_path / "a.gif", page=number).samples[..., 0]
        assert np.array_equal(shown, pages[number - 1])


@pytest.mark.parametrize("disposal", [1, 2])
def test_a_frame_that_reaches_far_out_of_a_gif_is_refused_before_it_is_decoded(disposal, tmp_path):
    first, *others = (Image.new("L", (50, 40), 99 * k) for k in range(3))
    path = tmp_path / "a.gif"
    first.save(path, save_all=True, append_images=others, disposal=disposal)
    data = bytearray(path.read_bytes())
    whole = b"," + struct.pack("<4H", 0, 0, 50, 40)
    struct.pack_into("<2H", data, data.index(whole, data.index(whole) + 1) + 5, 9000, 9000)
    path.write_bytes(data)
    assert load(path).samples.shape[:2] == (40, 50)
    for page in (2, 3):
        with pytest.raises(ImageFileError, match="damaged") as refused:
            load(path, page=page)
        assert "9000" in str(refused.value.__cause__)  # and no decoder's word


def test_frames_of_a_grey_gif_are_grey(tmp_path):
    grey = [RNG.permutation(256).astype(np.uint8).reshape(16, 16) for _ in range(3)]
    first, *others = map(Image.fromarray, grey)
    first.save(tmp_path / "a.gif", save_all=True, append_images=others)
    for number in (1, 3):
        assert np.array_equal(
            load(tmp_path / "a.gif", page=number).samples[..., 0], grey[number - 1]
        )
        assert load(tmp_path / "a.gif", page=number).samples.shape[2] == 1
