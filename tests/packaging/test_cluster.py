"""The examples for clusters run here as there: each shard by its own shell, together the whole."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from kernels.pictures.generated import noise
from tests.conftest import ROOT
from workbench.cli import main
from workbench.files import image_files

CLUSTER = ROOT / "packaging" / "cluster"
SLURM = CLUSTER / "batch.slurm"
JOB = json.loads((CLUSTER / "kubernetes-job.json").read_text())
SCHEDULER_SLURM = CLUSTER / "scheduler.slurm"
PODS = {
    (each["kind"], each["metadata"]["name"]): each
    for each in json.loads((CLUSTER / "kubernetes-scheduler.json").read_text())["items"]
}
SHARDS, WORKERS = 8, 4
TASKS = 3  # how many there are, Slurm says to each

pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")


@pytest.fixture
def folder(tmp_path):
    """Pictures in a folder whose name a shell would split, and a `workbench` on the path."""
    (tmp_path / "in put").mkdir()
    for n in range(12):
        image_files.save(tmp_path / f"in put/p{n}.png", noise(9, 8, 3))
    command = tmp_path / "bin" / "workbench"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m workbench "$@" --no-gpu\n')
    command.chmod(0o755)
    return tmp_path


def environment(folder, **variables):
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **variables}


def ran(words, folder, **variables):
    env = environment(folder, **variables)
    return subprocess.run(words, env=env, capture_output=True, text=True, timeout=120)


@pytest.mark.nightly
def test_slurm_tasks_do_the_whole(folder):
    given = ["in put", "out", "--filter", "sharpen"]
    words = ["bash", str(SLURM), str(folder / given[0]), str(folder / given[1]), *given[2:]]
    for task in range(1, TASKS + 1):
        done = ran(
            words,
            folder,
            SLURM_ARRAY_TASK_ID=str(task),
            SLURM_ARRAY_TASK_COUNT=str(TASKS),
            SLURM_CPUS_PER_TASK="1",
        )
        assert done.returncode == 0, done.stderr
    out = folder / "out"
    assert len([*out.glob("*.png")]) == 12
    assert main.main(["batch", "--merge", str(out), str(out), "--json"]) == 0
    lines = map(json.loads, (out / "workbench-batch.jsonl").read_text().splitlines())
    outputs = [each["output"] for each in lines if "status" in each]
    assert len(outputs) == len(set(outputs)) == 12


@pytest.mark.nightly
def test_a_slurm_task_whose_time_is_up_stops_well_and_goes_on(folder):
    image_files.save(folder / "in put/m0.png", noise(400, 400, 3))
    for n in range(1, 60):
        shutil.copy(folder / "in put/m0.png", folder / f"in put/m{n}.png")
    source, out = folder / "in put", folder / "out"
    words = ["bash", str(SLURM), str(source), str(out)]
    shard = {"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "1", "SLURM_CPUS_PER_TASK": "1"}
    journal = out / "workbench-batch-1-of-1.jsonl"
    with subprocess.Popen(words, env=environment(folder, **shard), stderr=subprocess.PIPE) as task:
        while not journal.exists() or journal.read_text().count("\n") < 3:
            assert task.poll() is None
            sleep(0.01)
        task.terminate()
        assert b"Stopped; the same command with --resume does the rest" in task.stderr.read()
    assert task.returncode != 0
    assert 0 < len([*out.glob("*.png")]) < 72
    assert ran([*words, "--resume"], folder, **shard).returncode == 0
    assert len([*out.glob("*.png")]) == 72


# Plays srun: as many of the command as are asked for, which end when it is told to.
SRUN = """#!/bin/bash
count=${1#--ntasks=}
shift
trap 'kill $(jobs -p)' TERM
for _ in $(seq "$count"); do "$@" & done
wait || wait
"""


@pytest.mark.nightly
def test_a_slurm_job_of_a_scheduler_and_workers_does_the_whole(folder):
    pytest.importorskip("distributed")
    dask = f'#!/bin/sh\nexec "{sys.executable}" -m dask "$@"\n'
    for name, text in {"dask": dask, "srun": SRUN}.items():
        (folder / "bin" / name).write_text(text)
        (folder / "bin" / name).chmod(0o755)
    words = ["bash", str(SCHEDULER_SLURM), "in put", "out", "--filter", "sharpen"]
    env = environment(folder, SLURM_NTASKS="2")
    done = subprocess.run(
        words, env=env, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "12 pictures in" in done.stdout
    assert len([*(folder / "out").glob("*.png")]) == 12
    assert not [*folder.glob("workbench-scheduler-*")]  # the scheduler and its workers have ended


def test_the_kubernetes_job_fits_together():
    spec, pod = JOB["spec"], JOB["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert (JOB["apiVersion"], JOB["kind"]) == ("batch/v1", "Job")
    assert (spec["completionMode"], spec["completions"]) == ("Indexed", SHARDS)
    assert f"/{SHARDS}" in container["args"][0]
    assert spec["maxFailedIndexes"] == SHARDS  # a broken picture in one ends no other
    assert (spec["backoffLimitPerIndex"], pod["restartPolicy"]) == (2, "Never")  # goes only so
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    assert mounts.keys() == {each["name"] for each in pod["volumes"]}
    for each in container["env"]:
        assert Path(each["value"]).is_relative_to(mounts["pictures"])


def container_of(kind, name):
    (container,) = PODS[kind, name]["spec"]["template"]["spec"]["containers"]
    return container


def test_the_scheduler_and_its_workers_on_kubernetes_fit_together():
    (port,) = PODS["Service", "workbench-scheduler"]["spec"]["ports"]
    scheduler = PODS["Deployment", "workbench-scheduler"]["spec"]
    worker = PODS["Deployment", "workbench-worker"]["spec"]
    batch = PODS["Job", "workbench-batch"]["spec"]
    assert {each["apiVersion"] for each in PODS.values()} == {"v1", "apps/v1", "batch/v1"}
    for spec in (scheduler, worker):
        assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    service = PODS["Service", "workbench-scheduler"]["spec"]
    assert service["selector"] == scheduler["template"]["metadata"]["labels"]
    (exposed,) = container_of("Deployment", "workbench-scheduler")["ports"]
    assert exposed["containerPort"] == port["targetPort"] == port["port"]
    assert worker["replicas"] == WORKERS
    assert batch["template"]["spec"]["restartPolicy"] == "Never"
    for kind, name in (("Deployment", "workbench-worker"), ("Job", "workbench-batch")):
        container = container_of(kind, name)
        env = {each["name"]: each["value"] for each in container["env"]}
        assert env["SCHEDULER"] == f"tcp://workbench-scheduler:{port['port']}"
        (mount,) = container["volumeMounts"]  # at the same place, as a batch on a cluster needs it
        (volume,) = PODS[kind, name]["spec"]["template"]["spec"]["volumes"]
        assert (mount["mountPath"], mount["name"]) == ("/pictures", volume["name"])
