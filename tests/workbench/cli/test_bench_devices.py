"""`workbench bench devices` with GPUs and times that are made up."""

import json
from dataclasses import replace

import pytest

from kernels import Engine
from kernels.core.job import Sampling
from kernels.core.timing import Timing
from tests.made_up import FAILED
from tests.workbench.engines import DEVICE, MadeUpGpu
from workbench.batch.finished_row import FinishedRow
from workbench.cli import main
from workbench.cli.benches import device_scaling, devices, folder_scaling
from workbench.files import image_files

OVERHEAD_MS, UPLOAD_MS = 0.01, 0.2  # of the latter MadeUpGpu says the same


class ScalingGpu(MadeUpGpu):
    """Filters a row in a microsecond on each GPU, and needs a moment where there are several.

    asked  (devices, height, whether it was for the time alone), in their order
    """

    asked: list = []  # noqa: RUF012 - emptied by the fixture
    is_wrong = False

    def run(self, job, sampling=None):
        result = super().run(job, Sampling(max_samples=0, check=sampling.check))
        self.asked.append((job.devices, job.height, sampling.max_samples > 0))
        ms = job.height / job.devices / 1e3 + OVERHEAD_MS * (job.devices > 1)
        count = max(sampling.max_samples, 1)
        samples = tuple(ms * (1 + 1e-4 * at) for at in range(count))
        check = FAILED if self.is_wrong and job.devices == 2 else result.check
        return replace(result, kernel=Timing(samples, "cold"), check=check)


class MadeUpRun:
    """Plays `DeviceRun`: writes nothing, and fails where a file is named in `fails`.

    Takes three seconds to start, and then one GPU a fiftieth of a second for each file.
    """

    asked: list = []  # noqa: RUF012 - emptied by the fixture
    fails = ""
    now_s = 0.0

    def __init__(self, devices, recipe, folder, jobs, warn):
        self.devices, self.recipe, self.folder, self.warn = devices, recipe, folder, warn
        assert folder.is_dir()
        assert list(folder.iterdir()) == []
        self.asked.append((devices, recipe.chosen.ksize, recipe.implementation))

    def rows(self, pairs):
        if self.fails == "process":
            self.warn("The process for GPU 1 was killed.")
        seconds = {"decode": 0.1, "filter": 9.0, "encode": 0.2}
        MadeUpRun.now_s += 3
        for at, pair in enumerate(pairs):
            MadeUpRun.now_s += 1 / 50 / len(self.devices)
            assert image_files.load(pair.source).samples.shape == (8, 8, 3)
            error = "2.tif: It is broken." if self.fails and pair.name == self.fails else None
            device = self.devices[at % len(self.devices)]
            yield FinishedRow(pair.name, pair.name, "done", error, seconds=seconds, device=device)


@pytest.fixture
def bench(monkeypatch, capsys, tmp_path):
    """Runs the command; returns its code and what it printed."""
    monkeypatch.setattr(folder_scaling, "monotonic", lambda: MadeUpRun.now_s)
    monkeypatch.setattr(folder_scaling, "DeviceRun", MadeUpRun)
    monkeypatch.setattr(folder_scaling, "FILES", 12)
    monkeypatch.setattr(folder_scaling, "SIDE", 8)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    MadeUpRun.asked.clear()
    monkeypatch.setattr(device_scaling, "STRONG_SIDES", (20, 200))
    monkeypatch.setattr(device_scaling, "WEAK_SIDES", (100,))
    monkeypatch.setenv("FILTER_WORKBENCH_CACHE", str(tmp_path.parent / "cache"))
    ScalingGpu.asked.clear()

    def run(*words, engine=ScalingGpu):
        monkeypatch.setattr(devices.this_machine, "engine_maker", lambda arguments: engine)
        code = main.main(["bench", "devices", "--runs", "6", *words])
        said = capsys.readouterr()
        return code, said.out.replace("\u202f", " "), said.err

    return run


def test_two_gpus_are_held_against_one(bench):
    code, out, err = bench("--cells", "gaussian")
    assert (code, err) == (0, "")
    assert "strong gaussian 5×5 200×200" in out
    assert "1.82×" in out  # 200 rows in 110 µs
    assert "91 % of 2×" in out  # 100 rows each, in 110 µs
    assert "Halo rows are copied from GPU to GPU." in out
    assert "All answers are verified." in out


def test_a_tie_is_said(bench):
    _, out, _ = bench("--cells", "gaussian")
    assert "1.00×, equal within 1 %" in out  # 20 rows in 20 µs, on two in 10 + 10
    assert "No sooner than one GPU, by filtering alone: strong gaussian 5×5 20×20 on 2." in out


def test_they_take_turns_and_transfers_are_of_a_picture_that_is_not_there(bench):
    bench("--cells", "strong gaussian 5×5 20×20")
    ours = [(devices, timed) for devices, height, timed in ScalingGpu.asked]
    one, two = [(1, True), (1, False)], [(2, True), (2, False)]
    assert ours == [*one, *two, *two, *one] * 3


def test_a_weak_cell_has_as_many_rows_for_each(bench):
    bench("--cells", "weak gaussian")
    assert {(devices, height) for devices, height, _ in ScalingGpu.asked} == {(1, 100), (2, 200)}


def test_json_has_every_sample_and_each_gpu(bench, tmp_path):
    path = tmp_path / "devices.json"
    assert bench("--cells", "strong gaussian", "--json", str(path))[0] == 0
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["devices"] == [0, 1]
    assert [(each["side"], each["devices"]) for each in data["cells"]] == [
        (20, 1),
        (20, 2),
        (200, 1),
        (200, 2),
    ]
    two = data["cells"][-1]
    assert len(two["filtering"]["samples_ms"]) == 60
    assert two["filtering"]["rounds"] == [10] * 6
    assert len(two["with_transfers"]["samples_ms"]) == 6
    assert two["with_transfers"]["samples_ms"][0] == pytest.approx(0.11 + UPLOAD_MS + 0.3)
    assert two["against_one"]["verdict"] == "faster"
    assert [each["rows"] for each in two["shares"]] == [[0, 100], [100, 200]]
    assert data["cells"][0]["shares"] == []


def test_a_folder_is_done_by_one_and_by_two_in_turns(bench, tmp_path):
    path = tmp_path / "devices.json"
    code, out, err = bench("--cells", "folder", "--json", str(path))
    assert (code, err) == (0, "")
    one, two = (0,), (0, 1)
    kinds = [(5, None), (63, "global")]
    turns = (one, two, two, one)
    assert MadeUpRun.asked == [(at, *kind) for kind in kinds for at in turns]
    assert "folder gaussian 5×5 8×8, auto" in out
    assert "50.0 per s" in out
    assert out.count("2.00×") == 2
    assert "filtering" in out
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["cells"] == []
    assert [(each["limit"], each["devices"]) for each in data["folders"]] == [
        *(("files", [0]), ("files", [0, 1])),
        *(("kernel", [0]), ("kernel", [0, 1])),
    ]
    assert all(each["waited_for"] == "filter" for each in data["folders"])
    assert data["folders"][0]["per_s"] == pytest.approx([50.0, 50.0])
    assert [each.name for each in tmp_path.iterdir()] == ["devices.json"]


@pytest.mark.parametrize(
    ("what", "said"), [("2.tif", "2.tif: It is broken."), ("process", "GPU 1 was killed.")]
)
def test_a_folder_that_is_not_done_has_no_rate(bench, monkeypatch, what, said):
    monkeypatch.setattr(MadeUpRun, "fails", what)
    code, out, err = bench("--cells", "folder")
    assert code == 1
    assert said in err
    assert " per s" not in out


def test_a_disk_without_links_has_no_rate_either(bench, monkeypatch):
    def link(source, target):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", link)
    code, _, err = bench("--cells", "folder")
    assert code == 1
    assert "Operation not permitted" in err


def test_wrong_answers_are_said_and_end_it_with_1(bench, monkeypatch):
    monkeypatch.setattr(ScalingGpu, "is_wrong", True)
    code, out, _ = bench("--cells", "strong gaussian 5×5 20×20")
    assert code == 1
    assert "WRONG answers: strong gaussian 5×5 20×20." in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cells", "("], "--cells takes a regular expression"),
        (["--cells", "moon"], "No cell fits; there are such as strong gaussian 5×5 20×20."),
        (["--peers"], "bench devices does not take --peers."),
    ],
)
def test_nonsense_is_a_sentence(bench, words, said):
    code, _, err = bench(*words)
    assert code == 2
    assert said in err


def test_with_one_gpu_or_none_there_is_nothing_to_compare(bench):
    class OneGpu(ScalingGpu):
        device = replace(DEVICE, count=1)

    code, _, err = bench(engine=OneGpu)
    assert code == 1
    assert "bench devices compares several GPUs with one, and here is only one." in err
    code, _, err = bench(engine=lambda: Engine(use_gpu=False))
    assert code == 1
    assert "The GPU was switched off" in err
