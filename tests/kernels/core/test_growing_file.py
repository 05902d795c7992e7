"""A file that only grows keeps whole lines, whatever becomes of the last one."""

import errno
from io import FileIO

import pytest

from kernels.core import growing_file
from kernels.core.growing_file import GrowingFile


class Filling(FileIO):
    """A file on a disk with room for a few bytes more."""

    room = 0

    def write(self, data):
        if not Filling.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = super().write(data[: Filling.room])
        Filling.room -= written
        return written


def test_a_line_that_does_not_fit_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(growing_file, "FileIO", Filling)
    monkeypatch.setattr(Filling, "room", 13)
    with GrowingFile(tmp_path / "lines", "x") as file:
        file.put(b"first\n")
        with pytest.raises(OSError, match="No space left"):
            file.put(b"too long a line\n")
        assert file.path.read_bytes() == b"first\n"
        monkeypatch.setattr(Filling, "room", 100)
        file.put(b"last\n")
    assert file.path.read_bytes() == b"first\nlast\n"


@pytest.mark.parametrize("mode", ["a+", "r+"])
def test_one_goes_on_behind_the_last_whole_line(tmp_path, mode):
    path = tmp_path / "lines"
    path.write_bytes(b"first\nhal")
    with GrowingFile(path, mode) as file:
        file.go_on_behind(6)
        file.put(b"last\n")
    assert path.read_bytes() == b"first\nlast\n"


def test_it_is_known_whether_it_was_moved(tmp_path):
    with GrowingFile(tmp_path / "lines", "x") as file:
        assert file.is_in_its_place()
        file.path.rename(tmp_path / "others")
        assert not file.is_in_its_place()
