"""What tests of `workbench batch` look at: the journal, the results, and whether it is so far."""

import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

from tests.conftest import ROOT
from workbench.base.paths import data_folder
from workbench.batch.journal import NAME

WAIT_S = 60.0


def journal(folder="out"):
    """The lines that the journal has for pictures."""
    lines = map(json.loads, journal_path(folder).read_text().splitlines())
    return [each for each in lines if "status" in each]


def journal_path(folder="out"):
    """The newest journal of a batch into a folder of this name."""
    beside = Path(folder) / NAME
    kept = (data_folder() / "batches").glob(f"{Path(folder).name}-*/*.jsonl")
    found = [beside] if beside.exists() else kept
    return max(found, key=lambda each: each.stat().st_mtime)


def results(folder):
    """What is in a folder of results, but for the journal: {name: bytes}."""
    found = (each for each in Path(folder).rglob("*") if each.is_file() and each.name != NAME)
    return {each.relative_to(folder).as_posix(): each.read_bytes() for each in found}


def until(is_so):
    end = monotonic() + WAIT_S
    while not is_so():
        assert monotonic() < end, "it did not come about"
        sleep(0.02)


@contextmanager
def listening(monkeypatch, act=lambda pipe: None):
    """Standard input is this pipe; `act` writes to it, in a thread."""
    source, target = os.pipe()
    with os.fdopen(source) as stdin, os.fdopen(target, "w") as pipe:
        monkeypatch.setattr(sys, "stdin", stdin)
        thread = Thread(target=act, args=(pipe,))
        thread.start()
        yield pipe
        thread.join()


def environment():
    """For a process that imports the tests."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path}
