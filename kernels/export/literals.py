"""Arrays as C++ writes them down, exactly."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH = 100  # columns of text
TYPES = {"float32": "float", "int32": "int", "uint32": "unsigned"}


def array(name: str, values: NDArray[Any]) -> str:
    """Return the definition of `name`, all numbers of `values` in order; of one of TYPES.

    A line holds a row where that is short enough.
    """
    kind = TYPES[str(values.dtype)]
    rows = values.reshape(-1, values.shape[-1] if values.ndim > 1 else values.size)
    lines = [", ".join(map(number, row)) + "," for row in rows]
    body = "\n".join(
        textwrap.fill(line, WIDTH, initial_indent="    ", subsequent_indent="    ")
        for line in lines
    )
    return f"const {kind} {name}[{values.size}] = {{\n{body}\n}};\n"


def number(value: Any) -> str:
    """Return the shortest literal that is `value` again: "0.0625f", "1e-05f", "-17", "17u"."""
    if isinstance(value, np.integer):
        return f"{int(value)}{'u' if isinstance(value, np.unsignedinteger) else ''}"
    text = str(value)
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"
