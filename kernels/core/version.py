"""The version of Filter Workbench, and how it was installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
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

    number = "0"
    with suppress(PackageNotFoundError):  # never installed, only imported
        number = version(PACKAGE)
    build = build_of(ROOT)
    return f"{number} ({build})" if build else number


def build_of(root: Path) -> str:
    """The commit of the tree `root`, or what its build wrote down; "" for neither."""
    if (root / ".git").exists():  # a file in a worktree; an outer repository is another's
        return commit_of(root)
    with suppress(OSError):
        return (root / BUILD_FILE).read_text(encoding="utf-8").strip()
    return ""


def commit_of(root: Path) -> str:
    """git's name of the commit checked out in `root`; "" if git does not say."""
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=, changed", "--abbrev=7"],
            cwd=root,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},  # only look
            capture_output=True,
            text=True,
            timeout=GIT_SECONDS,
            check=True,
        )
        return done.stdout.strip()
    return ""


FROZEN = "packaged program"
OF_TOOLS = {"uv-receipt.toml": "uv tool", "pipx_metadata.json": "pipx"}


def kind() -> str:
    """Name the kind: packaged program, checkout, uv tool, pipx, uv or pip."""
    prefix = Path(sys.prefix)
    if getattr(sys, "frozen", False):
        return FROZEN
    if prefix == ROOT / ".venv":
        return "checkout"
    plain = "uv" if find_spec("pip") is None else "pip"  # uv's environments have no pip
    return next((tool for name, tool in OF_TOOLS.items() if (prefix / name).is_file()), plain)


def _quoted(word: str) -> str:
    """Quote a word in the way that shells on every system take."""
    return word if re.fullmatch(r"[\w./:\\-]+", word) else f'"{word}"'


def how_to_add(*packages: str) -> str:
    """Advice that installs `packages`, for the second half of a sentence."""
    words, python, how = " ".join(map(_quoted, packages)), _quoted(sys.executable), kind()
    if how == FROZEN:
        return "install the program with pip instead of this package"
    if how == "pipx":
        return f"`pipx inject {PACKAGE} {words}`"
    if how.startswith("uv"):
        return f"`uv pip install --python {python} {words}`"
    return f"`{python} -m pip install {words}`"


def how_to_add_extra(extra: str) -> str:
    """Advice that installs what an optional dependency of pyproject.toml names, likewise."""
    if kind() == "checkout" and extra.startswith("cuda"):
        return "run `make setup`"
    return how_to_add(*_requirements(extra))


def _requirements(extra: str) -> list[str]:
    """List the requirements of an extra, without their markers."""
    from importlib.metadata import PackageNotFoundError, requires  # 50 ms that few need

    found = None
    with suppress(PackageNotFoundError):  # imported from a folder, never installed
        found = requires(PACKAGE)
    of_extra = re.compile(rf"extra == ['\"]{extra}['\"]")
    named = [each.partition(";")[0].strip() for each in found or () if of_extra.search(each)]
    return named or [f"{PACKAGE}[{extra}]"]
