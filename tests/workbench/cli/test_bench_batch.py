"""`workbench bench batch` and `bench cpu` at a small size."""

import json
import sys
import types
from subprocess import CalledProcessError

import numpy as np
import pytest
from scipy import ndimage

from kernels.core.job import Sampling
from kernels.core.verdict import Tolerance
from kernels.oracle.checking import checking
from workbench.cli import made_jobs, main
from workbench.cli.benches import batch, cpu, filter_ways, ways
from workbench.cli.benches.batch import PeerRate
from workbench.files import image_files


def test_it_prints_a_row_for_each_format_and_leaves_nothing_behind(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(batch, "SIZE", (20, 30))
    monkeypatch.setattr(batch, "ROUNDS", 1)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    words = ["bench", "batch", "--runs", "3", "--no-gpu", "--json", str(tmp_path / "b.json")]
    assert main.main(words) == 0
    said = capsys.readouterr().out
    assert "3 of each format, 30×20 RGB" in said
    assert all(f"\n  {name} " in said for name in ("PNG", "JPEG", "TIFF"))
    found = json.loads((tmp_path / "b.json").read_text())
    assert set(found["per_s"][".tif"]) == {"decode", "filter", "encode", "batch"}
    assert (found["bench"], found["machine"]["gpu"]) == ("batch", None)
    assert all(rate > 0 for rates in found["per_s"].values() for rate in rates.values())
    assert [each.name for each in tmp_path.iterdir()] == ["b.json"]


def test_it_has_the_processes_of_a_batch_and_each_stage_has_them_as_well(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(batch, "SIZE", (20, 30))
    monkeypatch.setattr(batch, "ROUNDS", 1)
    monkeypatch.setattr(batch, "FORMATS", {".tif": "TIFF"})
    monkeypatch.setattr(batch, "usable_cores", lambda: 2)
    monkeypatch.setattr(batch, "processes_each", lambda jobs, pictures: 2)
    path = tmp_path / "b.json"
    assert main.main(["bench", "batch", "--runs", "5", "--no-gpu", "--json", str(path)]) == 0
    assert "; 2 threads in 2 processes read and write" in capsys.readouterr().out
    found = json.loads(path.read_text())
    assert found["processes"] == 2
    assert all(rate > 0 for rate in found["per_s"][".tif"].values())


@pytest.mark.parametrize("step", ["read", "encode"])
def test_a_file_that_fails_is_a_sentence_rather_than_a_rate(step, capsys, monkeypatch):
    def full(outcome, _recipe):
        outcome.error = "Cannot save 0.png: the disk is full."

    monkeypatch.setattr(batch, "SIZE", (20, 30))
    monkeypatch.setattr(batch, "processes_each", lambda jobs, pictures: 1)  # this one
    monkeypatch.setattr(f"workbench.cli.benches.batch.{step}", full)
    assert main.main(["bench", "batch", "--runs", "1", "--no-gpu"]) == 1
    assert "Cannot save 0.png: the disk is full." in capsys.readouterr().err


def test_other_programs_do_the_same_files_and_are_compared(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(batch, "SIZE", (20, 30))
    monkeypatch.setattr(batch, "ROUNDS", 1)
    monkeypatch.setenv("PATH", str(tmp_path))  # where none of the tools is
    path = tmp_path / "b.json"
    words = ["bench", "batch", "--runs", "2", "--peers", "--no-gpu", "--json", str(path)]
    assert main.main(words) == 0
    said = capsys.readouterr().out
    assert "The same files by other means" in said
    assert said.count("not installed here") == 9  # three tools, three formats
    loop = json.loads(path.read_text())["peers"][".png"]["Python loop with cv2"]
    assert loop["per_s"] > 0
    assert loop["off_by"] < 0.5  # both round to whole levels


def test_a_program_that_fails_or_paints_other_pictures_gets_no_rate(tmp_path):
    names = ("a.png",)
    source, target = tmp_path / "in", tmp_path / "out"
    for folder, value in ((source, 10), (target, 200)):
        folder.mkdir()
        image_files.save(folder / "a.png", np.full((4, 5, 3), value, np.uint8))

    def copying(source, target, names):
        (target / names[0]).write_bytes((source / names[0]).read_bytes())

    def failing(*_):
        raise CalledProcessError(1, "mogrify")

    other = batch.peer_rate(copying, source, target, names)
    assert other == PeerRate(None, why_not="other pictures: 190.0 levels off")
    failed = batch.peer_rate(failing, source, target, names)
    assert failed.per_s is None
    assert "mogrify" in failed.why_not
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in", "out"]


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(cpu, "SAMPLING", Sampling(max_samples=2, max_seconds=60.0))
    monkeypatch.setattr(cpu, "PICTURES", ((60, 80, 3, "uint8"), (64, 64, 1, "float32")))


def test_every_cell_is_told_beside_plain_calls(quick, capsys, tmp_path):
    path = tmp_path / "cpu.json"
    assert main.main(["bench", "cpu", "--cells", "(gaussian|box) 3 ", "--json", str(path)]) == 0
    said = capsys.readouterr().out
    found = json.loads(path.read_text(encoding="utf-8"))
    assert [row["cell"] for row in found["rows"]][:2] == [
        "gaussian 3 80×60×3 uint8",
        "box 3 80×60×3 uint8",
    ]
    for row in found["rows"]:
        assert row["cell"] in said
        assert {each["key"] for each in row["others"]} >= {"cv2", "SciPy"}
        assert all(each["ms"] > 0 and each["samples"] == 2 for each in row["ours"].values())
        assert any(each["ms"] for each in row["others"] if each["key"] == "cv2")
    assert "best plain cv2 call" in said
    assert found["closing"][0] in said


def test_filters_without_weights_are_told_too(quick, monkeypatch, capsys, tmp_path):
    pictures = ((40, 60, 3, "uint8"), (40, 60, 1, "float32"))
    sizes = {"median": [3, 9], "opening": [5], "bilateral": [5]}
    monkeypatch.setattr(cpu, "WINDOWS", {"pictures": pictures, "ksizes": sizes})
    planes = types.ModuleType("skimage")  # which takes a plane at a time
    planes.__version__ = "0"
    planes.filters = types.SimpleNamespace(
        median=lambda plane, window: ndimage.median_filter(plane, len(window), mode="nearest")
    )
    planes.morphology = types.SimpleNamespace(erosion=None, opening=None)
    for name in ("skimage", "skimage.filters", "skimage.morphology"):
        monkeypatch.setitem(sys.modules, name, getattr(planes, name.partition(".")[2], planes))
    monkeypatch.setattr(ways, "importable", ways.importable.__wrapped__)
    monkeypatch.setattr(filter_ways, "importable", ways.importable)
    path = tmp_path / "cpu.json"
    assert main.main(["bench", "cpu", "--cells", "60×40", "--json", str(path)]) == 0
    rows = {row["cell"]: row for row in json.loads(path.read_text(encoding="utf-8"))["rows"]}
    right = [each["key"] for each in rows["median 3 60×40×3 uint8"]["others"] if each["ms"]]
    assert right == ["cv2", "SciPy", "scikit-image"]
    (refused,) = (e for e in rows["median 9 60×40×1 float32"]["others"] if e["key"] == "cv2")
    assert "OpenCV" in refused["why_not"]
    told = {line[:36].strip(): line for line in capsys.readouterr().out.splitlines()}
    assert "cv2.medianBlur" in told["median 9 60×40×3 uint8"]
    assert told["median 9 60×40×1 float32"].split()[4] == "—"  # cv2 has none of that size
    assert "cv2.morphologyEx" in told["opening 5 60×40×1 float32"]
    assert len([name for name in told if name.endswith(("uint8", "float32"))]) == 8


@pytest.mark.skipif(ways.c_loop() is None, reason="there is no C compiler with OpenMP")
@pytest.mark.parametrize("pixel_type", ways.C_TYPES)
@pytest.mark.parametrize("ksize", [3, 9])
def test_the_loop_in_c_is_right(pixel_type, ksize):
    job = made_jobs.job("random", ksize, (33, 47), 4 - (pixel_type == "uint8"), pixel_type)
    loop = next(way for way in ways.ways("random", job) if way.library == "C")
    *_, check = checking(job, loop.run(), Tolerance(job.ksize**2, ways.ROUNDINGS, 1))
    alpha = int(job.has_alpha)  # the loop knows no alpha
    assert check.ok or (alpha and check.worst[2] == 3)


def test_an_answer_that_is_another_one_has_no_time(quick, monkeypatch):
    wrong = ways.Way("SciPy", "nothing", lambda: np.zeros((64, 64, 1), np.float32))
    monkeypatch.setattr(ways, "ways", lambda *_: [wrong])
    row = cpu.measured("a cell", "box", made_jobs.job("box", 3, (64, 64)))
    assert row.others[0].ms is None
    assert row.ratio("opencv", "SciPy") is None


def test_a_wrong_answer_of_ours_is_told_and_fails(quick, monkeypatch, capsys):
    right = cpu.error_of
    wrong = lambda job, way: 9.0 if way.library == "ours" else right(job, way)  # noqa: E731
    monkeypatch.setattr(cpu, "error_of", wrong)
    assert main.main(["bench", "cpu", "--cells", "box 3.*uint8"]) == 1
    assert "box 3 80×60×3 uint8: opencv is off by 9, which is WRONG" in capsys.readouterr().out
