"""`workbench apply`: real files in, real files out, and what happens when that cannot be."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from kernels import filters
from kernels.core.errors import CompileFailedError
from kernels.core.job import Job
from kernels.core.verdict import Check
from kernels.engine import engine
from kernels.oracle import reference
from kernels.pictures import generated
from tests.workbench.engines import MadeUpGpu, Scripted
from workbench.cli import filter_files as apply_command
from workbench.cli import main
from workbench.files import image_files


def names(folder="."):
    return sorted(each.name for each in Path(folder).iterdir())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with two pictures, the current one."""
    monkeypatch.chdir(tmp_path)
    image_files.save("a.png", generated.noise(40, 50, 3))
    image_files.save("b.png", generated.noise(30, 20, 1, "uint16"))
    return tmp_path


def apply(*words):
    return main.main(["apply", *words, "--no-gpu"])


def test_the_file_written_is_the_filtered_picture(folder, capsys):
    assert apply("a.png", "out.png", "--filter", "sharpen", "--border", "wrap") == 0
    before = image_files.load("a.png").samples.astype(np.int64)
    around = sum(np.roll(before, by, axis) for by in (-1, 1) for axis in (0, 1))
    expected = np.clip(5 * before - around, 0, 255)
    np.testing.assert_array_equal(image_files.load("out.png").samples, expected)
    line = capsys.readouterr().out
    assert line.startswith("a.png → out.png: sharpen 3×3, opencv: time ")
    assert "verified, checked all pixels" in line


def test_quiet_says_what_is_wrong_and_nothing_else(folder, capsys):
    assert apply("a.png", "out.png", "--quiet") == 0
    assert capsys.readouterr() == ("", "")
    assert names() == ["a.png", "b.png", "out.png"]
    assert apply("none.png", "other.png", "--quiet") == 1
    assert "none.png" in capsys.readouterr().err


def test_sums_below_zero_that_bytes_cannot_hold_are_told_of(folder, capsys):
    for words, is_told in ((["sobel_x"], True), (["sobel_x", "--pixel-type", "float32"], False)):
        assert apply("a.png", "out.tif", "--replace", "--filter", *words) == 0
        assert ("--pixel-type float32" in capsys.readouterr().out) == is_told


def test_nan_goes_to_an_implementation_that_spreads_it(folder, capsys):
    samples = generated.noise(9, 9, 1, "float32")
    samples[4, 4] = np.nan
    image_files.save("nan.tif", samples)
    assert apply("nan.tif", "out.tif", "--size", "3") == 0
    assert "gaussian 3×3, parallel: " in capsys.readouterr().out
    assert np.isnan(image_files.load("out.tif").samples).sum() == 9
    assert apply("nan.tif", "other.tif", "--implementation", "opencv") == 1
    assert "such as Parallel" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "note"),
    [
        (["--block", "64x64"], "Ignored: --block"),
        (
            ["--block", "8x8", "--device", "3", "--implementation", "parallel"],
            "Ignored: --block and --device",
        ),
    ],
)
def test_what_only_a_gpu_has_a_use_for_is_said_to_be_ignored(folder, capsys, words, note):
    assert apply("a.png", "out.png", *words) == 0
    said = capsys.readouterr().err
    assert said.startswith(f"workbench: {note}")
    assert said.count("\n") == 1


def test_on_a_gpu_auto_picks_the_rung_its_block_and_says_so(folder, capsys, monkeypatch):
    monkeypatch.setenv("FILTER_WORKBENCH_CACHE", str(folder / "cache"))
    monkeypatch.setattr(apply_command, "engine_maker", lambda _: lambda: MadeUpGpu(use_gpu=False))
    assert apply("a.png", "out.png", "--block", "64x64") == 0
    said = capsys.readouterr()
    assert "--block is ignored" in said.err
    assert "5×5, auto: " in said.out
    words = ["--implementation", "shared", "--block", "8x8", "--device", "0"]
    assert apply("a.png", "other.png", *words) == 0
    assert capsys.readouterr().err == ""


def test_a_kernel_that_does_not_compile_is_told_in_the_compilers_words(folder, capsys, monkeypatch):
    log = '02_constant.cu(11): error: identifier "yy" is undefined\n  int x = yy;\n          ^\n'

    def compiling(job, steps):
        raise CompileFailedError.from_log("Constant memory did not compile", log)

    monkeypatch.setattr(apply_command, "engine_maker", lambda _: lambda: Scripted(compiling))
    assert apply("a.png", "out.png") == 1
    first, *rest = capsys.readouterr().err.splitlines()
    assert first == (
        "workbench: a.png: Constant memory did not compile: "
        '02_constant.cu, line 11: identifier "yy" is undefined.'
    )
    assert rest == log.splitlines()
    assert names() == ["a.png", "b.png"]


def test_every_filter_is_applied_by_its_name_and_own_weights_as_drawn(folder):
    assert apply("a.png", "out.png", "--weights", "0 0 0; 0 0 1; 0 0 0", "--border", "zero") == 0
    before, after = image_files.load("a.png").samples, image_files.load("out.png").samples
    np.testing.assert_array_equal(after[:, :-1], before[:, 1:])
    assert not after[:, -1].any()
    for each in filters.all_filters():
        words = ["--weights", "1 0 0; 0 1 0; 0 0 1"] if each.key == "custom" else []
        assert apply("b.png", f"{each.key}.png", "--filter", each.key, *words) == 0


def test_verify_checks_every_pixel(folder, capsys):
    image_files.save("large.png", generated.noise(700, 700))
    assert apply("--verify", "large.png", "out.png", "--size", "31") == 0
    said = capsys.readouterr().out
    assert "verified" in said
    assert "checked all pixels" in said


def test_a_pixel_type_is_that_of_what_is_filtered_and_of_what_is_written(folder, capsys):
    assert apply("a.png", "out.tif", "--pixel-type", "float16", "--filter", "edges") == 0
    assert "verified" in capsys.readouterr().out
    written = image_files.load("out.tif").samples
    assert written.dtype == np.float16
    picture = image_files.load("a.png").stored_as("float16")
    job = Job.of(picture.samples, filters.get("edges").weights(5), gradient=True)
    np.testing.assert_allclose(written, reference.filtered(job), atol=4e-3)


@pytest.mark.parametrize("verify", [["--verify"], []])
def test_a_wrong_answer_is_not_written(folder, capsys, monkeypatch, verify):
    def wrong(job, *_arguments, **_keywords):
        total = job.height * job.width
        yield Check(3.0, (1, 2, 0), 4, 4, 0.1, total, total)

    monkeypatch.setattr(engine, "checking", wrong)
    assert apply("a.png", "out.png", *verify) == 1
    assert "a.png: WRONG in 4 samples" in capsys.readouterr().err
    assert not (folder / "out.png").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["a.png", "a.png"], "a.png is an input"),
        (["a.png", "."], "a.png is an input"),
        (["a.png", "./sub/../a.png"], "is an input"),
        (["a.png", "b.png", "c.png"], "c.png must be a folder"),
        (["a.png", "out"], "extension"),
        (["a.png", "twin/a.png", "out"], "a.png and twin/a.png would both become a.png"),
        (["a.png", "o.png", "--size", "4"], "no size 4"),
        (["a.png", "o.png", "--filter", "sobel_x", "--size", "5"], "no size 5"),
        (["a.png", "o.png", "--filter", "xyz"], "'xyz'"),
        (["a.png", "o.png", "--filter", "gausian"], "did you mean gaussian?"),
        (["a.png", "o.png", "--filter", "blurr"], "gaussian or box?"),
        (["a.png", "o.png", "--border", "edge"], "'edge'"),
        (["a.png", "o.png", "--implementation", "gpu"], "'gpu'"),
        (["a.png", "o.png", "--sigma", "nan"], "sigma must be from"),
        (["a.png", "o.png", "--filter", "box", "--sigma", "1"], "no --sigma"),
        (["a.png", "o.png", "--amount", "1"], "no --amount"),
        (["a.png", "o.png", "--filter", "custom"], "needs --weights"),
        (["a.png", "o.png", "--weights", "1 2; 3 4"], "odd size"),
        (["a.png", "o.png", "--weights", "1", "--filter", "box"], "--filter box clashes"),
        (["a.png", "o.png", "--offset", "1/2"], "it needs --weights"),
        (["a.png", "o.png", "--weights", "1", "--size", "3"], "are 1×1, not 3×3"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(
    folder, capsys, words, complaint
):
    (folder / "sub").mkdir()
    (folder / "twin").mkdir()
    shutil.copy("a.png", "twin/a.png")
    there = names()
    assert apply(*words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert complaint in said.err
    assert said.err.count("\n") == 1
    assert names() == there


@pytest.mark.parametrize("target", ["nowhere/out.png", "out.unknown"])
def test_what_cannot_be_written_leaves_nothing_behind(folder, capsys, target):
    there = names()
    assert apply("a.png", target) == 1
    assert "Cannot save" in capsys.readouterr().err
    assert names() == there


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_disk_that_is_full_is_said_so(folder, capsys, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert apply("a.png", "out.png") == 1
    assert "the disk is full" in capsys.readouterr().err
    assert names() == ["a.png", "b.png"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["b.png", "out.jpg"], "JPEG: uint16 values are rounded"),
        (["b.png", "out.bmp"], "BMP: uint16 values are rounded"),
        (["a.png", "out.pgm"], "grey"),
    ],
)
def test_what_a_format_cannot_hold_is_said_before_anything_is_worked_out(
    folder, capsys, monkeypatch, words, said
):
    monkeypatch.setattr(engine.Engine, "filtering", None)
    there = names()
    assert apply(*words) == 1
    complaint = capsys.readouterr().err
    assert said in complaint
    assert "--reduce" in complaint
    assert complaint.count("\n") == 1
    assert names() == there


def test_a_quality_is_that_of_the_file(folder):
    for quality in ("10", "90"):
        assert apply("a.png", f"{quality}.jpg", "--quality", quality) == 0
        assert apply("a.png", f"{quality}.webp", "--quality", quality) == 0
    for extension in ("jpg", "webp"):
        assert Path(f"10.{extension}").stat().st_size < Path(f"90.{extension}").stat().st_size
    assert apply("a.png", "exact.webp", "--filter", "identity") == 0
    np.testing.assert_array_equal(
        image_files.load("exact.webp").samples, image_files.load("a.png").samples
    )


@pytest.mark.parametrize(
    ("options", "ksize", "note"),
    [
        (["--sigma", "3"], 17, ""),
        (["--sigma", "3", "--filter", "unsharp"], 17, ""),
        (["--sigma", "4", "--filter", "bilateral"], 21, ""),
        (["--sigma", "60"], 127, "no size"),
        (["--sigma", "20", "--size", "5"], 5, "113×113"),
        (["--size", "5"], 5, ""),
    ],
)
def test_a_sigma_brings_the_size_that_holds_its_bell(folder, capsys, options, ksize, note):
    image_files.save("small.png", generated.noise(8, 9, 1))
    options = [*options, "--implementation", "opencv"]
    assert main.main(["apply", "small.png", "o.png", "--json", *options]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["size"] == ksize
    assert note in said.err
    assert bool(said.err) == bool(note)


def test_a_link_that_is_named_as_out_stays_one_and_what_is_written_is_said(folder, capsys):
    Path("link.png").symlink_to("b.png")
    words, before = ["a.png", "link.png", "--filter", "box", "--size", "3"], Path("b.png").stat()
    assert apply(*words) == 1
    assert "link.png is there already" in capsys.readouterr().err
    assert Path("b.png").stat() == before
    assert apply(*words, "--replace") == 0
    assert f"is a link; what is written is {folder.resolve() / 'b.png'}." in capsys.readouterr().out
    assert Path("link.png").is_symlink()
    assert image_files.load("b.png").samples.shape == (40, 50, 3)
