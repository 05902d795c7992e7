"""What the window's tests share: windows that are closed again, and never the user's own files."""

import os

import pytest

from kernels.engine.engine import Engine
from kernels.engine.measurements import FOLDER_VARIABLE
from workbench.base.settings import DIRECTORY_VARIABLE, Settings
from workbench.session import worker
from workbench.window.main_window import MainWindow

# Nobody looks: thousands of tests would wait for what is painted.
worker.PAINTING_S = 0.0


def no_gpu():
    return Engine(use_gpu=False)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder for settings, data and measurements in place of the user's; no power fails there."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # a disk takes its time for it
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "settings"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def make_window(qtbot, home):
    """Makes windows on the screen, by default of a computer without a GPU, and closes them."""
    made = []

    def make(make_engine=no_gpu):
        window = MainWindow(make_engine, Settings())
        qtbot.addWidget(window)
        made.append(window)
        window.show()
        return window

    yield make
    for window in made:
        window.close()


@pytest.fixture
def window(make_window):
    """A window on the screen, with no picture yet."""
    return make_window()
