"""What a start imports is not looked through for garbage, neither meanwhile nor later."""

import subprocess
import sys

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
