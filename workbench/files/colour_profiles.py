"""Colours of a file as sRGB of full range without alpha in it, and the profile of a new file."""

from __future__ import annotations

import io
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from PIL import ImageCms

from workbench.base.paths import asset

KNOWN = 16  # profiles of which is kept what they are: a folder's pictures have one, or a few
BAND_SAMPLES = 1 << 20  # converted at once, one thread each

_RGB, _GREY, _CMYK = "RGB", "GRAY", "CMYK"  # as profiles name what they are for
_EXACT = imagecodecs.CMS.FLAGS.NOOPTIMIZE | imagecodecs.CMS.FLAGS.COPY_ALPHA
_QUICK = imagecodecs.CMS.FLAGS.COPY_ALPHA  # within a level of 8 bits
_HALF_A_LEVEL = 128  # of 8 bits, in 16


def to_srgb(samples: NDArray[Any], icc: bytes, notes: list[str], colours: str = "") -> NDArray[Any]:
    """Convert samples, (H, W, C), to sRGB; alpha and the number of bits stay as they are.

    notes    gets a sentence where anything was done, or could not be
    colours  what the profile was made of, if not the file's own
    """
    name, space = _name_and_space(icc)
    called = colours or f"profile “{name}”"
    if space is None:
        notes.append("Damaged colour profile ignored.")
        return samples
    is_grey = samples.shape[2] <= 2
    is_for_these = space == _RGB or (space == _GREY and is_grey)
    if is_for_these and samples.dtype.kind != "f":
        with suppress(imagecodecs.CmsError):
            if _is_srgb(icc, space):
                return samples
            converted = _converted_grey(samples, icc, space) if is_grey else _in_bands(samples, icc)
            notes.append(f"Converted from {called} to sRGB.")
            return converted
    notes.append(f"Colour {called} not applied.")
    return samples


def cmyk_to_rgb(samples: NDArray[Any], icc: bytes, notes: list[str]) -> NDArray[Any]:
    """Convert (H, W, 4) CMYK to (H, W, 3) RGB, by the file's own profile where that is sound.

    notes  gets a sentence that says how
    """
    name, space = _name_and_space(icc)
    if space == _CMYK and samples.dtype in (np.uint8, np.uint16):
        with suppress(imagecodecs.CmsError):
            converted = _in_bands(samples, icc, "cmyk", "rgb")
            notes.append(f"Converted from CMYK to RGB by profile “{name}”.")
            return converted
    notes.append("Converted from CMYK to RGB, without a profile.")
    rgb = np.empty((*samples.shape[:2], 3), samples.dtype)
    white = np.iinfo(samples.dtype).max if samples.dtype.kind in "ui" else 1.0
    for rows in bands(samples):  # as if each ink took its own light away and nothing else
        light = 1 - samples[rows].astype(np.float64) / white
        mixed = light[:, :, :3] * light[:, :, 3:] * white
        rgb[rows] = mixed if samples.dtype.kind == "f" else np.rint(mixed)
    return rgb


@cache
def profile_for(channels: int) -> bytes:
    """Return the ICC profile of what we save: sRGB, or a grey with its curve."""
    return asset(f"profiles/{'srgb' if channels >= 3 else 'grey'}.icc").read_bytes()


# By PNG's numbers, x and y of white, red, green and blue; and how samples become light.
_POINTS = {
    1: ("BT.709", (0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06)),
    9: ("BT.2020", (0.3127, 0.329, 0.708, 0.292, 0.17, 0.797, 0.131, 0.046)),
    12: ("Display P3", (0.3127, 0.329, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06)),
}
_ADOBE_RGB = 0.3127, 0.329, 0.64, 0.33, 0.21, 0.71, 0.15, 0.06
_CURVES = dict.fromkeys((1, 6, 14, 15), ("BT.709’s curve", 0.081, 4.5, 0.099, 1 / 0.45))
_CURVES |= {4: ("gamma 2.2", 0, 1, 0, 2.2), 8: ("linear light", 0, 1, 0, 1)}
_CURVES |= {13: ("sRGB’s curve", 0.04045, 12.92, 0.055, 2.4)}
_TRANSFERS = {16: "PQ", 18: "HLG"}  # of more light than sRGB has
_CALIBRATION, _CALIBRATED = (318, 319, 301), (1, 2, 3, 6)  # tags of a TIFF, and photometrics
_USUAL_GAMMA, _LIKE = 1 / 2.2, 0.01


def calibrated(gamma: float | None, points: Sequence[float] | None) -> tuple[bytes | None, str]:
    """A profile of colours that were made of light to the power of `gamma`, and what it is.

    points   x and y of white, red, green and blue; as `gamma` None: about as sRGB has them
    returns  None where there is no such profile; and no words where that is nearly sRGB
    """
    usual = _POINTS[1][1]
    gamma, points = _USUAL_GAMMA if gamma is None else gamma, points or usual
    is_near = np.allclose(points, usual, rtol=0, atol=_LIKE / 2)
    if is_near and abs(gamma / _USUAL_GAMMA - 1) < _LIKE:
        return None, ""
    words = f"gamma {gamma:.4g}{'' if is_near else ' and primaries of its own'}"
    return (_made(points, gamma=1 / gamma) if 0.01 < gamma < 100 else None), words


def adobe_rgb() -> tuple[bytes | None, str]:
    """The same of Adobe RGB (1998)."""
    return _made(_ADOBE_RGB, gamma=563 / 256), "Adobe RGB"


def of_tiff(page: Any) -> tuple[bytes | None, str]:
    """The same of what tags of a TIFF's page say: its white, its primaries, and light by value."""
    white, primaries, light = (page.tags.valueof(tag, ()) for tag in _CALIBRATION)
    if page.photometric not in _CALIBRATED:
        return None, ""
    usual = _POINTS[1][1]
    points = [*_ratios(white, usual[:2]), *_ratios(primaries, usual[2:])]
    if np.size(light) < 2:
        return calibrated(None, points)
    tables = np.reshape(light, (1 if np.size(light) % 3 else 3, -1)).astype(np.uint16)
    at = np.linspace(0, tables.shape[1] - 1, min(tables.shape[1], 4096)).astype(int)
    is_one = bool((tables == tables[0]).all())
    return _made(points, transferfunction=tables[0, at]) if is_one else None, "a curve of its own"


def _ratios(numbers: Any, usual: Sequence[float]) -> Sequence[float]:
    if np.size(numbers) != 2 * len(usual):
        return usual
    above, below = np.reshape(numbers, (-1, 2)).T
    return list(map(float, above / np.maximum(below, 1)))


def coded(points: int, curve: int, matrix: int, is_full: int) -> tuple[bytes | None, str]:
    """The same of colours that are numbered as in PNG's cICP."""
    name, places = _POINTS.get(points, (f"primaries {points}", ()))
    how, *numbers = _CURVES.get(curve, (_TRANSFERS.get(curve, f"curve {curve}"),))
    if (points, curve, matrix, is_full) == (1, 13, 0, 1):
        return None, ""
    told = f"{name} with {how}" + " in a narrow range" * (not is_full)
    if not (places and numbers and is_full) or matrix:
        return None, told
    return _made(places, transferfunction=light_of(curve, 4096)), told


def light_of(curve: int, count: int) -> NDArray[np.uint16]:
    """Return the light, from 0 to 65535, of `count` values from 0 to the largest."""
    _, knee, slope, offset, power = _CURVES[curve]
    ramp = np.linspace(0, 1, count)
    light = np.where(ramp <= knee, ramp / slope, ((ramp + offset) / (1 + offset)) ** power)
    table: NDArray[np.uint16] = np.rint(light * 65535).astype(np.uint16)
    return table


def _made(points: Sequence[float], **curve: Any) -> bytes | None:
    white, *colours = ((*points[at : at + 2], 1.0) for at in range(0, 8, 2))
    primaries = [each for colour in colours for each in colour]
    with suppress(imagecodecs.CmsError, ValueError):  # impossible colours
        return bytes(imagecodecs.cms_profile("rgb", whitepoint=white, primaries=primaries, **curve))
    return None


@lru_cache(KNOWN)
def _name_and_space(icc: bytes) -> tuple[str, str | None]:
    """The profile's own name and its colour space, such as "RGB"; None: it is no profile."""
    try:
        profile = ImageCms.ImageCmsProfile(io.BytesIO(icc))
        name = ImageCms.getProfileDescription(profile).strip() or "unnamed"
        return name, profile.profile.xcolor_space.strip()
    except (OSError, TypeError, ValueError, ImageCms.PyCMSError):  # also of a wrong type
        return "", None


@lru_cache(KNOWN)
def _is_srgb(icc: bytes, space: str) -> bool:
    """True if the profile leaves 8-bit colours as they are: sRGB comes in many variants."""
    ramp = np.arange(256, dtype=np.uint16) * 257
    if space == _GREY:
        probe = ramp.reshape(1, -1, 1)
        seen = _converted_grey(probe, icc, space)
    else:
        cube = np.stack(np.meshgrid(*[ramp[::15]] * 3), axis=-1).reshape(-1, 3)
        probe = np.concatenate([cube, np.repeat(ramp[:, np.newaxis], 3, axis=1)])[np.newaxis]
        seen = _transformed(probe, icc)
    return bool(np.abs(seen.astype(int) - probe).max() <= _HALF_A_LEVEL)


def _converted_grey(samples: NDArray[Any], icc: bytes, space: str) -> NDArray[Any]:
    """Convert (H, W, 1 or 2) by way of the colours that greys are in a profile for colours."""
    grey = samples[:, :, :1]
    if space == _GREY:
        converted = _in_bands(grey, icc, "gray", "rgb")
    else:
        converted = _in_bands(np.repeat(grey, 3, axis=2), icc)
    return np.dstack([converted[:, :, 1], samples[:, :, 1:]])


def _in_bands(samples: NDArray[Any], icc: bytes, space: str = "", wanted: str = "") -> NDArray[Any]:
    channels = 3 if "rgb" in (space, wanted) else samples.shape[2]
    made = np.empty((*samples.shape[:2], channels), samples.dtype)

    def convert(rows: slice) -> None:
        made[rows] = _transformed(samples[rows], icc, space, wanted)

    with ThreadPoolExecutor() as threads:
        list(threads.map(convert, bands(samples)))  # which raises what they do
    return made


def _transformed(
    samples: NDArray[Any], icc: bytes, space: str = "", wanted: str = ""
) -> NDArray[Any]:
    """Convert (H, W, C) of uint8 or uint16 to sRGB; alpha is copied.  Raises CmsError."""
    space = space or {3: "rgb", 4: "rgba"}[samples.shape[2]]
    grey = samples[:, :, 0] if space == "gray" else samples
    converted: NDArray[Any] = imagecodecs.cms_transform(
        np.ascontiguousarray(grey),
        icc,
        profile_for(3),
        colorspace=space,
        outcolorspace=wanted or space,
        flags=int(_QUICK if samples.dtype == np.uint8 else _EXACT),
    )
    return converted


def bands(samples: NDArray[Any]) -> list[slice]:
    """Slices of whole rows of about BAND_SAMPLES."""
    rows = max(BAND_SAMPLES // samples[0].size, 1)
    return [slice(top, top + rows) for top in range(0, len(samples), rows)]


def has_hidden_colours(samples: NDArray[Any]) -> bool:
    """True if any of (H, W, C) has a colour other than 0 where alpha, the last channel, is 0."""
    return any(samples[rows, :, :-1][samples[rows, :, -1] == 0].any() for rows in bands(samples))


def spread(samples: NDArray[Any], bits: int, notes: list[str]) -> NDArray[Any]:
    """Spread samples of fewer bits than their type has, so that white is white."""
    if samples.dtype.kind != "u" or bits >= 16 or bits == 8:
        return samples
    largest, white = 2**bits - 1, np.iinfo(samples.dtype).max
    if bits == 1:
        notes.append("1-bit samples became 0 and 255.")
    elif bits > 8:
        notes.append(f"Samples scaled from 0–{largest} to 0–{white}.")
    table = np.rint(np.arange(largest + 1) * (white / largest)).astype(samples.dtype)
    spread: NDArray[Any] = table[samples]
    return spread


def undo_premultiplied(samples: NDArray[Any], notes: list[str]) -> None:
    """Divide the colours of samples, (H, W, C), by alpha, the last channel, in place."""
    notes.append("Premultiplied alpha undone.")
    if has_hidden_colours(samples):
        notes.append("Colours of pixels with alpha 0, such as a glow, became 0.")
    is_integer = samples.dtype.kind in "ui"
    white = np.iinfo(samples.dtype).max if is_integer else 1.0
    for rows in bands(samples):
        alpha = samples[rows, :, -1:].astype(np.float64)
        by = np.divide(white, alpha, out=np.zeros_like(alpha), where=alpha > 0)  # 0 where that is 0
        colours = samples[rows, :, :-1] * by
        samples[rows, :, :-1] = np.rint(colours).clip(0, white) if is_integer else colours
