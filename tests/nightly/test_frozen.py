"""The program as PyInstaller packs it: it names its packages, filters, and runs a kernel."""

import json
import os
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest
from PIL import Image, ImageCms

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("frozen")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    (packages,) = folder.glob("venv/lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    (folder / "start.py").write_text(
        "import sys\nfrom workbench.cli.main import main\nsys.exit(main())\n"
    )
    install = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    for command in (
        [*install, "pyinstaller"],
        [*install, "--no-deps", "--no-build-isolation", "--force-reinstall", ROOT],
        [python, "-m", "PyInstaller", "--log-level", "ERROR", "--name", "workbench", "start.py"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-4000:]
    return folder / "dist" / "workbench" / "workbench"


@pytest.fixture
def call(program, tmp_path):
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    environment |= {"QT_QPA_PLATFORM": "offscreen"}

    def call(*words) -> str:
        done = subprocess.run([program, *words], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    return call


def test_doctor_names_what_is_packed(call):
    facts = json.loads(call("doctor", "--no-gpu", "--json"))["facts"]
    assert facts["Installed as"] == "packaged program"
    packed = {facts[name] for name in ("numpy", "imagecodecs", "pyside6-essentials")}
    assert "not installed" not in packed


def test_a_picture_with_a_profile_is_filtered_and_a_window_drawn(call, tmp_path):
    picture = tmp_path / "in.png"
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    Image.new("RGB", (48, 32)).save(picture, icc_profile=profile)
    assert "verified" in call("apply", picture, tmp_path / "out.png")
    call("shot", tmp_path / "window.png")
    assert (tmp_path / "window.png").stat().st_size > 10_000


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_a_user_kernel_runs_in_its_child(call):
    assert "verified" in call("check", ROOT / "kernels" / "ladder" / "01_global.cu")
