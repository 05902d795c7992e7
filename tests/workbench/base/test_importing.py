"""What a start imports is not looked through for garbage, neither meanwhile nor later."""

import gc
import subprocess
import sys
from types import SimpleNamespace

import pytest

from workbench.base.importing import without_collecting
from workbench.cli import main

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


@pytest.fixture
def collecting(monkeypatch):
    monkeypatch.setattr(gc, "freeze", lambda: None)  # the garbage of other tests
    gc.enable()
    yield
    gc.disable()


def test_a_command_is_imported_so(collecting, monkeypatch):
    seen = []

    def import_it(_name):
        seen.append(gc.isenabled())
        return SimpleNamespace(run=lambda _: seen.append(gc.isenabled()) or 0)

    monkeypatch.setattr(main.importlib, "import_module", import_it)
    assert main.run(SimpleNamespace(command="list")) == 0
    assert seen == [False, True]
