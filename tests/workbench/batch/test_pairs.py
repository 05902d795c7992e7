"""Which file is written for which."""

import inspect
import sys
from pathlib import Path

import pytest

from workbench.batch.pairs import PairingError, naming, pairs_of
from workbench.files.picture_errors import StoppedError
from workbench.model.state import State


def test_folders_may_be_deeper_than_python_may_call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    deep = Path("in", *200 * "d")
    deep.mkdir(parents=True)
    (deep / "a.png").touch()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 150)
    try:
        (found,) = pairs_of([Path("in")], "out/", recursive=True)
    finally:
        sys.setrecursionlimit(limit)
    assert (found.source, found.target) == (deep / "a.png", Path("out", *200 * "d", "a.png"))


CHOSEN = State(filter="gaussian", ksize=5)


@pytest.mark.parametrize(
    ("pattern", "extension", "name", "wanted"),
    [
        ("{stem}_{filter}.png", None, "a.b.jpg", "a.b_gaussian.png"),
        ("{stem}-{size}", None, "a.jpg", "a-5.jpg"),
        ("{stem}-{size}", "tiff", "a.jpg", "a-5.tif"),
        ("{filter}.{stem}.{ext}", None, "a.JPG", "gaussian.a.JPG"),
        ("{{{stem}}}.png", None, "a.png", "{a}.png"),
        ("{stem}.png", None, "{size}%s.png", "{size}%s.png"),
    ],
)
def test_a_pattern_makes_a_name(pattern, extension, name, wanted):
    assert naming(pattern, extension, CHOSEN)(name) == wanted


@pytest.mark.parametrize(
    ("pattern", "extension", "words"),
    [
        ("{sigma}.png", None, "only {stem}, {ext}, {filter}, {size} can stand in braces"),
        ("{}.png", None, "can stand in braces"),
        ("{stem!r}.png", None, "can stand in braces"),
        ("{stem:>9}.png", None, "can stand in braces"),
        ("{stem.x}.png", None, "can stand in braces"),
        ("{stem", None, "can stand in braces"),
        ("sub/{stem}.png", None, "no / and no control character"),
        (".", None, "neither . nor .. alone"),
        ("..", None, "neither . nor .. alone"),
        ("a\n{stem}.png", None, "no control character"),
        ("{stem}.png", "tiff", "choose none beside it"),
        ("{stem}.{ext}", "tiff", "choose none beside it"),
    ],
)
def test_a_pattern_that_makes_no_sense_is_refused(pattern, extension, words):
    with pytest.raises(PairingError, match=words):
        naming(pattern, extension, CHOSEN)


def test_a_stop_is_a_stop_and_no_complaint_about_the_files(tmp_path):
    (tmp_path / "a.gif").touch()
    with pytest.raises(StoppedError):
        pairs_of([tmp_path], "out/").by_page(lambda: True)
