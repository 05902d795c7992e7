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


def test_ci_leaves_out_what_only_this_machines_environment_has(root, tmp_path):
    """A `make` that prints its environment sees a HOME of its own and none of the variables."""
    fake = tmp_path / "make"
    fake.write_text('#!/bin/sh\nenv; ls -A "$HOME"\n', encoding="utf-8")
    fake.chmod(0o755)
    planted = ("PYTHONUNBUFFERED", "QT_SCALE_FACTOR", "XDG_CACHE_HOME", "OMP_NUM_THREADS", "LC_ALL")
    environment = {**dict.fromkeys(planted, "C"), "HOME": str(tmp_path), "KEPT": "1"}
    said = subprocess.run(
        [shutil.which("bash"), root / ".ci/run"],
        check=True,
        capture_output=True,
        text=True,
        env={**environment, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    ).stdout
    seen = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
    assert not set(planted) & set(seen)
    assert seen["KEPT"] == "1"
    assert not os.path.exists(seen["HOME"])  # noqa: PTH110
    assert "\nmake\n" not in said  # which is in the other one


def test_ci_run_is_executable(root):
    assert os.access(root / ".ci/run", os.X_OK)


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
