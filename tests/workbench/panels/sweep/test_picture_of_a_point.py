"""Whether the picture that is open is the one that a point of a sweep was measured with."""

from dataclasses import replace

import pytest

from kernels.pictures.picture_kinds import of_kind
from kernels.sweeps.cell import Cell
from workbench.model.plan_draft import given_name
from workbench.model.plan_words import cell_name
from workbench.model.state import Picture
from workbench.panels.sweep.apply_measurement import is_of

MADE = Cell("opencv", width=24, height=16, channels=3, pixel_type="uint8")
SAMPLES = of_kind("noise", 16, 24, 3, "uint8")


def test_a_made_picture_is_known_by_its_kind_and_size():
    picture = Picture(cell_name(MADE), SAMPLES)
    assert is_of(picture, MADE)
    assert not is_of(Picture("photo.png", SAMPLES), MADE)
    assert not is_of(None, MADE)


@pytest.mark.parametrize("name", ["photo.png", "noise"])
def test_a_given_picture_is_known_by_the_name_it_was_given(name):
    """Whatever its file is called: a made kind has that name, too."""
    picture = Picture(name, SAMPLES)
    given = replace(MADE, picture=given_name(picture))
    assert is_of(picture, given)
    assert not is_of(Picture("another.png", SAMPLES), given)
    assert not is_of(picture, MADE)
