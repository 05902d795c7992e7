"""Pictures that do not fit into memory: `apply` and `batch` filter them in strips."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from kernels.pictures.generated import noise
from tests.conftest import ROOT
from tests.workbench.cli.batches import listening
from workbench.cli import filter_files, main
from workbench.files import image_files
from workbench.files.tiff_rows import lay_out
from workbench.imaging.pictures import NO_METADATA

HEIGHT, WIDTH = 900, 300
# A tenth of it does; the strips take as much again, at least.
LITTLE = ("--memory", "1.2M", "--no-gpu")
# Stops in the middle of the third strip, until Ctrl+C comes.
STUCK = """
import signal, sys, time
from workbench.files.tiff_rows import TiledTiff
from workbench.cli import main
real, calls, stops = TiledTiff.fill, [], []
def fill(tiff, first, rows):
    calls.append(first)
    if len(calls) == 3:
        real(tiff, first, rows[: len(rows) // 2])
        print("in the middle", flush=True)
        while not stops:
            time.sleep(0.01)
    real(tiff, first, rows)
def stop(*_):
    stops.append(True)
    raise KeyboardInterrupt
signal.signal(signal.SIGINT, stop)
TiledTiff.fill = fill
sys.exit(main.main(sys.argv[1:]))
"""
PEAK = """
import re, sys
from pathlib import Path
from workbench.cli import main
code = main.main(sys.argv[1:])
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
sys.exit(code)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a picture that takes more than 1.2 MiB, the current one."""
    monkeypatch.chdir(tmp_path)
    image_files.save("in.tif", noise(HEIGHT, WIDTH, 3))
    return tmp_path


def apply(*words):
    return main.main(["apply", *words])


def names(folder="."):
    return sorted(each.name for each in Path(folder).iterdir())


def run(*words):
    words = [sys.executable, "-c", *words]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


def by_parallel(name):
    """The picture, filtered as a whole."""
    assert apply(name, "whole.tif", "--no-gpu", "--implementation", "parallel") == 0
    return image_files.load("whole.tif").samples


def test_a_picture_that_takes_more_than_it_may_is_filtered_in_strips(folder, capsys):
    assert apply("in.tif", "out.tif", *LITTLE, "--implementation", "parallel") == 0
    line = capsys.readouterr().out.replace("\u202f", " ")
    found = re.fullmatch(
        r"in.tif → out.tif: gaussian 5×5, parallel: \d+ strips in [\d.]+ m?s, [\d.]+ .P/s, "
        r"\w[\w ]+ was the limit; verified, checked [\d,]+ of 270,000 pixels, .*\n",
        line,
    )
    assert found, line
    np.testing.assert_array_equal(image_files.load("out.tif").samples, by_parallel("in.tif"))
    assert names() == ["in.tif", "out.tif", "whole.tif"]


def test_a_part_of_it_is_filtered_in_strips_as_of_the_whole(folder):
    where = ("--filter", "sharpen", "--region", "20,150,200,500,30")
    assert main.main(["apply", "in.tif", "strips.tif", *where, *LITTLE]) == 0
    assert main.main(["apply", "in.tif", "whole.tif", *where, "--no-gpu"]) == 0
    strips, whole = (image_files.load(f"{each}.tif").samples for each in ("strips", "whole"))
    assert np.array_equal(strips, whole)
    assert np.array_equal(strips[:150], image_files.load("in.tif").samples[:150])
    assert not np.array_equal(strips, image_files.load("in.tif").samples)


def test_what_cannot_be_filtered_in_strips_is_told(folder, capsys):
    image_files.save("in.png", noise(HEIGHT, WIDTH, 3))
    (folder / "mine.cu").write_text((ROOT / "kernels" / "ladder" / "01_global.cu").read_text())
    for words, said in (
        (
            ("in.tif", "out.png"),
            "1.20 MiB are allowed: choose a smaller picture, or have `workbench apply` filter it",
        ),
        (("in.png", "out.tif"), "read as a whole; save it as a TIFF"),
        (("in.tif", "out.tif", "--implementation", "./mine.cu"), "filter pictures as a whole"),
        (("in.tif", "out.tif", "--memory", "0.1M"), "its strips take at least"),
    ):
        assert apply(*words[:2], *LITTLE, *words[2:]) == 1
        assert said in capsys.readouterr().err.replace("\u202f", " ")
    assert names() == ["in.png", "in.tif", "mine.cu"]


@pytest.mark.parametrize("kind", ["file", "journal", "folder", "link"])
def test_nothing_of_others_is_taken_for_a_part_of_the_result(folder, kind, capsys):
    (folder / "precious").write_text("mine")
    name = "out.tif.part.jsonl" if kind == "journal" else "out.tif.part"
    path = folder / name
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to("precious")
    else:
        path.write_text("mine")
    assert apply("in.tif", "out.tif", *LITTLE) == 1
    assert f"Cannot save out.tif: {name} is there already" in capsys.readouterr().err
    assert names() == sorted(["in.tif", name, "precious"])
    assert path.is_dir() or path.read_text() == "mine"


def test_a_link_that_is_written_through_is_told_of_strips_too(folder, capsys):
    (folder / "link.tif").symlink_to("there.tif")
    assert apply("in.tif", "link.tif", *LITTLE) == 1
    assert "link.tif is a link to nothing; --replace" in capsys.readouterr().err
    assert apply("in.tif", "link.tif", *LITTLE, "--replace") == 0
    said = capsys.readouterr().out
    assert f"link.tif is a link; what is written is {folder / 'there.tif'}." in said
    (folder / "out").symlink_to("nowhere")
    apply_, batch = ["apply", "in.tif"], ["batch", "in.tif"]
    for words in ([*apply_, "there.tif", "out"], [*apply_, "out/"], [*batch, "out"]):
        assert main.main([*words, "--no-gpu"]) == 1
        assert "Cannot make the folder out: a link to nothing has that" in capsys.readouterr().err
    assert names() == ["in.tif", "link.tif", "out", "there.tif"]


def test_an_answer_that_is_wrong_is_not_kept(folder, monkeypatch, capsys):
    parallel = "kernels.cpu.parallel.runner"

    def wrong(_job):
        def fill(out):
            out.fill(7)
            yield 1.0

        return fill

    monkeypatch.setattr(parallel, wrong)
    assert apply("in.tif", "out.tif", *LITTLE, "--implementation", "parallel", "--json") == 1
    said = capsys.readouterr()
    assert "nothing was written" in said.err
    assert json.loads(said.out)["status"] == "wrong"
    assert names() == ["in.tif"]


@pytest.mark.nightly
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_after_a_kill_the_same_command_goes_on(folder, how, capsys):
    words = ("apply", "in.tif", "out.tif", *LITTLE, "--implementation", "parallel")
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "in the middle\n"
    process.send_signal(how)
    _, said = process.communicate(timeout=60)
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    assert names() == ["in.tif", "out.tif.part", "out.tif.part.jsonl"]
    if how == signal.SIGINT:
        assert said.startswith("workbench: out.tif is written in part")
    assert main.main([*words]) == 0
    assert re.search(r"[\d,]+ rows were finished before, \d+ strips", capsys.readouterr().out)
    np.testing.assert_array_equal(image_files.load("out.tif").samples, by_parallel("in.tif"))
    assert names() == ["in.tif", "out.tif", "whole.tif"]


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_memory_stays_far_below_the_pictures_size(folder):
    image_files.save("small.tif", noise(50, 50))
    lay_out(folder / "large.tif", (12_000, 12_000, 1), np.dtype(np.uint8), NO_METADATA)
    how = ("--no-gpu", "--memory", "48M", "--verify", "none", "--replace")
    small, large = (
        run(PEAK, "apply", name, "out.tif", *how) for name in ("small.tif", "large.tif")
    )
    assert " strips in " in large.stdout, large.stderr
    peaks = [int(each.stdout.splitlines()[-1]) / 1024 for each in (small, large)]
    assert peaks[1] - peaks[0] < 48 < 12_000**2 / 2**20  # MiB


def test_a_program_is_told_of_rows_and_of_the_end_and_its_stop_is_resumed(
    folder, monkeypatch, capsys
):
    words = ("in.tif", "out.tif", *LITTLE, "--control")
    rows_record, told = filter_files.rows_record, []

    def stopping(outcome):
        told.append(outcome)
        if len(told) == 2:
            pipe.write("stop\n")
            pipe.flush()
            sleep(0.05)  # for the thread that listens
        return rows_record(outcome)

    with listening(monkeypatch) as pipe, monkeypatch.context() as patch:
        patch.setattr(filter_files, "rows_record", stopping)
        assert apply(*words) == 143
    lines = list(map(json.loads, capsys.readouterr().out.splitlines()))
    first = lines[0]["rows"]
    assert (first["input"], first["of"]) == ("in.tif", HEIGHT)
    assert 0 < first["done"] < HEIGHT
    assert lines[-1]["stopped"]["counts"] == {}
    with listening(monkeypatch):
        assert apply(*words) == 0
    lines = list(map(json.loads, capsys.readouterr().out.splitlines()))
    assert lines[-1]["ended"]["counts"] == {"done": 1}
    assert lines[-2]["status"] == "done"
    assert lines[0]["rows"]["done"] > first["done"]
