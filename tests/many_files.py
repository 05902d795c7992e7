"""A batch of very many small files: `python -m tests.many_files`.

It has to begin at once, not to slow down, and not to take ever more memory.  TMPDIR says where the
files lie.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from kernels import Engine
from kernels.pictures.generated import noise
from tests.conftest import ROOT
from tests.kills import peak_bytes
from workbench.cli import this_machine
from workbench.files import image_files

SIDE = 8
OPTIONS = ("--no-gpu", "--implementation", "opencv", "--verify", "none", "--json")
PARTS = 10


@dataclass(slots=True)
class ManyFiles:
    """The outcome.

    alone_s     from the start of the command to the first result, where there is one file
    first_s     the same of all the files
    per_s       results per second, of each tenth of them
    peak_bytes  the most memory that it had had by the end of each tenth
    seconds     it took in all
    """

    files: int
    side: int
    alone_s: float
    first_s: float
    per_s: list[float]
    peak_bytes: list[int]
    seconds: float


def filtered(folder: Path, files: int) -> ManyFiles:
    """Filter so many files in `folder`, and look at when each is finished."""
    make(folder / "one", 1)
    make(folder / "in", files)
    (alone_s,), _ = _finished(folder, "one", 1)
    times, peaks = _finished(folder, "in", files)
    ends = [times[files * part // PARTS - 1] for part in range(1, PARTS + 1)]
    took = [end - begin for begin, end in zip((times[0], *ends), ends, strict=False)]
    per_s = [files / PARTS / each for each in took]
    return ManyFiles(files, SIDE, alone_s, times[0], per_s, peaks, times[-1])


def make(folder: Path, files: int) -> None:
    """Make a folder of so many pictures."""
    folder.mkdir()
    image_files.save(folder / "0.png", noise(SIDE, SIDE, 3))
    data = (folder / "0.png").read_bytes()
    for number in range(1, files):
        (folder / f"{number}.png").write_bytes(data)


def _finished(folder: Path, source: str, files: int) -> tuple[list[float], list[int]]:
    """Return when each was finished, in seconds from the start, and memory at each part's end."""
    command = [sys.executable, "-m", "workbench", "batch", source, f"{source}-out", *OPTIONS]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    began, times, peaks = monotonic(), list[float](), list[int]()
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, env=environment, text=True
    ) as run:
        assert run.stdout is not None
        for line in run.stdout:
            if '"status": "done"' in line:
                times.append(monotonic() - began)
                if len(times) * PARTS // files > len(peaks):
                    peaks.append(peak_bytes(run.pid))
    if run.returncode or len(times) != files:
        raise RuntimeError(f"{len(times)} of {files} files were filtered.")
    return times, peaks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with TemporaryDirectory(prefix="workbench-many-") as folder:
        found = filtered(Path(folder), asked.files)
    sys.stdout.write(f"{found}\n")
    if asked.json:
        heading = this_machine.heading("many", Engine(use_gpu=False))
        asked.json.write_text(json.dumps({**heading, **asdict(found)}, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
