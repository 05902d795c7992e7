"""Keep Python's garbage collector from looking through much that is imported at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """Keep the garbage collector off inside, and from all objects made inside."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def other_kernels() -> list[str]:
    """Name each, a sentence with the remedy."""
    from importlib.metadata import packages_distributions  # 60 ms that few need

    brought = packages_distributions().get("kernels", ())
    return [
        f"The distribution {name} brings a package called kernels as well: "
        "install this program into an environment of its own."
        for name in sorted(set(brought) - {"filter-workbench"})
    ]
