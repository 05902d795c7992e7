"""`make help`, and CI calling `make test` and nothing else."""

import os
import shutil
import subprocess


def test_help_lists_the_targets(root):
    said = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("MAKE")},
    ).stdout
    for target in ("help", "run", "test", "lint", "types", "unit", "format", "setup", "lock"):
        assert f"  make {target} " in said


def test_ci_calls_make_test_and_nothing_else(root, tmp_path):
    """Run .ci/run with a `make` that only says how it was called."""
    fake = tmp_path / "make"
    fake.write_text('#!/bin/sh\necho "make $* in $PWD"\n', encoding="utf-8")
    fake.chmod(0o755)
    said = subprocess.run(
        [shutil.which("bash"), root / ".ci/run"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
    ).stdout
    assert said == f"make test in {root}\n"


def test_ci_run_is_executable(root):
    assert os.access(root / ".ci/run", os.X_OK)
