"""`workbench apply --device 0,1`: made-up GPUs share the rows of each picture."""

from pathlib import Path

import pytest

from kernels.pictures.generated import noise
from tests.workbench.engines import MadeUpGpu
from workbench.cli import filter_files as command
from workbench.cli import main, recipe_options
from workbench.files import image_files

FILTER = ("--filter", "sharpen", "--implementation", "shared")


class Named(MadeUpGpu):
    """Knows which GPUs were named; `made` has all engines."""

    made: list = []  # noqa: RUF012 - emptied by the fixture

    def __init__(self, device=0, others=None):
        super().__init__()
        self.named = device, others
        self.made.append(self)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a picture in it, on a computer with two GPUs."""
    monkeypatch.chdir(tmp_path)
    Named.made.clear()

    def engine_maker(arguments):
        return lambda: Named(arguments.device, arguments.devices)

    monkeypatch.setattr(recipe_options, "engine_maker", engine_maker)
    monkeypatch.setattr(command, "engine_maker", engine_maker)
    image_files.save("a.png", noise(40, 30, 3))
    return tmp_path


def apply(*words):
    return main.main(["apply", "a.png", "out.png", *words])


@pytest.mark.parametrize("devices", ["0,1", "all", "1,0"])
def test_two_gpus_are_said_with_their_times_and_their_halo(folder, capsys, devices):
    assert apply(*FILTER, "--device", devices) == 0
    said = capsys.readouterr()
    assert said.err == ""
    times = "GPU 0: 100 µs, GPU 1: 100 µs; halo rows: 1, in up to 10.0 µs"
    assert f"{times}, copied from GPU to GPU; verified" in said.out.replace("\u202f", " ")
    assert Named.made[-1].named == (0, (0, 1))


def test_a_missing_gpu_is_a_sentence_and_on_the_cpu_several_are_ignored(folder, capsys):
    assert apply(*FILTER, "--device", "0,2") == 2
    assert "no GPU number 2" in capsys.readouterr().err
    assert not Path("out.png").exists()
    assert apply("--implementation", "opencv", "--device", "0,1") == 0
    assert "Ignored: --device" in capsys.readouterr().err
