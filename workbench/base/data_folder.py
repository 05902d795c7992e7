"""The folder of what a user keeps with this program: sessions, reports, weights, kernels."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_dir

DATA_VARIABLE = "FILTER_WORKBENCH_DATA"


def data_folder() -> Path:
    """Return the folder in the user's data, or the one that FILTER_WORKBENCH_DATA names."""
    return Path(os.environ.get(DATA_VARIABLE) or user_data_dir("filter-workbench"))
