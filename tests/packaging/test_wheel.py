"""The wheel: built, installed into an empty environment, and run from there."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from kernels.core.version import commit_of
from workbench import __version__


def call(*command, **options) -> str:
    """What the command says; a failing one fails the test with its words."""
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, **options
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory) -> Path:
    """This tree as a wheel, made by the backend that is installed here: no network."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    call(*pip, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "-w", folder, root)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The `bin` of an empty environment that holds the wheel, and borrows its dependencies.

    They are borrowed by a .pth file: other .pth files, and so this tree's editable install, are
    not read through it, hence `import workbench` finds the wheel's files or nothing.
    """
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    call(*pip, "install", "--no-deps", "--no-index", wheel)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "bin"


@pytest.fixture(scope="module")
def run(installed, tmp_path_factory):
    """Run a command of the environment, from a folder that has nothing to do with this tree."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment["QT_QPA_PLATFORM"] = "offscreen"

    def run(name: str, *arguments: str) -> str:
        return call(installed / name, *arguments, cwd=elsewhere, env=environment)

    return run


def test_every_source_kernel_and_asset_is_inside(wheel, root):
    inside = set(zipfile.ZipFile(wheel).namelist())
    wanted = set()
    for package in ("kernels", "workbench", "assets"):
        for path in (root / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                name = path.relative_to(root).as_posix()
                wanted.add(name.replace("assets/", "workbench/assets/", 1))
    assert {"kernels/py.typed", "workbench/py.typed"} <= wanted <= inside
    assert any(name.endswith(".cu") for name in inside)
    assert any(name.startswith("workbench/assets/") for name in inside)


def test_the_modules_come_from_the_wheel(run, installed):
    found = run("python", "-c", "import kernels, workbench; print(kernels, workbench)")
    assert found.count(str(installed.parent)) == 2


def test_the_version_names_the_commit_that_was_built(run, wheel, root):
    """Without a repository around it, an archive of the source for one, there is none to name."""
    commit = commit_of(root) if (root / ".git").exists() else ""
    stamp = f" ({commit})" if commit else ""
    assert run("workbench", "--version").rstrip() == f"workbench {__version__}{stamp}"
    assert run("workbench", "doctor").splitlines()[0].split(maxsplit=2)[2] == (
        f"{__version__}{stamp}"
    )
    assert ("kernels/build.txt" in zipfile.ZipFile(wheel).namelist()) == bool(commit)
