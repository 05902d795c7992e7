"""Measure every preset anew into assets/recorded/: `make recorded`.

Each is a sweep into a folder below --work, which the same command resumes.  A whole one is packed,
and its times are compared with those it replaces.
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kernels.core.cpu_load import disturbed_in_words
from kernels.sweeps.estimate import about
from kernels.sweeps.plan_files import presets
from kernels.sweeps.record import Session, compare_sessions
from kernels.sweeps.session_files import NAME, SUFFIXES, header_line, read_session, record_line
from workbench.report.document import sentences_of

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "assets" / "recorded"


def main(words: Sequence[str] | None = None) -> int:
    """Measure, pack and compare; 0 where every chosen preset is recorded anew."""
    known = [preset.key for preset in presets()]
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("presets", nargs="*", metavar="PRESET", help="default: all there are")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "recorded")
    parser.add_argument("--no-gpu", action="store_true", help="to try it out")
    arguments = parser.parse_args(words)
    if unknown := [each for each in arguments.presets if each not in known]:
        parser.error(f"there is no preset {unknown[0]!r}; choose from {', '.join(known)}")
    start, failed = time.monotonic(), []
    for key in arguments.presets or known:
        began = time.monotonic()
        if measured(key, arguments.work / key, no_gpu=arguments.no_gpu):
            record(key, arguments.work / key)
            print(f"{key}: {about(time.monotonic() - began)}\n", flush=True)
        else:
            failed.append(key)
    print(f"All of it took {about(time.monotonic() - start)}.")
    if failed:
        print(f"Not recorded: {', '.join(failed)}.")
    return 1 if failed else 0


def measured(key: str, folder: Path, *, no_gpu: bool) -> bool:
    """Sweep into `folder`, or resume there; True if that came to its end."""
    words = [sys.executable, "-m", "workbench", "sweep", key, "--out", str(folder)]
    words += ["--resume"] if (folder / NAME).exists() else []
    words += ["--no-gpu"] if no_gpu else []
    return subprocess.run(words, cwd=ROOT, stdout=subprocess.DEVNULL).returncode == 0


def record(key: str, folder: Path) -> None:
    """Pack the session in `folder`, and compare it with the one it replaces."""
    new, path = read_session(folder), RECORDED / f"{key}{SUFFIXES[1]}"
    if path.exists():
        old = read_session(path)
        print(f"{key}, against the one before:")
        print("\n".join(f"  {line}" for line in sentences_of(compare_sessions(old, new), "it")))
    if words := disturbed_in_words(each.verified.load for each in new.records if each.verified):
        print(f"  {words}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(packed(new))


def packed(session: Session) -> bytes:
    """The session's lines, each cell once, compressed: the same bytes from the same session."""
    shipped = replace(session, is_shipped=True)
    lines = (header_line(shipped), *map(record_line, shipped.records))
    return gzip.compress(b"".join(lines), mtime=0)


if __name__ == "__main__":
    sys.exit(main())
