"""The dimensions of a plan as lines of text, and a plan in words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.device import Device, NoDevice
from kernels.core.errors import PlanFileError
from kernels.core.job import PIXEL_TYPES
from kernels.engine import tuner
from kernels.sweeps.plan import PICTURE_KINDS, Plan
from kernels.sweeps.plan_files import PLAN_KEYS

THIS = "this"  # the picture that is open
MAX_DIGITS = 8  # of a whole number in a line
# Commas, semicolons and spaces separate a list's words, but not spaces around a ×.
BETWEEN = re.compile(r"[,;]|\s+(?![×xX*])(?<![×xX*]\s)")

Values = tuple[Any, ...]
Here = Device | NoDevice | None
Ticks = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Dimension:
    """One list of a `kernels.sweeps.plan.Plan`, whose words are those of its file."""

    field: str  # its name there
    title: str  # on the button that varies it, with & for the mnemonic
    start: str  # what is proposed when it is first varied, and given as an example
    tip: str  # the list's tooltip
    ticks: Ticks = ()  # the words there are with what they mean; none where there are too many
    lines: Ticks = ()  # whole lines to choose from, each with its meaning

    @property
    def name(self) -> str:
        """Title without the mnemonic."""
        return self.title.replace("&", "")

    def values(self, text: str, here: Here = None) -> Values:
        """Values that `text` lists, each once.

        here  the GPU that is to run it; None: not known yet
        Raises PlanFileError with a sentence for the user.
        """
        words = words_of(text)
        if not words:
            raise PlanFileError(f"{self.name}: list at least one, as in “{self.start}”.")
        found = (value for word in words for value in self._read(word, here))
        return tuple(dict.fromkeys(found))

    def _read(self, word: str, here: Here) -> Values:
        """The value of a word, or the values of "grid" and the like."""
        match self.field, word:
            case "blocks", "presets":
                return tuner.PRESETS
            case "blocks", "grid":
                return tuple(tuner.block_grid(_gpu(word, here)))
            case "devices", "all":
                return tuple(range(1, _gpu(word, here).count + 1))
            case "pictures", "this":
                return (THIS,)
        is_whole = word.isdecimal() and len(word) <= MAX_DIGITS
        read = PLAN_KEYS[self.field].read
        return (read(self.name.lower(), int(word) if is_whole else word),)

    def text(self, values: Iterable[Any]) -> str:
        """Line of text that lists `values`."""
        return ", ".join(map(self._word, values))

    def _word(self, value: Any) -> str:
        word = str(PLAN_KEYS[self.field].write(value))
        return word.replace("x", "×") if isinstance(value, tuple) else word


def words_of(text: str) -> list[str]:
    """Words that `text` lists."""
    return [word.strip() for word in BETWEEN.split(text) if word.strip()]


def pair(value: tuple[int, int]) -> str:
    """Format two numbers: "640×480"."""
    return f"{value[0]}×{value[1]}"


def _gpu(word: str, here: Here) -> Device:
    if not isinstance(here, Device):
        raise PlanFileError(f"“{word}” depends on the GPU, and this computer has no GPU.")
    return here


_PICTURE_TIPS = (
    "every sample random, an evening by a lake, one value everywhere, hard edges, black to white"
)

DIMENSIONS: tuple[Dimension, ...] = (
    Dimension(
        *("sizes", "Image size", "256, 512, 1024, 2048, 4096"),
        "Pixels per side, or width × height: 256, 512, 640×480",
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
        lines=(
            ("presets", ", ".join(map(pair, tuner.PRESETS))),
            ("grid", "whole warps across × down"),
            ("8×8, 16×16, 32×32", "squares"),
        ),
    ),
    Dimension(
        *("filters", "Filter", "gaussian, box", "Filters by their names in the list"),
        ticks=tuple((each.key, each.title) for each in filters.all_filters()),
    ),
    Dimension(
        *("borders", "Border", ", ".join(BORDERS), "What lies beyond the picture's edge"),
        ticks=tuple((border, "") for border in BORDERS),
    ),
    Dimension(
        *("pixel_types", "Pixel type", ", ".join(PIXEL_TYPES), "What the picture is stored as"),
        ticks=tuple((each, "") for each in PIXEL_TYPES),
    ),
    Dimension(
        *("channels", "Channels", "1, 3, 4"),
        "Samples per pixel: 1 grey, 3 colour, 2 and 4 with alpha",
        ticks=(("1", "grey"), ("2", "grey, alpha"), ("3", "colour"), ("4", "colour, alpha")),
    ),
    Dimension(
        *("pictures", "Picture", ", ".join(PICTURE_KINDS)),
        "“this” is the picture that is open; all others are made in any size",
        ticks=(
            (THIS, "the picture that is open"),
            *zip(PICTURE_KINDS, _PICTURE_TIPS.split(", "), strict=True),
        ),
    ),
    Dimension(
        *("caches", "Cache", "cold, warm", "Of the GPU's L2 before each sample"),
        ticks=(("cold", "emptied before each sample"), ("warm", "as the last one left it")),
    ),
    Dimension(
        *("devices", "Devices", "1, 2"),
        "So many GPUs share the picture's rows: 1, 2, 4; or “all”, 1 to as many as there are.\n"
        "The CPU is measured once.",
        lines=(
            ("all", "1 to as many as there are"),
            ("1, 2", "one and two"),
            ("1, 2, 4, 8", "doubling"),
        ),
    ),
    Dimension(
        *("counts", "Count", "1, 2, 4, 8, 16, 32"),
        "So many pictures one after another; a time is the sum of theirs",
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
