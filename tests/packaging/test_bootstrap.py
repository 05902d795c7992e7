"""The set-up script: which CuPy, which system packages, and one sentence for each failure."""

import ast
import shutil
import sys
from pathlib import Path

import pytest

MAXWELL, PASCAL, VOLTA, TURING, HOPPER = (5, 0), (6, 1), (7, 0), (7, 5), (9, 0)


@pytest.mark.parametrize(
    ("driver_version", "capabilities", "chosen"),
    [
        (13000, [TURING], "cuda13"),
        (13020, [HOPPER, HOPPER], "cuda13"),
        (12090, [HOPPER], "cuda12"),
        (12000, [TURING], "cuda12"),
        (13000, [PASCAL], "cuda12"),
        (13000, [VOLTA], "cuda12"),
        (13000, [MAXWELL], "cuda12"),
        (13000, [HOPPER, PASCAL], "cuda12"),
        (11080, [TURING], None),
        (13000, [], None),
    ],
)
def test_the_cupy_fits_driver_and_every_card(bootstrap, driver_version, capabilities, chosen):
    assert bootstrap.choose_cuda(driver_version, capabilities) == chosen


def test_each_choice_has_a_lock_file_with_its_own_packages_alone(bootstrap, root):
    for choice in ("cuda12", "cuda13"):
        assert (root / "packaging/lock" / f"{choice}.txt").is_file()
    for chosen, gone in bootstrap.NEVER_BESIDE.items():
        lock = (root / "packaging/lock" / f"{chosen}.txt").read_text(encoding="utf-8")
        (other,) = set(bootstrap.NEVER_BESIDE) - {chosen}
        other_lock = (root / "packaging/lock" / f"{other}.txt").read_text(encoding="utf-8")
        for package in gone:
            assert f"\n{package}==" not in lock
            assert f"\n{package}==" in other_lock


def test_without_a_driver_one_sentence_and_no_pip(bootstrap, monkeypatch, capsys):
    def no_library(name):
        raise OSError(name)

    monkeypatch.setattr(bootstrap.ctypes, "CDLL", no_library)
    monkeypatch.setattr(bootstrap, "pip", lambda *_: pytest.fail("pip was called"))
    bootstrap.install_cupy()
    said = capsys.readouterr().out
    assert said.startswith("No NVIDIA driver was found, so CuPy is left out")
    assert said.count("\n") == 1


def test_an_old_driver_is_named(bootstrap, monkeypatch, capsys):
    monkeypatch.setattr(bootstrap, "find_gpus", lambda: bootstrap.Gpus(11040, [TURING]))
    bootstrap.install_cupy()
    assert "The NVIDIA driver (CUDA 11.4) is too old for CuPy" in capsys.readouterr().out


@pytest.mark.parametrize(("driver", "chosen"), [(12020, "cuda12"), (13000, "cuda13")])
def test_the_other_cuda_goes_before_the_fitting_one_comes(
    bootstrap, monkeypatch, root, driver, chosen
):
    calls, installed = [], []

    def pip(verb, *words):
        calls.append((verb, *words))
        if verb == "install":
            installed.extend(Path(words[-1]).read_text().splitlines())

    monkeypatch.setattr(bootstrap, "find_gpus", lambda: bootstrap.Gpus(driver, [HOPPER]))
    monkeypatch.setattr(bootstrap, "pip", pip)
    bootstrap.install_cupy()
    assert calls[0] == ("uninstall", "--yes", *bootstrap.NEVER_BESIDE[chosen])
    assert {verb for verb, *_ in calls[1:]} == {"install"}
    lock = (root / "packaging/lock" / f"{chosen}.txt").read_text()
    assert sorted(installed) == sorted(lock.splitlines())  # in two halves


@pytest.fixture
def bare(bootstrap, monkeypatch):
    """A Debian on which nothing of what is needed is present, and nobody is root."""
    there = {"apt-get"}
    monkeypatch.setattr("workbench.base.qt_libraries.missing_among", dict)
    monkeypatch.setattr(bootstrap.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(bootstrap.sys, "executable", bootstrap.SYSTEM_PYTHON)
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: name if name in there else None)
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 1000)
    return there


APP_PACKAGES = (
    "libegl1 libgl1 libxkbcommon0 libfontconfig1 libdbus-1-3 libglib2.0-0 libxcb-cursor0 "
    "libxkbcommon-x11-0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 python3-venv"
)
TEST_PACKAGES = f"{APP_PACKAGES} g++ xvfb xdotool poppler-utils"


@pytest.mark.parametrize(
    ("part", "packages"),
    [
        ("app", APP_PACKAGES),
        ("test", TEST_PACKAGES),
        ("nightly", f"{TEST_PACKAGES} chromium texlive-latex-recommended"),
    ],
)
def test_a_user_is_told_the_apt_line_and_no_more(bootstrap, bare, capsys, part, packages):
    assert bootstrap.main([part]) == 1
    said = capsys.readouterr()
    assert said.err == f"apt-get install -y --no-install-recommends {packages}\n"
    assert said.out == ""


def test_another_distribution_is_told_the_libraries(bootstrap, bare, capsys):
    bare.clear()
    assert bootstrap.main(["app"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("Missing on this system: libEGL.so.1, libGL.so.1,")
    assert said.count("\n") == 1


def test_root_installs_and_fetches_the_lists_only_when_needed(bootstrap, bare, monkeypatch):
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 0)
    before_and_after = iter([{"libx.so.1": "libx"}, {}])
    monkeypatch.setattr(bootstrap, "missing_packages", lambda part: next(before_and_after))
    codes, commands = [100, 0, 0], []

    def call(command, **options):
        commands.append(command[1])
        assert options["env"]["DEBIAN_FRONTEND"] == "noninteractive"
        return codes.pop(0)

    monkeypatch.setattr(bootstrap.subprocess, "call", call)
    bootstrap.install_system_packages("app")
    assert commands == ["install", "update", "install"]


def test_only_a_venv_that_was_made_here_is_kept(bootstrap, monkeypatch, tmp_path):
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV_PYTHON", Path(sys.executable))
    assert not bootstrap.venv_works()  # there is none
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "pip"
    script.write_text("#!/elsewhere/.venv/bin/python\n", encoding="utf-8")
    assert not bootstrap.venv_works()  # the tree was moved
    script.write_text(f"#!{tmp_path}/bin/python\n", encoding="utf-8")
    assert bootstrap.venv_works()
    monkeypatch.setattr(bootstrap, "VENV_PYTHON", Path(shutil.which("false")))
    assert not bootstrap.venv_works()  # its Python is gone or broken


def test_a_venv_that_is_a_link_is_refused_and_what_it_points_at_stays(
    bootstrap, monkeypatch, tmp_path, capsys
):
    elsewhere, link = tmp_path / "elsewhere", tmp_path / ".venv"
    (elsewhere / "bin").mkdir(parents=True)
    (elsewhere / "bin" / "pip").write_text("made elsewhere")
    link.symlink_to(elsewhere)
    monkeypatch.setattr(bootstrap, "VENV", link)
    monkeypatch.setattr(bootstrap, "install_system_packages", lambda part: None)
    assert bootstrap.main(["app"]) == 1
    said = capsys.readouterr().err
    assert f"{link} is a symbolic link to {elsewhere}" in said
    assert len(said.splitlines()) == 1
    assert [each.name for each in elsewhere.rglob("*")] == ["bin", "pip"]


def test_an_older_python_can_read_the_sentence_that_refuses_it(root):
    for name in (
        "packaging/bootstrap.py",
        "workbench/__init__.py",
        "workbench/base/qt_libraries.py",
    ):
        ast.parse((root / name).read_text(encoding="utf-8"), feature_version=(3, 8))


@pytest.mark.parametrize("version", [(3, 10, 2), (3, 15, 0)])
def test_a_python_without_wheels_is_refused_in_words(bootstrap, monkeypatch, capsys, version):
    monkeypatch.setattr(bootstrap.sys, "version_info", version)
    assert bootstrap.main(["app"]) == 1
    assert "Python 3.11 to 3.14 is needed and this is 3." in capsys.readouterr().err


def test_pip_itself_failing_ends_in_a_sentence(bootstrap, monkeypatch, tmp_path, capfd):
    """A real pip, asked for what no index has, with every index closed to it."""
    monkeypatch.setattr(bootstrap, "VENV_PYTHON", Path(sys.executable))
    with pytest.raises(bootstrap.SetupError, match=r"pip could not install "):
        bootstrap.pip("install", "--no-index", "--target", str(tmp_path), "no-such-package-here")
    assert "no-such-package-here" in capfd.readouterr().out


def test_downloads_and_a_missing_network_are_told(bootstrap, monkeypatch, tmp_path, capsys):
    pip = tmp_path / "python"
    retrying = "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError'"
    pip.write_text(f'#!/bin/sh\necho "  Downloading a.whl"\necho "{retrying}" >&2\nexit 1\n')
    pip.chmod(0o755)
    monkeypatch.setattr(bootstrap, "VENV_PYTHON", pip)
    with pytest.raises(bootstrap.SetupError, match="index cannot be reached"):
        bootstrap.pip("install", "a")
    assert capsys.readouterr().out == "Downloading a.whl\n"


@pytest.mark.parametrize(
    ("script", "is_taken"),
    [
        (f"echo '{sys.version_info[:2]}'", True),
        ("echo '(3, 99)'", False),
        ("exit 1  # as where python3-venv is not installed", False),
        (None, False),
    ],
)
def test_the_systems_python_is_taken_where_it_is_of_the_same_version(
    bootstrap, monkeypatch, tmp_path, capsys, script, is_taken
):
    system = tmp_path / "python3"
    if script is not None:
        system.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        system.chmod(0o755)
    monkeypatch.setattr(bootstrap, "SYSTEM_PYTHON", str(system))
    assert bootstrap.main(["python"]) == 0
    assert capsys.readouterr().out == f"{system if is_taken else sys.executable}\n"
