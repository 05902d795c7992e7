"""`workbench`, `shot` and `bench`: the real window, driven from the command line."""

import json
import sys
from dataclasses import replace

import pytest
from PySide6.QtGui import QImage

from kernels import Engine
from kernels.pictures import generated
from kernels.sweeps.step_words import as_word
from tests.made_up import H200
from workbench.base.settings import DIRECTORY_VARIABLE, Settings
from workbench.cli import main
from workbench.files import image_files
from workbench.model import choices
from workbench.model.state import State
from workbench.session.exporter import read_settings
from workbench.window import app

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
