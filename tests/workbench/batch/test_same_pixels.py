"""A batch gives the same files in any order, under load and after kills."""

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from hashlib import sha256
from itertools import product
from pathlib import Path

import pytest

from kernels import Engine, Job, Sampling, filters
from kernels.pictures.generated import noise
from tests.conftest import ROOT
from tests.kills import killed_and_resumed
from workbench.cli import main
from workbench.files import image_files

FILTERS = (
    ("gaussian", "--size", "7"),
    ("gaussian", "--size", "31"),
    ("box", "--size", "9"),
    ("edges",),
    ("unsharp", "--size", "15"),
)
# Every clock that a module of ours has taken by name tells anything.
LYING = """
import importlib, pkgutil, random, sys, time
import kernels.core, kernels.cpu, kernels.engine
for package in (kernels.core, kernels.cpu, kernels.engine):
    for each in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(each.name)
drawn = random.Random()
clocks = [time.perf_counter, time.monotonic, time.process_time, time.time]
ours = [each for name, each in sys.modules.items() if name.startswith("kernels")]
for module in ours:
    for name, value in list(vars(module).items()):
        if any(value is clock for clock in clocks):
            setattr(module, name, drawn.random)
from tests.workbench.batch.test_same_pixels import digest_of_jobs
print(digest_of_jobs())
"""


def digest_of_jobs():
    """Filter every kind of job with the best there is without a GPU."""
    engine, found = Engine(use_gpu=False), sha256()
    for (name, *size), pixel_type in product(FILTERS, ("uint8", "float32")):
        chosen = filters.get(name)
        weights = chosen.weights(int(size[-1]) if size else 3)
        job = Job.of(noise(130, 210, 3, pixel_type), weights, gradient=chosen.gradient)
        job = job.but(implementation=engine.best_for(job))
        found.update(engine.run(job, Sampling(max_samples=2, check=False)).picture.tobytes())
    return found.hexdigest()


def test_no_clock_decides_what_comes_out():
    lied_to = subprocess.run(
        [sys.executable, "-c", LYING], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert lied_to.stdout.strip() == digest_of_jobs()


def digests(folder: Path):
    """What the pictures in `folder` hold, by name."""
    return {path.name: digest_of(path) for path in sorted(folder.glob("*.png"))}


def batch_of(source: Path, target: Path, *options: str):
    chosen = ["--filter", "gaussian", "--size", "7", "--no-gpu"]
    return ["batch", str(source), str(target), *chosen, *options]


def killed(command: list[str], target: Path, count: int):
    """Start a batch, and kill it once `count` results are there."""
    with subprocess.Popen(
        [sys.executable, "-m", "workbench", *command], cwd=ROOT, stdout=subprocess.DEVNULL
    ) as process:
        while process.poll() is None and sum(1 for _ in target.glob("*.png")) < count:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("count", [12, pytest.param(1000, marks=pytest.mark.nightly)])
def test_a_batch_is_the_same_in_any_order_with_any_jobs_and_after_a_kill(count, tmp_path, capsys):
    there, turned = tmp_path / "in", tmp_path / "turned"
    there.mkdir()
    turned.mkdir()
    for number in range(count):
        picture = noise(40 + number % 7, 64, 1 + number % 3, ("uint8", "uint16")[number % 2])
        image_files.save(there / f"{number:04}.png", picture)
        (turned / f"{count - number:04}.png").symlink_to(there / f"{number:04}.png")
    assert main.main(batch_of(there, tmp_path / "a", "--jobs", "1")) == 0
    assert main.main(batch_of(turned, tmp_path / "b", "--jobs", "4")) == 0
    killed(batch_of(there, tmp_path / "c", "--jobs", "3"), tmp_path / "c", count // 3)
    assert main.main(batch_of(there, tmp_path / "c", "--jobs", "2", "--resume")) == 0
    expected = digests(tmp_path / "a")
    assert len(expected) == count
    assert digests(tmp_path / "c") == expected
    other = {f"{count - int(name[:4]):04}.png": found for name, found in expected.items()}
    assert digests(tmp_path / "b") == other


@pytest.mark.nightly
@pytest.mark.parametrize("filter_options", FILTERS, ids=" ".join)
def test_a_busy_computer_gives_what_an_idle_one_gives(filter_options, tmp_path):
    image_files.save(tmp_path / "in.png", noise(512, 768, 3))

    def applied(number: int):
        command = [sys.executable, "-m", "workbench", "apply", "in.png", f"{number}.png"]
        subprocess.run(
            [*command, "--no-gpu", "--filter", *filter_options],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return digest_of(tmp_path / f"{number}.png")

    found = {applied(number) for number in range(15)}
    with ExitStack() as others:
        for _ in range(2 * (os.cpu_count() or 1)):
            other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            others.enter_context(other)
            others.callback(other.kill)
        found |= {applied(number) for number in range(15, 30)}
    assert len(found) == 1


def digest_of(path: Path):
    return sha256(image_files.load(path).samples.tobytes()).hexdigest()


FILES = int(os.environ.get("KILLS_FILES", "30"))
KILLS = max(FILES // 250, 1)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_batch_killed_at_random_loses_nothing_and_does_nothing_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    found = killed_and_resumed(tmp_path, FILES, KILLS, seed=FILES)
    counts = (found.lost, found.twice, found.half_written, found.abandoned)
    assert counts == (0, 0, 0, 0), (tmp_path / "log").read_text()
    assert found.kills == KILLS
    assert found.peak_bytes > 0
