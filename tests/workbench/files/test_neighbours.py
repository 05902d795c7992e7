"""The pictures before and after one in its folder, as a person counts; no folder is read twice."""

import os
import re

import pytest

from workbench.files.neighbours import neighbours, pictures_in


def test_neighbours_follow_each_other_as_people_count(tmp_path):
    for name in ("img10.png", "img2.PNG", "IMG1.jpg", "img3.txt", "notes.md"):
        (tmp_path / name).touch()
    (tmp_path / "img5.png").mkdir()
    assert neighbours(tmp_path / "IMG1.jpg") == (None, tmp_path / "img2.PNG")
    assert neighbours(tmp_path / "img2.PNG") == (tmp_path / "IMG1.jpg", tmp_path / "img10.png")
    assert neighbours(tmp_path / "img10.png") == (tmp_path / "img2.PNG", None)


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


def test_names_sort_as_their_words_and_numbers_do_whatever_is_in_them(tmp_path):
    pieces = ("a", "A", "10", "2", "02", "0", "-", "é", "\x01")
    names = {f"{a}{b}{c}.png" for a in pieces for b in pieces for c in pieces}
    for name in names:
        (tmp_path / name).touch()

    def words_and_numbers(name):
        parts = re.split(r"([0-9]+)", name.casefold())
        return [int(part) if n % 2 else part for n, part in enumerate(parts)], name

    assert pictures_in(tmp_path) == sorted(names, key=words_and_numbers)
