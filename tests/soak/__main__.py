"""Soak the window: `python -m tests.soak --seconds 3600 --seed 1 --log soak.jsonl`.

The last line on stdout is the outcome as JSON; exit code 1 and a text on stderr when it failed.
"""

import argparse
import faulthandler
import gc
import json
import os
import sys
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path

VARIABLES = {
    "FILTER_WORKBENCH_CONFIG": "config",
    "FILTER_WORKBENCH_CACHE": "cache",
    "XDG_DATA_HOME": "data",
    "XDG_CONFIG_HOME": "config",
    "XDG_CACHE_HOME": "cache",
    "TMPDIR": "temporary",
}


def main():
    arguments = _parsed()
    faulthandler.enable()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="soak") as folder:
        home = Path(folder)
        for variable, name in VARIABLES.items():
            home.joinpath(name).mkdir(exist_ok=True)
            os.environ[variable] = str(home / name)
        tempfile.tempdir = None  # it is looked for anew
        return _soak(arguments, home)


def _parsed():
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--acts", type=int, default=0, help="so many, however long they take")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path, default=os.devnull, help="where to write each act")
    parser.add_argument("--replay", type=Path, help="a log whose acts are done again")
    parser.add_argument("--until", type=int, help="of a replay: so many acts")
    return parser.parse_args()


def _soak(arguments, home):
    # After the environment is set: Qt, and folders that are remembered, are looked up once.
    from tests.soak.driver import Driver
    from tests.soak.stage import Stage

    replay = _acts(arguments.replay)[: arguments.until] if arguments.replay else None
    with ExitStack() as open_files:
        log = open_files.enter_context(Path(arguments.log).open("w"))
        before = set(threading.enumerate())
        stage = Stage(home)
        driver = Driver(stage, arguments.seed, arguments.seconds, log, replay, acts=arguments.acts)
        driver.run()
        stage.close()
        faults, left = stage.take_faults(), left_over(home, before)
        complaints = [*driver.complaints, *driver.grown(), *faults, *left]
        outcome = {"seed": arguments.seed, "seconds": arguments.seconds, "acts": driver.done}
        outcome |= driver.figures() | {"complaints": complaints}
    sys.stdout.write(f"{json.dumps(outcome)}\n")
    sys.stderr.write("".join(f"{each}\n" for each in complaints))
    return 1 if complaints else 0


def left_over(home, threads_before):
    """Threads and temporary files that are still there, a sentence each."""
    from PySide6.QtCore import QThread
    from shiboken6 import isValid

    from tests.conftest import POOLS

    gc.collect()
    found = [each for each in gc.get_objects() if isinstance(each, QThread)]
    running = [each for each in found if isValid(each) and each.isRunning()]
    threads = [each for each in running if each is not QThread.currentThread()]
    python = set(threading.enumerate()) - threads_before
    python = [e for e in python if not isinstance(e, threading._DummyThread)]
    python = [e for e in python if not e.name.startswith(POOLS)]
    files = [*home.joinpath("temporary").rglob("*"), *home.rglob("*.part")]
    return [f"left over: {each}" for each in (*threads, *python, *files)]


def _acts(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [(line["name"], line["words"]) for line in lines if "act" in line]


if __name__ == "__main__":
    sys.exit(main())
