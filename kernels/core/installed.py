"""Kind of this installation, and the command that adds packages to it."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path

from kernels.core.version import PACKAGE, ROOT

FROZEN = "packaged program"


def kind() -> str:
    """Name the kind: packaged program, checkout, uv tool, pipx, uv or pip."""
    prefix = Path(sys.prefix)
    if getattr(sys, "frozen", False):
        return FROZEN
    if prefix == ROOT / ".venv":
        return "checkout"
    if (prefix / "uv-receipt.toml").is_file():
        return "uv tool"
    if (prefix / "pipx_metadata.json").is_file():
        return "pipx"
    # uv's environments have no pip.
    return "uv" if find_spec("pip") is None else "pip"


def adding(*packages: str) -> str:
    """Command that installs `packages` beside this program; "" for a packaged program."""
    words, python = " ".join(map(_quoted, packages)), _quoted(sys.executable)
    return {
        FROZEN: "",
        "checkout": f"{python} -m pip install {words}",
        "uv tool": f"uv pip install --python {python} {words}",
        "pipx": f"pipx inject {PACKAGE} {words}",
        "uv": f"uv pip install --python {python} {words}",
        "pip": f"{python} -m pip install {words}",
    }[kind()]


def _quoted(word: str) -> str:
    """Quote a word in the way that shells on every system take."""
    return word if re.fullmatch(r"[\w./:\\-]+", word) else f'"{word}"'


def how_to_add(*packages: str) -> str:
    """Advice that installs `packages`, for the second half of a sentence."""
    command = adding(*packages)
    return f"`{command}`" if command else "install the program with pip instead of this package"


def how_to_add_extra(extra: str) -> str:
    """Advice that installs what an optional dependency of pyproject.toml names, likewise."""
    if kind() == "checkout" and extra.startswith("cuda"):
        return "run `make setup`"
    return how_to_add(*_requirements(extra))


def _requirements(extra: str) -> list[str]:
    """List the requirements of an extra, without their markers."""
    from importlib.metadata import PackageNotFoundError, requires  # 50 ms that few need

    try:
        found = requires(PACKAGE) or []
    except PackageNotFoundError:  # imported from a folder, never installed
        found = []
    of_extra = re.compile(rf"extra == ['\"]{extra}['\"]")
    named = [each.partition(";")[0].strip() for each in found if of_extra.search(each)]
    return named or [f"{PACKAGE}[{extra}]"]
