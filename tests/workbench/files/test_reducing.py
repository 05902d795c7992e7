"""What a format does not hold is made to fit; inks and alpha become colours."""

from pathlib import Path

import numpy as np
import pytest
import tifffile

from kernels.pictures.generated import noise
from workbench.files import image_encoders
from workbench.files.formats import FORMATS, extension_for
from workbench.files.image_encoders import fit_of, reduced
from workbench.files.image_files import load
from workbench.imaging.pictures import Metadata


@pytest.mark.parametrize(
    ("name", "pixel_type", "channels", "said"),
    [
        ("a.png", "uint16", 4, None),
        ("a.tif", "float16", 2, None),
        ("a.webp", "uint8", 4, None),
        ("a.jpg", "uint8", 1, None),
        ("a.jpg", "uint16", 3, "JPEG: uint16 values are rounded to 8 bits. Without loss: PNG and"),
        ("a.jpg", "uint8", 4, "JPEG: what is transparent becomes white. "),
        ("a.jpg", "uint8", 2, "JPEG: what is transparent becomes white. "),
        (
            *("a.jpg", "float32", 4),
            "JPEG: float32 values are rounded to 8 bits, what is transparent becomes white. "
            "Without loss: TIFF and JPEG XL.",
        ),
        ("a.webp", "uint8", 1, "WebP: grey becomes three equal channels. "),
        ("a.png", "float32", 3, "PNG: float32 values are rounded to 8 bits. Without loss: TIFF"),
        ("a.exr", "uint8", 3, "OpenEXR: uint8 values become floats from 0 to 1, sRGB is taken for"),
        ("a.avif", "uint16", 3, "AVIF: uint16 values are rounded to 8 bits. Without loss: PNG and"),
        ("a.pgm", "uint16", 3, "PGM: colours become grey. "),
        ("a.ppm", "uint16", 1, "PPM: grey becomes three equal channels. "),
    ],
)
def test_what_a_format_does_not_hold_is_one_sentence(name, pixel_type, channels, said):
    fit = fit_of(Path(name), noise(9, 8, channels, pixel_type))
    assert fit.is_exact == (said is None)
    assert fit.why_not is None
    if said is not None:
        assert str(fit).startswith(said)
        assert str(fit).endswith(".")


def test_whole_numbers_of_linear_light_are_held_by_no_format_and_saved_without_asking():
    fit = fit_of(Path("a.png"), noise(9, 8, 3, "uint16"), Metadata(is_linear=True))
    assert str(fit) == "PNG: linear light is taken for sRGB."
    assert not fit.is_to_ask


@pytest.mark.parametrize("wanted", FORMATS, ids=lambda each: each.title)
@pytest.mark.parametrize("pixel_type", ["uint8", "uint16", "float16", "float32"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_whatever_is_made_to_fit_does_and_what_fits_is_not_touched(wanted, pixel_type, channels):
    path, samples = Path(f"a{wanted.extensions[0]}"), noise(9, 8, channels, pixel_type)
    made = reduced(path, samples)
    assert wanted.why_not(made) is None
    assert made.shape[:2] == samples.shape[:2]
    assert (made is samples) == fit_of(path, samples).is_exact == (wanted.why_not(samples) is None)


def test_what_is_made_to_fit_looks_the_same():
    deep = np.array([[[0, 32768, 65535]]], np.uint16)
    assert reduced(Path("a.jpg"), deep).tolist() == [[[0, 128, 255]]]
    clear = np.array([[[100, 50, 0, 0], [100, 50, 0, 255], [100, 50, 0, 51]]], np.uint8)
    assert reduced(Path("a.jpg"), clear).tolist() == [
        [[255, 255, 255], [100, 50, 0], [224, 214, 204]]
    ]
    assert reduced(Path("a.webp"), np.full((1, 1, 2), 7, np.uint8)).tolist() == [[[7, 7, 7, 7]]]
    floats = np.array([[[-1.0, 0.5, np.inf, 0.5]]], np.float32)
    assert reduced(Path("a.png"), floats).tolist() == [[[0, 128, 255, 128]]]


def test_in_bands_it_is_the_same_as_in_one_go(monkeypatch):
    samples = noise(50, 8, 4, "float32")
    whole = reduced(Path("a.jpg"), samples)
    monkeypatch.setattr(image_encoders, "ROWS_AT_ONCE", 7)
    np.testing.assert_array_equal(reduced(Path("a.jpg"), samples), whole)


def opened(path, samples, **options):
    tifffile.imwrite(path, samples, metadata=None, **options)
    return load(path)


@pytest.mark.parametrize(("dtype", "white"), [("uint8", 255), ("uint16", 65535)])
def test_every_ink_takes_away_its_light(tmp_path, dtype, white):
    """Cyan, magenta, yellow, black, half of black, none, and two of them together."""
    full, half = white, (white + 1) // 2
    inks = [
        (full, 0, 0, 0), (0, full, 0, 0), (0, 0, full, 0), (0, 0, 0, full),
        (0, 0, 0, half), (0, 0, 0, 0), (half, 0, 0, half),
    ]  # fmt: skip
    grey, dim = white - half, round((white - half) ** 2 / white)
    light = [
        (0, white, white), (white, 0, white), (white, white, 0), (0, 0, 0),
        (grey, grey, grey), (white, white, white), (dim, grey, grey),
    ]  # fmt: skip
    picture = opened(tmp_path / "inks.tif", np.array([inks] * 2, dtype), photometric="separated")
    assert picture.samples.dtype == dtype
    assert np.abs(picture.samples[0].astype(int) - light).max() <= 1  # 8 bits come by Pillow
    assert any("CMYK" in note for note in picture.notes)


@pytest.mark.parametrize(("dtype", "white"), [("uint8", 255), ("uint16", 65535)])
def test_colours_are_divided_by_their_alpha_and_end_at_white(tmp_path, dtype, white):
    """The third pixel is brighter than its alpha allows: white, and never round the corner."""
    half = (white + 1) // 2
    pixels = [(half, 0, half // 2, half), (10, 20, 30, white), (white, half, 0, half), (9, 9, 9, 0)]
    samples, how = np.array([pixels] * 2, dtype), {"extrasamples": ["assocalpha"]}
    picture = opened(tmp_path / "alpha.tif", samples, photometric="rgb", **how)
    found = picture.samples[1].astype(int)
    assert found[:, 3].tolist() == [half, white, half, 0]
    assert np.abs(found[0, :3] - (white, 0, white / 2)).max() <= 1
    assert found[1, :3].tolist() == [10, 20, 30]
    assert found[2, :3].tolist() == [white, white, 0]
    assert found[3, :3].tolist() == [0, 0, 0]
    assert any("alpha" in note for note in picture.notes)


@pytest.mark.parametrize(
    ("name", "pixel_type", "proposed"),
    [
        ("a.jpg", "uint8", ".jpg"),
        ("a.JPEG", "uint8", ".jpeg"),
        ("a.webp", "uint8", ".webp"),
        ("a.tiff", "uint16", ".tiff"),
        ("a.jpg", "uint16", ".png"),
        ("a.png", "float32", ".tif"),
        ("a.gif", "uint8", ".png"),
        ("no extension", "uint8", ".png"),
    ],
)
def test_the_format_of_the_source_is_proposed_where_it_holds_the_result(name, pixel_type, proposed):
    assert extension_for(Path(name), noise(8, 8, 3, pixel_type)) == proposed
