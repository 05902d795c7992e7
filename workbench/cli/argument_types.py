"""Parsers of command-line words; each rejects a word with what the option takes."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.files.formats import EXTENSION_OF

if TYPE_CHECKING:
    from workbench.batch.journal import Shard

T = TypeVar("T")
MAX_WINDOW = 16384  # pixels across, or down
MAX_NUMBER = 10**18
MAX_SIDE = 1 << 20  # of a picture
LISTS = ("filters", "steps", "borders", "implementations", "presets")
BENCHES = ("kernels", "cpu", "batch")
PIXEL_TYPES = ("uint8", "uint16", "float16", "float32")
VERIFY_VALUE = re.compile(r"all|none|-?\d+")  # a word behind --verify that is its value


def matching(pattern: str, takes: str, make: Callable[..., T | None]) -> Callable[[str], T]:
    """Create a parser that hands the groups of `pattern` to `make`.

    make  returns None, or raises ValueError, for a word that is no value
    """

    def parse(text: str) -> T:
        with suppress(ValueError):
            found = re.fullmatch(pattern, text)
            if found and (value := make(*found.groups())) is not None:
                return value
        raise ArgumentTypeError(f"takes {takes}, not {text!r}")

    return parse


def several(parse: Callable[[str], T]) -> Callable[[str], tuple[T, ...]]:
    """Create a parser of words with commas between: "3,5,7" into (3, 5, 7)."""
    return lambda text: tuple(parse(each.strip()) for each in text.split(","))


def one_of(*names: str) -> Callable[[str], str]:
    return matching("(.*)", in_words(names), lambda text: text if text in names else None)


def in_words(names: Sequence[str]) -> str:
    """Join choices: "png, tiff or jpeg"."""
    return f"{', '.join(names[:-1])} or {names[-1]}"


def whole_number(least: int = 0, largest: int = MAX_NUMBER) -> Callable[[str], int]:
    """Create a parser of whole numbers from `least` to `largest`."""
    bounds = f"{least} up" if largest == MAX_NUMBER else f"{least} to {largest}"
    return matching(
        r"(\d{1,18})",
        f"a whole number from {bounds}",
        lambda digits: int(digits) if least <= int(digits) <= largest else None,
    )


def _pair_up_to(largest: int) -> Callable[[str], tuple[int, int]]:
    def make(*sides: str) -> tuple[int, int] | None:
        x, y = map(int, sides)
        return (x, y) if min(x, y) > 0 and max(x, y) <= largest else None

    takes = f"two numbers with an x between, up to {largest} each, such as 32x8"
    return matching(r"(\d{1,5})[x×](\d{1,5})", takes, make)


def _devices(text: str, _last: str | None) -> tuple[int, ...] | None:
    found = () if text == "all" else tuple(sorted(map(int, text.split(","))))
    return found if len(set(found)) == len(found) else None


def _part(*numbers: str | None) -> tuple[int, ...] | None:
    found = tuple(int(each or 0) for each in numbers)
    return found if min(found[2:4]) > 0 and max(found) <= MAX_SIDE else None


def _shard(index: str, count: str) -> Shard | None:
    if not 1 <= int(index) <= int(count):
        return None
    from workbench.batch.journal import Shard  # imports what --help does not need

    return Shard(int(index), int(count))


def _part_of_white(above: str, below: str | None) -> float | None:
    part = float(above) / (float(below or "1") or float("nan"))
    return part if -1 <= part <= 1 else None


def _number_from(least: float, text: str) -> float | None:
    return value if least <= (value := float(text)) < 1e9 else None


def _bytes(count: str, unit: str) -> int | None:
    return int(float(count) * {"M": 2**20, "G": 2**30}[unit]) or None


def _verifying(text: str) -> tuple[int, bool]:
    """(Check one of this many pictures, 0 for none; True for all of its pixels)."""
    return int({"all": "1", "none": "0", "": "1"}.get(text, text)), not text


def picture(text: str) -> Path:
    """Parse a path; - alone is standard input, and ./- a file of that name."""
    return Path(text) if text == "-" or Path(text) != Path("-") else Path.cwd() / "-"


natural, positive = whole_number(), whole_number(1)
size = matching(r"([+-]?\d{1,9})", "an odd number such as 5", int)  # the filter has its own
number = matching("(.+)", "a number such as 1.5", float)
positive_number = matching("(.+)", "a number above 0", partial(_number_from, 1e-9))
percentage = matching(r"\s*(.+?)%?\s*", "a percentage such as 5%", partial(_number_from, 0.0))
pair = _pair_up_to(99999)
channels = matching("([1-4])", "1, 2, 3 or 4", int)
name_list = several(str)

# By an option and its value, as its help has them, or by the value alone; others are words.
TYPES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("a A", "b B", "output OUT/", "OUT.png", "SESSION"), Path),
    **dict.fromkeys(("DIR", "FILE", "IMAGE"), Path),
    **dict.fromkeys("APSHET", number),
    **dict.fromkeys(("inputs IN…", "FILE|FOLDER"), picture),
    "bench BENCH": one_of(*BENCHES),
    "what [WHAT]": one_of(*LISTS),
    "--channels N": channels,
    "--channels N,…": several(channels),
    "--device N": natural,
    "--device N,…": matching(  # sorted; () for all
        r"(all|\d{1,4}(,\d{1,4})*)", "a number such as 0, several such as 0,1, or all", _devices
    ),
    "--format NAME": one_of(*EXTENSION_OF),
    "--page N|all": matching(  # 0 for all
        r"(all|[1-9]\d{0,8})", "a number from 1, or all", lambda text: int(text.replace("all", "0"))
    ),
    "--quality N": whole_number(1, 100),
    "--seconds S": positive_number,
    "--seed N": natural,
    "--size-px WxH": _pair_up_to(MAX_WINDOW),
    "--theme SCHEME": one_of("system", "light", "dark"),
    "--verify all|N|none": matching(
        r"(all|none|[1-9]\d{0,8}|)", "all, none or a number such as 100", _verifying
    ),
    "ADDRESS": matching(r"((?:tcp|tls|wss?)://.+:\d{1,5})", "an address like tcp://head:8786", str),
    "I/N": matching(r"(\d{1,6})/(\d{1,6})", "I/N with I from 1 to N", _shard),
    "K": size,
    "K,…": several(size),
    "N": positive,
    "NAME,…": name_list,
    "O": matching("([^/]+)(?:/(.+))?", "-1 to 1, such as 1/2 or 128/255", _part_of_white),
    "PERCENT": percentage,
    "SIZE": matching(r"(\d{1,9}(?:\.\d+)?)([MG])i?B?", "a size such as 2G or 500M", _bytes),
    "TYPE": one_of(*PIXEL_TYPES),
    "TYPE,…": several(one_of(*PIXEL_TYPES)),
    "WAY": one_of("premultiplied", "apart"),
    "WxH": pair,
    "WxH,…": several(pair),
    "X,Y,W,H[,FEATHER]": matching(
        r"(\d{1,7}),(\d{1,7}),(\d{1,7}),(\d{1,7})(?:,(\d{1,7}))?",
        "x, y, width and height of a part, and pixels over which it fades in, such as 0,0,640,200",
        _part,
    ),
    "XxY": pair,
}
