"""The program starts, whatever is remembered and cannot be had any more: a sentence says so."""

import json
import os
import signal
import sys
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QPushButton

from kernels import Engine
from kernels.core.safe_files import FOLDER_VARIABLE
from kernels.pictures import generated
from kernels.pictures.generated import noise
from kernels.sweeps.step_words import as_word
from tests.compilers import needs_compiler
from tests.first_kernel import steps
from tests.made_up import H200
from tests.workbench.driving import PATIENCE_MS, trigger
from workbench.base.paths import DATA_VARIABLE
from workbench.base.settings import DIRECTORY_VARIABLE, Settings, default_path
from workbench.cli import main
from workbench.files import image_files
from workbench.files.image_files import PictureRef
from workbench.model import choices
from workbench.model.state import FACTS, State
from workbench.session.exporter import read_settings
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


# -- without the window: `shot`, and what the window is asked for by words


needs_x11_or_none = pytest.mark.skipif(sys.platform != "linux", reason="about displays on Linux")


@pytest.fixture
def folder(tmp_path, monkeypatch, qapp):
    """An empty folder, the current one; the user's settings are in there too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "settings"))
    return tmp_path


@pytest.fixture
def without_display(folder, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)


def test_a_shot_is_the_window_with_its_settings_inside(folder, capsys):
    image_files.save("a.png", generated.noise(40, 50, 3))
    words = ["--filter", "sobel_x", "--border", "wrap", "--implementation", "sequential"]
    assert main.main(["shot", "w.png", "a.png", "--size-px", "1300x850", "--no-gpu", *words]) == 0
    image = QImage("w.png")
    assert (image.width(), image.height()) == (1300, 850)
    settings = read_settings("w.png")
    assert [settings[name] for name in ("filter", "border", "implementation")] == [
        "sobel_x",
        "wrap",
        "sequential",
    ]
    said = capsys.readouterr()
    assert said.err == ""
    for word in ("w.png: Sobel X 3×3, sequential", "checked all pixels"):
        assert word in said.out


@pytest.mark.parametrize(
    ("words", "complaint", "code"),
    [
        (["w.jpg"], "must end in .png", 2),
        (["a.png", "a.png"], "a.png is an input", 2),
        (["w.png", "--size", "4"], "has no size 4", 2),
        (["w.png", "--size-px", "300x200"], "the window is at least", 2),
        (["w.png", "missing.png"], "There is no file missing.png", 1),
        (["w.png", "broken.png"], "broken.png", 1),
        (["nowhere/w.png"], "its folder does not exist", 1),
        (["w.png", "--implementation", "shared"], "switched off with --no-gpu", 1),
        (["w.png", "--baseline", "shared"], "--baseline takes sequential, ", 2),
    ],
)
def test_a_shot_that_cannot_be_leaves_a_sentence_and_no_file(
    folder, capsys, words, complaint, code
):
    image_files.save("a.png", generated.checkerboard())
    (folder / "broken.png").write_bytes((folder / "a.png").read_bytes()[:60])
    assert main.main(["shot", *words, "--no-gpu"]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert complaint in said.err
    assert said.err.count("\n") == 1
    assert sorted(each.name for each in folder.iterdir()) == ["a.png", "broken.png"]


@needs_x11_or_none
def test_without_a_display_the_window_is_drawn_into_a_file(without_display, capsys):
    assert main.main(["--no-gpu"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "workbench.png: Gaussian blur 5×5" in said.out
    assert not QImage("workbench.png").isNull()


@needs_x11_or_none
def test_a_display_that_does_not_answer_is_said_so(without_display, monkeypatch, capsys):
    monkeypatch.setenv("DISPLAY", ":7777")
    assert main.main(["--no-gpu"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("workbench: ")
    assert said.count("\n") == 1


def test_options_are_laid_over_what_was_chosen_last_time(folder, monkeypatch):
    before = Settings()
    before.set("choices", {"filter": "unsharp", "ksize": 9, "border": "wrap"})
    before.save()
    given = []
    monkeypatch.setattr(app, "run", lambda *arguments: given.extend(arguments) or 0)
    assert main.main(["a.png", "--filter", "sobel_x", "--no-gpu"]) == 0
    paths, make_engine, settings, kernel = given
    assert kernel is None
    assert [str(path) for path in paths] == ["a.png"]
    assert "--no-gpu" in make_engine().device.reason
    changed = {"filter": "sobel_x", "ksize": 3, "last_free_ksize": 9}
    assert settings.get("choices") == {**changed, "border": "wrap"}


def test_steps_of_last_time_make_way_for_those_that_are_given_or_for_a_filter(folder, monkeypatch):
    given = []
    monkeypatch.setattr(app, "run", lambda *arguments: given.append(arguments[2]) or 0)
    assert main.main(["a.png", "--step", "box:3", "--step", "sobel_x,mix=0.5", "--no-gpu"]) == 0
    kept = json.loads(json.dumps(given[-1].get("choices")))
    assert "implementation" not in kept  # what is best is taken for all of them
    state = replace(State(), **choices.from_data(kept, State()))
    assert [as_word(each) for each in state.steps] == ["box:3", "sobel_x,mix=0.5"]
    given[-1].save()
    for words, left in ((["--border", "wrap"], 2), (["--filter", "box"], 1)):
        assert main.main(["a.png", *words, "--no-gpu"]) == 0
        state = replace(State(), **choices.from_data(given[-1].get("choices"), State()))
        assert (len(state.steps), state.mix) == (left, 0.5 if left == 2 else 1.0)


@pytest.mark.parametrize(
    ("words", "devices", "numbers"),
    [
        ([], 3, (0, 1, 2, 3)),
        (["--device", "1"], 1, (1, 0, 2, 3)),
        (["--device", "1,2"], 2, (1, 2)),
        (["--device", "all"], 64, (0, 1, 2, 3)),
    ],
)
def test_the_window_begins_with_the_gpus_that_are_named(
    folder, monkeypatch, words, devices, numbers
):
    before = Settings()
    before.set("choices", {"devices": 3})
    before.save()
    given = []
    monkeypatch.setattr(app, "run", lambda *arguments: given.extend(arguments) or 0)
    monkeypatch.setattr(
        Engine, "find_device", lambda _, number: replace(H200, index=number, count=4)
    )
    assert main.main(["a.png", *words]) == 0
    _, make_engine, settings, _ = given
    assert settings.get("choices")["devices"] == devices
    assert make_engine().device_numbers == numbers
