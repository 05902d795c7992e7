"""What the window's tests share: windows that are closed again, and never the user's own files."""

import math
import os
from functools import partial

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor

from kernels.core import health
from kernels.core.cpu_load import LoadWatch
from kernels.core.safe_files import FOLDER_VARIABLE
from kernels.engine.engine import Engine
from tests.workbench.driving import PATIENCE_MS, until
from tests.workbench.real_screen import Screen
from workbench.base import theme
from workbench.base.background import bugs
from workbench.base.settings import DIRECTORY_VARIABLE, Settings
from workbench.session import batch_process, worker
from workbench.widgets import message_bar
from workbench.window.main_window import MainWindow

SIZE = (1280, 800)
NOWHERE = QPoint(5000, 5000)  # on no screen
WAITS = ("waitUntil", "waitSignal", "waitSignals", "waitCallback", "waitActive", "waitExposed")

# Nobody looks: thousands of tests would wait for what is painted.
worker.PAINTING_S = 0.0


def no_gpu():
    return Engine(use_gpu=False)


@pytest.fixture(autouse=True)
def nobody_else_computes(monkeypatch):
    """What else the machine does while tests run puts no star on their times.

    Nor does a process that gives way to it have to wait for its end.
    """
    monkeypatch.setattr(batch_process, "NICENESS", 0)
    monkeypatch.setattr(LoadWatch, "load", lambda _: None)
    monkeypatch.setattr(health, "UNSTEADY", math.inf)


@pytest.fixture
def qtbot(qtbot):
    """pytest-qt's, but with patience."""
    for name in WAITS:
        setattr(qtbot, name, partial(getattr(qtbot, name), timeout=PATIENCE_MS))
    return qtbot


@pytest.fixture
def home(tmp_path, monkeypatch, build_cache):
    """A folder for settings, data and measurements in place of the user's; no power fails there.

    What is compiled is kept for all tests.
    """
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "cuda-on-cpu").symlink_to(build_cache)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # a disk takes its time for it
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "settings"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def kernels(home, monkeypatch):
    """The user's folder of kernels, with none in it."""
    monkeypatch.setenv("FILTER_WORKBENCH_KERNELS", str(home / "kernels"))
    (home / "kernels").mkdir()
    return home / "kernels"


@pytest.fixture
def bugs_met():
    """The bugs that were reported during the test: sentence and traceback of each."""
    met = []

    def note(*bug):
        met.append(bug)

    bugs.met.connect(note)
    yield met
    bugs.met.disconnect(note)


@pytest.fixture(scope="session")
def themed(qapp):
    """The application in the program's style and letters, whatever test comes first."""
    theme.apply(qapp, "light")


@pytest.fixture
def put_up(qtbot, themed):
    """Puts a widget on the screen in a size, width and height, by itself; closes it at the end."""

    def show(widget, *size):
        qtbot.addWidget(widget)
        widget.resize(*size)
        widget.show()
        return widget

    return show


@pytest.fixture
def make_window(qtbot, themed, home, monkeypatch):
    """Makes windows on the screen, by default of a computer without a GPU, and closes them."""
    monkeypatch.setattr(message_bar, "INFO_MS", PATIENCE_MS)  # so that a slow test still reads it
    made = []

    def make(make_engine=no_gpu):
        QCursor.setPos(NOWHERE)  # else what a test before pointed at is lit from the beginning
        window = MainWindow(make_engine, Settings())
        qtbot.addWidget(window)
        made.append(window)
        window.setWindowState(Qt.WindowState.WindowNoState)  # the made-up screen is small
        window.resize(*SIZE)
        window.show()
        return window

    yield make
    for window in made:
        window.leave()


@pytest.fixture
def window(make_window, qtbot):
    """A window on the screen, with no picture yet, that has said what it knows of the GPU."""
    made = make_window()
    until(qtbot, lambda: made.device is not None)
    return made


@pytest.fixture
def screen(tmp_path, monkeypatch):
    """A real screen, which nobody sees."""
    screen = Screen(tmp_path)
    try:
        if reason := screen.why_not(monkeypatch):
            pytest.skip(reason)
        yield screen
    finally:
        screen.close()
