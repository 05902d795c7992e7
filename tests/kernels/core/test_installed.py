"""The advice that fits a copy: frozen, from a checkout, by uv, pipx or pip."""

import sys

import pytest

from kernels.core import installed


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return tmp_path


def test_a_packaged_program_is_not_told_to_run_pip_in_itself(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert installed.kind() == installed.FROZEN
    assert installed.adding("cupy-cuda13x") == ""
    assert "`" not in installed.how_to_add_extra("cuda13")


def test_only_the_checkouts_own_environment_is_set_up_by_make(monkeypatch, prefix):
    assert "make setup" not in installed.how_to_add_extra("cuda13")
    monkeypatch.setattr(installed, "ROOT", prefix)
    monkeypatch.setattr(sys, "prefix", str(prefix / ".venv"))
    assert installed.how_to_add_extra("cuda13") == "run `make setup`"
    assert "make setup" not in installed.how_to_add_extra("cluster")


def test_an_extra_is_what_pyproject_says(prefix):
    said = installed.how_to_add_extra("cuda13")
    assert "cupy-cuda13x" in said
    assert "!=14.1.0" in said
    assert "nvidia-cuda-nvrtc==13.0.*" in said
    assert "sys_platform" not in said
