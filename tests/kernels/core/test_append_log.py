"""A file that only grows keeps whole lines, whatever becomes of the last one."""

import errno
import os
import sys
from io import FileIO

import pytest

from kernels.core import safe_files
from kernels.core.safe_files import AppendLog, whole_lines


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
    monkeypatch.setattr(safe_files, "FileIO", Filling)
    monkeypatch.setattr(Filling, "room", 13)
    with AppendLog(tmp_path / "lines", "x") as file:
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
    with AppendLog(path, mode) as file:
        file.go_on_behind(6)
        file.put(b"last\n")
    assert path.read_bytes() == b"first\nlast\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
@pytest.mark.parametrize("what", ["pipe", "/dev/zero", "nowhere", "precious"])
def test_a_pipe_a_device_and_a_link_are_refused_and_nothing_is_written_elsewhere(tmp_path, what):
    path = tmp_path / "lines"
    (tmp_path / "precious").write_bytes(b"mine\n")
    os.mkfifo(path) if what == "pipe" else path.symlink_to(what)
    for opening in (
        lambda: AppendLog(path, "a+"),
        lambda: AppendLog(path, "r+"),
        lambda: AppendLog(path, "x"),
        lambda: list(whole_lines(path)),
        lambda: safe_files.hold(path),
        lambda: safe_files.holding(path, 0.0).__enter__(),
    ):
        with pytest.raises(OSError, match=r"link|pipe|exists"):
            opening()
    assert {each.name for each in tmp_path.iterdir()} == {"lines", "precious"}
    assert (tmp_path / "precious").read_bytes() == b"mine\n"


def test_only_whole_lines_are_read(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b"first\n\nlast\nhal")
    assert [line.text for line in whole_lines(path)] == [b"first\n", b"\n", b"last\n"]
    assert sum(line.length for line in whole_lines(path)) == len(b"first\n\nlast\n")
