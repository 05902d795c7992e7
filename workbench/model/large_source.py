"""The whole of a picture that is too large for memory, and rectangles of it."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.core.borders import Span


@dataclass(frozen=True, slots=True)
class LargeSource:
    """The picture in the file, of which `Picture.samples` is a reduced copy.

    width, height  of the whole, in pixels
    step           so many of its pixels, across and down, are one of the copy
    """

    width: int
    height: int
    step: float

    @property
    def size_in_words(self) -> str:
        """Return the size of the whole: "100,000×100,000"."""
        return f"{self.width:,}×{self.height:,}"

    @property
    def scale_in_words(self) -> str:
        """Return how large it is shown: "1/16 of 100,000×100,000"."""
        return f"1/{self.step:.4g} of {self.size_in_words}"


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of the whole picture, in its pixels."""

    rows: Span
    columns: Span

    @property
    def pixels(self) -> int:
        """Return how many pixels it has."""
        return (self.rows[1] - self.rows[0]) * (self.columns[1] - self.columns[0])

    def holds(self, other: Region) -> bool:
        """Return whether all of `other` is in it."""
        pairs = (self.rows, other.rows), (self.columns, other.columns)
        return all(ours[0] <= its[0] and its[1] <= ours[1] for ours, its in pairs)
