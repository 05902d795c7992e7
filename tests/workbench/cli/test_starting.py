"""The program starts, whatever is remembered and cannot be had any more: a sentence says so."""

import json
import os
import signal
import sys

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QPushButton

from kernels.core.safe_files import FOLDER_VARIABLE
from kernels.pictures.generated import noise
from tests.compilers import needs_compiler
from tests.first_kernel import steps
from tests.workbench.driving import PATIENCE_MS, trigger
from workbench.base.paths import DATA_VARIABLE
from workbench.base.settings import DIRECTORY_VARIABLE, default_path
from workbench.cli import main
from workbench.files import image_files
from workbench.files.image_files import PictureRef
from workbench.model import choices
from workbench.model.state import FACTS, State
from workbench.session.kernel_folder import kernels_folder
from workbench.window import app
from workbench.window.main_window import MainWindow
from workbench.window.remembering import session_path

BUG = "Something went wrong here"


class Start:
    """One start of the program, as a user does it, until its window is closed again.

    seen     what the window said, in order
    is_done  whether it may be closed; it is asked with the window, again and again
    act      what is done then
    """

    def __init__(self, monkeypatch, words, is_done, act):
        self.seen, self._is_done, self._act = [], is_done, act
        self._window = None
        made = lambda *given: self._take(MainWindow(*given))  # noqa: E731
        monkeypatch.setattr(app, "MainWindow", made)
        self._timer = QTimer()
        self._timer.timeout.connect(self._look)
        self._timer.start(10)
        QTimer.singleShot(PATIENCE_MS, self._timer, lambda: QApplication.exit(99))
        self.code = main.main(words)
        self._timer.stop()

    def _take(self, window):
        self._window = window
        self.state = window.store.state
        self._note()
        return window

    def _note(self):
        said = self._window.messages.sentence
        if said and said not in self.seen:
            self.seen.append(said)

    def _look(self):
        window = self._window
        if window is None:
            return
        self._note()
        if window.device and window.store.state.picture and self._is_done(window):
            self._timer.stop()
            try:
                self._act(window)
            except BaseException:
                QApplication.exit(98)
                raise
            self.state = window.store.state
            window.close()


def is_settled(window):
    return window.live.result is not None


@pytest.fixture
def start(monkeypatch, home, themed):
    """A function that starts the program without a GPU and returns its Start."""
    hook = sys.excepthook
    handlers = [(each, signal.getsignal(each)) for each in (signal.SIGINT, signal.SIGTERM)]

    def run(*words, is_done=is_settled, act=lambda _: None):
        started = Start(monkeypatch, ["--no-gpu", *words], is_done, act)
        assert started.code == 0, started.seen
        assert not [each for each in started.seen if BUG in each]
        return started

    yield run
    sys.excepthook = hook
    for each, handler in handlers:
        signal.signal(each, handler)


def remember(**values):
    default_path().parent.mkdir(parents=True, exist_ok=True)
    default_path().write_text(json.dumps({"version": 1, **values}))


@pytest.mark.parametrize("value", ["gone.cu", [[1e38] * 3] * 3], ids=repr)
def test_it_starts_where_no_field_of_the_state_can_be_had(start, value):
    """A field that is new is among them, and one that makes no sense is named."""
    remember(choices=dict.fromkeys(FACTS, value))
    started = start()
    (sentence, *_) = started.seen or [""]
    lost = [name for name in choices.NAMES if name not in choices.from_data({name: value}, State())]
    assert lost
    assert [name for name in lost if FACTS[name].label not in sentence] == []


def test_what_is_gone_is_named(start, tmp_path):
    remember(theme="neon", folder=str(tmp_path / "stick"), choices={"filter": "sharpest"})
    said = " ".join(start(is_done=lambda window: "stick" in window.messages.sentence).seen)
    for each in ("neon", "sharpest", "stick"):
        assert each in said
    assert "stick" not in " ".join(start().seen)  # it was told
    assert json.loads(default_path().read_text())["folder"] == str(tmp_path / "stick")
    (tmp_path / "stick").mkdir()
    start()
    (tmp_path / "stick").rmdir()
    start(is_done=lambda window: "stick" in window.messages.sentence)  # it was there meanwhile


# -- kernels of the user's own


@pytest.fixture
def mine(home):
    path = kernels_folder() / "right.cu"
    path.parent.mkdir(parents=True)
    path.write_text(steps()[6], encoding="utf-8")
    return path


def choose_in_palette(window):
    trigger(window, "All actions…")
    palette = window.findChild(QDialog, "palette")
    QTest.keyClicks(palette.findChild(QLineEdit, "palette-line"), "right.cu")
    QTest.keyClick(palette.findChild(QLineEdit, "palette-line"), Qt.Key.Key_Return)
    QApplication.processEvents()  # what was found is done once the dialog is gone
    assert window.store.state.implementation == "right.cu"


@needs_compiler
def test_a_kernel_that_was_chosen_is_chosen_at_the_next_start(start, mine):
    start(is_done=lambda window: "right.cu" in window.kernel_folder.kernels, act=choose_in_palette)
    is_own = lambda window: window.store.state.own_kernel is not None  # noqa: E731
    started = start("--filter", "box", is_done=is_own)
    assert started.state.implementation == "right.cu"
    assert started.state.own_kernel.path == mine
    assert started.seen == []


@needs_compiler
def test_one_that_is_named_is_chosen_and_shown(start, tmp_path):
    path, picture = tmp_path / "mine.cu", tmp_path / "a.png"
    path.write_text(steps()[6], encoding="utf-8")
    image_files.save(picture, noise(40, 50, 3))
    shown = []

    def is_tried(window):
        result = window.live.result
        return result and result.check and window.kernel.get().is_tried

    def look(window):
        result, page = window.live.result, window.kernel.get()
        shown.extend(
            (result.implementation, result.check.ok, page.path, page.trying.verdict[1] is not None)
        )

    words = (str(picture), "--implementation", str(path), "--size", "3")
    start(*words, is_done=is_tried, act=look)
    assert shown == ["mine.cu", True, path, True]


@needs_compiler
def test_one_that_is_gone_is_a_sentence(start, mine):
    start(is_done=lambda window: "right.cu" in window.kernel_folder.kernels, act=choose_in_palette)
    mine.unlink()
    started = start(is_done=lambda window: window.store.state.implementation == "opencv")
    assert "right.cu" in started.seen[-1]
    assert start().seen == []


def test_a_kernel_that_makes_none_any_more_is_a_sentence(start, home):
    path = kernels_folder() / "mine.cu"
    path.parent.mkdir(parents=True)
    path.write_text("not a kernel\n", encoding="utf-8")
    remember(choices={"implementation": "mine.cu"})
    started = start(is_done=lambda window: "mine.cu" in window.messages.sentence)
    assert started.state.implementation == "opencv"


NO_FILES = {
    "a pipe": os.mkfifo if hasattr(os, "mkfifo") else None,
    "below a file": lambda path: path.parent.joinpath("b").write_text(""),
}


@pytest.mark.skipif(sys.platform == "win32", reason="about files that only POSIX has")
@pytest.mark.parametrize("kind", NO_FILES)
def test_a_file_of_the_kernel_panel_that_is_none_is_a_sentence(start, tmp_path, kind):
    NO_FILES[kind](tmp_path / "last.cu")
    path = tmp_path / "b" / "last.cu" if kind == "below a file" else tmp_path / "last.cu"
    remember(kernel={"path": str(path), "recent": [str(path)]})
    entered = []

    def look(window):
        if not entered:
            entered.append(window.docks.enter("Kernel"))
        return "last.cu" in window.messages.sentence

    start(is_done=look)


@pytest.mark.skipif(sys.platform == "win32", reason="about files that only POSIX has")
def test_a_folder_of_kernels_that_is_none_keeps_nothing_from_starting(start, home):
    kernels_folder().parent.mkdir(parents=True)
    os.mkfifo(kernels_folder())
    remember(choices={"implementation": "mine.cu"})
    start(is_done=lambda window: "mine.cu" in window.messages.sentence)


# -- what a crash left


LEFT = {
    "of a newer version": {"version": 99, "at": 1.7e9, "window": {}},
    "of other types": {"version": 1, "at": 1.7e9, "window": {"settings": 1, "picture": [2]}},
}


@pytest.mark.parametrize("left", LEFT.values(), ids=LEFT)
def test_it_starts_whatever_a_crash_left(start, left):
    session_path().parent.mkdir(parents=True, exist_ok=True)
    session_path().write_text(json.dumps(left))
    start()
    assert not session_path().exists()


def test_a_picture_that_a_crash_left_and_that_is_gone_is_a_sentence(start, tmp_path):
    ref = PictureRef(name="gone.png", path=tmp_path / "stick" / "gone.png").to_data()
    layouts = {"1x1": {"window": [1, 2]}}
    window = {"settings": {"layouts": layouts}, "picture": ref}
    session_path().parent.mkdir(parents=True, exist_ok=True)
    session_path().write_text(json.dumps({"version": 1, "at": 4e9, "window": window}))
    pressed = []

    def restore(window):
        offer = window.messages.findChild(QPushButton, "act")
        if not pressed and offer.isVisible():
            pressed.append(offer.click())
        return pressed and "gone.png" in window.messages.sentence

    start(is_done=restore)


# -- the settings file


MADE = {
    "a pipe": os.mkfifo if hasattr(os, "mkfifo") else None,
    "cut short": lambda path: path.write_text('{"version": 1, "choices": {"fil'),
    "newer": lambda path: path.write_text('{"version": 99, "choices": {"filter": "box"}}'),
    "a loop": lambda path: path.symlink_to(path),
}


@pytest.mark.skipif(sys.platform == "win32", reason="about files that only POSIX has")
@pytest.mark.parametrize("kind", MADE)
def test_a_settings_file_of_another_kind_is_a_sentence(start, capsys, kind):
    default_path().parent.mkdir(parents=True, exist_ok=True)
    MADE[kind](default_path())
    assert "settings" in start().seen[0]
    assert "Traceback" not in capsys.readouterr().err


def test_a_window_that_was_on_a_screen_that_is_gone_starts_in_sight(start):
    start()
    kept = json.loads(default_path().read_text())
    for each in kept["layouts"].values():
        each["window"] = [20_000, 30_000, 900, 600]
    remember(**{name: value for name, value in kept.items() if name != "version"})
    start(is_done=lambda window: is_settled(window) and window.isVisible())


@pytest.mark.skipif(sys.platform == "win32", reason="/dev/null is POSIX's")
def test_it_starts_and_ends_where_nothing_can_be_kept(start, monkeypatch, capsys):
    """No folder of the user's can be made: neither a read-only disk nor a full one can."""
    for name in (DIRECTORY_VARIABLE, DATA_VARIABLE, FOLDER_VARIABLE, "XDG_STATE_HOME"):
        monkeypatch.setenv(name, f"/dev/null/{name}")

    def open_all(window):
        for title in ("Kernel", "Weights", "Gallery"):
            window.docks[title].show()
        window.kernel.get().entrance.insertPlainText("// typed\n")
        trigger(window, "Pin this result")
        QApplication.processEvents()

    started = start(act=open_all)
    assert "will not be remembered" in started.seen[0]
    assert capsys.readouterr().err.count("\n") == 1
