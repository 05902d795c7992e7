"""The rung and filter of docs/, pasted into a copy of the tree: whatever lists them works."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.conftest import BUILDS_VARIABLE
from tests.pasted import environment, paste_into

pytestmark = pytest.mark.skipif(
    "FILTER_WORKBENCH_PASTED" in os.environ, reason="this is the copy that they were pasted into"
)
# A session that measured the new rung and nothing else on the GPU.
REPORT = """
import sys
from dataclasses import replace
from pathlib import Path
from kernels.sweeps.session_files import SessionFile
from tests.made_sessions import PLANS, a_session
from workbench.charts.kinds import chart_kinds
from workbench.cli import main

plan = replace(PLANS["ksizes"], implementations=("opencv", "two_sums"), source="")
session = a_session(plan)
with SessionFile.create(Path(sys.argv[1]), plan, session.machine, session.started) as file:
    for record in session.records:
        file.append(record)
print(next(kind for kind in chart_kinds() if kind.key == "roofline").why_not([session]))
plan = replace(plan, implementations=("shared", "two_sums"))
chart = next(kind for kind in chart_kinds() if kind.key == "roofline").figure([a_session(plan)])
print(*chart.notes, sep="\\n")
sys.exit(main.main(["report", sys.argv[1]]))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return paste_into(tmp_path_factory.mktemp("pasted"))


def run_in(tree, *words, **variables):
    return subprocess.run(
        [sys.executable, *words],
        cwd=tree,
        env=environment(tree) | variables,
        capture_output=True,
        text=True,
    )


def test_the_tests_that_it_may_change_are_green(tree, build_cache):
    words = ("-m", "pytest", "-q", "-p", "tests.pasted", "-p", "no:cacheprovider")
    # What holds for the copy, too, need not be compiled again.
    done = run_in(tree, *words, **{BUILDS_VARIABLE: str(build_cache)})
    assert done.returncode == 0, f"{done.stdout[-6000:]}{done.stderr[-2000:]}"
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 300


def test_the_tables_have_a_line_for_the_rung_and_say_that_it_is_not_described(tree):
    text = (tree / "kernels" / "README.md").read_text(encoding="utf-8")
    assert text.count("| `two_sums` |") == 2  # what it asks for, and registers
    assert "[`two_sums`](ladder/27_two_sums.cu)" in text
    assert "`two_sums`: Loads and operations of this rung are not described." in text


def test_report_and_roofline_say_so_too(tree, tmp_path):
    done = run_in(tree, "-c", REPORT, str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    no_place = "Operations are not described, so that there is no place for it here: Two sums."
    assert done.stdout.count(no_place) == 2
    assert "Two sums" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_the_lists_have_both(tree):
    done = run_in(tree, "-m", "workbench", "list")
    assert done.returncode == 0, done.stderr
    assert "motion_blur" in done.stdout
    assert "two_sums" in done.stdout
