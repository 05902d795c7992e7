"""What the window saves and copies: whole, at full resolution, with the settings inside."""

import numpy as np
import pytest
from PIL import ExifTags, Image
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QLabel, QMessageBox, QPushButton, QSpinBox, QWidget

from kernels.pictures.generated import noise
from kernels.sweeps.plan_files import plan_of
from tests.made_sessions import PLANS, a_session
from tests.workbench.driving import (
    action,
    answer_file_dialogs,
    child,
    click,
    settle,
    show_picture,
    trigger,
    until,
)
from workbench.files import image_files
from workbench.imaging.pictures import Picture
from workbench.panels.timing.status_line import REFUSED
from workbench.session.exporter import read_settings
from workbench.widgets.file_dialogs import ask_save_path
from workbench.window.save_menu import SaveDialog


@pytest.fixture
def choose(monkeypatch):
    """Answers the next file dialogs with a path; returns what they ask for."""

    def choose(*paths):
        return answer_file_dialogs(monkeypatch, *paths)

    return choose


def saved(qtbot, window, path, act):
    act()
    said = f"Saved {path.name}, "
    until(qtbot, lambda: window.messages.sentence.startswith(said))
    assert list(path.parent.glob(".*")) == []
    return path


@pytest.mark.parametrize(
    ("pixel_type", "channels", "name"),
    [("uint8", 1, "result.tif"), ("uint16", 3, "result.png"), ("float32", 3, "result.tif")],
)
def test_the_result_is_saved_as_it_is(pixel_type, channels, name, qtbot, window, choose, tmp_path):
    result = show_picture(qtbot, window, noise(40, 50, channels, pixel_type))
    window.store.update(levels=(1.0, 2.0))  # for looking only
    path = tmp_path / name
    proposed = choose(path)
    saved(qtbot, window, path, lambda: trigger(window, "Save result as…"))
    np.testing.assert_array_equal(image_files.load(path).samples, result.picture)
    extension = ".tif" if pixel_type == "float32" else ".png"
    assert [each.name for each in proposed] == [f"made up gaussian-blur 5x5{extension}"]
    assert extension in proposed[0].kind


def test_the_open_picture_is_overwritten_and_stays_in_view(qtbot, window, choose, tmp_path):
    path, samples, exif = tmp_path / "mine.png", noise(8, 8, 3), Image.Exif()
    exif[ExifTags.Base.Make] = "A camera"
    Image.fromarray(samples).save(path, exif=exif)
    result = settle(qtbot, window, lambda: window.intake.open_paths([path]))
    choose(path)
    saved(qtbot, window, path, lambda: trigger(window, "Save result as…"))
    np.testing.assert_array_equal(image_files.load(path).samples, result.picture)
    with Image.open(path) as written:
        assert written.getexif()[ExifTags.Base.Make] == "A camera"
    np.testing.assert_array_equal(window.store.state.picture.samples, samples)


def test_it_is_proposed_beside_the_picture_in_view_or_where_that_ones_folder_was_saved(
    qtbot, window, choose, tmp_path
):
    for name in ("a", "b", "out"):
        (tmp_path / name).mkdir()
    for name in ("a", "b"):
        path = tmp_path / name / f"{name}.png"
        Image.fromarray(noise(20, 30)[..., 0]).save(path)
        settle(qtbot, window, lambda path=path: window.opener.open_file(path))
    (asked,) = asks(choose, window)
    assert (asked.folder, asked.name[:2]) == (tmp_path / "b", "b ")
    choose(tmp_path / "out" / "b.png")
    saved(qtbot, window, tmp_path / "out" / "b.png", lambda: trigger(window, "Save result as…"))
    shot, steps = tmp_path / "shots/window.png", tmp_path / "b/steps.toml"
    shot.parent.mkdir()
    choose(shot)
    saved(qtbot, window, shot, lambda: trigger(window, "Window…"))
    choose(steps)
    saved(qtbot, window, steps, lambda: trigger(window, "Save list of steps…"))
    of_lines = ("Window…", shot), ("Save list of steps…", steps)  # each kind has its own folder
    for line, path in (*of_lines, ("Save result as…", tmp_path / "out/b.png")):
        (asked,) = asks(choose, window, line)
        assert asked.folder == path.parent
    settle(qtbot, window, window.undo_history.undo)
    for line, folder in (("Window…", "shots"), ("Open list of steps…", "b")):
        (asked,) = asks(choose, window, line)
        assert asked.folder == tmp_path / folder
    (asked,) = asks(choose, window)
    assert (asked.folder, asked.name[:2]) == (tmp_path / "a", "a ")


@pytest.mark.parametrize("line", ["Open plan…", "Open steps…", "Open list of steps…"])
def test_the_folder_of_a_file_that_was_opened_is_begun_with(line, window, choose, tmp_path):
    choose(tmp_path / "gone.toml")
    trigger(window, line)
    (asked,) = asks(choose, window, line)
    assert asked.folder == tmp_path


def asks(choose, window, line="Save result as…"):
    """What the dialog asks for, which is closed without an answer."""
    asked = choose()
    trigger(window, line)
    return asked


def test_the_result_of_another_picture_is_not_given_for_this_ones(qtbot, window):
    earlier = show_picture(qtbot, window, noise(9, 50))
    holes = np.full((9, 50, 1), np.nan, np.float32)
    window.opener.opened.emit(Picture("holes.tif", holes))  # which OpenCV refuses
    until(qtbot, lambda: "NaN" in window.messages.sentence)
    assert window.live.result.job is earlier.job  # which is what there is still
    QGuiApplication.clipboard().clear()
    for line in ("Copy result", "Save result as…", "Filtered picture…"):
        window.messages.clear()
        trigger(window, line)
        assert "There is no result of the present settings" in window.messages.sentence
    assert QGuiApplication.clipboard().image().isNull()


def test_where_the_present_settings_are_refused_nothing_is_saved_and_the_error_stays(
    qtbot, window, choose
):
    show_picture(qtbot, window, noise(40, 50, 3))
    window.store.update(region=(500, 500, 9, 9, 0))
    error, saying = window.messages.sentence, window.messages
    assert saying.kind == "error"
    asked = choose()
    keeping = "Save result as…", "Filtered picture…", "Copy result", "Use the result as picture"
    for line in keeping:
        trigger(window, line)
        assert saying.sentence == f"There is no result of the present settings: {error}"
        saying.clear("info")  # as after a while
        assert (saying.kind, saying.sentence) == ("error", error)
    saying.clear()  # by hand: once it is dismissed it stays gone
    trigger(window, "Copy result")
    saying.clear("info")
    assert saying.kind is None
    assert asked == []
    assert child(window, "line-verdict").text() == REFUSED
    assert child(window, "line-time").text() == ""
    settle(qtbot, window, lambda: window.store.update(region=None))
    assert saying.kind is None
    assert "verified" in child(window, "line-verdict").text()


def test_button_and_menu_say_the_same_of_how_many_are_pinned(window):
    words = "up to four at once"
    assert words in child(window, "pin").toolTip()
    assert words in action(window, "Pin this result").toolTip()


def test_a_comparison_is_proposed_by_what_it_shows(qtbot, window, choose):
    show_picture(qtbot, window, noise(40, 50, 3))
    for line, words in (("Comparison…", " comparison.png"), ("Filtered picture…", ".png")):
        (asked,) = asks(choose, window, line)
        assert asked.name == f"made up gaussian-blur 5x5{words}"


def test_the_chart_is_saved_also_from_behind_another_panel(qtbot, window, choose, tmp_path):
    show_picture(qtbot, window, noise(8, 8))
    window.sessions.begin(a_session("sizes"), None)
    window.docks.bring_forward("Gallery")
    until(qtbot, window.gallery.get().isVisible)
    choose(tmp_path / "chart.png")
    path = saved(qtbot, window, tmp_path / "chart.png", lambda: trigger(window, "Chart…"))
    image = QImage(str(path))
    assert image.width() > 200
    colours = {image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}
    assert len(colours) > 5, "an empty chart"
    kept = read_settings(path)
    assert (kept["filter"], kept["ksize"], kept["border"]) == ("gaussian", 3, "clamp")
    assert plan_of(kept["plan"]) == PLANS["sizes"]


def test_what_cannot_be_saved_is_one_sentence_and_no_file(qtbot, window, choose, tmp_path):
    (tmp_path / "file").touch()
    show_picture(qtbot, window, noise(8, 8))
    before = sorted(tmp_path.rglob("*"))
    for folder, line in (("gone", "Save result as…"), ("file", "Window…")):
        choose(tmp_path / folder / "result.png")
        trigger(window, line)
        until(qtbot, lambda: window.messages.kind == "error")
        assert window.messages.sentence.startswith("Cannot save result.png: ")
        assert sorted(tmp_path.rglob("*")) == before
        window.messages.clear("error")


def test_what_a_format_does_not_hold_is_said_before_and_what_does_is_offered(
    qtbot, window, choose, tmp_path
):
    result = show_picture(qtbot, window, noise(16, 16, 4, "uint16"))
    choose(tmp_path / "result.jpg")
    trigger(window, "Save result as…")
    dialog = child(window, "save-dialog")
    said = child(dialog, "save-said", QLabel).text()
    for told in ("JPEG", "8 bits", "transparen", "PNG and TIFF"):
        assert told in said
    assert child(dialog, "save-quality", QSpinBox).minimum() == 1  # it is never without loss
    assert list(tmp_path.glob("result*")) == []
    proposed = choose(tmp_path / "result.png")
    path = tmp_path / "result.png"
    saved(qtbot, window, path, lambda: click(child(dialog, "save-other", QPushButton)))
    assert proposed[0].name == "made up gaussian-blur 5x5.png"
    np.testing.assert_array_equal(image_files.load(path).samples, result.picture)


def test_a_format_that_loses_some_of_it_is_saved_with_the_quality_chosen(
    qtbot, window, choose, tmp_path
):
    show_picture(qtbot, window, noise(64, 64, 3, "uint16"))
    sizes = []
    for quality in (95, 10):
        choose(path := tmp_path / f"{quality}.jpg")
        trigger(window, "Save result as…")
        dialog = window.findChildren(SaveDialog)[-1]
        assert child(dialog, "save-quality", QSpinBox).value() == 95  # as it was chosen last
        child(dialog, "save-quality", QSpinBox).setValue(quality)
        saved(qtbot, window, path, lambda d=dialog: click(child(d, "save-agreed", QPushButton)))
        sizes.append(path.stat().st_size)
    assert image_files.load(path).samples.dtype == np.uint8
    assert sizes[1] < sizes[0] / 2


def test_a_step_from_lossless_begins_at_the_usual_quality(qtbot, window, choose, tmp_path):
    show_picture(qtbot, window, noise(16, 16, 3, "uint16"))
    choose(tmp_path / "result.webp")
    trigger(window, "Save result as…")
    box = child(window.findChildren(SaveDialog)[-1], "save-quality", QSpinBox)
    assert box.text() == "Lossless"
    box.stepUp()
    assert box.value() > 50
    box.stepDown()
    assert box.value() > 50


@pytest.mark.parametrize(
    ("name", "pixel_type"),
    [("a.jxl", "uint16"), ("a.heic", "uint8"), ("a.jp2", "uint16"), ("a.exr", "float16")],
)
def test_a_format_that_can_is_written_without_loss_unless_a_quality_is_chosen(
    qtbot, window, choose, tmp_path, name, pixel_type
):
    result = show_picture(qtbot, window, noise(16, 16, 3, pixel_type))
    choose(path := tmp_path / name)

    def save():
        trigger(window, "Save result as…")
        if pixel_type.startswith("uint"):  # else there is nothing to choose
            dialog = window.findChildren(SaveDialog)[-1]
            assert child(dialog, "save-quality", QSpinBox).text() == "Lossless"
            click(child(dialog, "save-agreed", QPushButton))

    saved(qtbot, window, path, save)
    np.testing.assert_array_equal(image_files.load(path).samples, result.picture)


@pytest.mark.parametrize(("answer", "name"), [("Yes", "open"), ("Yes", "open.png"), ("No", "a")])
def test_no_file_gives_way_without_a_question_which_names_the_open_picture(
    answer, name, qtbot, window, choose, tmp_path, monkeypatch
):
    """Qt would ask about the name as it was typed, without its ending."""
    path, asked = (tmp_path / name).with_suffix(".png"), []
    image_files.save(path, noise(8, 8))

    def question(box):
        asked.append(box.text())
        choose()  # after a No the dialog is back
        return QMessageBox.StandardButton[answer]

    opened = settle(qtbot, window, lambda: window.opener.open_file(path))
    choose(tmp_path / name)
    monkeypatch.setattr(QMessageBox, "exec", question)
    if answer == "Yes":
        saved(qtbot, window, path, lambda: trigger(window, "Save result as…"))
        np.testing.assert_array_equal(image_files.load(path).samples, opened.picture)
        said = "open.png is there already. It is the picture that is open. Replace it?"
    else:
        show_picture(qtbot, window, noise(9, 9))
        trigger(window, "Save result as…")
        window.exporter.save_text(tmp_path / "after.txt", "written after it, had it been written")
        until(qtbot, (tmp_path / "after.txt").exists)
        assert image_files.load(path).samples.shape == (8, 8, 1)
        said = "a.png is there already. Replace it?"
    assert asked == [said]


@pytest.mark.parametrize(
    ("typed", "types", "kind", "path"),
    [
        ("lesson 1.5", "PNG (*.png);;TIFF (*.tif *.tiff)", "TIFF (*.tif *.tiff)", "lesson 1.5.tif"),
        ("lesson 1.5", "PNG (*.png)", "", "lesson 1.5.png"),
        ("a.TIFF", "PNG (*.png);;TIFF (*.tif *.tiff)", "", "a.TIFF"),
        ("a.gif", "PNG (*.png);;TIFF (*.tif *.tiff)", "", "a.gif"),  # which is then refused
        ("a.gif", "PNG (*.png)", "", "a.gif.png"),
        ("plan", "Plans (*.toml);;All files (*)", "All files (*)", "plan.toml"),
    ],
)
def test_what_a_name_ends_in(typed, types, kind, path, qtbot, tmp_path, monkeypatch):
    parent = QWidget()
    qtbot.addWidget(parent)
    answer_file_dialogs(monkeypatch, tmp_path / typed, kind=kind)
    proposed = tmp_path / f"proposed.{types.partition('*.')[2].partition(')')[0]}"
    assert ask_save_path(parent, "Save", proposed, types) == tmp_path / path
