"""Garbage that holds widgets goes in the GUI thread, however much other threads allocate."""

import gc
import threading

import pytest

from tests.workbench.driving import until
from workbench.base.garbage import GarbageCollector


class Knot:
    """Garbage that only a collector finds, and says which thread did."""

    def __init__(self, ends):
        self.itself = self
        self.ends = ends

    def __del__(self):
        self.ends.append(threading.current_thread())


@pytest.fixture
def collector(qapp):
    made = GarbageCollector()
    yield made
    made.stop()
    made.deleteLater()


def make_garbage(ends):
    Knot(ends)
    for _ in range(5 * gc.get_threshold()[0]):
        Knot([])


def test_garbage_of_another_thread_is_collected_in_this_one(collector, qtbot):
    ends = []
    thread = threading.Thread(target=make_garbage, args=(ends,))
    thread.start()
    thread.join()
    assert ends == []
    until(qtbot, lambda: ends)
    assert ends == [threading.main_thread()]


@pytest.mark.parametrize("ran_before", [True, False])
def test_pythons_own_collector_goes_on_only_if_it_ran_before(ran_before, qapp):
    (gc.enable if ran_before else gc.disable)()
    made = GarbageCollector()
    assert not gc.isenabled()
    made.stop()
    went_on = gc.isenabled()
    gc.disable()  # as tests/conftest.py has it
    assert went_on == ran_before
