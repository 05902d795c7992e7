"""A planted fault is noticed by the test that holds it, and nothing of it stays."""

import json
import os
import subprocess
import sys

from tests.conftest import ROOT

SOURCE = "def double(x):\n    return x * 2\n\n\ndef half(x):\n    return x / 2\n"
TESTS = """
import sums

def test_double():
    assert sums.double(3) == 6

def test_half_of_nothing():
    assert sums.half(0) == 0
"""
TRY = """
import json, sys
from pathlib import Path
from tests.mutation.operators import mutants
from tests.mutation.trying import Copy, who_notices

root, folder = Path(sys.argv[1]), Path(sys.argv[2])
copy = Copy(root, folder)
text = (root / "sums.py").read_text()
took = {"test_sums.py::test_double": 0.1, "test_sums.py::test_half_of_nothing": 0.1}
said = {}
for each in mutants("sums.py", text):
    said[f"{each.function}: {each.new}"] = who_notices(copy, each, took)
assert (folder / "sums.py").read_text() == text
print(json.dumps(said))
"""


def test_faults_are_noticed_or_survive(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "sums.py").write_text(SOURCE)
    (root / "test_sums.py").write_text(TESTS)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    done = subprocess.run(
        [sys.executable, "-c", TRY, str(root), str(tmp_path / "copy")],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    said = json.loads(done.stdout)
    assert said["double: (x / 2)"] == "test_sums.py::test_double"
    assert said["half: return None"] == "test_sums.py::test_half_of_nothing"
    assert said["half: (x * 2)"] == ""  # nobody asks for the half of anything else
