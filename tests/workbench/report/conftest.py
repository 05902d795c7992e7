"""What the report's tests share: pictures that are made once, though many reports have the same."""

import pytest

from workbench.report import drawings, examples, writing


@pytest.fixture(scope="session", autouse=True)
def pictures_are_made_once():
    """Most of a report's time is theirs, and most tests report the same few sessions."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((drawings, "svg_of"), (writing, "strokes_of")):
            # Two figures that read the same look the same.
            patch.setattr(module, name, remembered(getattr(module, name), repr))
        patch.setattr(examples, "data_uri", remembered(examples.data_uri, all_samples))
        yield


def remembered(make, key_of):
    """Return `make`, which makes what has the same key once, with the same options."""
    made = {}

    def make_once(given, *options):
        key = key_of(given), options
        if key not in made:
            made[key] = make(given, *options)
        return made[key]

    return make_once


def all_samples(picture):
    return picture.shape, picture.dtype.str, picture.tobytes()
