"""Open a picture of any size, as the window does: what does not fit into memory, reduced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workbench.files import image_files
from workbench.files.picture_errors import TooLargeError
from workbench.model.state import Picture


def load(
    path: str | Path,
    *,
    ask: bool = False,
    is_stopped: Callable[[], bool] = lambda: False,
    say: Callable[[float], None] = lambda _: None,
) -> Picture:
    """Read a picture, of a TIFF that does not fit into memory a reduced copy.

    ask, is_stopped  as `image_files.load` has them; about a copy nothing is asked
    say              is told now and then which share of a copy has been read

    Raises ImageFileError.
    """
    path = Path(path).absolute()
    try:
        return image_files.load(path, ask=ask, is_stopped=is_stopped)
    except TooLargeError:
        from workbench.files.from_tiff import is_tiff  # tifffile: not before it is needed

        if not is_tiff(path):
            raise
    from workbench.files.reduced_reading import load_reduced

    return load_reduced(path, is_stopped, say)
