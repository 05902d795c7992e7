"""What a start imports is not looked through for garbage, neither meanwhile nor later."""

import gc
import subprocess
import sys

from workbench.base.importing import without_collecting

COUNTED = """
import gc
from workbench.base.importing import without_collecting
looks = []
gc.callbacks.append(lambda phase, _: looks.append(phase))
with without_collecting():
    kept = [[] for _ in range(20_000)]
print(len(looks), gc.isenabled(), gc.get_freeze_count() > len(kept))
"""


def test_what_is_imported_is_neither_looked_through_meanwhile_nor_later():
    done = subprocess.run(
        [sys.executable, "-c", COUNTED], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0", "True", "True"]


def test_a_collector_that_is_off_stays_off_and_keeps_all_it_may_find():
    before = gc.isenabled(), gc.get_freeze_count()
    assert not before[0]  # as tests/conftest.py has it
    with without_collecting():
        pass
    assert (gc.isenabled(), gc.get_freeze_count()) == before


def test_a_command_is_imported_so():
    program = (
        "import gc\nfrom workbench.cli import main\nmain.main(['list', 'borders'])\n"
        "print(gc.isenabled(), gc.get_freeze_count() > 10_000)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "True True"
