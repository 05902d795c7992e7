"""`workbench batch --device 0,1`: two made-up GPUs, with real processes, as one journal."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from kernels.pictures.generated import noise
from tests.workbench.batch import made_up_gpus as gpus
from tests.workbench.cli.batches import environment, journal, results, until
from tests.workbench.engines import MadeUpGpu
from workbench.batch.device_run import DeviceRun
from workbench.cli import filter_folders as command
from workbench.cli import main, recipe_options
from workbench.files import image_files

# The command with two made-up GPUs, for a process of its own.
MADE_UP = """
import sys
from functools import partial
from tests.workbench.batch import made_up_gpus
from tests.workbench.engines import MadeUpGpu
from workbench.batch.device_run import DeviceRun
from workbench.cli import recipe_options, main
from workbench.cli import filter_folders as batch
recipe_options.engine_maker = lambda arguments: MadeUpGpu
batch.DeviceRun = partial(DeviceRun, make_engine=made_up_gpus.gpu)
if __name__ == "__main__":
    sys.exit(main.main(sys.argv[1:]))
"""
FILTER = ("--filter", "sharpen", "--implementation", "shared")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with ten pictures in in/, and thirty slow ones in slow/."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MADE_UP_GPUS", str(tmp_path))
    for name, height, count in (("in", gpus.GOOD, 10), ("slow", gpus.SLOW, 30)):
        Path(name).mkdir()
        for n in range(count):
            image_files.save(f"{name}/p{n}.png", noise(height, 30, 3))
    return tmp_path


@pytest.fixture
def two_gpus(monkeypatch):
    monkeypatch.setattr(recipe_options, "engine_maker", lambda arguments: MadeUpGpu)
    monkeypatch.setattr(command, "DeviceRun", partial(DeviceRun, make_engine=gpus.gpu))


def batch(*words):
    return main.main(["batch", *words, *FILTER])


def apart(*words):
    """The same in a process, and a group of processes, of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", MADE_UP, "batch", *words, *FILTER],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def running_in(group):
    """The processes of a group, but for those that have ended and nobody has looked at."""
    found = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ends at this moment
            state, _, its_group = each.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                found.append(each.parent.name)
    return found


@pytest.mark.parametrize("devices", ["all", pytest.param("1,0", marks=pytest.mark.nightly)])
def test_two_gpus_give_what_one_does_and_a_line_for_each(folder, two_gpus, capsys, devices):
    assert batch("in", "out", "--device", devices, "--jobs", "2") == 0
    said = capsys.readouterr()
    assert said.err == ""
    lines = said.out.splitlines()
    assert ": 10 pictures in " in lines[0]
    assert [each.split()[:2] for each in lines if each.strip().startswith("GPU")] == [
        ["GPU", "0"],
        ["GPU", "1"],
    ]
    assert len({each["output"] for each in journal()}) == len(journal()) == 10
    assert {each["device"] for each in journal()} <= {0, 1}
    words = ("--filter", "sharpen", "--implementation", "opencv")
    assert main.main(["batch", "in", "one", *words, "--no-gpu"]) == 0
    assert results("out") == results("one")


@pytest.mark.parametrize("devices", ["0,0", "x", "0,", "0,x", "all,0", "0 1", "1.5"])
def test_what_names_no_gpus_is_refused(folder, capsys, devices):
    with pytest.raises(SystemExit) as stop:
        batch("in", "out", "--device", devices)
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert f"takes a number such as 0, several such as 0,1, or all, not {devices!r}" in said


def test_workers_of_a_cluster_have_one_each(folder, capsys):
    words = ("--device", "0,1", "--scheduler", "tcp://head:8786")
    assert batch("in", "out", *words) == 2
    assert "With --scheduler each worker has one GPU" in capsys.readouterr().err


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="/proc says what runs")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_to_all_is_a_stop_that_leaves_no_process(folder, number, code):
    words = ("slow", "out", "--device", "0,1", "--jobs", "2", "--json")
    with apart(*words) as process:
        first = json.loads(process.stdout.readline())
        if number == signal.SIGINT:  # as a terminal sends it
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        said, complaint = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in complaint
    assert "the same command with --resume does the rest" in complaint
    until(lambda: running_in(process.pid) == [])
    assert first in journal()
    done = json.loads(said.splitlines()[-1])["stopped"]["counts"]["done"]
    assert {each["output"] for each in journal()} == results("out").keys()
    assert done == len(journal()) < 30
    with apart(*words, "--resume") as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(said.splitlines()[-1])["ended"]["counts"] == {"done": 30 - done}
    assert len({each["output"] for each in journal()}) == len(journal()) == 30
