"""What results are called, by a pattern with braces."""

import pytest

from workbench.batch.naming import PairingError, by_pattern

VALUES = {"filter": "gaussian", "size": "5"}


@pytest.mark.parametrize(
    ("pattern", "extension", "name", "wanted"),
    [
        ("{stem}_{filter}.png", None, "a.b.jpg", "a.b_gaussian.png"),
        ("{stem}-{size}", None, "a.jpg", "a-5.jpg"),
        ("{stem}-{size}", ".tif", "a.jpg", "a-5.tif"),
        ("{filter}.{stem}.{ext}", None, "a.JPG", "gaussian.a.JPG"),
        ("{{{stem}}}.png", None, "a.png", "{a}.png"),
        ("{stem}.png", None, "{size}%s.png", "{size}%s.png"),
    ],
)
def test_a_pattern_makes_a_name(pattern, extension, name, wanted):
    assert by_pattern(pattern, VALUES, extension)(name) == wanted


@pytest.mark.parametrize(
    ("pattern", "extension", "words"),
    [
        ("{sigma}.png", None, "something else than {stem}, {ext}, {filter}, {size};"),
        ("{}.png", None, "something else"),
        ("{stem!r}.png", None, "something else"),
        ("{stem:>9}.png", None, "something else"),
        ("{stem.x}.png", None, "something else"),
        ("{stem", None, "something else"),
        ("sub/{stem}.png", None, "no / can stand in it"),
        ("{stem}.png", ".tif", "choose none beside it"),
        ("{stem}.{ext}", ".tif", "choose none beside it"),
    ],
)
def test_a_pattern_that_makes_no_sense_is_refused(pattern, extension, words):
    with pytest.raises(PairingError, match=words):
        by_pattern(pattern, VALUES, extension)
