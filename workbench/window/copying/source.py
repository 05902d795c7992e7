"""The file of the picture in view, for text that has to open it again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kernels.pictures.generated import SCENE_FILE
from workbench.model.state import Picture

STAND_IN = "picture.png"


@dataclass(frozen=True, slots=True)
class CopySource:
    """The file that a copied text opens.

    path  of the picture's file, or of the file to save it as
    note  a sentence for the user, where one is needed
    """

    path: Path
    note: str = ""


def source_of(picture: Picture | None) -> CopySource:
    """Return the file that a text may open for `picture`."""
    if picture is None:
        return CopySource(Path(STAND_IN), f"It filters {STAND_IN}, since no picture is open.")
    if picture.path is not None:
        return CopySource(picture.path)
    if picture.built_in == "scene":  # this one comes as a file
        return CopySource(SCENE_FILE)
    return CopySource(Path(STAND_IN), f"This picture has no file: save it as {STAND_IN} first.")
