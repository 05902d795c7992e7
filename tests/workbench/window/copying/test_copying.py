"""What is on the screen as text, tried: the command is run, the Python executed."""

import os
import shlex
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox

from kernels import Engine
from kernels.pictures.generated import PICTURES, noise
from tests.workbench.driving import child, pick, ready, settle, show_picture, trigger, until
from tests.workbench.engines import MadeUpGpu
from workbench.cli import main
from workbench.files import image_files
from workbench.imaging.pictures import Picture
from workbench.model import intents, step_files
from workbench.model.state import State, Step
from workbench.window.copy_as import INSTEAD, command_line, python

MATRIX = ((0.1, -1 / 3, 1e-7), (2.0, 1 / 9, 0.0), (-0.0, 5.0, 123456.789))
BLUR = Step("gaussian", 7, sigma=1.5, implementation="parallel")
PARALLEL = {"implementation": "parallel", "border": "crop"}  # OpenCV has neither
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
    "median": {"filter": "median", "ksize": 5, "is_disk": True, **PARALLEL},
    "percentile": {"filter": "percentile", "ksize": 3, "percentile": 75.0, **PARALLEL},
    "disk-not-taken": {"filter": "box", "ksize": 3, "is_disk": True, "percentile": 75.0},
    "list-of-orders": {"before": (BLUR,), "filter": "maximum", "ksize": 3, "mix": 0.5},
    "stored": {"filter": "sharpen", "ksize": 3, "pixel_type": "float32"},
    "uint16": {"filter": "sobel_x", "ksize": 3, "pixel_type": "uint16", "border": "reflect"},
    "list": {
        "before": (BLUR, Step("box", 5, is_on=False), Step("custom", 3, matrix=MATRIX, mix=0.5)),
        **{"filter": "edges", "ksize": 3, "mix": 0.25, "border": "mirror"},
        "after": (Step("sobel_x", 3),),
    },
    "list-stored": {
        **{"before": (BLUR,), "filter": "sobel_x", "ksize": 3, "pixel_type": "float32"}
    },
    "list-rounded": {"before": (BLUR,), "filter": "sharpen", "ksize": 3, "is_rounded": True},
    "list-of-one": {"filter": "unsharp", "ksize": 5, "mix": 0.5, "implementation": "auto"},
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


@pytest.mark.skipif(sys.platform != "linux", reason="names are in Unicode here")
def test_a_name_is_copied_to_the_byte(state_of, tmp_path):
    name = b"it's \\ bad\xffa\n.png"
    path = tmp_path / os.fsdecode(name)
    copied = command_line(replace(state_of(), picture=replace(state_of().picture, path=path)))
    copied.encode()  # as a clipboard has it
    found = subprocess.check_output(["bash", "-c", f"{copied.replace('workbench', 'echo', 1)}"])
    assert os.fsencode(path) in found


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
    return ready(qtbot, make_window(MadeUpGpu), noise(20, 30, 3))


def test_the_chosen_rung_is_copied_as_a_program(qtbot, gpu_window):
    settle(qtbot, gpu_window, lambda: gpu_window.store.update(implementation="shared"))
    trigger(gpu_window, "CUDA C++")
    until(qtbot, lambda: "as shared.cu" in gpu_window.messages.sentence)
    assert "dim3(32, 8)" in clipboard()
    assert "int main(" in clipboard()


class GpuOfLists(MadeUpGpu):
    """Its rungs are worked out on the CPU as steps, too."""

    def filtering(self, job, sampling=None, refused=()):
        own = super() if job.is_one_launch else super(MadeUpGpu, self)
        yield from own.filtering(job, sampling)

    def _filtering(self, job, sampling, refused=()):
        is_rung = job.is_one_launch and job.implementation not in ("auto", self.works_with)
        own = super().filtering if is_rung else super()._filtering
        yield from own(job, sampling)

    def _in_one_go(self, steps, device, sampling):
        yield from ()
        return steps


def test_a_list_is_copied_as_a_program_of_what_ran_for_each_step(qtbot, make_window):
    gpu_window = ready(qtbot, make_window(GpuOfLists), noise(20, 30, 3))
    listed = {"before": (Step("box", 3, implementation="shared"),), "filter": "gradient"}
    how = {"ksize": 3, "implementation": "gradient_fused"}
    settle(qtbot, gpu_window, lambda: gpu_window.store.update(**listed, **how))
    trigger(gpu_window, "CUDA C++")
    until(qtbot, lambda: "2 steps as steps.cu" in gpu_window.messages.sentence)
    assert "namespace step_2" in clipboard()
    settle(qtbot, gpu_window, lambda: gpu_window.store.update(implementation="opencv"))
    trigger(gpu_window, "CUDA C++")
    until(qtbot, lambda: INSTEAD in gpu_window.messages.sentence)
    assert "namespace step_2" in clipboard()
    gpu_window.store.update(**step_files.select(gpu_window.store.state.steps, 0))
    trigger(gpu_window, "Command line")
    assert "It has step 1 of 2 only." in gpu_window.messages.sentence
    assert "--filter box" in clipboard()


def test_a_list_that_runs_as_one_launch_is_copied_as_that(qtbot, make_window):
    window = ready(qtbot, make_window(GpuOfLists), noise(20, 30, 3))
    listed = {"before": (Step("median", 3, implementation="opencv"),), "filter": "gradient"}
    how = {"ksize": 3, "implementation": "opencv", "whole": "list_ring"}
    settle(qtbot, window, lambda: window.store.update(**listed, **how))
    trigger(window, "CUDA C++")
    until(qtbot, lambda: "Ring of a list as list_ring.cu" in window.messages.sentence)
    assert "median_of(" in clipboard()
    assert "int main(" in clipboard()
    larger = (Step("median", 5, implementation="opencv"),)
    window.store.update(whole="list_tiles", before=larger)
    trigger(window, "CUDA C++")
    until(qtbot, lambda: "medians of size 3" in window.messages.sentence)


@pytest.mark.parametrize("first", ["median", "grey"])
def test_without_a_gpu_a_list_is_copied_as_what_a_gpu_would_run(first, qtbot, make_window):
    window = ready(qtbot, make_window(), noise(20, 30, 3))
    step = Step(first, 1 if first == "grey" else 3, implementation="opencv")
    settle(qtbot, window, lambda: window.store.update(before=(step,)))
    trigger(window, "CUDA C++")
    wanted = "list_tiles.cu" if first == "grey" else "steps.cu"
    until(qtbot, lambda: wanted in window.messages.sentence)
    assert INSTEAD in window.messages.sentence
    assert ("namespace step_2" in clipboard()) == (first == "median")


def test_without_a_gpu_the_rung_that_is_looked_at_is_copied(qtbot, make_window):
    window = make_window()
    until(qtbot, lambda: window.device)
    trigger(window, "CUDA C++")
    assert "Open a picture first" in window.messages.sentence
    show_picture(qtbot, window, noise(20, 30, 3))
    trigger(window, "CUDA C++")
    until(qtbot, lambda: INSTEAD in window.messages.sentence)
    assert "int main(" in clipboard()
    window.store.update(region=(1, 2, 10, 8, 0))
    trigger(window, "CUDA C++")
    assert "filters whole pictures" in window.messages.sentence
    window.store.update(region=None)
    window.docks.bring_forward("Implementation")
    pick(child(window, "rung-shown", QComboBox), "constant")
    trigger(window, "CUDA C++")
    until(qtbot, lambda: "as constant.cu" in window.messages.sentence)
    assert "__constant__ float WEIGHTS" in clipboard()
