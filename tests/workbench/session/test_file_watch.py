"""A watched file: told of once what was written is at rest, soon where it is whole."""

import pytest

from tests.workbench.driving import until
from workbench.base.background import Background
from workbench.session import kernel_folder
from workbench.session.kernel_folder import FileWatch


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.cu"
    path.write_text("one")
    return path


@pytest.fixture
def watch(qapp, mine):
    background = Background(())
    watch = FileWatch(background)
    watch.told = []
    watch.changed.connect(lambda: watch.told.append(mine.read_text() if mine.exists() else None))
    watch.begin(mine)
    yield watch
    watch.begin(None)
    background.close()


def test_a_file_that_was_emptied_first_is_told_of_once_it_is_written(
    qtbot, watch, mine, monkeypatch
):
    monkeypatch.setattr(kernel_folder, "SETTLE_MS", 60_000)
    with mine.open("w") as file:
        qtbot.wait(60)
        assert watch.told == []
        file.write("two")
    until(qtbot, lambda: watch.told)
    assert set(watch.told) == {"two"}


def test_a_file_that_is_away_while_another_is_put_in_its_place_is_not_gone(
    qtbot, watch, mine, monkeypatch
):
    monkeypatch.setattr(kernel_folder, "SETTLE_MS", 60_000)
    mine.rename(mine.with_suffix(".backup"))
    qtbot.wait(60)
    assert watch.told == []
    mine.write_text("two")
    until(qtbot, lambda: watch.told)
    assert set(watch.told) == {"two"}


@pytest.mark.parametrize("left", ["", None])
def test_a_file_that_stays_empty_or_gone_is_told_of_in_the_end(qtbot, watch, mine, left):
    mine.write_text(left) if left is not None else mine.unlink()
    until(qtbot, lambda: watch.told)
    assert watch.told == [left]


def test_what_is_written_again_and_again_is_told_of_when_it_has_come_to_rest(
    qtbot, watch, mine, monkeypatch
):
    monkeypatch.setattr(kernel_folder, "STEADY_MS", 60_000)
    mine.write_text("half")
    qtbot.wait(60)
    assert watch.told == []
    monkeypatch.undo()
    mine.write_text("whole")
    until(qtbot, lambda: watch.told)
    assert set(watch.told) == {"whole"}
