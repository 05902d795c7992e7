"""`workbench apply --implementation ./mine.cu` with a GPU, which is made up, and real processes."""

from pathlib import Path

import numpy as np
import pytest

from kernels.pictures import generated
from tests.kernels.cuda_child.bad_texts import text
from tests.kernels.cuda_child.conftest import use_fake_gpu
from workbench.cli import main
from workbench.files import image_files

JOB = ("--size", "3", "--border", "wrap")


@pytest.fixture(autouse=True)
def gpu(children, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    use_fake_gpu(monkeypatch, children)
    image_files.save("a.png", generated.noise(100, 90, 3))


def apply(source, *words):
    Path("mine.cu").write_text(source, encoding="utf-8")
    return main.main(["apply", "a.png", "out.png", "--implementation", "./mine.cu", *JOB, *words])


def test_a_right_answer_is_written_and_its_time_told(capsys):
    assert apply(text(), "--progress") == 0
    streams = capsys.readouterr()
    assert "mine.cu on NVIDIA H200: time 100\u202fµs (20 samples, cold), " in streams.out
    assert "verified" in streams.out
    assert "CPU runtime" not in streams.err
    sequential = ["--implementation", "sequential", "--no-gpu", *JOB]
    assert main.main(["apply", "a.png", "b.png", *sequential]) == 0
    np.testing.assert_array_equal(
        image_files.load("out.png").samples, image_files.load("b.png").samples
    )


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (text(run="wrong"), "a.png: WRONG in "),
        (text(run="nothing"), "a.png: mine.cu: 27,000 samples were never written"),
        (text(run="right_at_first"), "a.png: mine.cu: "),
        (text(run="crash"), "a.png: mine.cu: The process that runs kernels on the GPU crashed"),
        (text(compile="error"), 'a.png: mine.cu: Line 8: identifier "heigth" is undefined.'),
    ],
    ids=["wrong", "nothing", "cheat", "crash", "compile"],
)
def test_what_is_not_right_is_not_written_and_has_no_time(source, words, capsys):
    assert apply(source) == 1
    streams = capsys.readouterr()
    assert words in streams.err
    assert "µs" not in streams.out
    assert not Path("out.png").exists()


def test_a_batch_is_filtered_without_times(capsys):
    Path("mine.cu").write_text(text(), encoding="utf-8")
    words = ["batch", "a.png", "out", "--implementation", "./mine.cu", *JOB]
    assert main.main(words) == 0
    assert Path("out", "a.png").exists()
