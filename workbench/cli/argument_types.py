"""Parse words of a command line into the values they mean, or say in a few words why not."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.model.modes import MODES

if TYPE_CHECKING:
    from workbench.batch.shards import Shard

DEVICES = re.compile(r"\d{1,4}(,\d{1,4})*")
MAX_WINDOW = 16384  # pixels across, or down
HOW_MANY = re.compile(r"all|none|\d+")  # what behind --verify is its value, right or not


def devices(text: str) -> tuple[int, ...]:
    """Return the numbers of the GPUs that "0,1" means, sorted; of "all" none."""
    if text == "all":
        return ()
    found = sorted(int(each) for each in text.split(",")) if DEVICES.fullmatch(text) else []
    if not found or len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(
            f"takes a number such as 0, several such as 0,1, or all, not {text!r}"
        )
    return tuple(found)


def shard(text: str) -> Shard:
    """Return the shard that "2/8" means."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise argparse.ArgumentTypeError(f"takes I/N with I from 1 to N, not {text!r}")
    from workbench.batch.shards import Shard  # imports what --help does not need

    return Shard(int(found[1]), int(found[2]))


def scheduler(text: str) -> str:
    """Return the address of a scheduler, as it prints it itself."""
    if re.fullmatch(r"(tcp|tls|wss?)://.+:\d{1,5}", text) is None:
        raise argparse.ArgumentTypeError(f"takes an address like tcp://head:8786, not {text!r}")
    return text


def picture(text: str) -> Path:
    """Return a path; - alone is standard input, and ./- a file of that name."""
    return Path(text) if text == "-" or Path(text) != Path("-") else Path.cwd() / "-"


def pair(text: str) -> tuple[int, int]:
    """Parse "32x8" into (32, 8)."""
    found = re.fullmatch(r"(\d{1,5})[x×](\d{1,5})", text)
    if not found or "0" in found.groups():
        raise argparse.ArgumentTypeError(
            f"takes two numbers with an x between, up to 99999 each, such as 32x8, not {text!r}"
        )
    return int(found[1]), int(found[2])


def window_size(text: str) -> tuple[int, int]:
    """Parse a size as `pair`, but no more than a screenshot can have."""
    if max(found := pair(text)) > MAX_WINDOW:
        raise argparse.ArgumentTypeError(f"takes up to {MAX_WINDOW} pixels each, not {text!r}")
    return found


def size(text: str) -> int:
    """Parse a kernel size; which sizes there are, the filter knows."""
    if not re.fullmatch(r"[+-]?\d{1,9}", text):
        raise argparse.ArgumentTypeError(f"takes an odd number such as 5, not {text!r}")
    return int(text)


def sizes(text: str) -> tuple[int, ...]:
    """Parse "3,5,7" into (3, 5, 7)."""
    return tuple(size(each) for each in text.split(","))


def name_list(text: str) -> tuple[str, ...]:
    """Parse "box,gaussian" into ("box", "gaussian")."""
    return tuple(word.strip() for word in text.split(","))


def pairs(text: str) -> tuple[tuple[int, int], ...]:
    """Parse "16x16,32x8" into ((16, 16), (32, 8))."""
    return tuple(pair(each) for each in text.split(","))


def all_channels(text: str) -> tuple[int, ...]:
    """Parse "1,3" into (1, 3)."""
    return tuple(channels(each) for each in text.split(","))


def channels(text: str) -> int:
    """Parse a number of channels, 1 to 4."""
    if text not in ("1", "2", "3", "4"):
        raise argparse.ArgumentTypeError(f"takes 1, 2, 3 or 4, not {text!r}")
    return int(text)


def modes(text: str) -> tuple[str, ...]:
    """Parse the window's modes, by their names."""
    return tuple(one_of(*MODES)(name) for name in name_list(text))


def pixel(text: str) -> tuple[int, int]:
    """Parse "40,12" into (40, 12)."""
    found = re.fullmatch(r"(\d{1,5}),(\d{1,5})", text)
    if not found:
        raise argparse.ArgumentTypeError(
            f"takes two numbers from 0 to 99999, such as 40,12, not {text!r}"
        )
    return int(found[1]), int(found[2])


def number(text: str) -> float:
    """Parse a number such as 1.5."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"takes a number such as 1.5, not {text!r}") from None


def part_of_white(text: str) -> float:
    """Parse a share of white from -1 to 1, such as 1/2 or 128/255."""
    above, _, below = text.partition("/")
    part = number(above) / (number(below or "1") or float("nan"))
    if not -1 <= part <= 1:
        raise argparse.ArgumentTypeError(f"takes -1 to 1, such as 1/2 or 128/255, not {text!r}")
    return part


def positive_number(text: str) -> float:
    """Parse a number above 0."""
    value = number(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"takes a number above 0, not {text!r}")
    return value


def percentage(text: str) -> float:
    """Parse "5%", or "5", into 0.05."""
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e6:
        raise argparse.ArgumentTypeError(f"takes a percentage such as 5%, not {text!r}")
    return value / 100


def natural(text: str, least: int = 0) -> int:
    """Parse a whole number from `least` on."""
    if not re.fullmatch(r"\d{1,18}", text) or int(text) < least:
        raise argparse.ArgumentTypeError(f"takes a whole number from {least} up, not {text!r}")
    return int(text)


def positive(text: str) -> int:
    """Parse a whole number from 1 on."""
    return natural(text, 1)


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
    known = {"all": 1, "none": 0}
    if text not in known and not re.fullmatch(r"[1-9]\d{0,8}", text):
        raise argparse.ArgumentTypeError(f"takes all, none or a number such as 100, not {text!r}")
    return Verifying(known[text] if text in known else int(text))


def memory(text: str) -> int:
    """Parse "2G" or "500M" into bytes, binary as memory is given."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d+)?)([MG])i?B?", text)
    if found is None or float(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"takes a size such as 2G or 500M, not {text!r}")
    return int(float(found[1]) * {"M": 2**20, "G": 2**30}[found[2]])


def quality(text: str) -> int:
    """Parse a JPEG quality from 1 to 100."""
    if not re.fullmatch(r"\d{1,3}", text) or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(f"takes a whole number from 1 to 100, not {text!r}")
    return int(text)


def one_of(*names: str) -> Callable[[str], str]:
    """Return a parser of one of these words."""

    def choose(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(f"takes {in_words(names)}, not {text!r}")
        return text

    return choose


def in_words(names: Sequence[str]) -> str:
    """Return the choices in words."""
    return f"{', '.join(names[:-1])} or {names[-1]}"
