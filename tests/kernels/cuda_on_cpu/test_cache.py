"""Compiled texts are kept in the user's cache folder, those used last for the longest."""

import errno
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

from kernels.core.driving import outcome_of
from kernels.core.job import Job
from kernels.core.safe_files import FOLDER_VARIABLE, holding
from kernels.cuda_on_cpu import compiler, cpu_runs
from kernels.cuda_on_cpu.building import build
from kernels.cuda_on_cpu.compile_errors import first_error
from kernels.cuda_on_cpu.compiler import PLAIN, TRIED
from kernels.cuda_on_cpu.cpu_runs import default_cache
from kernels.cuda_on_cpu.shim import TriedShim
from kernels.rungs.rung import ladder


def test_it_is_in_the_folder_that_is_named(tmp_path, monkeypatch):
    for name in ("one", "other"):
        monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / name))
        assert default_cache() == tmp_path / name / "cuda-on-cpu"
        assert default_cache().is_dir()


def test_a_folder_has_one_name_however_it_is_reached(tmp_path, monkeypatch):
    """Libraries are linked by their names: by another, all would be compiled anew."""
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    (tmp_path / "folder").mkdir()
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "link"))
    assert default_cache() == tmp_path / "folder" / "cuda-on-cpu"


def test_what_was_not_used_for_long_is_deleted_and_no_lock(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr(cpu_runs, "MAX_KEPT_BYTES", 50)
    folder = tmp_path / "cuda-on-cpu"
    folder.mkdir()
    for age, name in enumerate(("new.so", "older.so", "oldest.so", "oldest.lock")):
        (folder / name).write_bytes(bytes(20))
        os.utime(folder / name, (1e9 - age, 1e9 - age))
    default_cache()
    assert {each.name for each in folder.iterdir()} == {"new.so", "older.so", "oldest.lock"}


def test_what_another_process_removes_meanwhile_is_no_matter(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    folder = tmp_path / "cuda-on-cpu"
    folder.mkdir()
    (folder / "going.so").write_bytes(b"1")
    is_file = Path.is_file

    def going(path):
        found = is_file(path)
        path.unlink()
        return found

    monkeypatch.setattr(Path, "is_file", going)
    assert default_cache() == folder


def test_what_a_killed_process_left_goes_and_what_is_under_way_stays(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    left, held = (tmp_path / "cuda-on-cpu" / name for name in ("left.work", "held.work"))
    for folder in (left, held):
        folder.mkdir(parents=True)
    with holding(held.with_suffix(".lock"), 0.0):
        default_cache()
    assert held.is_dir()
    assert not left.exists()


@pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
def test_where_nothing_can_be_kept_it_is_kept_while_the_process_lasts(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cpu_runs._passing.cache_clear()
    folder = default_cache()
    assert folder.parent == tmp_path
    assert build("int kept;", TRIED, folder).parent == folder


def test_a_disk_that_is_full_is_told_of_in_a_sentence(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        yield

    monkeypatch.setattr(cpu_runs, "building", full)
    rung = ladder()[0]
    job = Job(np.zeros((8, 9, 1), np.uint8), np.ones((3, 3), np.float32))
    error = outcome_of(cpu_runs.built(TriedShim, rung, job))
    assert first_error(str(error), rung)[0].count("No space left on device") == 1


@pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
def test_what_is_used_again_counts_as_new(build_cache):
    text = "int used_twice;"
    made = build(text, PLAIN, build_cache)
    os.utime(made, (0, 0))
    assert build(text, PLAIN, build_cache) == made
    assert made.stat().st_mtime > 0
