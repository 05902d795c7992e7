"""The tests with the oldest versions that pyproject.toml allows of each dependency."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}


@pytest.mark.nightly
def test_the_oldest_versions_do(tmp_path):
    folder = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    oldest = tmp_path / "oldest.txt"
    version = "{}.{}".format(*sys.version_info)
    resolve = ["uv", "pip", "compile", "--quiet", "--python-version", version, "--group", "build"]
    resolve += ["--resolution", "lowest-direct", "--extra", "test", "pyproject.toml"]
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    run = [
        python,
        "-m",
        "pytest",
        "-q",
        "-n",
        "auto",
        "--dist",
        "loadfile",
        "-p",
        "no:cacheprovider",
    ]
    for command in (
        [*pip, "uv"],
        [python, "-m", *resolve, "--output-file", oldest],
        [*pip, "--requirement", oldest],
        [*pip, "--no-deps", "--no-build-isolation", "--editable", ROOT],
        run,
    ):
        done = subprocess.run(command, cwd=ROOT, **OUTPUT)
        assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}"
