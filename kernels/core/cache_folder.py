"""The folder for what can be made again: measurements of this device, compiled kernels."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER_VARIABLE = "FILTER_WORKBENCH_CACHE"


def cache_folder() -> Path:
    """Return the user's cache folder, or the one that FILTER_WORKBENCH_CACHE names."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        from platformdirs import user_cache_dir

        folder = user_cache_dir("filter-workbench", appauthor=False)
    return Path(folder)
