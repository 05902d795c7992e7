"""However a file is broken, it opens or is refused in one sentence: no crash, no hang, no noise."""

import json
import subprocess
import sys

import pytest

from tests.conftest import ROOT

SEED = 5
CASES = [  # kinds that share a process, and the broken files of each
    (["pictures", "rows"], 200),
    (["sessions", "plans", "steps", "weights", "settings", "screenshots"], 60),
]
PATIENCE_S = 600  # the process gives up by itself, and names the case, long before


@pytest.mark.parametrize(("kinds", "count"), CASES)
def test_a_broken_file_opens_or_is_refused_in_one_sentence(kinds, count):
    words = ["--kind", *kinds, "--seed", str(SEED), "--count", str(count)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.broken.trying", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    lines = done.stdout.splitlines()
    problems = [line for line in lines if line.startswith('{"case"')]
    if done.returncode:
        last = next((line for line in reversed(lines) if line.startswith("case")), "no case yet")
        problems.append(f"seed {SEED}: ended with {done.returncode} in {last}\n{done.stderr}")
    assert not problems, f"seed {SEED}:\n" + "\n".join(problems[:5])
    outcomes = json.loads(lines[-1])["outcomes"]
    assert outcomes.keys() == set(kinds)
    for found in outcomes.values():
        assert sum(found.values()) == count
        assert set(found) <= {"read", "refused"}
