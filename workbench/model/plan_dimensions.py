"""The dimensions of a plan as lines of text: what may stand in each, how it is read and written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.device import Device, NoDevice
from kernels.core.job import MAX_KSIZE, PIXEL_TYPES
from kernels.measuring import tuner
from kernels.sweeps.cell import PICTURE_KINDS
from kernels.sweeps.plan_values import MAX_DEVICES

THIS = "this"  # the picture that is open
MAX_SIDE = 16384
MAX_COUNT = 1024
PAIR = re.compile(r"(\d{1,5})\s*[×xX*]\s*(\d{1,5})")
# Commas, semicolons and spaces separate a list's words, but not spaces around a ×.
BETWEEN = re.compile(r"[,;]|\s+(?![×xX*])(?<![×xX*]\s)")

Values = tuple[Any, ...]
Here = Device | NoDevice | None
Ticks = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Dimension:
    """One list of a `kernels.sweeps.plan.Plan`.

    field    its name there
    title    on the button that varies it, with & for the mnemonic
    noun     in a sentence, in the singular
    start    what is proposed when it is first varied, and given as an example
    tip      the list's tooltip
    read     a word -> the values it stands for, one but for "grid" and the like; raises ValueError
             with a sentence
    write    a value -> its word
    ticks    the words there are with what they mean; none where there are too many
    lines    whole lines to choose from, each with what it is
    """

    field: str
    title: str
    noun: str
    start: str
    tip: str
    read: Callable[[str, Here], Values]
    write: Callable[[Any], str] = str
    ticks: Ticks = ()
    lines: Ticks = ()

    @property
    def name(self) -> str:
        """Return its title without the mnemonic."""
        return self.title.replace("&", "")

    def values(self, text: str, here: Here = None) -> Values:
        """Return the values that `text` lists, each once.

        here  the GPU that is to run it; None: not known yet
        Raises ValueError with a sentence for the user.
        """
        words = words_of(text)
        if not words:
            raise ValueError(f"List at least one {self.noun}, as in “{self.start}”.")
        found = (value for word in words for value in self.read(word, here))
        return tuple(dict.fromkeys(found))

    def text(self, values: Iterable[Any]) -> str:
        """Return the line of text that lists `values`."""
        return ", ".join(self.write(value) for value in values)


def words_of(text: str) -> list[str]:
    """Return the words that `text` lists."""
    return [word.strip() for word in BETWEEN.split(text) if word.strip()]


def pair(value: tuple[int, int]) -> str:
    """Return two numbers as "640×480"."""
    return f"{value[0]}×{value[1]}"


def _size(value: tuple[int, int]) -> str:
    return str(value[0]) if value[0] == value[1] else pair(value)


def _read_size(word: str, _: Here) -> Values:
    found = PAIR.fullmatch(word)
    sides = (int(found[1]), int(found[2])) if found else 2 * (_whole(word),)
    if not all(1 <= side <= MAX_SIDE for side in sides):
        raise ValueError(
            f"“{word}” is not an image size; give pixels per side, as in 512 or 640×480, up to "
            f"{MAX_SIDE}."
        )
    return (sides,)


def _read_ksize(word: str, _: Here) -> Values:
    ksize = _whole(word)
    if not 1 <= ksize <= MAX_KSIZE or ksize % 2 == 0:
        raise ValueError(f"“{word}” is not a kernel size; give odd numbers from 1 to {MAX_KSIZE}.")
    return (ksize,)


def _read_block(word: str, here: Here) -> Values:
    if word == "presets":
        return tuner.PRESETS
    if word == "grid":
        if not isinstance(here, Device):
            raise ValueError(
                "“grid” lists the shapes that the GPU allows, and this computer has no GPU."
            )
        return tuple(tuner.block_grid(here))
    found = PAIR.fullmatch(word)
    x, y = (int(found[1]), int(found[2])) if found else (0, 0)
    if not (1 <= x <= 1024 and 1 <= y <= 1024):
        raise ValueError(
            f"“{word}” is not a block shape; give threads across × down, as in 32×8, or “presets” "
            "or “grid”."
        )
    return ((x, y),)


def _read_count(word: str, _: Here) -> Values:
    if not 1 <= _whole(word) <= MAX_COUNT:
        raise ValueError(f"“{word}” is not a count; give whole numbers from 1 to {MAX_COUNT}.")
    return (_whole(word),)


def _read_devices(word: str, here: Here) -> Values:
    if word == "all":
        if not isinstance(here, Device):
            raise ValueError("“all” is as many GPUs as there are, and this computer has none.")
        return tuple(range(1, here.count + 1))
    if not 1 <= _whole(word) <= MAX_DEVICES:
        raise ValueError(
            f"“{word}” is not a number of GPUs; give whole numbers from 1, or “all” for 1 to as "
            "many as there are."
        )
    return (_whole(word),)


def _read_channels(word: str, _: Here) -> Values:
    if word not in ("1", "2", "3", "4"):
        raise ValueError(f"“{word}” is not a number of channels; a picture has 1 to 4.")
    return (int(word),)


def _whole(word: str) -> int:
    """Return the whole number in `word`; 0 where it is none, or has more than 8 digits."""
    return int(word) if word.isdecimal() and len(word) < 9 else 0


def _one_of(noun: str, known: Iterable[str]) -> Callable[[str, Here], Values]:
    known = tuple(known)

    def read(word: str, _: Here) -> Values:
        if word not in known:
            raise ValueError(f"“{word}” is no {noun}; choose from {', '.join(known)}.")
        return (word,)

    return read


_FILTERS = tuple((each.key, each.title) for each in filters.all_filters())
_PICTURES: Ticks = (
    (THIS, "the picture that is open"),
    *zip(
        PICTURE_KINDS,
        (
            "every sample random",
            "an evening by a lake",
            "one value everywhere",
            "hard edges",
            "black to white",
        ),
        strict=True,
    ),
)

DIMENSIONS: tuple[Dimension, ...] = (
    Dimension(
        *("sizes", "Image size", "image size", "256, 512, 1024, 2048, 4096"),
        "Pixels per side, or width × height: 256, 512, 640×480",
        *(_read_size, _size),
        lines=(
            ("256, 512, 1024, 2048, 4096", "squares"),
            ("640×480, 1280×720, 1920×1080, 3840×2160", "video"),
            ("400, 2000", "small and large"),
            ("255, 257, 511, 513, 1023, 1025", "odd ones"),
        ),
    ),
    Dimension(
        *("ksizes", "&Kernel size", "kernel size", "3, 5, 7, 9, 11, 15, 31"),
        "Odd numbers that the filter takes: 3, 5, 7",
        *(_read_ksize, str),
        lines=(
            ("3, 5, 7", "small"),
            ("3, 5, 7, 9, 11, 15, 31", "usual"),
            ("3, 7, 15, 31, 63, 127", "up to the largest"),
        ),
    ),
    Dimension(
        *("blocks", "Blo&ck shape", "block shape", "presets"),
        "Threads across × down: 16×16, 32×8; or “presets”, or “grid” for all of whole warps.\n"
        "Across counts samples; the CPU has no blocks and is measured once.",
        *(_read_block, pair),
        lines=(
            ("presets", ", ".join(map(pair, tuner.PRESETS))),
            ("grid", "whole warps across × down"),
            ("8×8, 16×16, 32×32", "squares"),
        ),
    ),
    Dimension(
        *("filters", "Filter", "filter", "gaussian, box"),
        "Filters by their names in the list",
        *(_one_of("filter", (key for key, _ in _FILTERS)), str),
        ticks=_FILTERS,
    ),
    Dimension(
        *("borders", "Border", "border", ", ".join(BORDERS)),
        "What lies beyond the picture's edge",
        *(_one_of("border", BORDERS), str),
        ticks=tuple((border, "") for border in BORDERS),
    ),
    Dimension(
        *("pixel_types", "Pixel type", "pixel type", ", ".join(PIXEL_TYPES)),
        "What the picture is stored as",
        *(_one_of("pixel type", PIXEL_TYPES), str),
        ticks=tuple((each, "") for each in PIXEL_TYPES),
    ),
    Dimension(
        *("channels", "Channels", "number of channels", "1, 3, 4"),
        "Samples per pixel: 1 grey, 3 colour, 2 and 4 with alpha",
        *(_read_channels, str),
        ticks=(("1", "grey"), ("2", "grey, alpha"), ("3", "colour"), ("4", "colour, alpha")),
    ),
    Dimension(
        *("pictures", "Picture", "picture", ", ".join(PICTURE_KINDS)),
        "“this” is the picture that is open; all others are made in any size",
        *(_one_of("kind of picture", (key for key, _ in _PICTURES)), str),
        ticks=_PICTURES,
    ),
    Dimension(
        *("caches", "Cache", "state of the cache", "cold, warm"),
        "Of the GPU's L2 before each sample",
        *(_one_of("state of the cache", ("cold", "warm")), str),
        ticks=(("cold", "emptied before each sample"), ("warm", "as the last one left it")),
    ),
    Dimension(
        *("devices", "Devices", "number of GPUs", "1, 2"),
        "So many GPUs share the picture's rows: 1, 2, 4; or “all”, 1 to as many as there are.\n"
        "The CPU is measured once.",
        *(_read_devices, str),
        lines=(
            ("all", "1 to as many as there are"),
            ("1, 2", "one and two"),
            ("1, 2, 4, 8", "doubling"),
        ),
    ),
    Dimension(
        *("counts", "Count", "count", "1, 2, 4, 8, 16, 32"),
        "So many pictures one after another; a time is the sum of theirs",
        *(_read_count, str),
        lines=(("1, 2, 4, 8, 16, 32", "doubling"),),
    ),
)
BY_FIELD = {each.field: each for each in DIMENSIONS}
