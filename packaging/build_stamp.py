"""Hatch's build hook: a wheel, and the source archive it may be built from, hold their commit."""

from __future__ import annotations

import tempfile
from pathlib import Path
from runpy import run_path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuildStamp(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the file in which `kernels.core.version` finds the commit outside of a checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the file, unless this is an editable install, which is the checkout itself, or a
        source archive, which holds it already."""
        root = Path(self.root)
        known = run_path(str(root / "kernels/core/version.py"))  # without what the package needs
        if version == "editable" or (root / known["BUILD_FILE"]).exists():
            return
        if build := known["build_of"](root):
            self._folder = tempfile.TemporaryDirectory()
            stamp = Path(self._folder.name) / "build.txt"
            stamp.write_text(f"{build}\n", encoding="utf-8")
            build_data["force_include"][str(stamp)] = known["BUILD_FILE"]

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the file that only the build needed."""
        if folder := getattr(self, "_folder", None):
            folder.cleanup()
