"""Another picture for each sample of a time, so that no answer can be one that was kept.

Every run of a kernel that is timed filters something that no run before has seen: the user's
picture, moved around, each row of it changed in its own way.  It costs a kernel the same, and to
make an answer of an earlier one takes knowing all of that, and the products of each row anew.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job


def fresh(job: Job, random: np.random.Generator) -> Job:
    """Return the job on a picture of the same kind, no sample of which is larger in magnitude
    than the type's, or than the largest of the picture's where it is of floats."""
    down, across = (int(random.integers(0, size)) for size in job.picture.shape[:2])
    picture = np.roll(job.picture, (down, across), (0, 1))
    return replace(job, picture=_changed(picture, random))


def _changed(picture: NDArray[Any], random: np.random.Generator) -> NDArray[Any]:
    """Change it row by row: bits of integers are flipped, floats scaled."""
    rows = (len(picture), 1, 1)
    if picture.dtype.kind == "u":
        most = int(np.iinfo(picture.dtype).max)
        picture ^= random.integers(1, most, rows, picture.dtype)  # neither none nor all
    else:
        picture *= random.uniform(0.5, 1.0, rows).astype(picture.dtype)
    return picture
