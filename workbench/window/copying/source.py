"""Which file holds the picture in view, for text that has to open it again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kernels.pictures.generated import SCENE_FILE
from workbench.model.state import Picture

STAND_IN = "picture.png"


@dataclass(frozen=True, slots=True)
class CopySource:
    """path  of the picture's file, or what to save it as; note  a sentence where that is needed."""

    path: Path
    note: str = ""


def source_of(picture: Picture | None) -> CopySource:
    """Return where text may say that the picture lies."""
    if picture is None:
        return CopySource(Path(STAND_IN), f"It filters {STAND_IN}, since no picture is open.")
    if picture.path is not None:
        return CopySource(picture.path)
    if picture.built_in == "scene":  # which comes as a file
        return CopySource(SCENE_FILE)
    return CopySource(Path(STAND_IN), f"This picture has no file: save it as {STAND_IN} first.")
