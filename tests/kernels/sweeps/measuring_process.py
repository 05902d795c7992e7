"""A process that fills a session with made-up measurements, to be killed or left without disk.

python -m tests.kernels.sweeps.measuring_process FOLDER
    [--resume] [--milliseconds N] [--most-bytes N]
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

from kernels.core.errors import SessionFileError
from kernels.sweeps.record import Record
from kernels.sweeps.session_files import SessionFile, resume
from tests.made_sessions import H200, PLANS, measured

PLAN = PLANS["block_grid"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--milliseconds", type=float, default=10)
    parser.add_argument("--most-bytes", type=int, help="what the disk has room for")
    arguments = parser.parse_args()
    if arguments.most_bytes:  # no file grows beyond so much: the answer to a write is an error
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (arguments.most_bytes, limits[1]))
    try:
        if arguments.resume:
            session, file = resume(arguments.folder, H200, PLAN)
            done = {record.cell for record in session.records}
        else:
            file, done = SessionFile.create(arguments.folder, PLAN, H200), set()
        with file:
            for cell in PLAN.cells():
                if cell not in done:
                    time.sleep(arguments.milliseconds / 1e3)
                    file.append(Record(cell, measured(cell), time.time()))
    except SessionFileError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
