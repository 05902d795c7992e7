"""Which picture it was, without its pixels: enough to load it once more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernels.pictures.generated import PICTURES
from workbench.files import image_files
from workbench.files.picture_errors import ImageFileError
from workbench.model.state import Picture


@dataclass(frozen=True, slots=True)
class PictureRef:
    """path, built_in  as in `state.Picture`; without either there is no way back to it."""

    name: str
    path: Path | None = None
    built_in: str | None = None

    @classmethod
    def of(cls, picture: Picture) -> PictureRef:
        return cls(picture.name, picture.path, picture.built_in)

    @property
    def can_load(self) -> bool:
        return self.path is not None or self.built_in in PICTURES

    def is_of(self, picture: Picture | None) -> bool:
        """Whether `picture` is it, in whatever pixel type."""
        return picture is not None and PictureRef.of(picture) == self

    def load(self) -> Picture:
        """The picture; may take a while.  Raises ImageFileError."""
        if self.path is not None:
            return image_files.load(self.path)
        if self.built_in not in PICTURES:
            raise ImageFileError(f"{self.name} came from no file, so it cannot be opened again.")
        built_in = PICTURES[self.built_in]
        return Picture(built_in.title, built_in.make(), built_in=self.built_in)

    def to_data(self) -> dict[str, Any]:
        """Fit for JSON."""
        path = str(self.path) if self.path else None
        return {"name": self.name, "path": path, "built_in": self.built_in}

    @classmethod
    def from_data(cls, data: Any) -> PictureRef | None:
        """What `to_data` gave; None for anything that leads to no picture."""
        if not isinstance(data, dict) or not isinstance(data.get("name"), str):
            return None
        path, built_in = data.get("path"), data.get("built_in")
        found = cls(
            data["name"],
            Path(path) if isinstance(path, str) and path else None,
            built_in if isinstance(built_in, str) else None,
        )
        return found if found.can_load else None
