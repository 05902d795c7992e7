"""Pictures of past steps, known by where they came from; some that came from nowhere are held."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field

from workbench.files.picture_errors import ImageFileError
from workbench.files.picture_refs import PictureRef
from workbench.model.state import Picture

MAX_BYTES = 256 << 20


@dataclass(frozen=True, slots=True, eq=False)
class PastPicture:
    """A picture that a step leads back to, held weakly."""

    ref: PictureRef
    weak: weakref.ref[Picture] = field(repr=False)

    @property
    def name(self) -> str:
        """Return the picture's name."""
        return self.ref.name

    def load(self) -> Picture:
        """Return the same Picture as long as somebody holds it, else one loaded from its file.

        Raises ImageFileError.
        """
        picture = self.weak()
        if picture is not None:
            return picture
        if not self.ref.can_load:
            raise ImageFileError(
                f"{self.name} came from no file and is no longer kept, so it stays as it is."
            )
        return self.ref.load()


class Album:
    """A maker of PastPictures that holds those that cannot be loaded again.

    most_bytes  of the samples it holds together
    """

    def __init__(self, most_bytes: int = MAX_BYTES) -> None:
        self._most_bytes = most_bytes
        self._held: list[Picture] = []  # the newest last

    def keep(self, picture: Picture) -> PastPicture:
        """Return a PastPicture, and hold its picture if that cannot be loaded again."""
        ref = PictureRef.of(picture)
        if not ref.can_load and picture.nbytes <= self._most_bytes:
            self._held = [each for each in self._held if each is not picture]
            self._held.append(picture)
            while sum(each.nbytes for each in self._held) > self._most_bytes:
                self._held.pop(0)
        return PastPicture(ref, weakref.ref(picture))

    def forget(self) -> None:
        """Let go of all pictures."""
        self._held.clear()
