"""Steps are done in their order, one per turn of the event loop, and none of who is gone."""

import pytest
from PySide6.QtCore import QAbstractEventDispatcher, QObject

from workbench.base.background import Turns


@pytest.fixture
def turns(qapp):
    return Turns()


def test_each_step_has_a_turn_of_its_own(turns, qtbot):
    dispatcher, begun, done = QAbstractEventDispatcher.instance(), [], []
    dispatcher.awake.connect(lambda: begun.append(None))
    owner = QObject()

    def step(name):
        done.append((name, len(begun)))
        if name == "b":
            turns.add(owner, lambda: step("b, once more"))

    for name in "abc":
        turns.add(owner, lambda name=name: step(name))
    assert done == []
    qtbot.waitUntil(lambda: len(done) == 4)
    assert [name for name, _ in done] == ["a", "b", "c", "b, once more"]
    assert len({turn for _, turn in done}) == 4
    qtbot.wait(5)
    assert len(done) == 4
