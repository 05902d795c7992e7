"""Parse words of a command line into the values they mean, or say in a few words why not."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from workbench.model.modes import MODES

if TYPE_CHECKING:
    from workbench.batch.shards import Shard

T = TypeVar("T")
MAX_WINDOW = 16384  # pixels across, or down
HOW_MANY = re.compile(r"all|none|\d+")  # what behind --verify is its value, right or not


def _refused(takes: str, text: str) -> ArgumentTypeError:
    return ArgumentTypeError(f"takes {takes}, not {text!r}")


def _matched(pattern: str, takes: str, text: str) -> re.Match[str]:
    if (found := re.fullmatch(pattern, text)) is None:
        raise _refused(takes, text)
    return found


def several(parse: Callable[[str], T]) -> Callable[[str], tuple[T, ...]]:
    """Return a parser of words with commas between: "3,5,7" into (3, 5, 7)."""
    return lambda text: tuple(parse(each.strip()) for each in text.split(","))


def one_of(*names: str) -> Callable[[str], str]:
    """Return a parser of one of these words."""

    def choose(text: str) -> str:
        if text not in names:
            raise _refused(in_words(names), text)
        return text

    return choose


def in_words(names: Sequence[str]) -> str:
    """Return the choices in words."""
    return f"{', '.join(names[:-1])} or {names[-1]}"


def devices(text: str) -> tuple[int, ...]:
    """Parse GPU numbers: "0,1" into (0, 1), sorted; "all" into ()."""
    if text == "all":
        return ()
    takes = "a number such as 0, several such as 0,1, or all"
    found = sorted(map(int, _matched(r"\d{1,4}(,\d{1,4})*", takes, text)[0].split(",")))
    if len(set(found)) < len(found):
        raise _refused(takes, text)
    return tuple(found)


def shard(text: str) -> Shard:
    """Parse "2/8"."""
    takes = "I/N with I from 1 to N"
    found = _matched(r"(\d{1,6})/(\d{1,6})", takes, text)
    if not 1 <= int(found[1]) <= int(found[2]):
        raise _refused(takes, text)
    from workbench.batch.shards import Shard  # imports what --help does not need

    return Shard(int(found[1]), int(found[2]))


def scheduler(text: str) -> str:
    """Parse the address of a scheduler, as it prints it itself."""
    return _matched(r"(tcp|tls|wss?)://.+:\d{1,5}", "an address like tcp://head:8786", text)[0]


def picture(text: str) -> Path:
    """Parse a path; - alone is standard input, and ./- a file of that name."""
    return Path(text) if text == "-" or Path(text) != Path("-") else Path.cwd() / "-"


def pair(text: str) -> tuple[int, int]:
    """Parse "32x8" into (32, 8)."""
    takes = "two numbers with an x between, up to 99999 each, such as 32x8"
    found = _matched(r"(\d{1,5})[x×](\d{1,5})", takes, text)
    if "0" in found.groups():
        raise _refused(takes, text)
    return int(found[1]), int(found[2])


def window_size(text: str) -> tuple[int, int]:
    """Parse a size as `pair`, but no more than a screenshot can have."""
    if max(found := pair(text)) > MAX_WINDOW:
        raise _refused(f"up to {MAX_WINDOW} pixels each", text)
    return found


def pixel(text: str) -> tuple[int, int]:
    """Parse "40,12" into (40, 12)."""
    takes = "two numbers from 0 to 99999, such as 40,12"
    found = _matched(r"(\d{1,5}),(\d{1,5})", takes, text)
    return int(found[1]), int(found[2])


def size(text: str) -> int:
    """Parse a kernel size; the filter has its own sizes."""
    return int(_matched(r"[+-]?\d{1,9}", "an odd number such as 5", text)[0])


def channels(text: str) -> int:
    """Parse a number of channels, 1 to 4."""
    return int(_matched("[1-4]", "1, 2, 3 or 4", text)[0])


def number(text: str) -> float:
    """Parse a number such as 1.5."""
    try:
        return float(text)
    except ValueError:
        raise _refused("a number such as 1.5", text) from None


def part_of_white(text: str) -> float:
    """Parse a share of white from -1 to 1, such as 1/2 or 128/255."""
    above, _, below = text.partition("/")
    part = number(above) / (number(below or "1") or float("nan"))
    if not -1 <= part <= 1:
        raise _refused("-1 to 1, such as 1/2 or 128/255", text)
    return part


def positive_number(text: str) -> float:
    """Parse a number above 0."""
    value = number(text)
    if not 0 < value < float("inf"):
        raise _refused("a number above 0", text)
    return value


def percentage(text: str) -> float:
    """Parse "5%", or "5", into 0.05."""
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e6:
        raise _refused("a percentage such as 5%", text)
    return value / 100


def natural(text: str, least: int = 0, largest: int = 10**18) -> int:
    """Parse a whole number from `least` to `largest`."""
    if not re.fullmatch(r"\d{1,18}", text) or not least <= int(text) <= largest:
        range_in_words = f"{least} up" if largest == 10**18 else f"{least} to {largest}"
        raise _refused(f"a whole number from {range_in_words}", text)
    return int(text)


def memory(text: str) -> int:
    """Parse "2G" or "500M" into bytes, binary as memory is given."""
    takes = "a size such as 2G or 500M"
    found = _matched(r"(\d{1,9}(?:\.\d+)?)([MG])i?B?", takes, text)
    if float(found[1]) == 0:
        raise _refused(takes, text)
    return int(float(found[1]) * {"M": 2**20, "G": 2**30}[found[2]])


positive = partial(natural, least=1)
quality = partial(natural, least=1, largest=100)  # of a JPEG
sizes, name_list, pairs = several(size), several(str), several(pair)
all_channels, modes = several(channels), several(one_of(*MODES))


class Verifying(NamedTuple):
    """A choice of how much is held against the reference.

    check_every     of so many pictures one is, and the first is; 0: none
    is_every_pixel  whether all pixels of it are, however long that takes
    """

    check_every: int
    is_every_pixel: bool = False


def verifying(text: str) -> Verifying:
    """Parse "all", "none" or N, or nothing: every pixel of all."""
    if not text:
        return Verifying(1, is_every_pixel=True)
    known = {"all": "1", "none": "0"}
    if text not in known:
        _matched(r"[1-9]\d{0,8}", "all, none or a number such as 100", text)
    return Verifying(int(known.get(text, text)))
