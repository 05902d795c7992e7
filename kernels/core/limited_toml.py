"""TOML from files that others wrote: parsed within limits, so that no text stops the program.

`tomllib` takes time and memory with the square of the dots in a key: 100 kB of `a.a.a.a` took 45 s
and 9.8 GiB.  Within the limits below, the worst text tried took 1.3 s and 144 MB.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

MAX_BYTES = 1 << 20  # of a file
MAX_CHARACTERS = 400_000  # weights of 127×127, the largest there are, with all their digits
MAX_DOTS = 8  # in one key; a number has one
# Texts and comments, wherever they end as `tomllib` sees it.  One that is left open reaches as far
# as it can, so that no character is looked at twice.
_TEXT_OR_COMMENT = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"{3,5}|\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*"?'
    r"|'[^'\n]*'?"
    r"|#[^\n]*",
    re.DOTALL,
)
_BETWEEN_KEYS_AND_VALUES = re.compile(r"[=,\[\]{}\n]")


class LimitedTomlError(ValueError):
    """A text is not TOML, or beyond the limits; str(error) is one sentence."""


def text_of_small_file(path: Path) -> str | None:
    """Return the text of a file that may hold TOML; None where it is too large, or no text.

    Raises OSError.
    """
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text or len(data) > MAX_BYTES else text


def parse(text: str, name: str) -> dict[str, Any]:
    """Return the values in the TOML text; raise LimitedTomlError where there are none.

    name  what the sentences of LimitedTomlError call the text
    """
    if len(text) > MAX_CHARACTERS:
        raise LimitedTomlError(f"{name} has more than {MAX_CHARACTERS:,} characters.")
    if _most_dots(text) > MAX_DOTS:
        raise LimitedTomlError(f"{name} has a key of more than {MAX_DOTS} dots.")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise LimitedTomlError(f"{name} is not TOML: nested too deeply.") from None
    except ValueError as error:  # a number of too many digits is a plain one
        why = str(error).partition(";")[0]
        raise LimitedTomlError(f"{name} is not TOML: {why}.") from None


def _most_dots(text: str) -> int:
    """Return the most dots in any key or value, without those in texts and comments."""
    bare = _TEXT_OR_COMMENT.sub("", text)
    return max(part.count(".") for part in _BETWEEN_KEYS_AND_VALUES.split(bare))
