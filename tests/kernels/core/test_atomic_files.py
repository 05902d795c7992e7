"""A file is written whole or not at all, keeps its permissions, and what a kill left is swept."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from kernels.core.safe_files import reason, replacing
from tests.conftest import ROOT

if sys.platform != "win32":
    import fcntl

WRITER = """
import sys, time
from pathlib import Path
from kernels.core.safe_files import replacing
with replacing(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(600)
"""


def write(path, data=b"new"):
    with replacing(path) as file:
        file.write(data)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders there")
def test_a_device_or_a_pipe_is_written_to_and_never_replaced(tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for path in (pipe, link):
            write(path)
            assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
    with pytest.raises(OSError, match=f"{errno.ENXIO}") as failed:  # at once
        write(pipe)
    assert "pipe that nobody reads" in reason(failed.value)
    assert pipe.is_fifo()
    assert {each.name for each in tmp_path.iterdir()} == {"pipe", "link"}


@pytest.fixture
def writer(tmp_path):
    """A process in the middle of writing tmp_path / "big"."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "big")], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"writing\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def parts(folder):
    return sorted(each.name for each in folder.iterdir() if each.name.endswith(".part"))


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_a_file_that_is_replaced_leaves_its_permissions_to_the_new_one(tmp_path, mode):
    path = tmp_path / "a.png"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(path)
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == mode


def test_what_is_secret_is_so_while_it_is_written(tmp_path):
    path = tmp_path / "a.png"
    path.touch()
    path.chmod(0o600)
    with replacing(path) as file:
        assert os.fstat(file.fileno()).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_comes_meanwhile_is_kept_where_it_is_to_be(tmp_path, monkeypatch, has_links):
    if not has_links:
        monkeypatch.setattr(os, "link", Mock(side_effect=PermissionError))
    path, link = tmp_path / "a.png", tmp_path / "b.png"
    link.symlink_to("elsewhere")
    with replacing(path, keeps=True) as file:
        file.write(b"first")
    for there in (path, link):
        with pytest.raises(FileExistsError) as failed, replacing(there, keeps=True) as file:
            file.write(b"second")
        assert "has that name by now" in reason(failed.value)
    assert path.read_bytes() == b"first"
    assert {each.name for each in tmp_path.iterdir()} == {"a.png", "b.png"}


def test_what_a_kill_left_is_removed_by_the_next_save_there(tmp_path, writer):
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    assert len(parts(tmp_path)) == 1
    write(tmp_path / "a.png")
    assert [each.name for each in tmp_path.iterdir()] == ["a.png"]


@pytest.mark.skipif(sys.platform == "win32", reason="what is open cannot be removed there")
@pytest.mark.parametrize("is_removed", [True, False])
def test_what_is_taken_for_abandoned_before_it_is_held_is_made_again(
    tmp_path, monkeypatch, is_removed
):
    real, looked = open, []

    def looked_at(name, mode, **how):
        """Open a file, which another thread looks at before it is held."""
        file = real(name, mode, **how)
        if mode == "x+b" and not looked:
            looked.append(real(name, "rb"))
            Path(name).unlink() if is_removed else fcntl.flock(looked[0], fcntl.LOCK_EX)
        return file

    monkeypatch.setattr("builtins.open", looked_at)
    write(tmp_path / "a.png")
    looked[0].close()
    assert [each.name for each in tmp_path.iterdir()] == ["a.png"]
    assert (tmp_path / "a.png").read_bytes() == b"new"
