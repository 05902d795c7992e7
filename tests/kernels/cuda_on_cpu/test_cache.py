"""Compiled texts are kept in the user's cache folder, those used last for the longest."""

import os

import pytest

from kernels.core.cache_folder import FOLDER_VARIABLE
from kernels.cuda_on_cpu import compiler, cpu_runs
from kernels.cuda_on_cpu.building import build
from kernels.cuda_on_cpu.cpu_runs import default_cache
from kernels.cuda_on_cpu.flavours import PLAIN


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


@pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
def test_what_is_used_again_counts_as_new(build_cache):
    text = "int used_twice;"
    made = build(text, PLAIN, build_cache)
    os.utime(made, (0, 0))
    assert build(text, PLAIN, build_cache) == made
    assert made.stat().st_mtime > 0
