"""File ▸ Filter a folder…: real widgets, real files, and the command line's own process."""

import json
import os
import shlex
import sys
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QListView,
    QListWidget,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QToolButton,
)

from kernels.pictures.generated import noise
from tests.workbench.driving import answer, child, click, pick, settle, show_picture, trigger, until
from tests.workbench.made_up_batch import MadeUpBatch
from tests.workbench.window.copying.test_copying import CHOICES
from workbench.batch.journal import place_of
from workbench.batch.stage_times import StageTimes
from workbench.cli import main
from workbench.files import image_decoders, image_files
from workbench.imaging.pictures import Metadata
from workbench.model.state import State, Step
from workbench.model.step_files import select
from workbench.session.batch_process import BatchEnd, BatchProcess
from workbench.window import file_filter, filter_choice

MANY = 40


@pytest.fixture
def window(qtbot, make_window):
    made = make_window()
    show_picture(qtbot, made, noise(20, 30, 3))
    settle(qtbot, made, lambda: made.store.choose(filter="sharpen", implementation="opencv"))
    return made


@pytest.fixture
def dialog(window):
    trigger(window, "Filter a folder…")
    return child(window, "folder-dialog")


@pytest.fixture
def folder(tmp_path):
    """A folder with pictures, one of them below it, and one that is none."""
    (tmp_path / "in/sub").mkdir(parents=True)
    for n in range(4):
        image_files.save(tmp_path / f"in/p{n}.png", noise(20 + n, 31, 3))
    image_files.save(tmp_path / "in/sub/q.tif", noise(9, 8, 1, "uint16"))
    return tmp_path


@pytest.fixture
def one_core():
    """What is started from here has one core, so that few pictures are under way at a time."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


@pytest.fixture
def many(tmp_path, one_core):
    """So many, and so large, that they take a while."""
    (tmp_path / "in").mkdir()
    for n in range(MANY):
        image_files.save(tmp_path / f"in/p{n}.png", noise(400, 400, 3))
    return tmp_path


def choose(qtbot, window, **folders):
    for name, path in folders.items():
        child(window, f"folder-{name}", QLineEdit).setText(str(path))
    settled(qtbot, window)


def settled(qtbot, window):
    until(qtbot, lambda: window.filter_menu.made.is_settled)


def said(window):
    """What is said at the bottom, or else below a field."""
    return child(window, "folder-sentence", QLabel).text() or "".join(objections(window).values())


def rows(window, name):
    shown = child(window, f"folder-{name}", QListWidget)
    return [shown.item(row).text() for row in range(shown.count())]


def button(window, name):
    return child(window, f"folder-{name}", QPushButton)


def verb(window):
    made = button(window, "start")
    return made.text().replace("&", "") if made.isEnabled() else ""


def names_in(folder):
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*.*"))


def test_what_is_set_is_shown_and_followed_and_names_are_seen_before(qtbot, window, dialog, folder):
    assert "Choose a folder" in said(window)
    assert verb(window) == ""
    choose(qtbot, window, source=folder / "in", target=folder / "out")
    assert said(window) == "4 pictures."
    assert verb(window) == "Start"
    assert rows(window, "preview")[0] == "p0.png  →  p0.png"
    child(window, "folder-names", QLineEdit).setText("{stem}_{filter}_{size}")
    child(window, "folder-recursive", QCheckBox).click()
    pick(child(window, "folder-format", QComboBox), "tiff")
    settled(qtbot, window)
    assert rows(window, "preview")[-1].endswith(str(Path("sub/q_sharpen_3.tif")))
    settle(qtbot, window, lambda: window.store.choose(filter="gaussian", ksize=7))
    settled(qtbot, window)
    assert rows(window, "preview")[0].endswith("p0_gaussian_7.tif")
    assert child(window, "folder-filter", QLabel).text().startswith("Gaussian blur 7×7 · border")
    assert not (folder / "out").exists()


def test_a_list_is_all_done_whichever_step_is_looked_at(qtbot, window, dialog, folder):
    blur, edges = Step("gaussian", 3), Step("edges", 5)
    settle(qtbot, window, lambda: window.store.update(**select((blur, edges), 0)))
    settle(qtbot, window, lambda: window.store.choose(region=(0, 0, 9, 5, 0)))
    choose(qtbot, window, source=folder / "in", target=folder / "out")
    words = child(window, "folder-filter", QLabel).text()
    assert words.startswith("Gaussian blur 3×3 ▸ Edges 5×5 · ")
    assert "only in 9×5 at 0,0" in words
    command = child(window, "folder-command", QLineEdit).text()
    assert command.index("--step gaussian:3") < command.index("--step edges:5")


def test_it_does_what_its_command_does_to_the_byte(qtbot, window, dialog, folder):
    (folder / "in/q.png").write_bytes(b"no picture")
    choose(qtbot, window, source=folder / "in", target=folder / "out", names="{stem}_{filter}")
    click(button(window, "copy"))
    words = shlex.split(QGuiApplication.clipboard().text())
    assert words[:2] == ["workbench", "batch"]
    told, names = [], ("copy", "start", "stop", "show")
    places = [button(window, each).mapTo(dialog, QPoint()) for each in names]
    window.findChild(BatchProcess).progressed.connect(told.append)
    click(button(window, "start"))
    assert verb(window) == "Pause"
    settled(qtbot, window)
    assert "p0.png" in [each.under_way for each in told]
    assert not told[-1].under_way
    assert said(window).startswith("Finished after ")
    assert ": 4 done, 1 failed; checked 1 of 4: right. Sharpen 3×3 · border " in said(window)
    journal = place_of([folder / "in"], folder / "out")
    assert child(window, "folder-sentence", QLabel).toolTip() == str(journal)
    assert said(window).endswith(f"{str(journal)[-20:]}.")
    assert not journal.is_relative_to(folder / "out")
    qtbot.wait(50)
    assert [button(window, each).mapTo(dialog, QPoint()) for each in names] == places
    bar = child(window, "folder-progress", QProgressBar)
    assert (bar.value(), bar.maximum()) == (5, 5)
    words_then = child(window, "folder-words", QLabel).text()
    assert "checked 1 of 4: right" in words_then
    assert "was the limit" in words_then
    last = json.loads(journal.read_text().splitlines()[-1])["ended"]
    table = child(window, "folder-stages", QLabel).text()
    assert last["stages"]
    assert all(each["stage"] in table for each in last["stages"])
    (failure,) = rows(window, "failures")
    assert failure.startswith("q.png is not a picture")
    words[3] = str(folder / "again")
    assert main.main([*words[1:], "--no-gpu"]) == 1
    assert names_in(folder / "out") == [f"p{n}_sharpen.png" for n in range(4)]
    for name in names_in(folder / "out"):
        assert (folder / "out" / name).read_bytes() == (folder / "again" / name).read_bytes()


@pytest.fixture
def batch(monkeypatch):
    """What gives the process of a window's dialog, which is made up."""
    monkeypatch.setattr(file_filter, "BatchProcess", MadeUpBatch)
    return lambda window: window.findChild(MadeUpBatch)


def test_failed_pictures_are_listed_and_opened_by_a_double_click(
    qtbot, window, batch, dialog, folder
):
    choose(qtbot, window, source=folder / "in", target=folder / "out")
    assert dialog.windowTitle() == "Filter a folder"
    click(button(window, "start"))
    times = StageTimes(4, 1)
    times.under_way = "p0.png"
    batch(window).progressed.emit(times.progress())
    assert child(window, "folder-words", QLabel).text() == "0 of 4 · p0.png is under way"
    for name in ("p1.png", "p2.png"):
        batch(window).picture_failed.emit(str(folder / "in" / name), "It has no alpha.")
    batch(window).end(done=2, failed=2)
    settled(qtbot, window)
    assert ": 2 done, 2 failed." in said(window)
    child(window, "folder-pages").setCurrentIndex(2)
    failures = child(window, "folder-failures", QListWidget)
    assert failures.horizontalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOff
    assert rows(window, "failures") == ["p1.png: It has no alpha.", "p2.png: It has no alpha."]
    at = failures.visualItemRect(failures.item(0)).center()
    QTest.mouseClick(failures.viewport(), Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseDClick(failures.viewport(), Qt.MouseButton.LeftButton, pos=at)
    until(qtbot, lambda: window.store.state.picture.name == "p1.png")


def test_of_a_run_that_has_done_nothing_the_plan_says_so():
    said = filter_choice.FilterPlan(24, (), 0, journal="j").in_words
    assert said.endswith("has done none of them; Resume does them all.\nJournal: j.")


def test_of_a_resumed_run_the_end_mentions_what_was_done_before():
    end = BatchEnd("ended", {"done": 23, "failed": 1}, 1.0)
    said = filter_choice.end_in_words(end, filter_choice.FilterChoice(), "", 17)
    assert said.endswith(": 23 done, 1 failed, 17 done before.")


def test_cancelled_half_way_it_is_resumed_by_another_window_and_by_the_command(
    qtbot, window, dialog, many, make_window
):
    """Also where the other window is closed meanwhile."""
    choose(qtbot, window, source=many / "in", target=many / "out")
    click(button(window, "start"))
    until(qtbot, lambda: child(window, "folder-progress", QProgressBar).value() > 0)
    click(button(window, "stop"))
    assert verb(window) == ""
    until(qtbot, lambda: file_filter.LOOKING in said(window))
    settled(qtbot, window)
    assert "A run that was stopped has done" in said(window)
    assert verb(window) == "Resume"
    done = len(names_in(many / "out"))
    assert 0 < done < MANY
    assert f"done {done} of them; Resume does the other {MANY - done}." in said(window)
    assert sum(each.endswith("(done)") for each in rows(window, "preview")) == done
    assert child(window, "folder-words", QLabel).text() == f"Stopped: {done} of {MANY} done."
    window.close()

    other = make_window()
    settle(qtbot, other, lambda: show_picture(qtbot, other, noise(20, 30, 3)))
    assert other.store.state.filter == "sharpen"  # as the settings have it
    trigger(other, "Filter a folder…")
    settled(qtbot, other)
    assert verb(other) == "Resume"
    words = shown_command(other)
    click(button(other, "start"))
    bar = child(other, "folder-progress", QProgressBar)
    until(qtbot, lambda: bar.value() > done)
    assert bar.maximum() == MANY
    assert f" of {MANY} · " in child(other, "folder-words", QLabel).text()
    other.close()
    answer(other, "Close")
    until(qtbot, lambda: not other.isVisible())
    for name in names_in(many / "out"):
        image_files.load(many / "out" / name)  # it is whole

    assert main.main([*words[1:], "--no-gpu"]) == 0
    assert len(names_in(many / "out")) == MANY
    lines = map(json.loads, place_of([many / "in"], many / "out").read_text().splitlines())
    outputs = [each["output"] for each in lines if "status" in each]
    assert len(outputs) == len(set(outputs)) == MANY


def stopped(words, source, target):
    """Do it by the command; what is left is as if it had been killed behind the last picture."""
    assert main.main([*words[1:], "--no-gpu"]) == 0
    journal = place_of([source], target)
    *lines, _ = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines))


def shown_command(window):
    return shlex.split(child(window, "folder-command", QLineEdit).text())


@pytest.mark.parametrize("changes", CHOICES.values(), ids=CHOICES)
def test_a_stopped_run_is_resumed_as_it_was_begun_and_in_no_other_way(changes, folder, home):
    """What the window expects in the journal is what the command writes."""
    source, target, state = folder / "in", folder / "out", State(**changes)
    plain = filter_choice.FilterChoice(str(source), str(target), format_name="tiff")
    more = {"pattern": "{stem}", "reduce": True, "quality": 7, "all_pages": True, "replace": True}
    for choice in (plain, replace(plain, **more)):
        whole = filter_choice.whole_list(state)
        stopped(["", *filter_choice.words_of(choice, whole)], source, target)
        plan = filter_choice.plan_of(choice, whole, lambda: False)
        assert (plan.known, plan.objection) == (4, "")
        for now in (replace(whole, alpha="apart"), replace(whole, region=(0, 0, 5, 5, 0))):
            assert "another" in filter_choice.plan_of(choice, now, lambda: False).objection


def test_another_parameter_is_objected_to_beforehand(qtbot, window, dialog, folder):
    settle(qtbot, window, lambda: window.store.choose(filter="gaussian", ksize=7))
    choose(qtbot, window, source=folder / "in", target=folder / "out")
    stopped(shown_command(window), folder / "in", folder / "out")
    for changes, it in (({"sigma": 3.0}, "sigma"), ({"filter": "sharpen"}, "filter, size")):
        settle(qtbot, window, lambda changes=changes: window.store.choose(**changes))
        settled(qtbot, window)
        assert verb(window) == ""
        assert f"stopped with another {it}: choose that, or “Start" in objections(window)["target"]
        assert button(window, "again").isVisible()
        settle(qtbot, window, window.undo_history.undo)
        settled(qtbot, window)
        assert verb(window) == "Resume"


def test_a_selection_ends_no_run_of_its_folder(qtbot, window, dialog, folder):
    source, target = folder / "in", folder / "in-filtered"
    choose(qtbot, window, source=source, target=target)
    stopped(shown_command(window), source, target)
    (target / "p3.png").unlink()
    dialog.reject()
    dialog.open_files([source / "p1.png"])
    settled(qtbot, window)
    assert (said(window), verb(window)) == ("1 picture.", "Start")
    assert main.main([*shown_command(window)[1:], "--no-gpu"]) == 0
    dialog.reject()
    trigger(window, "Filter a folder…")
    settled(qtbot, window)
    assert "has done 3 of them; Resume does the other 1." in said(window)
    assert verb(window) == "Resume"


def test_opened_again_it_shows_what_it_will_do(qtbot, window, batch, dialog, folder):
    choose(qtbot, window, source=folder / "in", target=folder / "out")
    click(button(window, "start"))
    dialog.reject()
    batch(window).end(done=4)
    (folder / "out").mkdir()
    (folder / "out/p0.png").touch()
    for is_there in (True, False):
        trigger(window, "Filter a folder…")
        settled(qtbot, window)
        assert said(window).startswith("Finished after ")
        assert rows(window, "preview")[0].endswith("already)") == is_there
        dialog.reject()
        (folder / "out/p0.png").unlink(missing_ok=True)
    settle(qtbot, window, lambda: window.store.choose(filter="gaussian", ksize=9))
    click(child(window, "act", QPushButton))  # Show
    settled(qtbot, window)
    assert dialog.isVisible()
    assert child(window, "folder-filter", QLabel).text().startswith("Gaussian blur 9×9")
    assert said(window) == "4 pictures."
    assert child(window, "folder-words", QLabel).text() == file_filter.NOT_BEGUN
    command = shown_command(window)
    click(button(window, "start"))
    assert batch(window).words[: len(command) - 1] == command[1:]
    assert "gaussian" in command


def test_a_run_that_was_refused_has_not_begun(qtbot, window, batch, dialog, folder):
    choose(qtbot, window, source=folder / "in", target=folder / "out")
    click(button(window, "start"))
    assert child(window, "folder-words", QLabel).text() == file_filter.STARTING
    batch(window).end("refused", "The disk is full.")
    settled(qtbot, window)
    assert said(window) == "The disk is full."
    assert child(window, "folder-words", QLabel).text() == file_filter.NOT_BEGUN


def test_a_space_behind_a_folders_name_is_its_own(qtbot, window, batch, dialog, folder):
    (folder / "in").rename(folder / "in ")
    choose(qtbot, window, source=f"  {folder}/in \n")
    assert child(window, "folder-target", QLineEdit).text() == f"{folder}/in -filtered"
    assert (said(window), verb(window)) == ("4 pictures.", "Start")
    click(button(window, "start"))
    assert batch(window).words[:3] == ["batch", f"{folder}/in ", f"{folder}/in -filtered"]


@pytest.mark.skipif(sys.platform != "linux", reason="names are in Unicode here")
def test_of_a_name_that_qt_cannot_have_it_is_said(qtbot, window, tmp_path):
    bad = tmp_path / os.fsdecode(b"bad\xff")
    bad.mkdir()
    image_files.save(bad / "p.png", noise(9, 8, 1))
    window.opener.open_file(bad / "p.png")
    until(qtbot, lambda: window.store.state.picture.path == bad / "p.png")
    trigger(window, "Filter a folder…")
    settled(qtbot, window)
    assert "bad\ufffd is not in UTF-8" in objections(window)["source"]
    assert verb(window) == ""
    (tmp_path / "in").mkdir()
    image_files.save(tmp_path / "in" / f"{bad.name}.png", noise(9, 8, 1))
    window.filter_menu.made.open_files([tmp_path / "in" / f"{bad.name}.png"])
    settled(qtbot, window)
    assert "bad\ufffd.png is not in UTF-8" in objections(window)["source"]
    choose(qtbot, window, source="")
    choose(qtbot, window, source=tmp_path / "in", target=tmp_path / "out")
    click(button(window, "start"))  # all of the folder
    settled(qtbot, window)
    assert [each.name for each in (tmp_path / "out").iterdir()] == [f"{bad.name}.png"]


def test_a_pause_holds_it_while_the_window_goes_on_filtering(qtbot, window, batch, dialog, folder):
    choose(qtbot, window, source=folder / "in", target=folder / "out")
    click(button(window, "start"))
    assert batch(window).words[0] == "batch"
    click(button(window, "start"))
    assert (verb(window), said(window)) == ("Resume", "Paused.")
    settle(qtbot, window, lambda: window.store.choose(filter="gaussian"))  # live, and not in there
    assert child(window, "folder-filter", QLabel).text().startswith("Sharpen")
    click(button(window, "start"))
    assert verb(window) == "Pause"
    assert batch(window).told == ["pause", "resume"]


def progress(finished, total):
    return replace(StageTimes(total, 1).progress(), finished=finished)


def test_a_stopped_run_is_begun_again_with_another_filter(qtbot, window, dialog, many):
    """Also where that is stopped and resumed: no file is of the first filter in the end."""
    choose(qtbot, window, source=many / "in", target=many / "out")
    stopped(shown_command(window), many / "in", many / "out")
    settle(qtbot, window, lambda: window.store.choose(filter="gaussian"))
    settled(qtbot, window)
    assert verb(window) == ""
    click(button(window, "again"))
    answer(window, "Start again")
    until(qtbot, lambda: verb(window) == "Pause")
    assert not button(window, "again").isVisible()
    until(qtbot, lambda: child(window, "folder-progress", QProgressBar).value() > 0)
    click(button(window, "stop"))
    settled(qtbot, window)
    assert verb(window) == "Resume"
    words = shown_command(window)
    click(button(window, "start"))
    settled(qtbot, window)
    assert "skipped" not in said(window)
    words[3] = str(many / "again")
    assert main.main([*words[1:], "--no-gpu"]) == 0
    for name in names_in(many / "out"):
        assert (many / "out" / name).read_bytes() == (many / "again" / name).read_bytes()


def test_closing_the_dialog_stops_nothing_and_the_window_says_the_end(
    qtbot, window, batch, dialog, folder
):
    choose(qtbot, window, source=folder / "in", target=folder / "out")
    click(button(window, "start"))
    dialog.reject()
    assert batch(window).told == []
    batch(window).strips_done.emit(str(folder / "in/p1.png"), 3, 9, 2.0)  # one of many
    batch(window).progressed.emit(progress(1, 4))
    chip = child(window, "files-under-way", QToolButton)
    assert (chip.isVisible(), chip.text()) == (True, "Filtering files: 25%")
    click(chip)
    assert dialog.isVisible()
    click(button(window, "start"))
    assert chip.text() == "Files paused: 25%"
    dialog.reject()
    batch(window).end(done=4)
    assert not chip.isVisible()
    assert not chip.text().startswith(":")  # as what reads the screen finds it
    assert window.messages.sentence.startswith("Finished after ")


def test_it_begins_with_the_folder_in_view_and_a_new_job_with_an_empty_page(
    qtbot, window, batch, folder, monkeypatch
):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    window.opener.open_file(folder / "in/p1.png")
    until(qtbot, lambda: window.store.state.picture.name == "p1.png")
    trigger(window, "Filter a folder…")
    settled(qtbot, window)
    source, target = (child(window, f"folder-{e}", QLineEdit).text() for e in ("source", "target"))
    assert (source, target) == (str(folder / "in"), f"{folder / 'in'}-filtered")
    assert child(window, "folder-names", QLineEdit).placeholderText() == "Named as the picture"
    assert rows(window, "preview")[1] == "p1.png  →  p1.png"
    click(button(window, "start"))
    batch(window).picture_failed.emit(str(folder / "in/p2.png"), "It has no alpha.")
    batch(window).end(done=3, failed=1)
    settled(qtbot, window)
    click(button(window, "show"))
    assert opened == [target]
    assert rows(window, "failures")
    into = child(window, "folder-target", QLineEdit)
    for source in (folder / "in/sub", "", f"{folder}/"):
        choose(qtbot, window, source=source)
        assert into.text() == (f"{str(source).rstrip('/')}-filtered" if source else "")
    choose(qtbot, window, target=folder / "out")
    assert not rows(window, "failures")
    assert not button(window, "show").isEnabled()  # there are no results in this one
    assert child(window, "folder-words", QLabel).text() == file_filter.NOT_BEGUN
    choose(qtbot, window, source=folder / "in/sub")
    assert into.text() == str(folder / "out")  # as typed
    window.filter_menu.made.reject()
    trigger(window, "Filter a folder…")
    assert child(window, "folder-source", QLineEdit).text() == str(folder / "in/sub")  # as chosen


def test_a_quality_is_asked_for_where_a_format_has_one(qtbot, window, batch, dialog, folder):
    quality = child(window, "folder-quality", QSpinBox)
    quality.setValue(70)
    given, titles = ["--quality", "70"], {"jpegxl": "JPEG XL", "jpeg2000": "JPEG 2000"}
    for name, words in (("png", []), ("jpeg", given), ("jpegxl", given), ("jpeg2000", given)):
        pick(child(window, "folder-format", QComboBox), name)
        shown = child(window, "folder-format", QComboBox).currentText()
        assert shown == titles.get(name, name.upper())
        assert quality.isVisible() == bool(words)
        choose(qtbot, window, source=folder / "in", target=folder / "out")
        told = shlex.split(child(window, "folder-command", QLineEdit).text())
        assert told[told.index("--format") + 2 :][:2] == words


def select_too(wall, *rows):
    for row in rows:
        index, control = wall.model().index(row, 0), Qt.KeyboardModifier.ControlModifier
        wall.scrollTo(index)
        at = wall.visualRect(index).center()
        QTest.mouseClick(wall.viewport(), Qt.MouseButton.LeftButton, control, at)


def test_what_is_selected_in_the_gallery_is_filtered_alone(
    qtbot, window, batch, folder, monkeypatch
):
    window.opener.open_file(folder / "in/p0.png")
    trigger(window, "Gallery")
    wall = window.gallery.get().findChild(QListView)
    until(qtbot, lambda: wall.model().rowCount() == 4)
    until(qtbot, lambda: wall.currentIndex().isValid())
    these = child(window, "gallery-filter", QPushButton)
    assert these.text() == "Filter all 4…"  # as long as none but the open one is
    select_too(wall, 1, 3)
    assert these.text().replace("&", "") == "Filter these 3…"
    click(child(window, "gallery-test"))
    click(child(window, "gallery-folder"))
    assert these.text() == "Filter all 4…"  # of other tiles
    click(these)
    settled(qtbot, window)
    assert said(window) == "4 pictures."
    select_too(wall, 1, 3)
    with monkeypatch.context() as patch:
        patch.setattr(filter_choice, "MAX_LETTERS", 10)  # as where a command is no longer
        click(these)
        settled(qtbot, window)
    assert "3 pictures are too many" in said(window)
    click(these)
    settled(qtbot, window)
    assert window.store.state.picture.name == "p0.png"  # none was opened by that
    assert said(window) == "3 pictures."
    assert [each.split()[0] for each in rows(window, "preview")] == ["p0.png", "p1.png", "p3.png"]
    click(button(window, "start"))
    named = [str(folder / f"in/p{n}.png") for n in (0, 1, 3)]
    assert batch(window).words[1:5] == [*named, f"{folder / 'in'}-filtered"]


def test_what_is_left_out_or_cannot_be_is_said(qtbot, window, dialog, tmp_path, monkeypatch):
    opened, really = [], image_decoders.reader_of
    monkeypatch.setattr(
        image_decoders, "reader_of", lambda path, *rest: opened.append(path) or really(path, *rest)
    )
    (tmp_path / "in").mkdir()
    planes = [Image.fromarray(noise(9, 8, 1, seed=seed)[..., 0]) for seed in range(3)]
    for name in ("a.gif", "b.tif", "c.tif"):
        planes[0].save(tmp_path / "in" / name, save_all=True, append_images=planes[1:])
    image_files.save(tmp_path / "in/d.png", noise(9, 8, 4))
    titled = Metadata(texts=(("Title", "A day"),))
    image_files.save(tmp_path / "in/e.png", noise(9, 8, 3), metadata=titled)
    choose(qtbot, window, source=tmp_path / "in", target=tmp_path / "out")
    assert "1 will fail, as .gif is not written" in said(window)
    pick(child(window, "folder-format", QComboBox), "jpeg")
    settled(qtbot, window)
    assert said(window) == "5 pictures."
    click(button(window, "start"))
    settled(qtbot, window)
    assert "Of 2 results something is lost: see the journal." in said(window)
    assert "Of 3 files with several pages only one is kept; “All pages” takes all." in said(window)
    tick = child(window, "folder-reduce", QCheckBox).text().replace("&", "")
    assert f"“{tick}” saves it all the same" in rows(window, "failures")[0]
    child(window, "folder-all_pages", QCheckBox).click()
    settled(qtbot, window)
    assert said(window) == "11 pictures."
    assert "b.tif  →  b-2.jpg" in rows(window, "preview")
    before = list(opened)
    choose(qtbot, window, names="x_{stem}")
    choose(qtbot, window, names="")
    assert opened == before  # no file again
    click(button(window, "start"))
    settled(qtbot, window)
    assert "several pages" not in said(window)
    assert names_in(tmp_path / "out")[:3] == ["a-1.jpg", "a-2.jpg", "a-3.jpg"]
    window.filter_menu.made.reject()
    trigger(window, "Filter a folder…")
    assert child(window, "folder-all_pages", QCheckBox).isChecked()


def test_one_file_is_taken_with_its_pages_in_order(qtbot, window, batch, dialog, tmp_path):
    planes = [Image.fromarray(noise(9, 8, 1, seed=seed)[..., 0]) for seed in range(12)]
    planes[0].save(tmp_path / "scan.tif", save_all=True, append_images=planes[1:])
    into = child(window, "folder-target", QLineEdit)
    before = into.parentWidget().y()
    choose(qtbot, window, source=tmp_path / "nowhere.tif")
    assert into.parentWidget().y() == before  # nothing moves from under a click
    choose(qtbot, window, source=tmp_path / "scan.tif")
    assert into.text() == str(tmp_path / "scan-filtered")
    child(window, "folder-all_pages", QCheckBox).click()
    settled(qtbot, window)
    assert rows(window, "preview")[0] == "scan.tif  →  scan-01.tif"
    assert said(window) == "12 pictures."
    click(button(window, "start"))
    assert batch(window).words[1] == str(tmp_path / "scan.tif")
    assert "--page all" in " ".join(batch(window).words)


NONSENSE = [  # source, target, names, the field it is said below, what is said
    ("in", "in", "", "target", "is a folder of inputs; write to another one."),
    ("nowhere", "out", "", "source", "There is no folder or file"),
    ("empty", "out", "", "source", "There are no pictures in"),
    (
        "in",
        "out",
        "same.png",
        "pattern",
        "p0.png and p1.png would both become same.png; rename one, or name",
    ),
    ("in", "out", "{sigma}", "pattern", "can stand in braces"),
    ("in", "in/p0.png", "", "target", "is a file; choose a folder to write into."),
]


def test_what_makes_no_sense_is_one_sentence_before_anything_is_written(
    qtbot, window, dialog, folder
):
    (folder / "empty").mkdir()
    for source, target, names, field, sentence in NONSENSE:
        choose(qtbot, window, source=folder / "in", target=folder / "elsewhere", names="")
        assert verb(window) != ""
        assert objections(window) == {}
        choose(qtbot, window, source=folder / source, target=folder / target, names=names)
        assert sentence in objections(window)[field]
        assert child(window, "folder-sentence", QLabel).text() == ""  # it is said once
        assert verb(window) == "", sentence
        assert said(window) in unescape(button(window, "start").toolTip())
        assert rows(window, "preview") == [], sentence
        assert not (folder / "out").exists()


def objections(window):
    """What is said below the fields, by their names."""
    labels = {
        name: child(window, f"folder-wrong-{name}") for name in ("source", "target", "pattern")
    }
    return {name: each.whole_text for name, each in labels.items() if each.whole_text}
