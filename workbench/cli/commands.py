"""The commands: what each does, its options, the parsers of their words, and what runs it."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, _ActionsContainer
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from workbench.base.paths import asset_table
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
    "--alpha WAY": one_of("premultiplied", "apart"),
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
    "WxH": pair,
    "WxH,…": several(pair),
    "X,Y,W,H[,FEATHER]": matching(
        r"(\d{1,7}),(\d{1,7}),(\d{1,7}),(\d{1,7})(?:,(\d{1,7}))?",
        "x, y, width and height of a part, and pixels over which it fades in, such as 0,0,640,200",
        _part,
    ),
    "XxY": pair,
}


class Command(NamedTuple):
    """One command.

    summary   one sentence
    function  module and name in workbench.cli: `function(arguments) -> exit code`
    options   as `add_options` reads them
    epilog    the end of its help
    """

    summary: str
    function: str
    options: str
    epilog: str = ""


_PARTS: dict[str, dict[str, Any]] = asset_table("commands.toml")


def _options(text: str) -> str:
    """Put the parts in that lines with an @ name, and the names that the program knows."""
    for name, known in (("formats", EXTENSION_OF), ("benches", BENCHES), ("lists", LISTS)):
        text = text.replace(f"{{{name}}}", in_words(list(known)))
    parts = _PARTS["parts"]
    put_in = lambda found: _options(parts[found[1]].replace("{}", found[2]))  # noqa: E731
    return re.sub(r"@(\w+) ?(.*)", put_in, text)


COMMANDS = {
    name: Command(**{**said, "options": _options(said["options"])})
    for name, said in _PARTS.items()
    if name != "parts"
}
WINDOW = COMMANDS.pop("window")  # which has no name

ENTRY = re.compile(r"\n+(?=\S|  \S)")
SPECIAL: dict[str, dict[str, Any]] = {
    "--no-replace --no-clobber": {"dest": "replace", "action": "store_false"},
    "--device N,…": {"dest": "devices"},
    "--implementation RUNG": {"required": True},
    "--disk": {"default": None},
    "--step STEP": {"action": "append"},
    "--list LIST": {"action": "append", "dest": "lists"},
}


def add_options(parser: ArgumentParser, text: str) -> None:
    """Add the options that `text` describes, each as its words and an explanation.

    `--json` is a flag, `--size K` takes a value of the type that TYPES has for it, and `inputs IN…`
    and `image [IMAGE]` are positional.  A line without an indent is the heading of a group.
    """
    group: _ActionsContainer = parser
    for entry in ENTRY.split(text.strip("\n")):
        if not entry.startswith(" "):
            group = parser.add_argument_group(entry.removesuffix(":"))
            continue
        words, explanation = re.split(r"  +|\n", entry.strip(), maxsplit=1)
        explanation = " ".join(explanation.split()).replace("%", "%%")
        *names, last = words.split()
        keywords: dict[str, Any] = {"help": explanation, **SPECIAL.get(words, {})}
        if last.startswith("-"):
            group.add_argument(*names, last, **{"action": "store_true", **keywords})
            continue
        metavar = last
        if not names[0].startswith("-"):
            metavar = last.strip("[]…")
            counts = (("…]", "*"), ("]", "?"), ("…", "+"))
            keywords["nargs"] = next((n for end, n in counts if last.endswith(end)), None)
        if default := re.search(r"\[default: (.+?)\]", explanation):
            keywords["default"] = default[1]
        kind = TYPES.get(words) or TYPES.get(metavar, str)
        group.add_argument(*names, metavar=metavar, type=kind, **keywords)
