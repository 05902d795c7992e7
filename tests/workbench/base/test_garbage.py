"""The process's memory: garbage, imports and one heap."""

import gc
import platform
import subprocess
import sys
import threading

import pytest

from tests.conftest import ROOT
from tests.workbench.driving import until
from workbench.window.app import GarbageCollector


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


COUNTED = """
import gc
from workbench.base.importing import without_collecting
looks = []
gc.callbacks.append(lambda phase, _: looks.append(phase))
with without_collecting():
    kept = [[] for _ in range(20_000)]
print(len(looks), gc.isenabled(), gc.get_freeze_count() > len(kept))
"""


def test_what_is_imported_is_neither_looked_through_meanwhile_nor_later():
    done = subprocess.run(
        [sys.executable, "-c", COUNTED], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0", "True", "True"]


# Threads that hold memory at the same time; how many heaps there are then, by glibc's own account.
SCRIPT = """
import ctypes, sys, threading, tempfile
if sys.argv[1:] == ["shared"]:
    from workbench.base.memory import share_one_heap
    share_one_heap()
meet = threading.Barrier(4)
def hold():
    held = [bytes(50_000) for _ in range(20)]
    meet.wait()
threads = [threading.Thread(target=hold) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
with tempfile.NamedTemporaryFile() as file:
    out = ctypes.c_void_p(libc.fopen(file.name.encode(), b"w"))
    libc.malloc_info(0, out)
    libc.fclose(out)
    print(file.read().count(b"<heap nr="))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc's malloc")
def test_threads_share_one_heap():
    def heaps(*words):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, *words],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        return int(done.stdout)

    assert heaps("shared") == 1
    assert heaps() > 1  # or this could not fail
