"""Compute-sanitizers that a test makes up, as executables that a search finds and starts."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from kernels.cuda import compute_sanitizer
from kernels.cuda_child.device_layout import layout_of
from kernels.cuda_on_cpu.regions import cropped, region_of, small_size
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.rungs.own_kernels import own_kernel
from tests.kernels.cuda_child.bad_texts import GOOD
from tests.kernels.cuda_child.sanitizer_output import FINE, NO_RACE, SOURCE, TARGET
from tests.made_up import H200

FAKE = Path(__file__).with_name("fake_sanitizer.py")


class MadeUpSanitizer:
    """An executable in `folder`, for the job of a search; its methods say what it does."""

    def __init__(self, folder: Path, job) -> None:
        self.folder = folder
        self.program = folder / "compute-sanitizer"
        lines = FAKE.read_text(encoding="utf-8")
        self.program.write_text(f"#!{sys.executable}\n{lines}", encoding="utf-8")
        self.program.chmod(0o755)
        self.job = cropped(job, region_of(job, small_size(job), None))
        places = layout_of(own_kernel("mine.cu", GOOD), self.job, H200).places
        sizes = {name: end - begin for name, (begin, end) in places.items()}
        arrays = {"source": (SOURCE, sizes["source"]), "target": (TARGET, sizes["target"])}
        self.facts = {"arrays": arrays, "shared_bytes": 1024}
        self._doing = dict.fromkeys(("memcheck", "synccheck", "initcheck"), FINE)
        self._doing |= {"racecheck": NO_RACE, "facts": self.facts}
        self.answers(to_pixel_type(filtered(self.job), self.job.picture.dtype))

    def does(self, **doing: Any) -> MadeUpSanitizer:
        """Have it do that, besides what it does: see `fake_sanitizer`."""
        self._doing |= doing
        (self.folder / "doing.json").write_text(json.dumps(self._doing))
        return self

    def answers(self, answer) -> MadeUpSanitizer:
        """Have the kernel that it watches give this answer."""
        path = self.folder / "right_or_wrong.npy"
        np.save(path, answer.reshape(self.job.picture.shape))
        return self.does(answer=str(path))

    @property
    def tools(self) -> list[str]:
        """The options that it was called with, run by run."""
        log = self.folder / "log"
        return log.read_text().splitlines() if log.exists() else []

    def install(self, monkeypatch) -> None:
        """Be the only one on this computer."""
        only(monkeypatch, f"{self.folder}{os.pathsep}{os.environ['PATH']}")


def only(monkeypatch, path: str) -> None:
    """Have compute-sanitizer be looked for nowhere but on this PATH."""
    monkeypatch.setattr(compute_sanitizer, "IN_PACKAGES", ())
    monkeypatch.setattr(compute_sanitizer, "TOOLKIT", "")
    for name in compute_sanitizer.TOOLKITS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", path)
    compute_sanitizer.the_sanitizer.cache_clear()


def is_running(pid: str) -> bool:
    """Whether there is that process, and it has not ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
