"""The dimensions of a plan as lines of text, and a plan in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from typing import Any

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.device import Device, NoDevice
from kernels.core.job import MAX_KSIZE, PIXEL_TYPES
from kernels.engine import tuner
from kernels.sweeps.plan import PICTURE_KINDS, Plan
from kernels.sweeps.plan_files import MAX_DEVICES

THIS = "this"  # the picture that is open
MAX_SIDE = 16384
MAX_COUNT = 1024
PAIR = re.compile(r"(\d{1,5})\s*[×xX*]\s*(\d{1,5})")
# Commas, semicolons and spaces separate a list's words, but not spaces around a ×.
BETWEEN = re.compile(r"[,;]|\s+(?![×xX*])(?<![×xX*]\s)")

Values = tuple[Any, ...]
Here = Device | NoDevice | None
Ticks = tuple[tuple[str, str], ...]
Read = Callable[[str, Here], Values]


@dataclass(frozen=True, slots=True)
class Dimension:
    """One list of a `kernels.sweeps.plan.Plan`.

    read     a word -> the values it stands for, one but for "grid" and the like; raises ValueError
             with a sentence
    """

    field: str  # its name there
    title: str  # on the button that varies it, with & for the mnemonic
    start: str  # what is proposed when it is first varied, and given as an example
    tip: str  # the list's tooltip
    read: Read
    write: Callable[[Any], str] = str  # a value -> its word
    ticks: Ticks = ()  # the words there are with what they mean; none where there are too many
    lines: Ticks = ()  # whole lines to choose from, each with its meaning

    @property
    def name(self) -> str:
        """Title without the mnemonic."""
        return self.title.replace("&", "")

    def values(self, text: str, here: Here = None) -> Values:
        """Values that `text` lists, each once.

        here  the GPU that is to run it; None: not known yet
        Raises ValueError with a sentence for the user.
        """
        words = words_of(text)
        if not words:
            raise ValueError(f"{self.name}: list at least one, as in “{self.start}”.")
        found = (value for word in words for value in self.read(word, here))
        return tuple(dict.fromkeys(found))

    def text(self, values: Iterable[Any]) -> str:
        """Line of text that lists `values`."""
        return ", ".join(self.write(value) for value in values)


def words_of(text: str) -> list[str]:
    """Words that `text` lists."""
    return [word.strip() for word in BETWEEN.split(text) if word.strip()]


def pair(value: tuple[int, int]) -> str:
    """Format two numbers: "640×480"."""
    return f"{value[0]}×{value[1]}"


def _size(value: tuple[int, int]) -> str:
    return str(value[0]) if value[0] == value[1] else pair(value)


def _read_pair(word: str) -> tuple[int, int]:
    found = PAIR.fullmatch(word)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _read_size(word: str, _: Here) -> Values:
    sides = _read_pair(word) if PAIR.fullmatch(word) else 2 * (_whole(word),)
    if not all(1 <= side <= MAX_SIDE for side in sides):
        raise ValueError(
            f"“{word}” is not an image size; give pixels per side, as in 512 or 640×480, up to "
            f"{MAX_SIDE}."
        )
    return (sides,)


def _read_block(word: str, here: Here) -> Values:
    if word == "presets":
        return tuner.PRESETS
    if word == "grid":
        return tuple(tuner.block_grid(_gpu(word, here)))
    block = _read_pair(word)
    if not all(1 <= side <= 1024 for side in block):
        raise ValueError(
            f"“{word}” is not a block shape; give threads across × down, as in 32×8, or “presets” "
            "or “grid”."
        )
    return (block,)


def _read_devices(word: str, here: Here) -> Values:
    if word == "all":
        return tuple(range(1, _gpu(word, here).count + 1))
    said = "a number of GPUs; give whole numbers from 1, or “all” for 1 to as many as there are"
    return _number(said, range(1, MAX_DEVICES + 1))(word, here)


def _gpu(word: str, here: Here) -> Device:
    if not isinstance(here, Device):
        raise ValueError(f"“{word}” depends on the GPU, and this computer has no GPU.")
    return here


def _number(said: str, allowed: Container[int]) -> Read:
    def read(word: str, _: Here) -> Values:
        if (number := _whole(word)) not in allowed:
            raise ValueError(f"“{word}” is not {said}.")
        return (number,)

    return read


def _whole(word: str) -> int:
    """Whole number in `word`; 0 where it is none, or has more than 8 digits."""
    return int(word) if word.isdecimal() and len(word) < 9 else 0


def _of_words(field: str, title: str, start: str, tip: str, ticks: Ticks) -> Dimension:
    """Dimension whose values are words, one of `ticks` each."""
    known = [word for word, _ in ticks]

    def read(word: str, _: Here) -> Values:
        if word not in known:
            raise ValueError(f"“{word}” is no {title.lower()}; choose from {', '.join(known)}.")
        return (word,)

    return Dimension(field, title, start, tip, read, ticks=ticks)


_PICTURE_TIPS = (
    "every sample random, an evening by a lake, one value everywhere, hard edges, black to white"
)

DIMENSIONS: tuple[Dimension, ...] = (
    Dimension(
        *("sizes", "Image size", "256, 512, 1024, 2048, 4096"),
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
        *("ksizes", "&Kernel size", "3, 5, 7, 9, 11, 15, 31"),
        "Odd numbers that the filter takes: 3, 5, 7",
        _number(
            f"a kernel size; give odd numbers from 1 to {MAX_KSIZE}", range(1, MAX_KSIZE + 1, 2)
        ),
        lines=(
            ("3, 5, 7", "small"),
            ("3, 5, 7, 9, 11, 15, 31", "usual"),
            ("3, 7, 15, 31, 63, 127", "up to the largest"),
        ),
    ),
    Dimension(
        *("blocks", "Blo&ck shape", "presets"),
        "Threads across × down: 16×16, 32×8; or “presets”, or “grid” for all of whole warps.\n"
        "Across counts samples; the CPU has no blocks and is measured once.",
        *(_read_block, pair),
        lines=(
            ("presets", ", ".join(map(pair, tuner.PRESETS))),
            ("grid", "whole warps across × down"),
            ("8×8, 16×16, 32×32", "squares"),
        ),
    ),
    _of_words(
        *("filters", "Filter", "gaussian, box", "Filters by their names in the list"),
        tuple((each.key, each.title) for each in filters.all_filters()),
    ),
    _of_words(
        *("borders", "Border", ", ".join(BORDERS), "What lies beyond the picture's edge"),
        tuple((border, "") for border in BORDERS),
    ),
    _of_words(
        *("pixel_types", "Pixel type", ", ".join(PIXEL_TYPES), "What the picture is stored as"),
        tuple((each, "") for each in PIXEL_TYPES),
    ),
    Dimension(
        *("channels", "Channels", "1, 3, 4"),
        "Samples per pixel: 1 grey, 3 colour, 2 and 4 with alpha",
        _number("a number of channels; a picture has 1 to 4", range(1, 5)),
        ticks=(("1", "grey"), ("2", "grey, alpha"), ("3", "colour"), ("4", "colour, alpha")),
    ),
    _of_words(
        *("pictures", "Picture", ", ".join(PICTURE_KINDS)),
        "“this” is the picture that is open; all others are made in any size",
        (
            (THIS, "the picture that is open"),
            *zip(PICTURE_KINDS, _PICTURE_TIPS.split(", "), strict=True),
        ),
    ),
    _of_words(
        *("caches", "Cache", "cold, warm", "Of the GPU's L2 before each sample"),
        (("cold", "emptied before each sample"), ("warm", "as the last one left it")),
    ),
    Dimension(
        *("devices", "Devices", "1, 2"),
        "So many GPUs share the picture's rows: 1, 2, 4; or “all”, 1 to as many as there are.\n"
        "The CPU is measured once.",
        _read_devices,
        lines=(
            ("all", "1 to as many as there are"),
            ("1, 2", "one and two"),
            ("1, 2, 4, 8", "doubling"),
        ),
    ),
    Dimension(
        *("counts", "Count", "1, 2, 4, 8, 16, 32"),
        "So many pictures one after another; a time is the sum of theirs",
        _number(f"a count; give whole numbers from 1 to {MAX_COUNT}", range(1, MAX_COUNT + 1)),
        lines=(("1, 2, 4, 8, 16, 32", "doubling"),),
    ),
)
BY_FIELD = {each.field: each for each in DIMENSIONS}


def plan_title(plan: Plan) -> str:
    """Format the variation: "Image size × kernel size, Gaussian blur"."""
    varied = [BY_FIELD[name].name for name in plan.varied if name in BY_FIELD]
    if not varied:
        return f"{filters.get(plan.filters[0]).title} {plan.ksizes[0]}×{plan.ksizes[0]}"
    what = " × ".join([varied[0], *(name[0].lower() + name[1:] for name in varied[1:])])
    of = ", ".join(filters.get(key).title for key in plan.filters[:2])
    return f"{what}, {of}" + (", …" if len(plan.filters) > 2 else "")


def short(plan: Plan) -> str:
    """Plan title without its institution but with its table: "Image size, table 5.5"."""
    name = plan.title.split(": ", 1)[-1] if plan.source else plan.title
    name = name[0].upper() + name[1:]
    return f"{name}, table {plan.table}" if plan.table[:1].isdigit() else name


def varied_in_words(plan: Plan) -> str:
    """Format the variation with counts: "image size: 5 × implementations: 3"."""
    names = {name: each.name.lower() for name, each in BY_FIELD.items()}
    parts = (f"{names.get(name, name)}: {len(getattr(plan, name))}" for name in plan.varied)
    return " × ".join(parts)


def fixed_choices(plan: Plan) -> dict[str, Any]:
    """Values of a plan that do not vary, by the names of the State's fields."""
    names = {"filters": "filter", "ksizes": "ksize", "borders": "border", "blocks": "block_xy"}
    names |= {"caches": "cache", "devices": "devices"}
    lists = {name: getattr(plan, field) for field, name in names.items()}
    fixed = {name: values[0] for name, values in lists.items() if len(values) == 1}
    return fixed | {"sigma": plan.sigma, "amount": plan.amount}
