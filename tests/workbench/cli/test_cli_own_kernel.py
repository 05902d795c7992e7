"""`workbench apply --implementation ./mine.cu`: a kernel of the user's own filters a whole file."""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from kernels.core.safe_files import FOLDER_VARIABLE
from kernels.engine import own_run
from kernels.pictures import generated
from tests.compilers import needs_compiler
from tests.first_kernel import steps
from workbench.cli import main
from workbench.files import image_files
from workbench.session.exporter import read_settings

pytestmark = needs_compiler
RIGHT, COPY = steps()[6], steps()[3]
LOOP = RIGHT.replace(
    "    float sum = OFFSET;", "    float sum = OFFSET;\n    while (sum == sum) {}"
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, build_cache):
    """The current folder, with a picture larger than the part that is tried first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(FOLDER_VARIABLE, str(build_cache.parent))
    image_files.save("a.png", generated.noise(210, 270, 4))
    return tmp_path


def apply(text, *words):
    Path("mine.cu").write_text(text, encoding="utf-8")
    return main.main(
        ["apply", "a.png", "out.png", "--implementation", "./mine.cu", "--no-gpu", *words]
    )


def test_the_whole_picture_is_filtered_and_checked_and_no_time_is_told(capsys):
    job = ["--size", "3", "--border", "wrap"]
    assert apply(RIGHT, *job, "--progress") == 0
    streams = capsys.readouterr()
    assert streams.out.startswith(
        "a.png → out.png: gaussian 3×3, mine.cu on the CPU runtime: no time"
    )
    assert "verified, checked all pixels" in streams.out
    assert "mine.cu runs on the CPU, which is slow; no time is taken." in streams.err
    assert "a.png: running mine.cu on the CPU runtime, which is slow\n" in streams.err
    job += ["--alpha", "apart"]  # as user kernels have it
    main.main(["apply", "a.png", "b.png", *job, "--implementation", "sequential", "--no-gpu"])
    np.testing.assert_array_equal(
        image_files.load("out.png").samples, image_files.load("b.png").samples
    )


def test_for_programs_what_has_no_time_has_null(capsys):
    assert apply(RIGHT, "--size", "3", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["status"] == "done"
    assert (record["implementation"], record["device"]) == ("mine.cu", None)
    assert record["ran"] == ["mine.cu on the CPU runtime"]
    assert record["text_sha256"] == sha256(RIGHT.encode()).hexdigest()
    assert record["check"]["ok"]
    assert record["check"]["checked_pixels"] == record["width"] * record["height"] == 270 * 210
    assert {name for name, value in record.items() if value is None} >= {"median_ms", "n", "cache"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (COPY, "; nothing was written. `workbench check --find-bug` with the kernel's file looks"),
        (RIGHT.replace("to_sample(sum);", "to_sample(sum)"), "a.png: mine.cu: Line 21: "),
        (RIGHT.replace("int pitch,", ""), "mine.cu, line 3: convolve takes 6 arguments and is"),
        ('/*---\nrequires = [["KSIZE > 99", "Not {KSIZE}."]]\n---*/\n' + RIGHT, "a.png: Not 5."),
        (LOOP, "a.png: mine.cu: Line 16"),
    ],
    ids=["wrong", "syntax", "arguments", "refused", "endless"],
)
def test_what_is_not_right_is_said_and_nothing_is_written(text, words, capsys, monkeypatch):
    monkeypatch.setattr(own_run, "CROP_S", 0.5)
    assert apply(text) == 1
    assert words in capsys.readouterr().err
    assert not Path("out.png").exists()


@pytest.mark.nightly
def test_a_shot_is_of_a_window_with_it(capsys, qapp):
    Path("mine.cu").write_text(RIGHT, encoding="utf-8")
    words = ["--implementation", "./mine.cu", "--size", "3", "--no-gpu"]
    assert main.main(["shot", "w.png", "a.png", *words]) == 0
    streams = capsys.readouterr()
    assert "mine.cu on the CPU runtime" in streams.out
    assert "verified, checked all pixels" in streams.out
    assert read_settings("w.png")["implementation"] == "mine.cu"
