"""What all tests share: no display needed, Kodak's pictures, and nothing outlives its test."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Whoever runs tests in the background ignores Ctrl+C, and what tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[1]
BUILDS_VARIABLE = "FILTER_WORKBENCH_BUILDS"
# How quickly examples are made and run says nothing on a machine that has much else to do.
settings.register_profile(
    "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=30
)
settings.load_profile("patient")

# Pools, and the listener of a child, that the library keeps for the process's life.
POOLS = ("workbench-looking", "checks", "opencv-bands", "parallel-tiles", "kernels.cuda_on_cpu")


@pytest.fixture(scope="session")
def kodak() -> Path:
    """The folder with the 24 Kodak pictures, where it lies beside the repository."""
    folder = ROOT.parent / "shared" / "kodak"
    if not (folder / "kodim01.png").is_file():
        pytest.skip("the Kodak pictures are not in ../shared/kodak")
    return folder


@pytest.fixture(scope="session")
def build_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what this session compiles; the same one in all of its processes, and in those
    of a session that one of its tests begins.  To programs its parent is FOLDER_VARIABLE."""
    base = tmp_path_factory.getbasetemp()
    own = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "build" / "cuda-on-cpu"
    folder = Path(os.environ.get(BUILDS_VARIABLE, own))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# Garbage may hold widgets, which only the GUI thread may delete; left to itself Python collects it
# in whichever thread happens to be running.
gc.disable()
TESTS_A_COLLECTION = 12
# Garbage of tests without Qt holds no widgets, and little else.
OTHERS_A_COLLECTION = 64
# What outlived one collection is looked at in every sixteenth only: sessions that are kept for the
# process's life are millions of objects.
COLLECTIONS_A_FULL_ONE = 16
_uncollected = {True: 0, False: 0}  # tests with Qt, and without
_collections = count(1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: windows wait a good part of the time."""
    from kernels.core.cpu_load import usable_cores

    return usable_cores() + 1


def pytest_collection(session: pytest.Session) -> None:
    """Import the tests from another place on in each of several workers.

    Where bytecode is missing, as in a fresh clone, one makes what the others read: to rewrite the
    assertions of all files takes longer than the rest of the collection.  What cannot be imported
    is reported when it is collected.
    """
    worker = getattr(session.config, "workerinput", {"workerid": "gw0", "workercount": 1})
    count, number = worker["workercount"], int(worker["workerid"].removeprefix("gw"))
    if count > 1 and session.config.args == session.config.getini("testpaths"):
        files = sorted((ROOT / "tests").rglob("test_*.py"))
        start = len(files) * number // count
        for file in (*files[start:], *files[:start]):
            with suppress(Exception, pytest.skip.Exception):
                import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Modules and the tests themselves stay: what goes through all objects leaves them out."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def garbage_is_collected_here(request: pytest.FixtureRequest) -> Iterator[None]:
    """In the main thread, after every few tests."""
    yield
    _uncollected[_uses_qt(request)] += 1
    if _uncollected[True] >= TESTS_A_COLLECTION or _uncollected[False] >= OTHERS_A_COLLECTION:
        _uncollected.update({True: 0, False: 0})
        gc.collect(1 if next(_collections) % COLLECTIONS_A_FULL_ONE else 2)


@pytest.fixture(autouse=True)
def nothing_outlives_its_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that used Qt and leaves a thread running or a window open."""
    if not _uses_qt(request):
        yield
        return
    before, started = set(threading.enumerate()), request.getfixturevalue("started_qthreads")
    yield
    left = [*_open_windows(), *_running(started), *_python_threads(before)]
    if left:
        pytest.fail(f"outlives the test: {', '.join(map(str, left))}")


@pytest.fixture(scope="session")
def started_qthreads() -> WeakSet[Any]:
    """All QThreads that were started from now on, while they exist."""
    from PySide6.QtCore import QThread

    started: WeakSet[Any] = WeakSet()
    start = QThread.start

    def start_and_remember(thread: Any, *priority: Any) -> None:
        started.add(thread)
        start(thread, *priority)

    QThread.start = start_and_remember
    return started


def _uses_qt(request: pytest.FixtureRequest) -> bool:
    return not {"qapp", "qtbot"}.isdisjoint(request.fixturenames)


def _open_windows() -> list[Any]:
    from PySide6.QtCore import QCoreApplication, QEvent
    from PySide6.QtWidgets import QApplication

    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    return [window for window in QApplication.topLevelWidgets() if window.isVisible()]


def _running(threads: WeakSet[Any]) -> list[Any]:
    from shiboken6 import isValid

    return [each for each in threads if isValid(each) and each.isRunning()]


def _python_threads(before: set[threading.Thread]) -> list[threading.Thread]:
    new = [each for each in set(threading.enumerate()) - before if not _is_somebody_elses(each)]
    for thread in new:
        thread.join(timeout=2)
    return [thread for thread in new if thread.is_alive()]


def _is_somebody_elses(thread: threading.Thread) -> bool:
    """Pools, and what Python makes up for a QThread and keeps when that has ended."""
    return isinstance(thread, threading._DummyThread) or thread.name.startswith((*POOLS, "asyncio"))


# Helpers are imported as `tests.…`, however pytest was started.
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


@pytest.fixture(scope="module")
def children():
    """Processes for user kernels, on a GPU that is made up."""
    from tests.kernels.cuda_child.conftest import children_of

    made = children_of("fake")
    yield made
    made.end(60)
