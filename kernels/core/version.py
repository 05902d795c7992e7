"""The version of Filter Workbench: its number, and the commit that it was made from.

Uses the standard library alone, so that a build can run this file by itself.
"""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

PACKAGE = "filter-workbench"
ROOT = Path(__file__).resolve().parents[2]
BUILD_FILE = "kernels/build.txt"  # what `packaging/build_stamp.py` writes into a wheel
GIT_SECONDS = 2.0  # on a slow disk the number alone will do


@cache
def program_version() -> str:
    """Return "0.1.0 (a7a5365)", with ", changed" behind the commit where files differ from it.

    In a checkout git is asked; an installed wheel holds what git said when it was built.  Where
    neither is so, the number stands alone.
    """
    from importlib.metadata import PackageNotFoundError, version  # 50 ms that few need

    try:
        number = version(PACKAGE)
    except PackageNotFoundError:  # never installed, only imported
        number = "0"
    build = build_of(ROOT)
    return f"{number} ({build})" if build else number


def build_of(root: Path) -> str:
    """Return the commit of the tree `root`, or what its build wrote down; "" for neither."""
    if (root / ".git").exists():  # a file in a worktree; an outer repository is another's
        return commit_of(root)
    try:
        return (root / BUILD_FILE).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def commit_of(root: Path) -> str:
    """Return what git calls the commit checked out in `root`; "" where git does not say."""
    words = ["git", "describe", "--always", "--dirty=, changed", "--abbrev=7"]
    try:
        done = subprocess.run(
            words,
            cwd=root,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},  # only look
            capture_output=True,
            text=True,
            timeout=GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
