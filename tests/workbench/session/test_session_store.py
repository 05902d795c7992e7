"""Sweeps write down what they measure as they go, and can be gone on with."""

from datetime import datetime
from functools import partial

import pytest

from kernels.core.job import Progress
from kernels.engine.engine import Engine
from kernels.sweeps.estimate import ROUNDS
from kernels.sweeps.plan import Plan
from kernels.sweeps.record import Record
from kernels.sweeps.session_files import read_session
from workbench.session import session_store
from workbench.session.session_store import Began, measuring, new_path, resuming, saved_sessions

PLAN = Plan("Three sizes", ("opencv",), ((4, 4), (5, 5), (6, 6)))


def test_a_title_gives_a_file_its_name_in_whole_words_without_accents():
    title = "Università di Firenze: edges of a 2048² picture with transfers and more"
    name = "universita-di-firenze-edges-of-a-2048-picture-with-transfers"
    assert session_store.slug(title) == name
    assert session_store.slug("ab" * 40) == "ab" * 30
    assert session_store.slug("Größe × Δ, 5×5") == "große-δ-5x5"


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

    found = run(partial(measuring, PLAN, {}, path, {}), is_as_told)
    assert isinstance(found[0], Began)
    assert found[0].path == path
    assert [each.cell for each in records(told)] == list(found[0].cells)
    assert len(told) == 3 * ROUNDS
    assert read_session(path).plan == PLAN


def test_one_that_was_stopped_is_gone_on_with(tmp_path):
    path = tmp_path / "a.jsonl"
    first = run(partial(measuring, PLAN, {}, path, {}), lambda step: isinstance(step, Record))
    assert len(records(first)) == 1
    rest = run(partial(resuming, path, {}, {}))
    assert [each.cell.width for each in rest[0].session.records] == [4]
    assert len(rest[0].cells) == 3
    assert [each.cell.width for each in records(rest)][:2] == [5, 6]  # not yet in its first round
    kept = read_session(path).records
    assert [len(each.outcome.kernel.rounds) for each in kept] == [ROUNDS] * 3
    assert kept[0].outcome.kernel.samples_ms[: len(first[-1].outcome.kernel.samples_ms)] == tuple(
        float(f"{ms:.6g}") for ms in first[-1].outcome.kernel.samples_ms
    )


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
