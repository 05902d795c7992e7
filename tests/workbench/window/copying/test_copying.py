"""What is on the screen as text, tried: the command is run, the Python executed."""

import shlex

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox

from kernels import Engine
from kernels.pictures.generated import PICTURES, noise
from tests.workbench.driving import child, pick, settle, show_picture, trigger, until
from tests.workbench.engines import MadeUpGpu
from workbench.cli import main
from workbench.files import image_files
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.state import State
from workbench.window.copy_as import command_line, python

MATRIX = ((0.1, -1 / 3, 1e-7), (2.0, 1 / 9, 0.0), (-0.0, 5.0, 123456.789))
CHOICES = {
    "plain": {"ksize": 7},
    "sigma": {"filter": "gaussian", "ksize": 9, "sigma": 1.37, "border": "wrap"},
    "sigma-not-taken": {"filter": "box", "ksize": 3, "sigma": 1.37},
    "amount": {"filter": "unsharp", "ksize": 5, "amount": 0.3, "implementation": "sequential"},
    "custom": {"filter": "custom", "ksize": 3, "matrix": MATRIX, "border": "zero"},
    "offset": {"filter": "custom", "ksize": 3, "matrix": MATRIX, "offset": -0.25},
    "offset-16": {
        "filter": "custom",
        "ksize": 3,
        "matrix": ((0.0, 0.5, 0.0),) * 3,
        "offset": 128 / 255,
        "pixel_type": "uint16",
        "implementation": "parallel",
    },
    "offset-not-taken": {"filter": "box", "ksize": 3, "offset": 0.5},
    "gradient": {"filter": "gradient", "ksize": 3, "implementation": "parallel"},
    "stored": {"filter": "sharpen", "ksize": 3, "pixel_type": "float32"},
    "uint16": {"filter": "sobel_x", "ksize": 3, "pixel_type": "uint16", "border": "reflect"},
}


@pytest.fixture
def state_of(tmp_path):
    """A State with these changes, whose picture lies in a file with an awkward name."""
    path = tmp_path / "it's a picture;.png"
    image_files.save(path, noise(23, 31, 3))

    def state(**changes):
        loaded = image_files.load(path).stored_as(changes.get("pixel_type"))
        return State(picture=loaded, **changes)

    return state


def answer(state):
    return Engine(use_gpu=False).run(intents.job_for(state)).picture


@pytest.mark.parametrize("changes", CHOICES.values(), ids=CHOICES)
def test_the_command_line_does_it_again(changes, state_of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    state = state_of(**changes)
    _, *words = shlex.split(command_line(state))
    assert main.main([*words, "--no-gpu"]) == 0
    np.testing.assert_array_equal(image_files.load(words[2]).samples, answer(state))


@pytest.mark.parametrize("changes", CHOICES.values(), ids=CHOICES)
def test_the_python_does_it_again(changes, state_of, capsys):
    state = state_of(**changes)
    names = {}
    exec(compile(python(state), "copied", "exec"), names)
    np.testing.assert_array_equal(names["filtered"], answer(state))
    assert " ms; verified" in capsys.readouterr().out


@pytest.mark.parametrize("pixel_type", [None, "float16"])
@pytest.mark.parametrize("key", ["checkerboard", "impulse", "scene"])
def test_built_in_pictures_are_made_again(key, pixel_type):
    picture = Picture("a", PICTURES[key].make(), built_in=key).stored_as(pixel_type)
    state = State(picture=picture, pixel_type=pixel_type)
    names = {}
    exec(compile(python(state), "copied", "exec"), names)
    np.testing.assert_array_equal(names["filtered"], answer(state))


# -- in the window


def clipboard():
    return QGuiApplication.clipboard().text()


@pytest.fixture
def gpu_window(qtbot, make_window):
    window = make_window(MadeUpGpu)
    until(qtbot, lambda: window.device)
    show_picture(qtbot, window, noise(20, 30, 3))
    return window


def test_the_chosen_rung_is_copied_as_a_program(qtbot, gpu_window):
    settle(qtbot, gpu_window, lambda: gpu_window.store.update(implementation="shared"))
    trigger(gpu_window, "CUDA C++")
    until(qtbot, lambda: "as shared.cu" in gpu_window.messages.sentence)
    assert "dim3(32, 8)" in clipboard()
    assert "int main(" in clipboard()


def test_without_a_gpu_the_rung_that_is_looked_at_is_copied(qtbot, make_window):
    window = make_window()
    until(qtbot, lambda: window.device)
    trigger(window, "CUDA C++")
    assert "Open a picture first" in window.messages.sentence
    show_picture(qtbot, window, noise(20, 30, 3))
    trigger(window, "CUDA C++")
    assert "OpenCV has no CUDA source" in window.messages.sentence
    window.docks.bring_forward("Implementation")
    pick(child(window, "rung-shown", QComboBox), "constant")
    trigger(window, "CUDA C++")
    until(qtbot, lambda: "as constant.cu" in window.messages.sentence)
    assert "__constant__ float WEIGHTS" in clipboard()
