"""Say what a file format cannot hold of a picture before it is saved, and make it fit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.pictures.generated import stored_as, white, with_channels
from workbench.files.image_encoders import Format, able, format_of
from workbench.model.state import NO_METADATA, Metadata

ROWS = 1024  # made to fit at once, for the sake of the memory that takes


@dataclass(frozen=True, slots=True)
class Change:
    """A part of a picture that a format does not hold, and its fate.

    lacks    the words behind the format's title: "has no transparency"
    becomes  a clause of its own: "what is transparent becomes white"
    """

    lacks: str
    becomes: str


@dataclass(frozen=True, slots=True)
class Fit:
    """The changes to a picture that a format makes.

    changes  what would be done to it so that it fits; empty: it fits as it is
    why_not  what of it the format cannot hold whatever is done; None: it fits, once reduced
    instead  titles of formats that hold it as it is, where that one does not
    """

    format: Format
    changes: tuple[Change, ...]
    why_not: str | None
    instead: tuple[str, ...]

    @property
    def is_exact(self) -> bool:
        """Return whether it fits as it is."""
        return not self.changes and self.why_not is None

    def __str__(self) -> str:
        """Return what the format does not hold and what becomes of it, then what does hold it."""
        title, keeps = self.format.title, " and ".join(self.instead[:2])
        if self.why_not is not None:
            return f"{title} does not hold {self.why_not}; {keeps} can."
        lacks = " and ".join(each.lacks for each in self.changes)
        becomes = ", ".join(each.becomes for each in self.changes)
        keep = "keeps" if len(self.instead) == 1 else "keep"
        return f"{title} {lacks}; {becomes}. {keeps} {keep} everything."


def fit_of(path: Path, samples: NDArray[Any], metadata: Metadata = NO_METADATA) -> Fit:
    """Return how samples, (H, W, C) of any pixel type, fit what the extension of `path` names.

    metadata  what is to be kept beside them: see `Picture.metadata`

    Raises ImageFileError where it names no format.
    """
    wanted = format_of(path)
    corner = _reduced(samples[:1, :1], wanted)  # whose type and channels are those of all
    changes = []
    if corner.dtype != samples.dtype:
        changes.append(_rounding(wanted, str(samples.dtype)))
    if samples.shape[2] in (2, 4) and corner.shape[2] in (1, 3):
        changes.append(Change("has no transparency", "what is transparent becomes white"))
    if samples.shape[2] <= 2 < corner.shape[2]:
        changes.append(Change("has no grey", "grey becomes three equal channels"))
    if samples.shape[2] > 2 >= corner.shape[2]:
        changes.append(Change("has no colour", "colours become grey"))
    kept = wanted.kept(metadata)
    if kept.exif != metadata.exif:
        changes.append(Change(_lack(wanted, "EXIF"), "camera, date and place are dropped"))
    if kept.xmp != metadata.xmp:
        changes.append(Change(_lack(wanted, "XMP"), "title, rating and keywords are dropped"))
    as_large = np.broadcast_to(corner, (*samples.shape[:2], corner.shape[2]))
    why_not = wanted.why_not(as_large)
    if not changes and why_not is None:
        return Fit(wanted, (), None, ())
    instead = tuple(each.title for each in able(samples) if each.kept(metadata) == metadata)
    return Fit(wanted, tuple(changes), why_not, instead)


def _rounding(wanted: Format, pixel_type: str) -> Change:
    if pixel_type == "uint16":
        return Change("holds 8 bits", "16-bit values are rounded")
    if "uint16" in wanted.pixel_types:
        return Change(f"holds no {pixel_type}", "values are rounded to 8 bits and clipped")
    return Change("holds 8 bits", f"{pixel_type} values are rounded and clipped")


def _lack(wanted: Format, kind: str) -> str:
    return f"has no room for so much {kind}" if wanted.max_metadata_bytes else f"has no {kind}"


def reduced(path: Path, samples: NDArray[Any]) -> NDArray[Any]:
    """Return `samples` changed as `fit_of` says; the same array where they fit."""
    wanted = format_of(path)
    corner = _reduced(samples[:1, :1], wanted)
    if (corner.dtype, corner.shape[2]) == (samples.dtype, samples.shape[2]):
        return samples
    made = np.empty((*samples.shape[:2], corner.shape[2]), corner.dtype)
    for top in range(0, len(samples), ROWS):
        made[top : top + ROWS] = _reduced(samples[top : top + ROWS], wanted)
    return made


def _reduced(samples: NDArray[Any], wanted: Format) -> NDArray[Any]:
    if samples.shape[2] not in wanted.channels:
        samples = _with_channels_of(samples, wanted)
    if str(samples.dtype) not in wanted.pixel_types:
        samples = stored_as(samples, "uint8")
    return samples


def _with_channels_of(samples: NDArray[Any], wanted: Format) -> NDArray[Any]:
    channels = samples.shape[2]
    if channels in (2, 4) and not {2, 4} & set(wanted.channels):
        samples, channels = _on_white(samples), channels - 1
    if channels in wanted.channels:
        return samples
    has_alpha = channels in (2, 4)
    fitting = [each for each in wanted.channels if (each in (2, 4)) == has_alpha]
    return with_channels(samples, fitting[-1])


def _on_white(samples: NDArray[Any]) -> NDArray[Any]:
    """Return the samples without alpha, as they look on white paper."""
    full = white(samples.dtype)
    alpha = samples[..., -1:].astype(np.float64).clip(0, full) / full
    flat = samples[..., :-1] * alpha + full * (1 - alpha)
    return (flat if samples.dtype.kind == "f" else np.rint(flat)).astype(samples.dtype)
