"""What is measured is on the disk, not only in the system's memory, before the next cell begins."""

import os

import pytest

from kernels.core.safe_files import replacing
from kernels.sweeps.session_files import SessionFile
from tests.made_sessions import a_session

SESSION = a_session("transfers")


@pytest.fixture
def flushed(monkeypatch):
    """How long each file was when it was sent to the disk, by its number there."""
    found = []

    def fsync(number):
        status = os.fstat(number)
        found.append((status.st_ino, status.st_size))

    monkeypatch.setattr(os, "fsync", fsync)
    return found


def test_every_record_goes_to_the_disk_before_the_next(tmp_path, flushed):
    with SessionFile.create(tmp_path, SESSION.plan, SESSION.machine) as file:
        for record in SESSION.records:
            status = file.path.stat()
            assert flushed[-1] == (status.st_ino, status.st_size)
            file.append(record)
    status = file.path.stat()
    assert flushed[-1] == (status.st_ino, status.st_size)
    assert len({size for _, size in flushed}) == len(SESSION.records) + 1


def test_a_file_takes_its_place_only_when_it_is_whole_on_the_disk(tmp_path, monkeypatch):
    path, seen = tmp_path / "result.png", []
    path.write_bytes(b"before")
    monkeypatch.setattr(
        os, "fsync", lambda number: seen.append((os.fstat(number).st_size, path.read_bytes()))
    )
    with replacing(path) as file:
        file.write(b"afterwards")
    assert seen == [(10, b"before")]
    assert path.read_bytes() == b"afterwards"
    assert [each.name for each in tmp_path.iterdir()] == ["result.png"]
