"""A batch killed at random moments, again and again, and resumed: `python -m tests.kills`.

Nothing may be lost, done twice or left half written.  It is killed by SIGKILL, some time after its
journal has grown by a random number of lines, or before it has begun.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import numpy as np

from kernels import Engine
from tests.conftest import ROOT
from workbench.batch.filtering import UNTIMED, Outcome, Recipe, filter_, read
from workbench.batch.journal import place_of
from workbench.batch.pairs import FilePair
from workbench.cli import this_machine
from workbench.files import image_files
from workbench.model.state import State

WIDTH, HEIGHT = 64, 48
STATE = State(filter="sharpen", ksize=3)
OPTIONS = ("--filter", "sharpen", "--size", "3", "--no-gpu", "--implementation", "parallel")
ABANDONED = re.compile(r"\.filter-workbench-[0-9a-f]{32}\.part")
LOOK_S = 0.005  # between two looks at the journal
MAX_WAIT_S = 0.05  # from the last line that is waited for to the kill


@dataclass(slots=True)
class Kills:
    """The outcome.

    lost          pictures without a result, or without a row in the journal
    twice         results that were written again, or have two rows
    half_written  results that are not those of `apply`, and other files that nobody asked for
    abandoned     hidden files of writes that were killed, which the next run takes away
    peak_bytes    the most memory that any of the runs had
    """

    files: int
    kills: int
    width: int = WIDTH
    height: int = HEIGHT
    lost: int = 0
    twice: int = 0
    half_written: int = 0
    abandoned: int = 0
    seconds: float = 0.0
    peak_bytes: int = 0


def killed_and_resumed(folder: Path, files: int, kills: int, seed: int) -> Kills:
    """Filter so many files in `folder`, killed so many times, and look at what came of it."""
    drawn, found = random.Random(seed), Kills(files, kills)
    (folder / "in").mkdir()
    for number in range(files):
        image_files.save(folder / "in" / f"{number:05}.png", picture(number))
    began, written = monotonic(), dict[str, tuple[int, int]]()
    for number in range(kills):
        left = files - len(written)
        _run(folder, found, drawn, lines=drawn.randrange(max(2 * left // (kills - number), 1)))
        _look(folder, written, found)
    _run(folder, found, drawn, lines=None)
    _look(folder, written, found)
    found.seconds = monotonic() - began
    _judge(folder, found)
    return found


def picture(number: int) -> np.ndarray:
    """Return the picture of that number, unlike any other."""
    return np.random.default_rng(number).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)


def _run(folder: Path, found: Kills, drawn: random.Random, lines: int | None) -> None:
    """Run the batch until the journal has so many lines more; None: to its end."""
    journal = place_of([folder / "in"], folder / "out")
    command = [sys.executable, "-m", "workbench", "batch", "in", "out", *OPTIONS, "--resume"]
    until = None if lines is None else _count(journal) + lines
    with (
        (folder / "log").open("a") as log,
        subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=_environment()) as run,
    ):
        while run.poll() is None:
            found.peak_bytes = max(found.peak_bytes, peak_bytes(run.pid))
            if until is not None and _count(journal) >= until:
                sleep(drawn.uniform(0, MAX_WAIT_S))
                run.kill()
                return
            sleep(LOOK_S)
    if run.returncode and until is None:
        raise RuntimeError((folder / "log").read_text()[-2000:])


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _count(journal: Path) -> int:
    """Return how many lines it has."""
    try:
        return journal.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def peak_bytes(pid: int) -> int:
    """Return the most memory that a process has had so far; 0 where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in status.splitlines() if "VmHWM" in line), 0)


def _look(folder: Path, written: dict[str, tuple[int, int]], found: Kills) -> None:
    """Count the results that are not the files that they were after the last kill."""
    for path in (folder / "out").glob("*.png"):
        status = path.stat()
        stamp = status.st_ino, status.st_mtime_ns
        found.twice += written.setdefault(path.name, stamp) != stamp
        written[path.name] = stamp


def _judge(folder: Path, found: Kills) -> None:
    """Hold all that is there at the end against what is to be there."""
    out, engine = folder / "out", Engine(use_gpu=False)
    names = {f"{number:05}.png" for number in range(found.files)}
    journal = place_of([folder / "in"], out).read_text(encoding="utf-8")
    lines = map(json.loads, journal.splitlines())
    rows = Counter(str(line["output"]) for line in lines if "status" in line)
    there = {path.name for path in out.iterdir()}
    found.lost = len(names - (there & rows.keys()))
    found.twice += sum(count > 1 for count in rows.values())
    others = there - names
    found.abandoned = sum(ABANDONED.fullmatch(name) is not None for name in others)
    found.half_written = len(others) - found.abandoned
    recipe = Recipe(STATE, "parallel", sampling=UNTIMED, check_every=0)
    for name in sorted(names & there):
        outcome = Outcome(FilePair(folder / "in" / name, out / name))
        read(outcome, recipe)
        filter_(engine, outcome, recipe, lambda _: None)
        assert outcome.result is not None
        try:
            same = np.array_equal(image_files.load(out / name).samples, outcome.result.picture)
        except image_files.ImageFileError:
            same = False
        found.half_written += not same


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with TemporaryDirectory(prefix="workbench-kills-") as folder:
        found = killed_and_resumed(Path(folder), asked.files, asked.kills, asked.seed)
    sys.stdout.write(f"{found}\n")
    if asked.json:
        heading = this_machine.heading("kills", Engine(use_gpu=False))
        asked.json.write_text(json.dumps({**heading, **asdict(found)}, indent=1) + "\n", "utf-8")
    return 1 if found.lost or found.twice or found.half_written or found.abandoned else 0


if __name__ == "__main__":
    raise SystemExit(main())
