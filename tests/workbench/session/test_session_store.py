"""Sweeps write down what they measure as they go, and can be gone on with."""

from datetime import datetime

import numpy as np
import pytest

from kernels.core.errors import SessionFileError
from kernels.core.job import Progress
from kernels.engine.engine import Engine
from kernels.sweeps.plan import Plan
from kernels.sweeps.record import Record
from kernels.sweeps.rounds import ROUNDS
from kernels.sweeps.session_files import SessionFile, read_session
from workbench.session import session_store
from workbench.session.session_store import (
    Began,
    NotKept,
    is_session,
    measuring,
    new_path,
    resuming,
    saved_sessions,
)

PLAN = Plan("Three sizes", ("opencv",), ((4, 4), (5, 5), (6, 6)))
MINE = Plan("Mine", ("opencv",), ((5, 4),), ksizes=(3, 5), pictures=("mine.png",))
PICTURE = np.zeros((4, 5, 1), np.float32)


@pytest.fixture(autouse=True)
def _home(home):
    """Never the user's own folder."""


def run(steps, until=lambda step: False):
    """The steps, up to the first that `until` says; closed, as a worker does it."""
    found = []
    iterator = steps(Engine(use_gpu=False))
    for step in iterator:
        found.append(step)
        if until(step):
            break
    iterator.close()
    return [each for each in found if not isinstance(each, Progress)]


def records(found):
    """The last of each cell, in the order in which they came first."""
    return list({each.cell: each for each in found if isinstance(each, Record)}.values())


def is_whole(step):
    """Whether a cell had all its rounds."""
    return isinstance(step, Record) and step.is_complete


def test_every_record_is_on_the_disk_when_it_is_told(tmp_path):
    path, told = tmp_path / "a.jsonl", []

    def is_as_told(step):
        if isinstance(step, Record):
            told.append(step)
            on_disk = read_session(path).records
            assert [each.cell for each in on_disk] == [each.cell for each in records(told)]
            rounds = [len(each.outcome.kernel.rounds) for each in records(told)]
            assert [len(each.outcome.kernel.rounds) for each in on_disk] == rounds
        return False

    found = run(measuring(PLAN, {}, path), is_as_told)
    assert isinstance(found[0], Began)
    assert found[0].path == path
    assert [each.cell for each in records(told)] == list(found[0].cells)
    assert len(told) == 3 * ROUNDS
    assert read_session(path).plan == PLAN


def test_one_that_was_stopped_is_gone_on_with(tmp_path):
    path = tmp_path / "a.jsonl"
    first = run(measuring(PLAN, {}, path), lambda step: isinstance(step, Record))
    assert len(records(first)) == 1
    rest = run(resuming(path, {}))
    assert [each.cell.width for each in rest[0].session.records] == [4]
    assert len(rest[0].cells) == 3
    assert [each.cell.width for each in records(rest)][:2] == [5, 6]  # not yet in its first round
    kept = read_session(path).records
    assert [len(each.outcome.kernel.rounds) for each in kept] == [ROUNDS] * 3
    assert kept[0].outcome.kernel.samples_ms[: len(first[-1].outcome.kernel.samples_ms)] == tuple(
        float(f"{ms:.6g}") for ms in first[-1].outcome.kernel.samples_ms
    )


def test_what_had_all_its_rounds_is_not_measured_again(tmp_path):
    path = tmp_path / "a.jsonl"
    (*_, done) = run(measuring(PLAN, {}, path), is_whole)
    rest = records(run(resuming(path, {})))
    assert done.cell not in [each.cell for each in rest]
    assert len(rest) == 2


def test_one_that_was_stopped_at_once_holds_its_file_no_longer(tmp_path):
    path = tmp_path / "a.jsonl"
    run(measuring(PLAN, {}, path), lambda step: isinstance(step, Began))
    run(resuming(path, {}), lambda step: isinstance(step, Began))
    assert len(records(run(resuming(path, {})))) == 3


def test_a_killed_one_loses_only_the_line_it_was_writing(tmp_path):
    path = tmp_path / "a.jsonl"
    run(measuring(PLAN, {}, path), lambda step: isinstance(step, Record))
    with path.open("ab") as file:
        file.write(b'{"cell": {"implem')
    assert len(records(run(resuming(path, {})))) == 3
    kept = read_session(path).records
    assert [len(each.outcome.kernel.rounds) for each in kept] == [ROUNDS] * 3


def test_a_full_disk_is_told_once_and_the_sweep_goes_on(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    append, done = SessionFile.append, []

    def full(self, record):
        if done:
            raise SessionFileError("A measurement could not be written (No space left on device).")
        done.append(record)
        append(self, record)

    monkeypatch.setattr(SessionFile, "append", full)
    found = run(measuring(PLAN, {}, path))
    assert len(records(found)) == 3
    (complaint,) = [each for each in found if isinstance(each, NotKept)]
    assert "No space left on device" in complaint.sentence
    assert "The sweep continues" in complaint.sentence
    assert len(read_session(path).records) == 1


def test_a_folder_that_cannot_be_written_is_told_and_the_sweep_goes_on(tmp_path):
    (tmp_path / "file").write_text("in the way")
    found = run(measuring(PLAN, {}, tmp_path / "file" / "a.jsonl"))
    assert found[0].path is None
    assert isinstance(found[1], NotKept)
    assert len(records(found)) == 3


def test_a_session_of_a_picture_wants_that_picture(tmp_path):
    path = tmp_path / "a.jsonl"
    run(measuring(MINE, {"mine.png": PICTURE}, path), lambda step: isinstance(step, Record))
    with pytest.raises(SessionFileError, match=r"Open mine.png first"):
        run(resuming(path, {"other.png": PICTURE}))
    with pytest.raises(SessionFileError, match="has 9×9 pixels now"):
        run(resuming(path, {"mine.png": np.zeros((9, 9, 1), np.float32)}))
    assert len(records(run(resuming(path, {"mine.png": PICTURE})))) == 2


def test_names_begin_with_the_time_and_are_never_taken_twice():
    now = datetime(2026, 1, 2, 3, 4, 5)
    first = new_path(PLAN, now)
    assert first.name == "2026-01-02 030405 three-sizes.jsonl"
    first.parent.mkdir(parents=True)
    first.touch()
    second = new_path(PLAN, now)
    assert second.name == "2026-01-02 030405 three-sizes 2.jsonl"
    second.touch()
    later = new_path(PLAN, now.replace(hour=4))
    later.touch()
    (first.parent / "notes.txt").touch()
    assert saved_sessions()[0] == later
    assert set(saved_sessions()) == {first, second, later}


def test_what_is_packed_or_came_with_the_program_is_not_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr(session_store, "asset", lambda _: tmp_path)
    own = tmp_path / "H200.jsonl"
    own.touch()
    assert session_store.bundled() == [own]
    assert not session_store.can_grow(own)
    assert not session_store.can_grow(tmp_path.parent / "a.jsonl.gz")
    assert not session_store.can_grow(None)
    assert session_store.can_grow(tmp_path.parent / "a.jsonl")


def test_a_folder_that_is_not_there_keeps_none():
    assert saved_sessions() == []


def test_a_folder_that_cannot_be_listed_is_said():
    session_store.folder().parent.mkdir(parents=True, exist_ok=True)
    session_store.folder().write_text("a file")
    with pytest.raises(SessionFileError, match=r"^Cannot list .*sessions: Not a directory\.$"):
        saved_sessions()


def test_sessions_are_told_by_their_names(tmp_path):
    (tmp_path / "sweep").mkdir()
    assert not is_session(tmp_path / "sweep")
    (tmp_path / "sweep" / "session.jsonl").touch()
    assert is_session(tmp_path / "sweep")
    assert is_session(tmp_path / "a.jsonl.gz")
    assert not is_session(tmp_path / "a.png")
