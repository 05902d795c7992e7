"""A picture that is filtered from file to file, in strips: the answer is that of the whole, and
what was stopped goes on."""

import os
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
import tifffile

from kernels import Engine, Job, Sampling, filters
from kernels.core.borders import BORDERS, block_rows
from kernels.core.errors import DeviceLostError, OutOfMemoryError
from kernels.core.job import Pick
from kernels.cpu import cpu_run
from kernels.pictures.generated import noise
from workbench.batch import large_filtering
from workbench.batch.large_filtering import StripsDone, filtering_file, rows_a_strip
from workbench.files import image_files
from workbench.files.large_pictures import LargePicture
from workbench.files.picture_errors import ImageFileError, TooLargeError
from workbench.files.tiff_rows import TiledTiff

HEIGHT, WIDTH = 90, 50


@pytest.fixture(scope="module")
def engine():
    return Engine(use_gpu=False)


@pytest.fixture(autouse=True)
def strips_of_ten_rows(monkeypatch):
    monkeypatch.setattr(large_filtering, "rows_a_strip", lambda *_, **__: 10)


@pytest.fixture
def source(tmp_path):
    """A picture of 90 rows."""
    return saved(tmp_path, noise(HEIGHT, WIDTH, 3))


def saved(tmp_path, samples, **how):
    path = tmp_path / "in.tif"
    tifffile.imwrite(path, samples, photometric="rgb", tile=(16, 32), compression="zlib", **how)
    return path


def job_of(picture, name="gaussian", border="clamp"):
    chosen = filters.get(name)
    ksize = 5 if 5 in chosen.sizes else 3
    weights = chosen.weights(ksize)
    return Job.of(picture, weights, border, gradient=chosen.gradient)


def filtered(
    engine, source, target, name="gaussian", border="clamp", until=None, named="parallel", **how
):
    """What came of it; until: stop when so many rows are finished."""
    with LargePicture(source, kept=6) as picture:
        like = job_of(np.zeros((1, 1, picture.channels), picture.dtype), name, border)
        steps = filtering_file(engine, picture, target, like, named, memory_bytes=2**30, **how)
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                return end.value
            if until is not None and isinstance(step, StripsDone) and step.rows >= until:
                steps.close()
                return step


def names(folder):
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("name", ["gaussian", "edges"])
def test_the_file_is_that_of_the_whole_picture(engine, source, border, name, tmp_path):
    answer = filtered(engine, source, tmp_path / "out.tif", name, border, max_taps=None)
    whole = job_of(tifffile.imread(source), name, border).but(implementation="parallel")
    expected = engine.run(whole, Sampling(max_samples=0, check=False)).picture
    np.testing.assert_array_equal(image_files.load(tmp_path / "out.tif").samples, expected)
    assert names(tmp_path) == ["in.tif", "out.tif"]
    assert (answer.shape, answer.strips, answer.resumed) == ((HEIGHT, WIDTH, 3), 9, 0)
    assert (answer.check.ok, answer.check.is_full) == (True, True)
    assert set(answer.seconds) == {"decode", "filter", "verify", "encode"}
    assert replace(answer, seconds={"decode": 3, "filter": 2, "verify": 2}).limit == "filter"


def test_what_was_stopped_goes_on_and_is_the_same_in_the_end(engine, source, tmp_path):
    filtered(engine, source, tmp_path / "whole.tif")
    stopped = filtered(engine, source, tmp_path / "out.tif", until=30)
    assert (stopped.rows, stopped.height) == (30, HEIGHT)
    assert names(tmp_path) == ["in.tif", "out.tif.part", "out.tif.part.jsonl", "whole.tif"]
    assert large_filtering.is_begun(tmp_path / "out.tif")
    answer = filtered(engine, source, tmp_path / "out.tif")
    assert answer.resumed >= 30
    assert answer.strips == (HEIGHT - answer.resumed) // 10
    a, b = ((tmp_path / name).read_bytes() for name in ("out.tif", "whole.tif"))
    assert a == b
    assert names(tmp_path) == ["in.tif", "out.tif", "whole.tif"]


def test_rows_that_were_not_finished_are_done_again_whatever_is_in_them(engine, source, tmp_path):
    filtered(engine, source, tmp_path / "whole.tif")
    filtered(engine, source, tmp_path / "out.tif", until=30)
    journal = tmp_path / "out.tif.part.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:3]) + b'{"ro')  # as a kill in the middle leaves it
    with closing(TiledTiff(tmp_path / "out.tif.part")) as part:
        part.fill(20, np.full((70, WIDTH, 3), 9, np.uint8))
    assert filtered(engine, source, tmp_path / "out.tif").resumed == 20
    assert (tmp_path / "out.tif").read_bytes() == (tmp_path / "whole.tif").read_bytes()


@pytest.mark.parametrize("change", ["filter", "source", "journal", "part"])
def test_what_was_begun_otherwise_is_begun_anew(engine, source, change, tmp_path):
    filtered(engine, source, tmp_path / "out.tif", until=30)
    if change == "source":
        saved(tmp_path, noise(HEIGHT, WIDTH, 3, seed=9))
    elif change == "journal":
        (tmp_path / "out.tif.part.jsonl").write_bytes(b"\0\0\n")
    elif change == "part":
        (tmp_path / "out.tif.part").write_bytes(b"II")
    name = "sharpen" if change == "filter" else "gaussian"
    assert filtered(engine, source, tmp_path / "out.tif", name).resumed == 0
    whole = job_of(tifffile.imread(source), name).but(implementation="parallel")
    expected = engine.run(whole, Sampling(max_samples=0, check=False)).picture
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "out.tif"), expected)


def test_a_source_that_is_written_meanwhile_gives_no_result(engine, source, tmp_path, monkeypatch):
    fill = TiledTiff.fill

    def overwriting(tiff, first, rows):
        os.utime(source, (first, first))  # as whoever writes it does
        fill(tiff, first, rows)

    monkeypatch.setattr(TiledTiff, "fill", overwriting)
    with pytest.raises(ImageFileError, match=r"in\.tif was changed"):
        filtered(engine, source, tmp_path / "out.tif")
    assert names(tmp_path) == ["in.tif"]


class ArrayMemoryError(MemoryError):
    """As NumPy's own: of two arguments, which its words are made of."""

    def __init__(self, shape, dtype):
        super().__init__(shape, dtype)

    def __str__(self):
        shape, dtype = self.args
        return f"Unable to allocate {shape} of {dtype}"


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (OSError(28, "No space left on device"), ImageFileError, "disk is full"),
        (TooLargeError("It is too large", "cut it"), TooLargeError, "too large: cut it"),
        (MemoryError(), OutOfMemoryError, "Out of memory"),
        (ArrayMemoryError((9, 9), np.uint8), OutOfMemoryError, "Out of memory"),
    ],
)
def test_where_a_file_fails_what_is_finished_is_kept(
    engine, source, tmp_path, monkeypatch, error, kind, words
):
    fill = TiledTiff.fill

    def fails(tiff, first, rows):
        if first == 40:
            raise error
        fill(tiff, first, rows)

    monkeypatch.setattr(TiledTiff, "fill", fails)
    with pytest.raises(kind, match=rf"{words}.* 40 of 90 rows are finished and kept"):
        filtered(engine, source, tmp_path / "out.tif")
    monkeypatch.undo()
    monkeypatch.setattr(large_filtering, "rows_a_strip", lambda *_, **__: 10)
    assert filtered(engine, source, tmp_path / "out.tif").resumed == 40


def test_where_the_gpu_is_lost_what_is_finished_is_kept(engine, source, tmp_path, monkeypatch):
    run, rows = cpu_run.filtering, []

    def loses(implementation, job, sampling):
        rows.append(job.height)
        if len(rows) == 4:
            raise DeviceLostError("The GPU is gone.")
        yield from run(implementation, job, sampling)

    with monkeypatch.context() as patch:
        patch.setattr(cpu_run, "filtering", loses)
        with pytest.raises(DeviceLostError, match=r"is gone. 30 of 90 rows are finished"):
            filtered(engine, source, tmp_path / "out.tif")
    assert filtered(engine, source, tmp_path / "out.tif").resumed == 30


def test_a_disk_without_room_is_told_before_anything_is_done(engine, source, tmp_path, monkeypatch):
    free = type("Usage", (), {"free": 10_000})
    monkeypatch.setattr(large_filtering.shutil, "disk_usage", lambda _: free)
    with pytest.raises(ImageFileError, match=r"takes 13.5.kB of the disk, and 10.0.kB are free"):
        filtered(engine, source, tmp_path / "out.tif")
    assert not (tmp_path / "out.tif.part").exists()


def test_strips_are_as_high_as_memory_allows(tmp_path):
    tifffile.imwrite(tmp_path / "in.tif", np.zeros((8000, 1000), np.uint8))
    with LargePicture(tmp_path / "in.tif") as picture:
        like = job_of(np.zeros((1, 1, 1), np.uint8))
        found = [rows_a_strip(picture, like, mb * 1_000_000) for mb in (1, 2, 3, 4, 100)]
        assert found == [181, 256, 512, 768, 1000 - 1000 % 256]
        edges = job_of(np.zeros((1, 1, 1), np.uint8), "edges")
        assert rows_a_strip(picture, edges, 1_000_000) == 55
        with pytest.raises(ImageFileError, match="strips take at least"):
            rows_a_strip(picture, like, 200_000)

    wide = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (600, 1 << 17), (0, 0))
    tifffile.imwrite(tmp_path / "wide.tif", wide, compression="zlib", rowsperstrip=1)
    with LargePicture(tmp_path / "wide.tif") as picture:
        like = job_of(np.zeros((1, 1, 1), np.float32))
        found = [rows_a_strip(picture, like, mb << 20, for_now=True) for mb in (350, 500)]
        assert [rows % block_rows(1 << 17) for rows in found] == [0, 0]
        assert found[0] >= 64
        with pytest.raises(ImageFileError, match="strips take at least"):
            rows_a_strip(picture, like, 200 << 20, for_now=True)


@pytest.mark.parametrize("at", [0, 44, 89])
def test_what_one_strip_refuses_the_whole_file_is_filtered_without(engine, tmp_path, at):
    samples = noise(HEIGHT, WIDTH, 3, "float32")
    samples[at, 3] = np.nan
    source = saved(tmp_path, samples)
    whole = job_of(samples)
    whole = whole.but(implementation=engine.best_for(whole))
    expected = engine.run(whole, Sampling(max_samples=0, check=False)).picture
    filtered(engine, source, tmp_path / "once.tif", named=None)
    for until in (10, 40):
        filtered(engine, source, tmp_path / "twice.tif", named=None, until=until)
    filtered(engine, source, tmp_path / "twice.tif", named=None)
    for name in ("once", "twice"):
        assert tifffile.imread(tmp_path / f"{name}.tif").tobytes() == expected.tobytes()


def test_what_is_resumed_is_filtered_as_its_first_rows(engine, source, tmp_path, monkeypatch):
    filtered(engine, source, tmp_path / "whole.tif", named="parallel")
    with monkeypatch.context() as patch:
        patch.setattr(engine, "picks", lambda _: iter([Pick("parallel", None, "made up")]))
        filtered(engine, source, tmp_path / "out.tif", named=None, until=30)
    answer = filtered(engine, source, tmp_path / "out.tif", named=None)
    assert (answer.resumed >= 30, answer.first.implementation) == (True, "parallel")
    assert (tmp_path / "out.tif").read_bytes() == (tmp_path / "whole.tif").read_bytes()
