"""The documents that commands print for programs to read: `--json`."""

from __future__ import annotations

import json
import math
from typing import Any


def text_of(found: Any, indent: int | None = None) -> str:
    """Return JSON in ASCII, the same in every terminal and file; one line without `indent`.

    Numbers that JSON does not have, infinities and NaN, become null.
    """
    return json.dumps(_plain(found), indent=indent, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    raise TypeError(f"{type(value).__name__} has no JSON")
