"""References to pictures without their pixels: enough to load them once more."""

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
    """A reference to a picture.

    path, built_in  as in `state.Picture`; without either there is no way back to it.
    """

    name: str
    path: Path | None = None
    built_in: str | None = None

    @classmethod
    def of(cls, picture: Picture) -> PictureRef:
        """Return a reference to `picture`."""
        return cls(picture.name, picture.path, picture.built_in)

    @property
    def can_load(self) -> bool:
        """True if there is a way back to the picture."""
        return self.path is not None or self.built_in in PICTURES

    def is_of(self, picture: Picture | None) -> bool:
        """True if `picture` is the one meant, in any pixel type."""
        return picture is not None and PictureRef.of(picture) == self

    def load(self) -> Picture:
        """Load the picture, which may take a while.  Raises ImageFileError."""
        if self.path is not None:
            return image_files.load_any_size(self.path)
        if self.built_in not in PICTURES:
            raise ImageFileError(f"{self.name} came from no file, so it cannot be opened again.")
        built_in = PICTURES[self.built_in]
        return Picture(built_in.title, built_in.make(), built_in=self.built_in)

    def to_data(self) -> dict[str, Any]:
        """The reference as JSON can hold it."""
        path = str(self.path) if self.path else None
        return {"name": self.name, "path": path, "built_in": self.built_in}

    @classmethod
    def from_data(cls, data: Any) -> PictureRef | None:
        """Make a reference of `to_data`'s result; None for anything that leads to no picture."""
        if not isinstance(data, dict) or not isinstance(data.get("name"), str):
            return None
        path, built_in = data.get("path"), data.get("built_in")
        found = cls(
            data["name"],
            Path(path) if isinstance(path, str) and path else None,
            built_in if isinstance(built_in, str) else None,
        )
        return found if found.can_load else None
