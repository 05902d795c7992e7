"""TIFFs of other programs: black ink, and colours that were multiplied by their alpha."""

import numpy as np
import pytest
import tifffile

from workbench.files.image_files import load


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
    picture = opened(
        tmp_path / "alpha.tif",
        np.array([pixels] * 2, dtype),
        photometric="rgb",
        extrasamples=["assocalpha"],
    )
    found = picture.samples[1].astype(int)
    assert found[:, 3].tolist() == [half, white, half, 0]
    assert np.abs(found[0, :3] - (white, 0, white / 2)).max() <= 1
    assert found[1, :3].tolist() == [10, 20, 30]
    assert found[2, :3].tolist() == [white, white, 0]
    assert found[3, :3].tolist() == [0, 0, 0]
    assert any("alpha" in note for note in picture.notes)
