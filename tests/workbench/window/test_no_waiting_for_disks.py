"""The GUI thread looks at no file that is opened, dropped or pasted: its drive may be slow."""

import os
import sys
import threading

import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from kernels.pictures.generated import noise
from kernels.sweeps.session_files import SessionFile
from tests.first_kernel import steps
from tests.made_sessions import a_session
from tests.workbench.driving import answer_file_dialogs, drop, settle, trigger, until
from workbench.base.paths import DATA_VARIABLE
from workbench.files.image_files import save
from workbench.session import session_store
from workbench.session.kernel_folder import FOLDER_VARIABLE
from workbench.widgets.actions import plain

LOOKING = ("stat", "lstat", "access", "readlink")  # of these Python tells nobody
EVENTS = ("open", "os.listdir", "os.scandir", "os.walk", "os.rename", "os.remove", "os.mkdir")


@pytest.fixture(scope="module")
def looked():
    """Files that the GUI thread touched, with what it did to them: a list for all tests here.

    An audit hook stays for ever.
    """
    found, begun = [], []

    def hear(event, arguments):
        if begun and event in EVENTS and threading.current_thread() is threading.main_thread():
            found.append((event, str(arguments[0])))

    sys.addaudithook(hear)
    begun.append(True)
    yield found
    begun.clear()


@pytest.fixture
def touched(looked, tmp_path, monkeypatch):
    """Return a function that names what the GUI thread did to files below `tmp_path`."""

    def watched(name):
        real = getattr(os, name)

        def look(path, *more, **how):
            if threading.current_thread() is threading.main_thread():
                looked.append((name, os.fsdecode(path) if not isinstance(path, int) else ""))
            return real(path, *more, **how)

        return look

    for name in LOOKING:
        monkeypatch.setattr(os, name, watched(name))
    looked.clear()
    return lambda: [each for each in looked if each[1].startswith(str(tmp_path / "far"))]


@pytest.fixture
def far(tmp_path):
    """A folder with two pictures, a session's folder, a plan and what is nothing."""
    far = tmp_path / "far"
    (far / "measured").mkdir(parents=True)
    for name in ("a.png", "b.png"):
        save(far / name, noise(20, 30, 3))
    (far / "measured" / "session.jsonl").write_text("no session\n")
    (far / "plan.toml").write_text('title = "a plan"\n')
    (far / "notes.txt").write_text("no picture")
    return far


def pasted(window, *paths):
    content = QMimeData()
    content.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    QGuiApplication.clipboard().setMimeData(content)
    trigger(window, "Paste picture")


def pasted_as_text(window, path):
    QGuiApplication.clipboard().setText(str(path))
    trigger(window, "Paste picture")


WAYS = {
    "dropped": drop,
    "pasted": pasted,
    "pasted as text": pasted_as_text,
    "named": lambda window, path: window.intake.open_paths([path]),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_picture_or_a_folder_is_looked_at_by_another_thread(qtbot, window, far, touched, way):
    for name, opened in (("b.png", "b.png"), ("", "a.png")):
        settle(qtbot, window, lambda name=name: WAYS[way](window, far / name))
        assert window.store.state.picture.name == opened
    assert touched() == []


def test_so_is_the_place_to_save_in(qtbot, window, far, touched, monkeypatch):
    settle(qtbot, window, lambda: window.intake.open_paths([far / "a.png"]))
    answer_file_dialogs(monkeypatch, far / "result", kind="PNG (*.png)")
    trigger(window, "Save result as…")
    until(qtbot, lambda: "Saved result.png" in window.messages.sentence)
    assert touched() == []


@pytest.mark.parametrize("title", ["Recent sessions", "Recorded sessions"])
def test_so_are_the_lists_of_sessions(qtbot, window, far, touched, monkeypatch, title):
    session = a_session("sizes")
    for name in ("one.jsonl", "two.jsonl"):
        SessionFile.create(far / name, session.plan, session.machine).close()
    monkeypatch.setattr(session_store, "folder", lambda: far)
    monkeypatch.setattr(session_store, "asset", lambda _: far)
    (menu,) = [each for each in window.findChildren(QMenu) if plain(each.title()) == title]
    before = len(touched())  # of this thread, which made them
    for _ in range(3):
        menu.aboutToShow.emit()
    until(qtbot, lambda: any("one.jsonl" in each.toolTip() for each in menu.actions()))
    assert touched()[before:] == []
    assert all(each.isEnabled() for each in menu.actions())


def test_so_is_a_user_kernel(qtbot, window, far, touched, monkeypatch):
    """Opened, typed into, saved, changed outside, left for another, and what it left offered."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(far / "kernels"))
    monkeypatch.setenv(DATA_VARIABLE, str(far / "data"))
    (far / "kernels").mkdir()
    mine = far / "kernels" / "mine.cu"
    mine.write_text(steps()[6], encoding="utf-8")
    before = len(touched())  # of this thread, which made it
    window.kernel_menu.open_file(mine)
    page = window.kernel.get()
    until(qtbot, lambda: page.path == mine)
    page.entrance.insertPlainText("// typed\n")
    trigger(window, "Save kernel")
    until(qtbot, lambda: not page.findChild(QWidget, "kernel-name").text().endswith("not saved"))
    page.entrance.insertPlainText("// and more\n")
    page.files.begin_new("")
    until(qtbot, lambda: page.findChild(QWidget, "kernel-unsaved").isVisible())
    window.kernel_menu.open_file(far / "gone.cu")
    until(qtbot, lambda: "gone.cu" in window.messages.sentence)
    assert touched()[before:] == []


def test_the_watch_notices_a_look(far, touched):
    assert (far / "a.png").is_file()
    assert os.listdir(far)  # noqa: PTH208
    assert (far / "a.png").read_bytes()
    path = str(far / "a.png")
    assert touched() == [("stat", path), ("os.listdir", str(far)), ("open", path)]
