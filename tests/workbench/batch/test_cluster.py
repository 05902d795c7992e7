"""A batch on a cluster, as far as it can be seen without one: checks, slices, failures."""

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from time import monotonic
from types import SimpleNamespace

import pytest

from kernels.pictures.generated import noise
from workbench.batch import cluster, cluster_work
from workbench.batch.batch_run import Pausing
from workbench.batch.cluster import Cluster, ClusterError
from workbench.batch.cluster_work import Work, WorkerFacts
from workbench.batch.filtering import UNTIMED, Recipe
from workbench.batch.pairs import FilePair
from workbench.cli import main
from workbench.files import image_files
from workbench.model.state import State

WORKERS = {"tcp://a:1": 1, "tcp://a:2": 1, "tcp://b:1": 1}


class Future:
    """A slice that is done at once."""

    def __init__(self, key, function, words):
        self.key, self.error = key, None
        try:
            self.answer = function(*words)
        except KilledWorker as error:
            self.error = error
        self.status = "finished" if self.error is None else "error"

    def add_done_callback(self, callback):
        callback(self)

    def result(self):
        return self.answer

    def exception(self):
        return self.error


class Client:
    """What a cluster is asked through; its workers are this process."""

    def __init__(self, workers=WORKERS, answers=None):
        self.workers, self.answers = workers, answers or {}
        self.handed_out, self.is_closed, self.come = [], False, []

    @property
    def scheduler(self):
        """What it is asked for through `sync`."""
        workers = {each: {"last_seen": monotonic()} for each in self.workers}
        return SimpleNamespace(identity=lambda: {"workers": workers})

    def sync(self, question, callback_timeout, **words):
        return question(**words)

    def wait_for_workers(self, count, timeout):
        if not self.come:
            raise TimeoutError
        self.workers = {**self.workers, self.come.pop(): 1}
        assert len(self.workers) >= count

    def run(self, question, *words, workers=None, on_error="raise"):
        return {
            each: self.answers.get((question.__name__, each)) or question(*words)
            for each in workers or self.workers
        }

    def submit(self, function, work, part, **how):
        self.handed_out.append(len(part.pairs))
        return Future(len(self.handed_out), function, (work, part))

    def cancel(self, futures):
        pass

    def close(self):
        self.is_closed = True


@pytest.fixture
def connect(monkeypatch):
    """Return what connects to workers that are this process."""

    def connected(**how):
        client = Client(**how)
        monkeypatch.setattr(cluster, "connected", lambda _: client)
        monkeypatch.setattr(cluster_work, "APPEARS_S", 0.0)
        return client

    return connected


def work(folder):
    recipe = Recipe(State(filter="sharpen", ksize=3), sampling=UNTIMED)
    return Work("run", folder, recipe, use_gpu=False)


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
    assert Cluster("tcp://a:1", said.append, 9).workers == 4
    (sentence,) = said[1:]
    assert sentence.startswith("4 of the 9 workers")


def test_a_worker_of_another_version_or_of_none_is_named(connect, tmp_path):
    facts = cluster_work.facts()
    for other, words in [
        (WorkerFacts("0.0", facts.python, 2), "tcp://b:1 runs Filter Workbench 0.0 on Python 3"),
        (WorkerFacts(facts.program, "2.7", 2), "on Python 2.7, and this is Filter Workbench"),
        (ModuleNotFoundError("No module named 'workbench'"), r"\(No module named 'workbench'\)"),
    ]:
        connect(answers={("facts", "tcp://b:1"): other})
        with pytest.raises(ClusterError, match=words):
            Cluster("tcp://a:1", print).check(tmp_path / "out", None)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("answer", ["does not see /out", "cannot write into /out (it is full)"])
def test_storage_that_a_computer_does_not_share_is_named(connect, tmp_path, answer):
    connect(answers={("look", "tcp://b:1"): answer})
    with pytest.raises(ClusterError, match=r"tcp://b:1 .*; a cluster needs storage that all") as e:
        Cluster("tcp://a:1", print).check(tmp_path / "new" / "out", None)
    assert answer in str(e.value)
    assert not (tmp_path / "new").exists()


def test_pairs_go_in_slices_by_absolute_paths_and_every_nth_is_verified(
    connect, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cluster, "MAX_SLICE", 3)
    client, todo = connect(), pairs(Path(), 8) * 5
    asked = work(tmp_path)
    asked = replace(asked, recipe=replace(asked.recipe, check_every=7))
    rows = list(Cluster("tcp://a:1", print).rows(asked, todo, len(todo)))
    assert client.handed_out == [3] * 13 + [1]
    assert Counter(row.output for row in rows) == {f"{n}.png": 5 for n in range(8)}
    assert sum("verify" in row.seconds for row in rows) == 6
    assert {row.source for row in rows} == {str(Path(f"in/{n}.png")) for n in range(8)}


class KilledWorker(BaseException):
    """As distributed's own: it comes in place of an answer."""


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (RuntimeError("It went down."), "RuntimeError: It went down."),
        (KilledWorker(), "workers were lost over it, again and again."),
    ],
)
def test_a_picture_that_a_slice_fails_over_is_found_and_said(
    connect, tmp_path, monkeypatch, error, sentence
):
    client, todo, real = connect(), pairs(tmp_path, 9), cluster_work.running

    def running(engine, some, *words, **how):
        some = list(some)
        if todo[4] in some:
            raise error
        return real(engine, some, *words, **how)

    monkeypatch.setattr(cluster_work, "running", running)
    monkeypatch.setattr(cluster, "TURNS", 1)
    rows = {row.output: row for row in Cluster("tcp://a:1", print).rows(work(tmp_path), todo, 9)}
    assert client.handed_out == [3, 3, 3, 1, 1, 1]
    assert [name for name, row in rows.items() if row.status != "done"] == ["4.png"]
    assert rows["4.png"].error.startswith("4.png: ")
    assert rows["4.png"].error.endswith(sentence)
    assert len(rows) == 9


def test_while_it_is_paused_what_is_handed_out_is_waited_for_and_no_more(connect, tmp_path):
    client, todo, paused = connect(), pairs(tmp_path, 12), [False]
    pausing = Pausing(lambda: paused[0])
    rows = Cluster("tcp://a:1", print).rows(work(tmp_path), todo, 12, pausing)
    next(rows)
    assert client.handed_out == [1] * 6  # two for each worker
    paused[0] = True
    for _ in range(5):
        next(rows)
    assert client.handed_out == [1] * 6
    paused[0] = False
    assert len(list(rows)) == 6
