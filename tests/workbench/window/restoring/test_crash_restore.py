"""After a crash the last session is offered at the next start, and restored on a click."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton

from kernels.pictures.generated import noise
from tests.workbench.driving import settle, until
from workbench.files import image_files
from workbench.panels.weights.weights_draft import WeightsDraft
from workbench.window import app, remembering
from workbench.window.remembering import read_session_file, session_path

ROOT = __file__.rpartition("tests")[0]
SESSION = f"{ROOT}assets/recorded/goettingen_ladder.jsonl.gz"
UNFINISHED = WeightsDraft((("1", "2", "1"), ("0", "x", "0"), ("-1", "-2", "-1")), "4", "1/2")
KILLED = """
import os
from kernels.engine.engine import Engine
from workbench.base.settings import Settings
from workbench.window import app, remembering
remembering.EVERY_MS = 20
write = remembering._write
def write_and_die(session):
    write(session)
    os._exit(9)
remembering._write = write_and_die
app.run([], lambda: Engine(use_gpu=False), Settings())
"""


@pytest.fixture
def photo(tmp_path):
    path = tmp_path / "photo.png"
    image_files.save(path, noise(60, 80, 3))
    return path


@pytest.fixture
def begun(qtbot, make_window, monkeypatch):
    """Begins with a window as the program does, and saves its session often."""
    monkeypatch.setattr(remembering, "EVERY_MS", 10)
    windows = []

    def begin():
        window = make_window()
        until(qtbot, lambda: window.device is not None)
        windows.append(window)
        window.crash_restore.begin()
        return window

    yield begin
    for window in windows:
        window.crash_restore.end()


def left(session):
    """Write what a window that crashed leaves."""
    session_path().parent.mkdir(parents=True, exist_ok=True)
    data = {"version": remembering.VERSION, "at": time.time(), "window": session}
    session_path().write_text(json.dumps(data))


def saved():
    found = read_session_file()
    return found[0] if found is not None else {}


def restore(qtbot, window):
    until(qtbot, lambda: "not closed" in window.messages.sentence)
    window.messages.findChild(QPushButton, "act").click()


def test_a_killed_process_leaves_its_session(home):
    done = subprocess.run(
        [sys.executable, "-c", KILLED],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        timeout=120,
    )
    assert done.returncode == 9
    assert "choices" in saved()["settings"]


def test_what_is_shown_is_saved_and_back_after_a_crash(qtbot, begun, photo):
    window = begun()
    assert "not closed" not in window.messages.sentence
    settle(qtbot, window, lambda: window.opener.open_file(photo))
    window.store.choose(filter="unsharp", amount=2.5, border="mirror", view_mode="wipe")
    window.store.choose(region=(50, 20, 25, 30, 3))
    window.store.update(implementation="auto")  # as where another gave way
    window.sessions.open(Path(SESSION))
    window.docks.enter("Weights")
    window.weights.get().draw(UNFINISHED)
    until(qtbot, lambda: '"x"' in json.dumps(saved()) and saved()["sessions"] == [SESSION])
    kept = saved()
    window.close()
    window.crash_restore.end()
    assert not session_path().exists()

    left({**kept, "settings": {**kept["settings"], "save-folder": str(photo.parent)}})
    window = begun()
    settle(qtbot, window, lambda: window.opener.open_file(photo))
    away = {"filter": "box", "border": "clamp", "view_mode": "result"}
    window.store.choose(**away, implementation="opencv")
    before = window.store.state
    restore(qtbot, window)
    until(qtbot, lambda: window.store.state.picture is not before.picture)
    until(qtbot, lambda: window.sessions.shown)
    state = window.store.state
    assert state.picture.path == photo
    assert (state.filter, state.amount, state.border) == ("unsharp", 2.5, "mirror")
    assert state.view_mode == "wipe"
    assert state.region == (50, 20, 25, 30, 3)
    assert window.weights.get().drawing == UNFINISHED
    assert window.settings.get("save-folder", "") == str(photo.parent)
    assert (before.implementation, state.implementation) == ("opencv", "auto")
    window.undo_history.undo()  # the same picture, opened again, is no step
    assert window.store.state.filter == "box"


def test_a_session_is_only_offered(qtbot, begun):
    left({"settings": {"choices": {"filter": "unsharp", "ksize": 9}}, "picture": None})
    window = begun()
    window.store.choose(filter="sobel_x")
    assert window.store.state.filter == "sobel_x"
    until(qtbot, lambda: saved()["settings"]["choices"]["filter"] == "sobel_x")
    restore(qtbot, window)
    assert (window.store.state.filter, window.store.state.ksize) == ("unsharp", 9)


def test_nonsense_in_the_file_does_no_harm(qtbot, begun):
    left(
        {
            "settings": {"choices": {"filter": "no such", "ksize": "x"}, "layout": "!", "sweep": 3},
            "picture": {"name": 3},
            "sessions": [3, "/no/such/session.jsonl"],
            "weights": {"cells": [["1", "2"]], "divisor": 3},
        }
    )
    window = begun()
    restore(qtbot, window)
    until(qtbot, lambda: "session.jsonl" in window.messages.sentence)
    assert window.store.state.filter == "gaussian"
    assert window.weights.made is None


def test_a_request_to_end_is_no_crash(qtbot, window):
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    try:
        app.let_ctrl_c_close(window)
        signal.raise_signal(signal.SIGTERM)
        until(qtbot, lambda: not window.isVisible())
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGINT, before[1])
