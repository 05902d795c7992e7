"""The layer of numbers lies where its pixels are, and says their values from left to right."""

import numpy as np
import pytest

from workbench.imaging.cell_values import ALPHABET, CellRequest, written
from workbench.imaging.display import to_display
from workbench.panels.compare.cell_layer import digits_for


@pytest.fixture
def asked(qapp):
    samples = np.zeros((9, 12, 1), np.uint8)
    samples[3, 5] = 188
    digits = digits_for(40, 1, "uint8")
    assert digits is not None
    return CellRequest(samples, to_display(samples).pixels[0], (4, 2, 8, 5), 40.5, digits)


def test_its_corner_is_that_of_its_region(asked):
    found = written(asked)
    assert found.corner == (162, 81)
    assert (found.image.width(), found.image.height()) == (324 - 162, 203 - 81)


def test_a_wider_number_covers_more_of_its_cell(asked):
    cover = written(asked).memory[..., 3].astype(int)
    cells = {
        (x, y): cover[
            round(y * 40.5) : round(y * 40.5) + 40, round(x * 40.5) : round(x * 40.5) + 40
        ].sum()
        for x in range(4)
        for y in range(3)
    }
    assert max(cells, key=cells.get) == (1, 1)
    assert min(cells.values()) > 0


@pytest.mark.parametrize(("channels", "names"), [(1, ""), (2, " α"), (3, "RGB"), (4, "RGBα")])
def test_each_value_of_a_cell_is_named_by_its_channels_letter(channels, names, qapp):
    """Where two pixels are alike, a letter in front of a number is all that tells them apart."""
    samples = np.zeros((1, 2, channels), np.uint8)
    digits = digits_for(64, channels, "uint8")
    found = written(CellRequest(samples, to_display(samples).pixels[0], (0, 0, 2, 1), 64, digits))
    _, height, width = digits.shapes.shape
    wide = len("R 255") if names else len("255")
    top, left = (64 - channels * height) // 2, (64 - wide * width) // 2
    lines = found.memory[top:, left : left + width, 3][: channels * height]
    shapes = [lines[line * height :][:height] for line in range(channels)]
    seen = [
        np.array_equal(each, digits.shapes[ALPHABET.index(name)])
        for each, name in zip(shapes, names or " ", strict=True)
    ]
    assert all(seen)
    assert [each.any() for each in shapes] == [name != " " for name in names or " "]
