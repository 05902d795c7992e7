"""Where compute-sanitizer is looked for, and what is said where there is none of use."""

from __future__ import annotations

import sys

import pytest

from kernels.cuda import compute_sanitizer
from kernels.cuda.compute_sanitizer import WITHOUT_IT, Sanitizer, the_sanitizer, why_no_sanitizer


@pytest.fixture(autouse=True)
def none_of_this_computer(monkeypatch):
    monkeypatch.setattr(compute_sanitizer, "IN_PACKAGES", ())
    monkeypatch.setattr(compute_sanitizer, "TOOLKIT", "")
    monkeypatch.setenv("PATH", "")
    for name in compute_sanitizer.TOOLKITS:
        monkeypatch.delenv(name, raising=False)
    the_sanitizer.cache_clear()
    yield
    the_sanitizer.cache_clear()


def program_in(folder, version="2026.4.0.0", code=0):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "compute-sanitizer"
    said = f"NVIDIA (R) Compute Sanitizer\nVersion {version} (build 39022338)"
    path.write_text(f"#!{sys.executable}\nprint({said!r})\nraise SystemExit({code})\n")
    path.chmod(0o755)
    return path


def test_without_one_it_is_said_how_to_get_it():
    assert why_no_sanitizer() == WITHOUT_IT
    assert "pip install nvidia-cuda-sanitizer-api" in WITHOUT_IT


def test_the_one_on_the_path_is_taken(tmp_path, monkeypatch):
    path = program_in(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert the_sanitizer() == Sanitizer(path, (2026, 4))
    assert why_no_sanitizer() is None


@pytest.mark.parametrize("name", compute_sanitizer.TOOLKITS)
def test_a_toolkits_is_taken(tmp_path, monkeypatch, name):
    path = program_in(tmp_path / "bin")
    monkeypatch.setenv(name, str(tmp_path))
    assert the_sanitizer() == Sanitizer(path, (2026, 4))


@pytest.mark.parametrize(
    "place", ["cu13/compute-sanitizer", "cu14/compute-sanitizer", "cuda_sanitizer_api/bin"]
)
def test_the_packages_is_taken_before_all_others(tmp_path, monkeypatch, place):
    monkeypatch.undo()
    package = tmp_path / "nvidia"
    path = program_in(package / place)
    (package / "__init__.py").write_text("")
    program_in(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "nvidia"]:
        monkeypatch.delitem(sys.modules, name)
    the_sanitizer.cache_clear()
    assert the_sanitizer() == Sanitizer(path, (2026, 4))


def test_one_that_is_too_old_is_not_taken(tmp_path, monkeypatch):
    program_in(tmp_path, version="2021.3.0.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "compute-sanitizer 2021.3 is too old" in why_no_sanitizer()


def test_what_is_none_is_not_taken(tmp_path, monkeypatch):
    path = program_in(tmp_path, version="none")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert why_no_sanitizer() == f"{path} does not say its version, as a compute-sanitizer does."


def test_one_that_does_not_run_is_told(tmp_path, monkeypatch):
    program_in(tmp_path).write_bytes(b"\x7fELF")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert why_no_sanitizer().startswith("compute-sanitizer does not run: ")
