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


def test_make_sets_up_with_the_python_that_the_script_names_or_the_user(root):
    of_make = ("MAKE", "PYTHON")  # of the one that runs the tests, and what it was told
    environment = {k: v for k, v in os.environ.items() if not k.startswith(of_make)}

    def set_up_with(*words):
        return subprocess.run(
            ["make", "--no-print-directory", "--dry-run", "setup", *words],
            cwd=root,
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        ).stdout

    script = [shutil.which("python3"), root / "packaging/bootstrap.py", "python"]
    named = subprocess.run(script, check=True, capture_output=True, text=True).stdout.strip()
    assert set_up_with() == f"{named} packaging/bootstrap.py app\n"
    assert set_up_with("PYTHON=mine") == "mine packaging/bootstrap.py app\n"
