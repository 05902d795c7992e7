"""The pictures before and after one in its folder, as a person counts; no folder is read twice."""

import os
import re

import pytest

from workbench.files import image_files
from workbench.files import neighbours as neighbours_module
from workbench.files.neighbours import neighbours, pictures_among, pictures_in, shelf_of
from workbench.files.picture_errors import ImageFileError


def test_neighbours_follow_each_other_as_people_count(tmp_path):
    for name in ("img10.png", "img2.PNG", "IMG1.jpg", "img3.txt", "notes.md"):
        (tmp_path / name).touch()
    (tmp_path / "img5.png").mkdir()
    assert neighbours(tmp_path / "IMG1.jpg") == (None, tmp_path / "img2.PNG")
    assert neighbours(tmp_path / "img2.PNG") == (tmp_path / "IMG1.jpg", tmp_path / "img10.png")
    assert neighbours(tmp_path / "img10.png") == (tmp_path / "img2.PNG", None)


def test_a_deleted_picture_still_has_neighbours(tmp_path):
    for name in ("1.png", "3.png"):
        (tmp_path / name).touch()
    assert neighbours(tmp_path / "2.png") == (tmp_path / "1.png", tmp_path / "3.png")


def test_names_that_differ_only_in_case_or_zeros_are_all_visited(tmp_path):
    names = ["a1.png", "A1.png", "a01.png", "a001.png"]
    for name in names:
        (tmp_path / name).touch()
    on_disk = sorted(p.name for p in tmp_path.iterdir())
    here = next(p for p in tmp_path.iterdir() if neighbours(p)[0] is None)
    visited = [here.name]
    while (here := neighbours(here)[1]) is not None:
        visited.append(here.name)
    assert sorted(visited) == on_disk


def test_a_deleted_folder_is_said(tmp_path):
    with pytest.raises(ImageFileError, match="Cannot look into"):
        neighbours(tmp_path / "gone" / "a.png")


@pytest.fixture
def looks(monkeypatch):
    """The folders that were read."""
    read, scandir = [], os.scandir

    def noting(folder):
        read.append(folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", noting)
    return read


def pictures(folder, *numbers):
    for number in numbers:
        (folder / f"{number}.png").touch()
    return [folder / f"{number}.png" for number in numbers]


def calm(folder, seconds_ago=60):
    """As if nothing had changed there for a while."""
    then = folder.stat().st_mtime - seconds_ago
    os.utime(folder, (then, then))


def test_a_folder_is_read_once_until_it_changes(tmp_path, looks):
    one, two, three = pictures(tmp_path, 1, 2, 3)
    calm(tmp_path)
    assert neighbours(one) == (None, two)
    assert neighbours(two) == (one, three)
    assert len(looks) == 1
    two.unlink()
    calm(tmp_path, 30)
    assert neighbours(one) == (None, three)
    assert len(looks) == 2


def test_a_folder_that_has_just_changed_is_read_again(tmp_path, looks):
    """It may change again without its time of change telling."""
    one, two = pictures(tmp_path, 1, 2)
    changed_ns = tmp_path.stat().st_mtime_ns
    assert neighbours(one) == (None, two)
    two.unlink()
    os.utime(tmp_path, ns=(changed_ns, changed_ns))  # as on a disk that counts in seconds
    assert neighbours(one) == (None, None)
    assert len(looks) == 2


def test_two_folders_are_two(tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        pictures(folder, 1, 2)
        calm(folder)
    for folder in folders:
        assert neighbours(folder / "1.png") == (None, folder / "2.png")


def test_many_files_are_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(neighbours_module, "SORTED_AT_ONCE", 7)
    numbers = [(n * 37) % 100 for n in range(100)]
    pictures(tmp_path, *numbers)
    here, visited = tmp_path / "0.png", [0]
    while (here := neighbours(here)[1]) is not None:
        visited.append(int(here.stem))
    assert visited == list(range(100))


def test_an_ome_zarr_is_no_folder_of_pictures_and_left_to_the_reader(tmp_path):
    for name in ("a.png", "c.tif"):
        (tmp_path / name).touch()
    slide = tmp_path / "b.zarr"
    slide.mkdir()
    assert shelf_of(tmp_path / "c.tif").names == ["a.png", "c.tif"]
    assert pictures_among([slide, tmp_path / "a.png"]) == [tmp_path / "a.png"]
    assert pictures_among([slide]) == [slide]
    with pytest.raises(ImageFileError, match=r"b\.zarr: OME-Zarr is not read"):
        image_files.load(slide)


def test_names_sort_as_their_words_and_numbers_do_whatever_is_in_them(tmp_path):
    pieces = ("a", "A", "10", "2", "02", "0", "-", "é", "\x01")
    names = {f"{a}{b}{c}.png" for a in pieces for b in pieces for c in pieces}
    for name in names:
        (tmp_path / name).touch()

    def words_and_numbers(name):
        parts = re.split(r"([0-9]+)", name.casefold())
        return [int(part) if n % 2 else part for n, part in enumerate(parts)], name

    assert pictures_in(tmp_path) == sorted(names, key=words_and_numbers)
