"""Many pictures, one by one or several at a time: none keeps the others from being done."""

import errno
import os
from threading import Event
from unittest.mock import Mock
from weakref import ref

import pytest

from kernels import Engine, Sampling
from kernels.pictures.generated import noise
from workbench.batch import batch_run, filtering
from workbench.batch.batch_run import Pausing, in_order, room_for, running
from workbench.batch.filtering import UNTIMED, Outcome, Recipe, encode, filter_, read, sync
from workbench.batch.pairs import FilePair, pairs_of
from workbench.files import image_files
from workbench.model.state import State

CHOSEN = State(filter="identity", ksize=3, implementation="opencv")


@pytest.fixture
def folder(tmp_path):
    """A folder of three pictures, the one in the middle of them no picture."""
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    for number in (1, 3):
        image_files.save(tmp_path / "in" / f"p{number}.png", noise(40, 50, 3))
    (tmp_path / "in" / "p2.png").write_bytes(b"not a picture")
    return tmp_path


def outcomes(folder, recipe=None, output="out/", **how):
    pairs = pairs_of([folder / "in"], f"{folder}/{output}")
    return list(in_order(running(Engine(use_gpu=False), pairs, recipe or Recipe(CHOSEN), **how)))


def test_nothing_is_read_or_written_while_a_filter_is_timed(folder, monkeypatch):
    busy, seen = [], []

    def watched(name):
        real = getattr(batch_run, name)

        def call(*arguments):
            busy.append(name)
            seen.append((name, tuple(busy)))
            try:
                return real(*arguments)
            finally:
                busy.remove(name)

        monkeypatch.setattr(batch_run, name, call)

    for name in ("read", "filter_", "encode", "sync"):
        watched(name)
    for n in range(4):
        image_files.save(folder / "in" / f"m{n}.png", noise(400, 300, 3))
    outcomes(folder, jobs=4)
    assert all(others == ("filter_",) for name, others in seen if name == "filter_")
    assert sum(name == "filter_" for name, _ in seen) == 6


def test_where_nothing_is_timed_files_are_read_while_another_is_filtered(folder, monkeypatch):
    image_files.save(folder / "in" / "p2.png", noise(9, 8, 3))
    read, filter_, is_filtering = batch_run.read, batch_run.filter_, Event()
    overlapped = []

    def late(outcome, *arguments):
        if outcome.index:  # the first one alone is read at once
            overlapped.append(is_filtering.wait(60))
        read(outcome, *arguments)

    def announced(engine, outcome, *arguments):
        is_filtering.set()
        filter_(engine, outcome, *arguments)

    monkeypatch.setattr(batch_run, "read", late)
    monkeypatch.setattr(batch_run, "filter_", announced)
    assert len(outcomes(folder, Recipe(CHOSEN, sampling=UNTIMED), jobs=3)) == 3
    assert overlapped == [True, True]


def test_others_are_written_while_one_waits_for_the_disk(folder, monkeypatch):
    image_files.save(folder / "in" / "p2.png", noise(9, 8, 3))
    encode, sync, is_written = batch_run.encode, batch_run.sync, Event()
    overlapped = []

    def announced(outcome, *arguments):
        encode(outcome, *arguments)
        if outcome.index == 1:
            is_written.set()

    def late(outcome):
        if outcome.index == 0:
            overlapped.append(is_written.wait(60))
            overlapped.append((folder / "out" / "p1.png").exists())
        sync(outcome)

    monkeypatch.setattr(batch_run, "encode", announced)
    monkeypatch.setattr(batch_run, "sync", late)
    found = outcomes(folder, Recipe(CHOSEN, sampling=UNTIMED, check_every=0), jobs=1)
    assert overlapped == [True, False]
    assert [*found[0].seconds] == ["decode", "filter", "encode", "sync"]
    assert {path.name for path in (folder / "out").iterdir()} == {"p1.png", "p2.png", "p3.png"}


def test_where_the_first_fails_the_next_is_checked_in_its_place(folder):
    (folder / "in" / "a.png").write_bytes(b"not a picture")
    found = outcomes(folder, Recipe(CHOSEN, sampling=UNTIMED, check_every=100))
    assert found[0].error is not None
    assert [each.result.check is not None for each in found if each.result] == [True, False]


def test_what_is_written_when_it_is_stopped_comes_to_the_disk_and_is_told(folder, monkeypatch):
    sync, is_written, is_stopped = batch_run.sync, Event(), Event()

    def late(outcome):
        is_written.set()
        assert is_stopped.wait(60)
        sync(outcome)

    def stop(outcome, doing):
        if doing == "filtering with OpenCV" and outcome.index:
            assert is_written.wait(60)
            is_stopped.set()
            raise KeyboardInterrupt

    monkeypatch.setattr(batch_run, "sync", late)
    pairs = pairs_of([folder / "in"], f"{folder}/out/")
    steps = running(Engine(use_gpu=False), pairs, Recipe(CHOSEN, sampling=UNTIMED), 1, stop)
    told = []
    with pytest.raises(KeyboardInterrupt):
        told.extend(outcome.pair.name for outcome in steps)
    assert "p1.png" in told
    assert [path.name for path in (folder / "out").iterdir()] == ["p1.png"]


def test_what_is_filtered_when_it_is_stopped_is_written(folder, monkeypatch):
    read, is_filtered, is_stopped = batch_run.read, Event(), Event()

    def late(outcome, *arguments):
        assert outcome.index == 0 or is_stopped.wait(60)  # so that its writing has to wait
        read(outcome, *arguments)

    def rest():
        if is_filtered.is_set():
            is_stopped.set()
            raise KeyboardInterrupt

    def say(_outcome, doing):
        if doing == "writing":
            is_filtered.set()

    monkeypatch.setattr(batch_run, "read", late)
    pairs = pairs_of([folder / "in"], f"{folder}/out/")
    recipe, pausing = Recipe(CHOSEN, sampling=UNTIMED), Pausing(rest=rest)
    steps = running(Engine(use_gpu=False), pairs, recipe, 1, say, pausing=pausing)
    told = []
    with pytest.raises(KeyboardInterrupt):
        told.extend(outcome.pair.name for outcome in steps)
    assert told[0] == "p1.png"
    assert (folder / "out" / "p1.png").is_file()


@pytest.mark.parametrize(("sampling", "jobs", "most"), [(UNTIMED, 2, 8), (Sampling(), 3, 3)])
def test_only_so_many_pictures_are_in_memory(folder, monkeypatch, sampling, jobs, most):
    for n in range(30):
        image_files.save(folder / "in" / f"m{n}.png", noise(5, 4, 1))
    read, known, seen = batch_run.read, [], []

    def counted(outcome, *arguments):
        read(outcome, *arguments)
        if outcome.picture is not None:
            known.append(ref(outcome.picture.samples))  # which its result holds to the end
        seen.append(sum(each() is not None for each in known))

    monkeypatch.setattr(batch_run, "read", counted)
    pairs = pairs_of([folder / "in"], f"{folder}/out/")
    recipe = Recipe(CHOSEN, sampling=sampling)
    assert room_for(recipe, jobs) == most
    for outcome in running(Engine(use_gpu=False), pairs, recipe, jobs):
        del outcome
    assert len(seen) == 33
    assert max(seen) <= most + 2 * jobs + 1  # what each thread, or the loop, is about to let go of


def test_a_folder_that_was_made_stays_while_another_writes_into_it(folder, monkeypatch):
    """Though the picture that it was made for could not be brought to the disk."""
    new, names = folder / "new", ("p1.png", "p3.png")
    pairs = [FilePair(folder / "in" / name, new / name, new) for name in names]
    recipe = Recipe(CHOSEN, sampling=UNTIMED, check_every=0)
    first, second = (Outcome(pair, index) for index, pair in enumerate(pairs))
    for each in (first, second):
        read(each, recipe)
        filter_(Engine(use_gpu=False), each, recipe, lambda _doing: None)
    encode(first, recipe)
    reduced = filtering.reduced

    def meanwhile(*words):
        with monkeypatch.context() as full:
            full.setattr(os, "fsync", Mock(side_effect=OSError(errno.ENOSPC, "No space left")))
            sync(first)
        return reduced(*words)

    monkeypatch.setattr(filtering, "reduced", meanwhile)
    encode(second, recipe)
    sync(second)
    assert "the disk is full" in first.error
    assert second.error is None
    assert [path.name for path in (folder / "new").iterdir()] == [second.pair.target.name]
