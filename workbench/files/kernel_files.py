"""The folder of the user's for kernels of their own."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.base.paths import data_folder

FOLDER_VARIABLE = "FILTER_WORKBENCH_KERNELS"


class KernelFileError(Exception):
    """A kernel cannot be read, or kept in a file; str(error) is one sentence for the user."""


class KernelGoneError(KernelFileError):
    """A kernel's file is not there any more."""


def kernels_folder() -> Path:
    """Return the folder in the user's data, or the one FILTER_WORKBENCH_KERNELS names."""
    if folder := os.environ.get(FOLDER_VARIABLE):
        return Path(folder)
    return data_folder() / "kernels"


def is_own_file(path: Path) -> bool:
    """True if `path` lies in the user's folder of kernels, or would."""
    return path.resolve().is_relative_to(kernels_folder().resolve())
