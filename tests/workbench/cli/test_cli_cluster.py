"""`workbench batch --scheduler`: a real scheduler and real workers, one of them killed."""

import json
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kernels.pictures.generated import noise
from tests.workbench.cli.batches import WAIT_S, environment, journal, results, until
from workbench.batch import cluster
from workbench.cli import main
from workbench.files import image_files

# It is not imported, as that takes each of the test processes two seconds.
pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="it takes distributed")

OPTIONS = ("--filter", "sharpen", "--no-gpu", "--implementation", "parallel")
# A worker that stops for ever in its third file, between its last byte and its name.
STUCK = """
import pathlib, time
real, calls = pathlib.Path.replace, []
def replace(path, target):
    calls.append(target)
    if len(calls) == 3:
        pathlib.Path("stuck").touch()
        time.sleep(600)
    return real(path, target)
pathlib.Path.replace = replace
"""
IMPATIENT = """
import sys
from workbench.batch import cluster
from workbench.cli import main
cluster.SILENT_S, cluster.LEFT_S, cluster.ANSWER_S = 2.0, 4.0, 4.0
sys.exit(main.main(sys.argv[1:]))
"""


class Processes:
    """A scheduler and workers, in a folder that is not the batch's."""

    def __init__(self, folder):
        self.folder, self.started = folder, []
        about = folder / "scheduler.json"
        self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", about)
        until(lambda: about.exists() and about.read_text().endswith("}"))
        self.address = json.loads(about.read_text())["address"]

    def start(self, role, *words):
        command = [sys.executable, "-m", "dask", role, "--no-dashboard", *map(str, words)]
        with (self.folder / f"{role}{len(self.started)}.log").open("w") as log:
            process = subprocess.Popen(
                command, cwd=self.folder, env=environment(), stdout=log, stderr=log
            )
        self.started.append(process)
        return process

    def worker(self, *words):
        return self.start("worker", self.address, "--nthreads", 1, "--no-nanny", *words)

    def stop(self):
        for process in reversed(self.started):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    processes = Processes(tmp_path_factory.mktemp("dask"))
    yield processes
    processes.stop()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with sixteen pictures in in/."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    for n in range(16):
        image_files.save(f"in/p{n}.png", noise(120, 160, 3))
    return tmp_path


def batch(*words, program=("-m", "workbench"), **how):
    return subprocess.Popen(
        [sys.executable, *program, "batch", *OPTIONS, *words],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how},
        text=True,
        env=environment(),
    )


def ran(*words, **how):
    with batch(*words, **how) as process:
        said, complaint = process.communicate(timeout=WAIT_S)
    return process.returncode, said, complaint


def test_no_scheduler_and_no_worker_are_a_sentence_each(folder, dask, monkeypatch, capsys):
    for name in ("CONNECT_S", "WORKERS_S"):
        monkeypatch.setattr(cluster, name, 0.5)
    words = ("batch", *OPTIONS, "in", "out", "--scheduler")
    assert main.main([*words, "tcp://127.0.0.1:1"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("workbench: No scheduler answers at tcp://127.0.0.1:1; ")
    assert main.main([*words, dask.address, "--workers", "2"]) == 1
    said = capsys.readouterr().err
    assert "has 0 of 2 workers; waiting" in said
    assert said.splitlines()[-1].startswith(f"workbench: No worker came to {dask.address} in ")
    assert not Path("out").exists()


@pytest.mark.nightly
def test_a_worker_that_is_killed_in_the_middle_loses_nothing(folder, dask):
    (dask.folder / "stuck.py").write_text(STUCK)
    stuck = dask.worker("--preload", "stuck.py")
    Path("in/p3.png").write_bytes(b"no picture")
    with batch("in", "out", "--scheduler", dask.address) as process:
        until((dask.folder / "stuck").exists)
        dask.worker()
        early = set(results("out"))
        stuck.kill()
        _, complaint = process.communicate(timeout=WAIT_S)
    assert process.returncode == 1
    assert "p3.png" in complaint
    assert complaint.splitlines()[-1].startswith("workbench: 1 failed; ")
    statuses = {each["output"]: each["status"] for each in journal()}
    assert len(statuses) == len(journal()) == 16  # each once
    assert {name for name, status in statuses.items() if status == "failed"} == {"p3.png"}
    assert {name for name, status in statuses.items() if status == "skipped"} <= early
    assert not list(Path("out").glob(".workbench-*"))

    image_files.save("in/p3.png", noise(120, 160, 3))
    code, said, _ = ran("in", "out", "--scheduler", dask.address, "--resume", "--json")
    assert code == 0
    assert json.loads(said.splitlines()[-1])["ended"]["counts"] == {"done": 1}
    assert main.main(["batch", "in", "here", *OPTIONS]) == 0
    assert results("out") == results("here")


@pytest.mark.nightly
def test_a_stopped_worker_is_said_and_left_and_a_lost_scheduler_is_a_sentence(folder, tmp_path):
    (tmp_path / "stuck.py").write_text(STUCK)
    own = Processes(tmp_path)
    try:
        stopped = own.worker("--preload", "stuck.py")
        words = ("in", "out", "--scheduler", own.address)
        with batch(*words, program=("-c", IMPATIENT)) as process:
            until((tmp_path / "stuck").exists)
            stopped.send_signal(signal.SIGSTOP)
            own.worker()
            _, complaint = process.communicate(timeout=2 * WAIT_S)
        assert process.returncode == 0, complaint
        assert "silent since" in complaint
        written = {name for name in results("out") if not name.startswith(".")}  # as one is stopped
        assert {each["output"] for each in journal()} == written
        assert len(journal()) == 16

        for n in range(16, 200):
            shutil.copy("in/p0.png", f"in/p{n}.png")
        words = ("in", "there", "--scheduler", own.address, "--implementation", "opencv", "--json")
        with batch(*words, program=("-c", IMPATIENT)) as process:
            process.stdout.readline()
            own.started[0].kill()
            _, complaint = process.communicate(timeout=2 * WAIT_S)
        assert process.returncode == 1
        assert "Traceback" not in complaint
        assert "--resume" in complaint.splitlines()[-1]
    finally:
        own.stop()
