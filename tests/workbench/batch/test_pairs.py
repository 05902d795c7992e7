"""Which file is written for which."""

import inspect
import os
import sys
from pathlib import Path

import pytest

from workbench.batch.pairs import PairingError, naming, pairs_of, with_extension
from workbench.model.state import State


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with files whose names alone count here."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.png", "in/p10.jpg", "in/p2.png", "in/sub/c.tif", "in/.hidden.png", "in/x.txt"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    return tmp_path


def written(inputs, output, **how):
    found = pairs_of(map(Path, inputs), output, **how)
    return [(str(each.source), str(each.target)) for each in found]


def test_into_a_folder_names_are_kept_and_numbers_counted(folder):
    paths = [os.path.join("in", name) for name in ("p2.png", "p10.jpg")]  # noqa: PTH118
    targets = [str(Path("out") / Path(each).name) for each in paths]
    assert written(["in"], "out/") == list(zip(paths, targets, strict=True))
    assert written(paths, "out") == list(zip(paths, targets, strict=True))


def test_folders_may_be_deeper_than_python_may_call(folder):
    deep = Path("in", *200 * "d")
    deep.mkdir(parents=True)
    (deep / "a.png").touch()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 150)
    try:
        found = written(["in"], "out/", recursive=True)
    finally:
        sys.setrecursionlimit(limit)
    assert (str(deep / "a.png"), str(Path("out", *200 * "d", "a.png"))) in found


def test_below_a_folder_the_same_folders_are_made(folder):
    found = pairs_of([Path("in")], "out/", recursive=True)
    below = [each for each in found if each.folder is not None]
    assert [str(each.target) for each in below] == [str(Path("out/sub/c.tif"))]
    assert below[0].folder == Path("out/sub")


@pytest.mark.parametrize(
    ("inputs", "output", "how", "words"),
    [
        (["a.png", "in"], "b.png", {}, "must be a folder, not a file"),
        (["a.png"], "b", {}, "names no format"),
        (["a.png"], "b.png", {"rename": with_extension(".tif")}, "--format is for folders"),
        (["a.png"], "a.png", {}, "a.png is an input"),
        (["in"], "in", {}, "is an input"),
        (
            ["in/p2.png", "a.png", "in/sub/../p2.png"],
            "out/",
            {},
            "Several inputs are called p2.png",
        ),
    ],
)
def test_what_would_lose_a_picture_is_refused(folder, inputs, output, how, words):
    with pytest.raises(PairingError, match=words):
        pairs_of(map(Path, inputs), output, **how)


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
        ("sub/{stem}.png", None, "no / can stand in it"),
        ("{stem}.png", "tiff", "choose none beside it"),
        ("{stem}.{ext}", "tiff", "choose none beside it"),
    ],
)
def test_a_pattern_that_makes_no_sense_is_refused(pattern, extension, words):
    with pytest.raises(PairingError, match=words):
        naming(pattern, extension, CHOSEN)
