"""`workbench bench`: kernels on a made-up GPU (OpenCV does the rungs' work), and batches."""

import json
import math
import sys
import types
from contextlib import nullcontext
from dataclasses import replace
from subprocess import CalledProcessError
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import ndimage

from kernels.core.job import Sampling
from kernels.core.timing import Timing
from kernels.core.verdict import Tolerance
from kernels.core.weights import gain
from kernels.oracle.checking import checking, largest_finite
from kernels.rungs.rung import ladder, list_ladder
from tests import made_up
from tests.workbench.engines import DEVICE, MadeUpGpu
from workbench.cli import made_jobs, main
from workbench.cli.benches import batch, cpu, filter_ways, ways
from workbench.cli.benches import kernels as bench
from workbench.cli.benches.batch import PeerRate
from workbench.cli.benches.gpu_ways import INSIDE, LIBRARIES, measure_peers
from workbench.cli.benches.kernels import FFT, BenchCell, CellReport, all_cells
from workbench.cli.benches.ways import (
    REDUCED_ERROR,
    Measured,
    Way,
    importable,
    precision_of,
    quickest,
)
from workbench.files import image_files

CONDITIONS = {"copy_gb_s": 4000.0, "empty_launch_ms": 0.003}
JOB = made_up.a_job("shared")


class MadeUpClock:
    """Copies at 4 TB/s; its arrays are NumPy's."""

    class cp:  # noqa: N801 - stands for the module
        asarray = asnumpy = staticmethod(np.asarray)
        empty_like, stack = staticmethod(np.empty_like), staticmethod(np.stack)

        @staticmethod
        def get_default_memory_pool():
            class Pool:
                free_all_blocks = staticmethod(lambda: None)

            return Pool

    class stream(nullcontext):  # noqa: N801 - stands for an object
        synchronize = staticmethod(lambda: None)

    stream = stream()

    def __init__(self, device=DEVICE):
        self.device = device

    def using(self):
        return nullcontext()

    def time(self, queue, sampling=None):
        queue()
        return Timing((0.5,), "cold")

    def copy_ms(self, count):
        return 2 * count / 4e9


@pytest.fixture
def on_made_up_gpu(monkeypatch, tmp_path):
    monkeypatch.setenv("FILTER_WORKBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(bench, "engine_maker", lambda arguments: MadeUpGpu)
    monkeypatch.setattr(bench, "Clock", MadeUpClock)
    return tmp_path


def time_of(key="ring", ms=1.0, max_error=1e-7, precision="float32", ok=True):
    return Measured(key, ms=ms, max_error=max_error, precision=precision, ok=ok, share=100 / ms)


def report(*rungs, aims=(), peers=(), ksize=5, size=(8192, 8192), weights="gaussian"):
    cell = BenchCell(weights, "float32", 1, size, ksize, aims)
    return CellReport(cell, 1.0, rungs, peers, CONDITIONS, 1.0)


def test_every_cell_is_a_job_that_some_rung_takes():
    for cell in all_cells():
        job = replace(cell, size=(64, 64)).job()
        if cell.is_list:
            assert all(not rung.why_not(job, made_up.H200) for rung in list_ladder()), str(cell)
            continue
        able = [rung for rung in ladder() if rung.why_not(job, made_up.H200) is None]
        assert able, str(cell)
        assert all(rung.does(job) for rung in able), str(cell)


def test_the_bench_measures_checks_and_writes_what_it_found(on_made_up_gpu, capsys):
    path = on_made_up_gpu / "found.json"
    words = ["--cells", "uint8×1 256²", "--sizes", "3,5", "--peers", "--json", str(path)]
    assert main.main(["bench", "kernels", *words]) == 0
    said = capsys.readouterr().out
    assert "gaussian uint8×1 256² K=3" in said
    assert "K=15" not in said
    assert "best peer: OpenCV" in said
    assert "Aims met: " in said
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["device"]["name"] == DEVICE.name
    assert [cell["ksize"] for cell in data["cells"]] == [3, 5]
    shared = next(each for each in data["cells"][0]["rungs"] if each["key"] == "shared")
    assert shared["ok"]
    assert shared["registers"] == 40
    assert shared["ms"] > 0
    peers = {each["key"] for each in data["cells"][0]["peers"]}
    assert "opencv" in peers <= set(LIBRARIES)  # which of the others do is the machine's affair


def test_a_median_is_measured_by_its_own_rungs_beside_what_others_have_for_it(
    on_made_up_gpu, capsys
):
    path = on_made_up_gpu / "found.json"
    words = ["--cells", "median uint8×3 768×512", "--peers", "--json", str(path)]
    assert main.main(["bench", "kernels", *words]) == 0
    said = capsys.readouterr().out
    assert "median uint8×3 768×512 K=5" in said
    assert "aim launch + 6 µs = 9.00\u202fµs: " in said
    assert "best peer: OpenCV on the CPU median" in said
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert [cell["ksize"] for cell in cells] == [3, 5]
    for cell in cells:
        rungs = {rung.key for rung in ladder() if rung.filter in ("median", "percentiles")}
        assert {each["key"] for each in cell["rungs"]} == rungs
        assert any(each.get("ok") for each in cell["rungs"])
        peers = {each["key"]: each for each in cell["peers"]}
        assert set(peers) == set(filter_ways.LIBRARIES)
        assert all("ok" in each or each["why_not"] for each in peers.values())
        assert peers["opencv"]["max_error"] == 0


@pytest.fixture
def scipy_as_cupy(monkeypatch):
    """SciPy, which has the same calls, stands for CuPy."""
    monkeypatch.setitem(sys.modules, "cupyx.scipy.ndimage", ndimage)
    importable.cache_clear()
    yield
    importable.cache_clear()


@pytest.mark.parametrize(
    ("name", "pixel_type"), [("median", "uint8"), ("minimum", "float32"), ("opening", "uint8")]
)
def test_what_a_library_has_for_a_filter_gives_the_same(name, pixel_type, scipy_as_cupy):
    found = peers_of(name, 5, filter_ways.LIBRARIES, pixel_type)
    for key in ("cupy_ndimage", "opencv"):
        assert found[key].ok, found[key]
        assert found[key].max_error == 0


@pytest.mark.parametrize(
    ("name", "ksize", "pixel_type"), [("bilateral", 9, "float32"), ("non_local_means", 7, "uint8")]
)
def test_opencv_means_the_same_by_a_filter_s_parameters(name, ksize, pixel_type):
    library = {"opencv": filter_ways.LIBRARIES["opencv"]}
    assert peers_of(name, ksize, library, pixel_type, 1)["opencv"].ok


def peers_of(name, ksize, libraries, pixel_type="uint8", channels=3):
    """What is measured of them on a picture that is checked whole, by library."""
    job, known = BenchCell(name, pixel_type, channels, (150, 140), ksize).job(), {}
    list(checking(job, job.picture, Tolerance(1), known=known))  # as after the rungs
    found = measure_peers(name, job, known, MadeUpClock(), libraries)
    return {each.key: each for each in found}


def test_medians_that_would_take_minutes_are_left_out(scipy_as_cupy):
    cupy = {"cupy_ndimage": filter_ways.LIBRARIES["cupy_ndimage"]}
    assert peers_of("median", 17, cupy) == {}
    assert peers_of("minimum", 17, cupy)["cupy_ndimage"].ok


@pytest.mark.parametrize(("at", "is_ok"), [((1, 70), True), ((2, 70), False), ((147, 2), False)])
def test_of_a_library_without_borders_only_what_is_inside_is_compared(at, is_ok):
    def ways(task):
        made = ndimage.median_filter(task.source, (5, 5, 1), mode="nearest")
        made[at] += 1
        yield Way("", "inside", lambda: made, INSIDE, on_gpu=True)

    found = peers_of("median", 5, {"one": ("One", "ctypes", ways)})["one"]
    assert (found.border, found.ok) == (INSIDE, is_ok)


def test_ctrl_c_closes_with_what_was_measured_until_then(on_made_up_gpu, monkeypatch, capsys):
    measure_checked, tried = bench.measure_checked, []

    def interrupted(*arguments):
        tried.append(arguments)
        if len(tried) == 3:  # the second cell's first
            raise KeyboardInterrupt
        return measure_checked(*arguments)

    monkeypatch.setattr(bench, "measure_checked", interrupted)
    words = ["--quick", "--cells", "256²", "--sizes", "3,5"]
    assert main.main(["bench", "kernels", *words]) == 130
    said = capsys.readouterr().out
    assert "Stopped: what follows is of the cells above." in said
    assert "1 cells in " in said


@pytest.mark.parametrize("bench", ["kernels", "cpu"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(
    bench, on_made_up_gpu, capsys
):
    path = on_made_up_gpu / "no such folder" / "found.json"
    assert main.main(["bench", bench, "--json", str(path)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"workbench: Cannot write {path}: ")


def test_an_aim_is_a_share_of_the_copy_cuffts_time_or_a_sum_of_times():
    cufft = Measured("cufft", "cuFFT", ms=3.0, precision="float32", ok=True)

    def found(target, peers=(cufft,)):
        aims = (("float32", target),)
        (finding,) = report(time_of(ms=2.0), peers=peers, aims=aims).findings()
        return SimpleNamespace(**finding)

    assert (found(50).limit_ms, found(50).met, found(51).met) == (2.0, True, False)
    assert found(FFT).met
    assert found("launch + memory + 2 µs").limit_ms == pytest.approx(0.003 + 2**29 / 4e9 + 0.002)
    assert found("launch + 3 µs").limit_ms == pytest.approx(0.006)
    assert (found("2,100 µs").limit_ms, found("2,100 µs").met) == (2.1, True)
    assert found(FFT, ()).met is None  # cuFFT was not measured


def test_only_right_answers_of_the_precision_asked_for_count():
    exact, rough = time_of("ring", 2.0), time_of("tensor", 1.0, 5e-5, "reduced")
    wrong = time_of("broken", 0.1, ok=False)
    too_rough = time_of("tensor_half", 0.5, 5e-4, None)
    made = report(exact, rough, wrong, too_rough)
    assert quickest(made.rungs, "float32") is exact
    assert quickest(made.rungs, "reduced") is rough
    assert any("WRONG, and not counted: broken" in line for line in made.lines())


@pytest.mark.parametrize(
    ("waves", "is_told"), [(0.3, False), (1.1, True), (1.9, False), (12.1, False)]
)
def test_a_launch_whose_last_wave_is_nearly_empty_is_told(waves, is_told):
    made = report(replace(time_of("ring", 2.0), waves=waves))
    said = " ".join(bench.closing_lines([made], {**CONDITIONS, "device": {"name": "H200"}}))
    assert ("K=5 ring 1.10, 45" in said) is is_told


def test_a_rung_s_time_knows_its_launch_and_its_error():
    rung = made_up.implementations()["shared"]
    result = made_up.result("shared", samples_ms=(0.2, 0.4, 0.3))
    found = bench.measured_rung(rung, result, copy_ms=0.15)
    assert (found.ms, found.share, found.block_xy) == (0.3, pytest.approx(50), (32, 8))
    assert (found.registers, found.shared_bytes, found.max_error) == (40, 1664, 0.5)
    blocks = math.prod(result.ran[0].grid)
    assert bench.measured_rung(rung, result, 0.15, resident=blocks).waves == 1
    failed = made_up.result("shared", check=made_up.FAILED)
    assert "WRONG" in bench.measured_rung(rung, failed, 0.1).why_not
    refused = bench.measured_rung(rung, "No.", 0.1)
    assert (refused.ms, refused.why_not) == (None, "No.")


def test_a_peer_s_answer_may_be_exact_rough_or_wrong():
    picture = np.random.default_rng(0).random((20, 20, 1), np.float32)
    job = replace(JOB, picture=picture)
    largest = gain(job.correlation.weights) * largest_finite(picture)
    assert precision_of(1e-7 * largest, job) == "float32"
    assert precision_of(0.9 * REDUCED_ERROR * largest, job) == "reduced"
    assert precision_of(2 * REDUCED_ERROR * largest, job) is None
    assert precision_of(1.0, JOB) == "float32"  # an integer, rounded another way
    median = BenchCell("median", "uint8", 1, (20, 20), 3).job()
    assert (precision_of(0.0, median), precision_of(2.0, median)) == ("float32", None)


# -- `workbench bench batch`


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
