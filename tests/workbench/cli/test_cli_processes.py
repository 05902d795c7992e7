"""`workbench batch` in several processes, as where there are many cores: real ones, on the CPU."""

import json
import multiprocessing
import subprocess
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from kernels.pictures.generated import noise
from tests.workbench.cli.batches import environment, journal, results
from tests.workbench.engines import DEVICE, MadeUpGpu
from tests.workbench.window.large.large_files import HEIGHT, LITTLE, plain
from workbench.batch import device_run
from workbench.batch.device_run import processes_each
from workbench.batch.filtering import Recipe
from workbench.cli import filter_folders as command
from workbench.cli import main, recipe_options
from workbench.files import image_files
from workbench.model.state import State

COUNT = 12
IN_TWO = """
import sys
from workbench.batch import device_run
from workbench.cli import main
device_run.JOBS_EACH, device_run.PICTURES_EACH = 1, 2
if __name__ == "__main__":
    sys.exit(main.main(sys.argv[1:]))
"""
HOW = ("--filter", "sharpen", "--no-gpu", "--implementation", "parallel")
SOON = (*HOW[:-1], "opencv")  # without a compiler to import


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with pictures in in/; each two threads have a process of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(device_run, "JOBS_EACH", 1)
    monkeypatch.setattr(device_run, "PICTURES_EACH", COUNT // 2)
    Path("in").mkdir()
    for n in range(COUNT):
        image_files.save(f"in/p{n:02}.png", noise(20 + n, 31, 3))
    return tmp_path


@pytest.fixture
def processes(monkeypatch):
    """The processes of each run: the number of the GPU that each has, None for the CPU."""
    found = []

    def noting(*words):
        found.append(recipe_options.processes_for(*words))
        return found[-1]

    monkeypatch.setattr(command, "processes_for", noting)
    return found


def batch(*words):
    return main.main(["batch", *words, *HOW])


def test_two_processes_give_what_one_does_also_what_fails_and_is_resumed(folder, processes, capsys):
    Path("in/p03.png").write_bytes(b"no picture")
    assert batch("in", "out", "--jobs", "2", "--json") == 1
    said = capsys.readouterr()
    assert batch("in", "one", "--jobs", "1") == 1
    assert processes == [(None, None), ()]
    assert multiprocessing.active_children() == []
    assert results("out") == results("one")
    assert len(results("out")) == COUNT - 1
    rows, ones = (
        {each["output"]: {**each, "seconds": None, "written": None} for each in journal(folder)}
        for folder in ("out", "one")
    )
    assert rows == ones
    assert sum("read" in each for each in rows.values()) == COUNT - 1
    assert said.err.startswith("workbench: p03.png is not a picture")
    last = json.loads(said.out.splitlines()[-1])["ended"]
    assert last["counts"] == {"done": COUNT - 1, "failed": 1}
    assert {each["threads"] for each in last["stages"] if each["stage"] == "filter"} == {2}
    assert "devices" not in last
    image_files.save("in/p03.png", noise(9, 9, 3))
    assert batch("in", "out", "--jobs", "2", "--resume") == 0
    assert processes == [(None, None), (), ()]  # there was one left
    assert len(results("out")) == COUNT


@pytest.mark.parametrize("words", [("--memory", "1G"), ("--jobs", "1")])
def test_little_memory_and_few_threads_are_for_one_process(folder, processes, words):
    assert batch("in", "out", "--jobs", "2", *words) == 0
    assert processes == [()]


def controlled(*words):
    """The command with two processes, in a process of its own that listens."""
    return subprocess.Popen(
        [sys.executable, "-c", IN_TWO, "batch", *words, *SOON, "--jobs", "2", "--control"],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_program_gets_the_rows_of_a_picture_in_strips_as_well(folder, monkeypatch):
    path = plain(Path("in/large.tif"))
    Path("sitecustomize.py").write_text(  # for the processes, too
        f"from workbench.files import needs\nneeds.memory_available_bytes = lambda: {LITTLE}\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(folder))
    with controlled("in", "out") as process:
        lines = [json.loads(each) for each in process.stdout]
        process.stdin.close()
    assert process.returncode == 0
    told = [each["rows"] for each in lines if "rows" in each]
    assert told[-1]["input"] == str(path)
    assert 0 < told[-1]["done"] <= told[-1]["of"] == HEIGHT
    assert lines[-1]["ended"]["counts"] == {"done": COUNT + 1}


@pytest.mark.parametrize(("gib", "count"), [(80, 4), (3, 3), (0.5, 1)])
def test_each_process_has_room_on_the_gpu(monkeypatch, gib, count):
    memory_bytes = int(gib * 2**30)
    gpu = type("Gpu", (MadeUpGpu,), {"device": replace(DEVICE, memory_bytes=memory_bytes, index=1)})
    monkeypatch.setattr(recipe_options, "engine_maker", lambda arguments: gpu)
    found = recipe_options.processes_for(
        (), 1000, Recipe(State()), Namespace(jobs=16, block=None, device=None)
    )
    assert found == (1,) * count


def test_a_process_has_so_many_threads_and_pictures():
    assert processes_each(2, 100_000) == processes_each(7, 100_000) == 1
    assert processes_each(8, 100_000) == 2
    assert processes_each(16, 100_000) == 4
    assert processes_each(16, 130) == 2
    assert processes_each(16, 10) == 1
    assert processes_each(256, 100_000) == 8
