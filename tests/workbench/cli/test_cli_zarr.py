"""OME-Zarr pictures: `apply` and `batch` filter them in strips, and write them."""

import builtins
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernels.pictures.generated import noise
from workbench.batch.journal import NAME
from workbench.cli import main
from workbench.files import chunked_zarr, image_files
from workbench.files.chunked_zarr import ChunkedZarr
from workbench.files.large_pictures import LargePicture

HEIGHT, WIDTH = 900, 300
HOW = ("--no-gpu", "--implementation", "parallel")
LITTLE = ("--memory", "7.5M")  # with strips of fewer rows than a chunk has
# Stops in the middle of the third strip.
STUCK = """
import sys, time
from workbench.files.chunked_zarr import ChunkedZarr
from workbench.cli import main
real, calls = ChunkedZarr.fill, []
def fill(zarr, first, rows):
    calls.append(first)
    real(zarr, first, rows)
    if len(calls) == 3:
        print("in the middle", flush=True)
        time.sleep(60)
ChunkedZarr.fill = fill
sys.exit(main.main(sys.argv[1:]))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder, the current one, with a picture as TIFF and as OME-Zarr, and what comes of it."""
    pytest.importorskip("zarr")
    monkeypatch.chdir(tmp_path)
    image_files.save("in.tif", noise(HEIGHT, WIDTH, 3))
    put(Path("in.zarr"), noise(HEIGHT, WIDTH, 3))
    assert main.main(["apply", "in.tif", "whole.tif", *HOW]) == 0
    return tmp_path


def put(path, samples):
    chunked_zarr.lay_out(path, samples.shape, samples.dtype, path.name)
    with ChunkedZarr(path, 0) as made:
        made.fill(0, samples)


def samples_of(name):
    with LargePicture(Path(name).absolute()) as picture:
        return picture.rows(0, picture.height)


def names(folder="."):
    return sorted(each.name for each in Path(folder).iterdir())


def whole():
    return image_files.load("whole.tif").samples


@pytest.mark.parametrize("little", [(), LITTLE])
@pytest.mark.parametrize(
    ("source", "target"), [("in.zarr", "out.zarr"), ("in.zarr", "out.tif"), ("in.tif", "out.zarr")]
)
def test_the_answer_is_that_of_the_whole_picture(folder, source, target, little, capsys):
    for _ in range(2):  # the second one replaces the first
        assert main.main(["apply", source, target, *HOW, *little]) == 0
        assert f"{source} → {target}: gaussian 5×5, parallel: " in capsys.readouterr().out
        np.testing.assert_array_equal(samples_of(target), whole())
        assert names() == sorted({"in.tif", "in.zarr", "whole.tif", target})


def test_a_folder_without_the_extension_is_one_picture_too(folder):
    Path("in.zarr").rename("slide")
    assert main.main(["apply", "slide", "out.zarr", *HOW]) == 0
    np.testing.assert_array_equal(samples_of("out.zarr"), whole())


def test_a_batch_takes_them_alone_and_from_folders(folder):
    Path("scans/more").mkdir(parents=True)
    shutil.move("in.zarr", "scans/a.zarr")
    shutil.copytree("scans/a.zarr", "scans/more/b.zarr")
    shutil.copytree("scans/a.zarr", "scans/b.zarr.part")  # as a kill leaves it
    image_files.save("scans/c.png", noise(9, 9))
    assert main.main(["batch", "scans", "out", "--recursive", *HOW]) == 0
    assert names("out") == ["a.zarr", "c.png", "more", NAME]
    for name in ("out/a.zarr", "out/more/b.zarr"):
        np.testing.assert_array_equal(samples_of(name), whole())
    words = ("batch", "scans/a.zarr", "in.tif", "other", "--name", "{stem}_new.zarr", *HOW)
    assert main.main([*words]) == 0
    assert names("other") == ["a_new.zarr", "in_new.zarr", NAME]
    lines = [json.loads(each) for each in Path("other", NAME).read_text().splitlines()]
    assert [each["status"] for each in lines if "status" in each] == ["done", "done"]


def test_after_a_kill_the_same_command_goes_on(folder, capsys):
    words = ("apply", "in.zarr", "out.zarr", *HOW, *LITTLE)
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK, *words], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "in the middle\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert {"out.zarr.part", "out.zarr.part.jsonl"} < set(names())
    assert "out.zarr" not in names()
    capsys.readouterr()
    assert main.main([*words]) == 0
    assert "256 rows were finished before" in capsys.readouterr().out
    np.testing.assert_array_equal(samples_of("out.zarr"), whole())
    assert names() == ["in.tif", "in.zarr", "out.zarr", "whole.tif"]


def test_what_cannot_be_done_is_told_and_nothing_is_left(folder, capsys):
    image_files.save("in.png", noise(9, 9))
    Path("mine.zarr").mkdir()
    Path("mine.zarr/letter.txt").write_text("mine")
    before = names()
    for words, said in (
        (("in.zarr", "out.png"), "an OME-Zarr is filtered into a .zarr or a TIFF"),
        (("in.png", "out.zarr"), "an OME-Zarr is made of a TIFF or another OME-Zarr"),
        (("in.zarr", "mine.zarr"), "what has that name is no OME-Zarr"),
        (("mine.zarr", "out.zarr"), "holds no OME-Zarr picture"),
    ):
        assert main.main(["apply", *words, *HOW]) == 1
        assert said in capsys.readouterr().err
    assert names() == before
    assert names("mine.zarr") == ["letter.txt"]


def test_without_the_extra_it_says_how_to_install_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    real = builtins.__import__

    def without_zarr(name, *rest, **more):
        if name == "zarr":
            raise ImportError
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_zarr)
    image_files.save("in.tif", noise(9, 9))
    Path("in.zarr").mkdir()
    for words in (("in.zarr", "out.tif"), ("in.tif", "out.zarr")):
        assert main.main(["apply", *words, *HOW]) == 1
        assert 'needs zarr: pip install "filter-workbench[zarr]"' in capsys.readouterr().err
    assert names() == ["in.tif", "in.zarr"]
