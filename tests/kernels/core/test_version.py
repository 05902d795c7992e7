"""Which version of the program this is, and how it was installed."""

import os
import shutil
import subprocess
import sys

import pytest

from kernels.core import version
from kernels.core.version import build_of

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


def test_without_git_the_build_s_own_note_counts(tmp_path):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "build.txt").write_text("abc1234\n")
    assert build_of(tmp_path) == "abc1234"


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return tmp_path


def test_a_packaged_program_is_not_told_to_run_pip_in_itself(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert version.kind() == version.FROZEN
    assert "`" not in version.how_to_add_extra("cuda13")


def test_only_the_checkouts_own_environment_is_set_up_by_make(monkeypatch, prefix):
    assert "make setup" not in version.how_to_add_extra("cuda13")
    monkeypatch.setattr(version, "ROOT", prefix)
    monkeypatch.setattr(sys, "prefix", str(prefix / ".venv"))
    assert version.how_to_add_extra("cuda13") == "run `make setup`"
    assert "make setup" not in version.how_to_add_extra("cluster")


def test_an_extra_is_what_pyproject_says(prefix):
    said = version.how_to_add_extra("cuda13")
    assert "cupy-cuda13x" in said
    assert "!=14.1.0" in said
    assert "nvidia-cuda-nvrtc==13.0.*" in said
    assert "sys_platform" not in said
