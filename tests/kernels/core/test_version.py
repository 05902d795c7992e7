"""A version names the commit: of a checkout, of the build, or none."""

import importlib.metadata
import os
import shutil
import subprocess

import pytest

from kernels.core import version
from kernels.core.version import build_of, program_version
from kernels.engine.engine import Engine
from kernels.sweeps.machine import this_machine

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder, *words):
    """What git says in `folder`, with nobody's settings."""
    environment = {
        **os.environ,
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{
            f"GIT_{who}_{what}": "a@b"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    done = subprocess.run(
        ["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path):
    """A repository with one commit."""
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("1\n")
    git(tmp_path, "add", "a.py")
    git(tmp_path, "commit", "-qm", "First")
    return tmp_path


@needs_git
def test_a_checkout_is_called_by_its_commit_and_says_where_it_was_changed(checkout):
    commit = git(checkout, "rev-parse", "HEAD")
    assert build_of(checkout) == commit[:7]
    (checkout / "a.py").write_text("2\n")
    assert build_of(checkout) == f"{commit[:7]}, changed"


@needs_git
def test_a_folder_inside_another_s_repository_is_not_called_by_its_commit(checkout):
    inside = checkout / "site-packages"
    inside.mkdir()
    assert build_of(inside) == ""


def test_without_git_the_build_s_own_note_counts(tmp_path):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "build.txt").write_text("abc1234\n")
    assert build_of(tmp_path) == "abc1234"


def test_where_git_fails_the_number_stands_alone(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()  # of no repository
    monkeypatch.setattr(version, "ROOT", tmp_path)
    assert program_version.__wrapped__() == importlib.metadata.version("filter-workbench")


def test_where_there_is_no_git_there_is_no_failure(checkout, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert build_of(checkout) == ""


def test_a_session_carries_it():
    software = this_machine(Engine(use_gpu=False)).software
    assert software["Filter Workbench"] == program_version()
