"""Each bench, once, at a small size: it runs to its end and prints its table."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from kernels.core.job import Sampling
from kernels.pictures import generated
from tests.benches import (
    bench,
    devices,
    frames,
    large,
    latency,
    repeat,
    saving,
    timing,
)
from tests.benches.timing import Clocked, OtherClock, Queue
from tests.benches.views import MODES
from tests.conftest import ROOT
from tests.workbench.engines import MadeUpGpu
from tests.workbench.panels.kernel.made_up_trials import MadeUpTrials
from workbench.batch.filtering import Outcome
from workbench.cli import this_machine
from workbench.panels.kernel import trying

SOME_MODES = [mode for mode in MODES if mode.name in ("wipe", "difference", "four results")]


@pytest.fixture(autouse=True)
def folder(tmp_path, tmp_path_factory, monkeypatch, qapp):
    """Temporary files where they are seen; measurements of nobody's."""
    monkeypatch.setenv("FILTER_WORKBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


@pytest.mark.nightly
def test_startup():
    command = [sys.executable, "-m", "tests.benches.startup", "--runs", "1", "--no-gpu"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    assert "first paint" in done.stdout
    assert "filtered picture" in done.stdout


def test_latency(capsys, monkeypatch):
    monkeypatch.setattr(latency, "PICTURES", {"64×64": generated.checkerboard})
    monkeypatch.setattr(latency, "MODES", SOME_MODES)
    assert latency.main(["--runs", "2", "--no-gpu"]) == 0
    said = capsys.readouterr().out
    assert all(f"64×64, opencv, {name} " in said for name in ("wipe", "from rest"))


def test_frames(capsys, monkeypatch):
    monkeypatch.setattr(frames, "SIDE", 64)
    monkeypatch.setattr(frames, "MODES", SOME_MODES)
    assert frames.main(["--runs", "4", "--no-gpu"]) == 0
    said = capsys.readouterr().out
    assert "wipe, divider" in said
    assert "within 16.7" in said


def test_saving(capsys, monkeypatch):
    MadeUpTrials().take_over(monkeypatch)
    for name, value in {"why_not": lambda: None, "SIDE": 64, "PAUSE_S": 0.05}.items():
        monkeypatch.setattr(saving, name, value)
    monkeypatch.setattr(trying, "PAUSE_MS", 0)
    assert saving.main(["--runs", "1", "--no-gpu"]) == 0
    said = capsys.readouterr().out
    assert all(f"saved {way}, CPU" in said for way in saving.WAYS)


def test_large(folder, capsys, monkeypatch):
    monkeypatch.setattr(large, "SIDE", 300)
    monkeypatch.setattr(this_machine, "engine_maker", lambda _: MadeUpGpu)
    assert large.main(["--runs", "1", "--json", str(folder / "b.json")]) == 0
    assert "wall" in capsys.readouterr().out
    seconds = json.loads((folder / "b.json").read_text())["seconds"]
    assert all(seconds[name] > 0 for name in ("read", "filter", "write", "all", "kernel"))
    assert seconds["link"] == pytest.approx(2 * 0.5e-3)  # two strips, there and back
    assert [each.name for each in folder.iterdir()] == ["b.json"]


class InThisProcess(ThreadPoolExecutor):
    """Stands for an executor of processes."""

    def __init__(self, count, mp_context):
        super().__init__(count)


@pytest.mark.nightly
def test_repeat(folder, capsys, monkeypatch):
    monkeypatch.setattr(repeat, "ProcessPoolExecutor", InThisProcess)
    quick = Sampling(max_samples=8, max_seconds=0.01, check_taps=1000)
    small = replace(repeat.PLAN, sizes=((16, 16),), ksizes=(3,), sampling=quick)
    monkeypatch.setattr(repeat, "PLAN", small)
    assert repeat.main(["--runs", "2", "--no-gpu", "--json", str(folder / "a.json")]) == 0
    data = json.loads((folder / "a.json").read_text())
    assert {len(each["medians_ms"]) for each in data["cells"]} == {2}
    tally = data["tallies"]["opencv"]
    assert tally["judged"] + tally["disturbed"] == 1


class TimedGpu(MadeUpGpu):
    """A GPU of which an empty launch takes 2 µs, any other 1.7 ms."""

    def ceilings(self):
        return {"copy_gb_s": 4000.0}


@contextmanager
def timed_queue(_engine, _job):
    timer = SimpleNamespace(launch_nothing=lambda: 0.002, sample_ms=lambda launch, _: launch())
    yield Queue(0, lambda: 1.7, timer)


@pytest.mark.parametrize(("factor", "said"), [(1.02, "4 of 4"), (1.05, "NOT EXPLAINED")])
def test_timing(capsys, monkeypatch, factor, said):
    def time(_queue, launch):
        return Clocked(*(share * factor * launch() for share in (0.99, 1.0, 1.01)))

    clocks = (OtherClock("their clock", "a memset", True, time, lambda: None),)
    monkeypatch.setattr(timing, "other_clocks", lambda: clocks)
    monkeypatch.setattr(this_machine, "engine_maker", lambda _: TimedGpu)
    monkeypatch.setattr(timing, "queue_of", timed_queue)
    assert timing.main(["--cells", "8192"]) == 0
    assert said in capsys.readouterr().out


class MadeUpRun:
    """Plays `DeviceRun`."""

    def __init__(self, devices, recipe, jobs, warn):
        self.devices = devices

    def outcomes(self, pairs):
        seconds = {"decode": 0.1, "filter": 9.0, "encode": 0.2}
        for pair in pairs:
            yield Outcome(pair, seconds=seconds, device=self.devices[0])


def test_devices(folder, capsys, monkeypatch):
    monkeypatch.setattr(devices, "DeviceRun", MadeUpRun)
    for name, value in {"FILES": 12, "SIDE": 8, "STRONG_SIDES": (20,), "WEAK_SIDES": ()}.items():
        monkeypatch.setattr(devices, name, value)
    monkeypatch.setattr(this_machine, "engine_maker", lambda _: MadeUpGpu)
    path = folder / "d.json"
    words = ["--runs", "6", "--cells", "gaussian", "--json", str(path)]
    assert devices.main(words) == 0
    assert "verified" in capsys.readouterr().out
    data = json.loads(path.read_text())
    assert [each["devices"] for each in data["cells"]] == [1, 2]
    assert len(data["cells"][0]["filtering"]["samples_ms"]) == 60
    assert {len(each["devices"]) for each in data["folders"]} == {1, 2}


def test_a_failure_is_a_sentence(capsys):
    assert bench.main("devices", devices.run, ("runs", "cells"), ["--no-gpu"]) == 1
    assert "--no-gpu" in capsys.readouterr().err
