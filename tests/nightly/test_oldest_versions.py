"""The tests with the oldest versions that pyproject.toml allows of each dependency."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.nightly
def test_the_oldest_versions_do(tmp_path):
    python, log = tmp_path / "venv" / "bin" / "python", tmp_path / "log.txt"
    oldest = ["--resolution", "lowest-direct", "--group", "build", "--editable", ".[test]"]
    beside = ["-n", "auto", "--dist", "loadfile", "-p", "no:cacheprovider"]
    for command in (
        [sys.executable, "-m", "venv", tmp_path / "venv"],
        [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "uv"],
        [python, "-m", "uv", "pip", "install", "--python", python, *oldest],
        [python, "-m", "pytest", "-q", *beside],
    ):
        with log.open("w", encoding="utf-8") as output:
            done = subprocess.run(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        assert done.returncode == 0, f"{command}\n{log.read_text(encoding='utf-8')[-4000:]}"
