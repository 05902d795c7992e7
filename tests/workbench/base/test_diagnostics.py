"""What does not fit together, each by the fact that gives it away."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from kernels.core.device import NoDevice
from tests.made_up import H200
from workbench.base import diagnostics, qt_libraries
from workbench.cli import main

NONE = NoDevice("none here")


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A computer with one CuPy, NVRTC 13.0 from a wheel and headers of the same version."""
    folder, headers = tmp_path / "lib", tmp_path / "include"
    folder.mkdir()
    headers.mkdir()
    (folder / "libnvrtc-builtins.so.13.0").touch()
    (headers / "cuda.h").write_text("#define CUDA_VERSION 13000\n")
    made = SimpleNamespace(
        distributions={"cupy-cuda13x": "14.2.0"},
        brings={"kernels": ["filter-workbench"]},
        nvrtc=(13, 0),
        folder=folder,
        headers=headers,
    )

    def version(name):
        try:
            return made.distributions[name]
        except KeyError:
            raise diagnostics.metadata.PackageNotFoundError from None

    metadata = diagnostics.metadata
    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(metadata, "packages_distributions", lambda: made.brings)
    monkeypatch.setattr(diagnostics, "cupy_version", lambda: "cupy-cuda13x 14.2.0")
    monkeypatch.setattr(diagnostics, "cuda_headers", lambda: made.headers)
    compilers = lambda: (SimpleNamespace(version=made.nvrtc, path=f"{folder}/libnvrtc.so.13"),)  # noqa: E731
    monkeypatch.setattr(diagnostics.nvrtc, "compilers", compilers)
    monkeypatch.setattr(qt_libraries, "problems", list)
    monkeypatch.setattr(diagnostics.sys, "prefix", str(tmp_path))  # this one may have an entry
    return made


MISFITS = {
    "cupy-cuda12x and cupy-cuda13x": lambda m: m.distributions.update({"cupy-cuda12x": "14.2.0"}),
    "distribution kernels": lambda m: m.brings["kernels"].append("kernels"),
    "nvrtc-builtins": lambda m: (m.folder / "libnvrtc-builtins.so.13.0").unlink(),
    "nvidia-cuda-runtime": lambda m: setattr(m, "headers", None),
    "12.4": lambda m: (m.headers / "cuda.h").write_text("#define CUDA_VERSION 12040\n"),
}


@pytest.mark.parametrize("named", MISFITS)
def test_each_misfit_is_named_alone(machine, named):
    MISFITS[named](machine)
    (said,) = diagnostics.problems(NONE)
    assert named in said
    assert named != "12.4" or str(machine.headers) in said


def test_an_nvrtc_newer_than_the_driver_is_named(machine):
    (said,) = diagnostics.problems(replace(H200, driver_version=12080))
    assert "12.8" in said


def test_what_a_window_on_x11_lacks_is_named_without_a_display_too(monkeypatch):
    monkeypatch.setattr(qt_libraries, "missing_among", lambda libraries: libraries)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert any("libxcb-cursor0" in each for each in diagnostics.problems(NONE))


def test_a_desktop_entry_where_no_menu_looks_is_named(machine, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    entry = tmp_path / "share/applications/a.b.FilterWorkbench.desktop"
    entry.parent.mkdir(parents=True)
    entry.touch()
    (said,) = diagnostics.problems(NONE)
    assert f"ln -s {entry}" in said
    monkeypatch.setenv("XDG_DATA_DIRS", f"/usr/share:{tmp_path}/share")
    assert diagnostics.problems(NONE) == []


def test_a_foreign_kernels_package_in_place_of_ours_is_one_sentence(machine, monkeypatch, capsys):
    machine.brings["kernels"].append("kernels")

    def run(arguments):
        raise ImportError("cannot import name 'Engine' from 'kernels'", name="kernels")

    monkeypatch.setattr(main, "run", run)
    assert main.main(["list"]) == 1
    said = capsys.readouterr().err
    assert "distribution kernels" in said
    assert "Traceback" not in said


def test_every_package_that_the_program_needs_has_its_version():
    facts = dict(diagnostics.facts(NONE))
    assert {"numpy", "pyside6-essentials", "tree-sitter-cuda"} <= set(facts)
    assert {"C++ compiler", "NVRTC", "CUDA headers"} <= set(facts)
    assert facts["numpy"] == np.__version__
    assert diagnostics.package_version("nothing-of-that-name") == "not installed"
