"""A batch on a cluster, as far as it can be seen without one: checks, slices, failures."""

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event
from time import monotonic
from types import SimpleNamespace

import pytest

from kernels.pictures.generated import noise
from workbench.batch import batch_worker, cluster
from workbench.batch.batch_run import Pausing
from workbench.batch.cluster import ClusterError, ClusterRun
from workbench.batch.device_run import AT_ONCE
from workbench.batch.filtering import UNTIMED, Recipe
from workbench.batch.pairs import FilePair, FilePairs, Group
from workbench.cli import main
from workbench.files import image_files
from workbench.model.state import State

WORKERS = {"tcp://a:1": 1, "tcp://a:2": 1, "tcp://b:1": 1}


class Bound(ThreadPoolExecutor):
    """The executor of one worker, which is a thread of this process."""

    def __init__(self, client, workers, **how):
        super().__init__(1)
        self.client, (self.address,) = client, workers

    def submit(self, function, order, tasks):
        self.client.handed_out.append(len(tasks))
        own = replace(order, run=f"{order.run} of {self.address}")
        return super().submit(self._call, function, own, tasks)

    def _call(self, function, order, tasks):
        if tasks and self.address in self.client.broken:
            self.client.broke.set()
            raise self.client.broken[self.address]
        if tasks and self.client.broken:  # it is to have pictures, however quick the others are
            assert self.client.broke.wait(60)
        return function(order, tasks)


class Client:
    """What a cluster is asked through; its workers are this process."""

    def __init__(self, workers=WORKERS, answers=None):
        self.workers, self.answers = workers, answers or {}
        self.handed_out, self.broken, self.come, self.stopped = [], {}, [], set()
        self.broke = Event()

    @property
    def scheduler(self):
        """What it is asked for through `sync`."""
        beats = {each: 0 if each in self.stopped else monotonic() for each in self.workers}
        workers = {each: {"last_seen": beat} for each, beat in beats.items()}
        return SimpleNamespace(identity=lambda: {"workers": workers})

    def sync(self, question, callback_timeout, **words):
        return question(**words)

    def wait_for_workers(self, count, timeout):
        self.workers = {**self.workers, **dict.fromkeys(self.come, 1)}
        if len(self.workers) < count:
            raise TimeoutError

    def run(self, question, *words, workers=None, on_error="raise"):
        if question is batch_worker.stop:
            return [question(f"{words[0]} of {each}") for each in self.workers]
        return {
            each: self.answers.get((question.__name__, each)) or question(*words)
            for each in workers or self.workers
        }

    def get_executor(self, **how):
        return Bound(self, **how)

    def close(self):
        pass


@pytest.fixture
def connect(monkeypatch):
    """Return what connects to workers that are this process."""

    def connected(**how):
        client = Client(**how)
        monkeypatch.setattr(cluster, "connected", lambda _: client)
        monkeypatch.setattr(cluster, "APPEARS_S", 0.0)
        return client

    return connected


def run(**recipe):
    recipe = Recipe(State(filter="sharpen", ksize=3), sampling=UNTIMED, **recipe)
    made = ClusterRun("tcp://a:1", print)
    made.prepare(recipe, None, jobs=1)
    return made


def pairs(folder, count):
    (folder / "in").mkdir()
    for n in range(count):
        image_files.save(folder / f"in/{n}.png", noise(9, 8, 3))
    return [FilePair(folder / f"in/{n}.png", folder / f"{n}.png") for n in range(count)]


def test_without_the_extra_it_is_said_how_to_get_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    image_files.save(tmp_path / "a.png", noise(9, 8, 3))
    words = ["batch", str(tmp_path / "a.png"), str(tmp_path / "out"), "--scheduler", "tcp://a:1"]
    assert main.main(words) == 1
    assert "pip install" in (said := capsys.readouterr().err)
    assert "[cluster]" in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_with_fewer_workers_than_were_asked_for_it_begins_and_says_so(connect):
    client, said = connect(), []
    client.come = ["tcp://c:1"]
    assert len(ClusterRun("tcp://a:1", said.append, 9).addresses) == 4
    (sentence,) = said[1:]
    assert sentence.startswith("4 of 9 workers")


def test_a_worker_of_another_version_or_of_none_is_named(connect, tmp_path):
    for other, words in [
        (("Filter Workbench 0.0 on Python 3.11", 2), "Filter Workbench 0.0 on Python 3"),
        (ModuleNotFoundError("No module named 'workbench'"), "No module named 'workbench'"),
    ]:
        connect(answers={("facts", "tcp://b:1"): other})
        with pytest.raises(ClusterError, match=f"tcp://b:1 .*{words}"):
            ClusterRun("tcp://a:1", print).check(tmp_path / "out", None)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("answer", ["does not see /out", "cannot write into /out (it is full)"])
def test_storage_that_a_computer_does_not_share_is_named(connect, tmp_path, answer):
    connect(answers={("look", "tcp://b:1"): answer})
    made = FilePairs([Group(tmp_path, tmp_path / "new" / "out", ())]).without_empty_folders()
    with made, pytest.raises(ClusterError, match=r"b:1 .*; a cluster needs storage") as e:
        ClusterRun("tcp://a:1", print).check(tmp_path / "new" / "out", None)
    assert answer in str(e.value)
    assert not (tmp_path / "new").exists()


def test_pairs_go_by_absolute_paths_and_every_nth_is_verified(connect, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    client, todo = connect(), pairs(Path(), 8) * 5
    rows = list(run(check_every=7).outcomes(todo))
    assert max(client.handed_out) == AT_ONCE
    assert Counter(row.pair.target.name for row in rows) == {f"{n}.png": 5 for n in range(8)}
    assert sum("verify" in row.seconds for row in rows) == 6
    assert {row.pair.source_shown for row in rows} == {str(Path(f"in/{n}.png")) for n in range(8)}


class LostWorkerError(Exception):
    """What comes of a call to a worker that is gone."""


def test_pictures_of_a_lost_worker_are_done_by_others_and_it_gets_no_more(
    connect, tmp_path, capsys
):
    client, todo = connect(), pairs(tmp_path, 12)
    client.broken["tcp://a:2"] = LostWorkerError("It went down.")
    rows = list(run().outcomes(todo))
    assert {row.pair.target.name: row.status for row in rows} == {
        f"{n}.png": "done" for n in range(12)
    }
    said = capsys.readouterr().out
    assert said.count("tcp://a:2 is lost") == 1
    assert "to be done again" in said


def test_where_no_worker_is_left_it_is_said_that_a_resume_does_the_rest(connect, tmp_path):
    client, todo = connect(workers={"tcp://a:1": 1}), pairs(tmp_path, 3)
    client.broken["tcp://a:1"] = LostWorkerError("It went down.")
    with pytest.raises(ClusterError, match=r"went down.*--resume"):
        list(run().outcomes(todo))


def test_where_all_are_silent_it_rests_until_one_answers_again(connect, monkeypatch, capsys):
    client, made, clock = connect(), run(), count()
    monkeypatch.setattr(cluster, "monotonic", lambda: next(clock))
    client.stopped = {*client.workers}
    while made._talking:
        made._look()
    come = partial(vars(client).update, workers=["tcp://a:2"], stopped=())
    monkeypatch.setattr(cluster, "sleep", lambda _: come())
    made._none_left("")
    said = capsys.readouterr().out
    assert "tcp://a:1 is gone." in said
    assert "tcp://a:2 answers again." in said


def test_while_it_is_paused_what_is_handed_out_is_waited_for_and_no_more(connect, tmp_path):
    connect(workers={"tcp://a:1": 1})
    todo, paused = pairs(tmp_path, 16), [False]
    rest = Counter()

    def is_paused():
        rest["asked"] += paused[0]
        return paused[0] and rest["asked"] < 8

    rows = run().outcomes(todo, Pausing(is_paused))
    next(rows)
    paused[0] = True
    found = [next(rows)]
    for row in rows:
        found.append(row)
        if rest["asked"] >= 8:
            break
    assert len(found) + 1 < 16
    assert len(found) + 1 + len(list(rows)) == 16
