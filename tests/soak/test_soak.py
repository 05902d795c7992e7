"""A while of random actions leaves the window right, and nothing behind.

FILTER_WORKBENCH_SOAK_ACTS says how many, before and after which everything is done once;
FILTER_WORKBENCH_SOAK_SEED says which.  So many, and not so long: a machine that has much else to do
looks for no less than another.
"""

import faulthandler
import importlib
import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from tests.conftest import ROOT
from tests.soak.judging import BOUNDED, grown
from tests.soak.measures import Held

ACTS = int(os.environ.get("FILTER_WORKBENCH_SOAK_ACTS", "100"))
SEED = os.environ.get("FILTER_WORKBENCH_SOAK_SEED", "1")
PATIENCE_S = 10 * ACTS + 600  # the driver ends itself, and says where, long before


@pytest.mark.nightly
def test_random_actions_leave_the_window_right_and_nothing_behind(tmp_path):
    faulthandler.cancel_dump_traceback_later()  # pytest's: this one takes longer than others may
    log = tmp_path / "soak.jsonl"
    words = ["--acts", str(ACTS), "--seed", SEED, "--log", str(log)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.soak", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    last = "\n".join(log.read_text().splitlines()[-15:])
    how = f"seed {SEED}; again: python -m tests.soak --replay {log}"
    assert done.returncode == 0, f"{how}\n{done.stderr[-6000:]}\nthe last acts:\n{last}"
    outcome = json.loads(done.stdout.splitlines()[-1])
    assert outcome["complaints"] == []
    assert outcome["acts"] == ACTS
    assert len(outcome["rss_mib"]) >= 3


def held(rss_mib=300.0, **counts):
    empty = {name: Counter() for name in ("files", "threads", "windows", "qt_objects", "objects")}
    return Held(rss_mib=rss_mib, **{**empty, **{n: Counter(c) for n, c in counts.items()}})


def test_what_grows_is_named_with_its_figures():
    before = held(windows={"workbench.a.Dialog": 0}, objects={"workbench.a.Thing": 10})
    after = held(
        400.0,
        windows={"workbench.a.Dialog": 1},
        objects={"workbench.a.Thing": 500, "workbench.a.Few": 9},
    )
    assert grown(before, after) == [
        "Python object workbench.a.Thing: 10 became 500",
        "window workbench.a.Dialog: 0 became 1",
        "memory: 300 MiB became 400 MiB",
    ]
    assert grown(after, before) == []


def test_the_classes_that_may_grow_to_a_bound_are_there():
    for name in BOUNDED:
        module, _, found = name.rpartition(".")
        assert hasattr(importlib.import_module(module), found), name
