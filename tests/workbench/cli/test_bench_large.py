"""`workbench bench large`: a picture in strips beside each of its stages alone."""

import json

import pytest

from tests.workbench.engines import MadeUpGpu
from workbench.cli import main, this_machine
from workbench.cli.benches import large
from workbench.cli.benches.large import Seconds
from workbench.files.tiled_tiff import TiledTiff


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    """A small picture, and temporary files where they are seen."""
    monkeypatch.setattr(large, "SIDE", 300)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)


def test_the_slowest_stage_alone_is_the_wall():
    found = Seconds(read=1.0, filter=2.0, write=4.0, all=5.0)
    assert (found.wall, found.of_wall) == ("write", pytest.approx(0.8))


@pytest.mark.parametrize(
    ("filter_s", "link", "kernel", "words"),
    [
        (2.0, None, None, "the disk, to write"),
        (9.0, None, None, "the processor, to filter"),
        (9.0, 6.0, 0.1, "the GPU's link"),
        (9.0, 0.1, 6.0, "the GPU's kernel"),
    ],
)
def test_the_wall_is_disk_processor_link_or_kernel(filter_s, link, kernel, words):
    assert Seconds(1.0, filter_s, 4.0, 9.0, link, kernel).wall_in_words == words


def test_on_a_gpu_its_link_and_its_kernels_are_told_apart(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(this_machine, "engine_maker", lambda _: MadeUpGpu)
    path = tmp_path / "b.json"
    assert main.main(["bench", "large", "--runs", "1", "--json", str(path)]) == 0
    said = capsys.readouterr().out
    assert "\n  of that: link " in said
    assert "\n  of that: kernel " in said
    seconds = json.loads(path.read_text())["seconds"]
    assert seconds["link"] == pytest.approx(2 * 0.5e-3)  # two strips, there and back
    assert seconds["kernel"] > 0


def test_it_prints_each_stage_and_what_a_huge_picture_would_take(tmp_path, capsys):
    words = ["bench", "large", "--runs", "1", "--no-gpu", "--json", str(tmp_path / "b.json")]
    assert main.main(words) == 0
    said = capsys.readouterr().out
    for name in ("read alone", "filter alone", "write alone", "all at a time"):
        assert f"\n  {name} " in said
    assert "300×300 RGB" in said
    assert "100,000×100,000 pixels would take about" in said
    assert "peak memory of the process" in said
    found = json.loads((tmp_path / "b.json").read_text())
    assert all(found["seconds"][name] > 0 for name in ("read", "filter", "write", "all"))
    assert found["wall"] in ("the disk, to read", "the processor, to filter", "the disk, to write")
    assert (found["seconds"]["link"], found["seconds"]["kernel"]) == (None, None)
    assert found["machine"]["cpu"]
    assert found["peak_bytes"] > 1_000_000
    assert [each.name for each in tmp_path.iterdir()] == ["b.json"]


def test_a_disk_that_is_full_is_a_sentence(capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(TiledTiff, "fill", full)
    assert main.main(["bench", "large", "--no-gpu"]) == 1
    assert "No space left on device" in capsys.readouterr().err
