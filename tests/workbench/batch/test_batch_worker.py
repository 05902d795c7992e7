"""A worker of a batch, called in this process."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import sleep

import pytest

from kernels.pictures.generated import noise
from workbench.batch import batch_worker
from workbench.batch.batch_worker import Order, any_engine
from workbench.batch.filtering import Recipe
from workbench.batch.pairs import FilePair
from workbench.files import image_files
from workbench.model.state import State

SOON_S = 10


@pytest.fixture
def order():
    """The work of a worker that has no GPU."""
    recipe = Recipe(State(filter="identity", ksize=3))
    return Order("a batch", None, any_engine, recipe, jobs=1, processes=1)


@pytest.fixture
def advance():
    """Call a worker as another process does, which waits no longer than a moment."""
    pool = ThreadPoolExecutor(1)
    yield lambda order, tasks=(): pool.submit(batch_worker.advance, order, tasks).result(SOON_S)
    pool.shutdown(wait=False)
    batch_worker._stations.clear()


def finished():
    """Wait until the worker has done all that it was told."""
    batch_worker._thread.submit(int).result(SOON_S)


def test_a_call_that_comes_after_the_stop_has_its_answer(order, advance):
    assert advance(order).is_hungry
    batch_worker.stop(order.run)
    finished()
    assert [advance(order).ended, advance(order).ended] == ["stopped"] * 2


def test_what_was_written_before_the_stop_is_told_after_it(order, advance, tmp_path):
    image_files.save(tmp_path / "a.png", noise(8, 8, 3))
    pair = FilePair(tmp_path / "a.png", tmp_path / "out.png", tmp_path)
    advance(order)
    station = batch_worker._stations[order.run]
    station._tasks.put((0, pair))
    batch_worker._thread.submit(station._filter)
    finished()
    batch_worker.stop(order.run)
    finished()
    news = advance(order)
    assert (news.ended, [each.status for each in news.finished]) == ("stopped", ["done"])


def test_a_batch_that_is_stopped_before_its_first_call_makes_no_engine(order, advance):
    batch_worker.stop(order.run)
    assert advance(order).ended == "stopped"


def test_a_call_whose_news_another_one_took_returns_none(order, advance, monkeypatch):
    monkeypatch.setattr(batch_worker, "NEWS_S", 0.01)
    slow = replace(order, make_engine=lambda device: sleep(0.1) or any_engine(device))
    assert advance(slow).is_hungry
    assert not advance(slow)


def test_an_engine_goes_with_its_batch_though_nobody_calls_again(order, advance):
    made = []

    def make_engine(device):
        engine = any_engine(device)
        made.append(weakref.ref(engine))
        return engine

    advance(replace(order, make_engine=make_engine))
    batch_worker.stop(order.run)
    batch_worker.stop(order.run)  # a cluster does so twice after Ctrl+C
    finished()
    gc.collect()
    assert [each() for each in made] == [None]
