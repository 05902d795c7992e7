"""A kernel of the user's own as an implementation, through the window: its file is all it takes."""

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel

from kernels.core.device import NoDevice
from kernels.cuda_on_cpu import compiler
from kernels.pictures.generated import noise
from tests.compilers import needs_compiler
from tests.first_kernel import steps
from tests.workbench.driving import child, pick, settle, show_picture, trigger, until, view
from workbench.files import image_files
from workbench.model import intents
from workbench.panels.timing.timing_words import verdict
from workbench.window.talk import TalkStep

RIGHT, COPY = steps()[6], steps()[3]
BROKEN = RIGHT.replace("to_sample(sum);", "to_sample(sum)")
ENDLESS = RIGHT.replace(
    "    float sum = OFFSET;", "    float sum = OFFSET;\n    while (sum == sum) {}"
)


@pytest.fixture
def folder(kernels):
    """The user's folder of kernels, with one in it."""
    (kernels / "blur.cu").write_text(RIGHT, encoding="utf-8")
    (kernels / "notes.txt").write_text("no kernel", encoding="utf-8")
    return kernels


@pytest.fixture
def window(qtbot, make_window, folder):
    window = make_window()
    until(qtbot, lambda: window.device and window.kernel_folder.kernels)
    show_picture(qtbot, window, noise(24, 40, 3))
    settle(qtbot, window, lambda: window.store.choose(ksize=3, border="wrap"))
    return window


def runs_on(window):
    return child(window, "implementation", QComboBox)


def entries(window):
    model = runs_on(window).model()
    return [model.item(row) for row in range(model.rowCount())]


def yours(window):
    """The titles under the heading Yours."""
    titles = [each.text() for each in entries(window)]
    return titles[titles.index("Yours") + 1 :] if "Yours" in titles else []


def choose(qtbot, window, name="blur.cu"):
    return settled(qtbot, window, lambda: pick(runs_on(window), name))


def settled(qtbot, window, act):
    """Do `act` and wait for the last word on a run of the file's present text."""

    def is_the_answer(result):
        wanted = intents.job_for(window.store.state)  # None while the file is read
        return wanted is not None and result.job.same_run(wanted)

    with qtbot.waitSignal(window.live.settled, check_params_cb=is_the_answer) as signal:
        act()
    return signal.args[0]


def save(window, folder, text, name="blur.cu"):
    """Save the text as an editor does, which puts another file in place of the one before."""
    other = folder / f"{name}~"
    other.write_text(text, encoding="utf-8")
    other.replace(folder / name)


def refused(qtbot, window, act):
    with qtbot.waitSignal(window.live.refused) as signal:
        act()
    return signal.args[0]


# -- what there is to choose


def test_the_files_of_the_folder_are_offered_under_a_heading(qtbot, window, folder):
    assert yours(window) == ["blur.cu"]
    (folder / "another.cu").write_text(COPY, encoding="utf-8")
    until(qtbot, lambda: yours(window) == ["another.cu", "blur.cu"])
    (folder / "another.cu").unlink()
    until(qtbot, lambda: yours(window) == ["blur.cu"])


def test_without_a_compiler_it_is_grey_and_says_how_to_get_one(qtbot, window, monkeypatch):
    monkeypatch.setattr(compiler, "why_not", lambda: "It takes a C++ compiler; install g++.")
    settle(qtbot, window, lambda: window.store.choose(ksize=5))
    item = entries(window)[-1]
    assert not item.isEnabled()
    assert item.toolTip() == "It takes a C++ compiler; install g++."


# -- the answer


@needs_compiler
def test_it_filters_the_picture_and_is_verified_and_has_no_time(qtbot, window):
    usual = window.live.result
    result = choose(qtbot, window)
    assert np.abs(result.picture - usual.picture.astype(int)).max() <= 1  # OpenCV rounds otherwise
    assert result.check.ok
    assert result.check.is_full
    assert result.kernel is None
    assert [str(each) for each in result.ran] == ["blur.cu on the CPU runtime"]
    assert verdict(result.check)[0].startswith("✓ verified all pixels")
    assert runs_on(window).currentText() == "blur.cu"
    assert view(window, "After").caption.startswith("After · Gaussian blur 3×3 · blur.cu")


@needs_compiler
def test_a_save_filters_anew_and_a_wrong_answer_is_a_mismatch(qtbot, window, folder):
    choose(qtbot, window)
    result = settled(qtbot, window, lambda: save(window, folder, COPY))
    assert result.check.wrong > 0
    trigger(window, "Mismatch")
    until(qtbot, lambda: "wrong" in view(window, "Comparison").caption)
    result = settled(qtbot, window, lambda: save(window, folder, RIGHT))
    assert result.check.ok


@needs_compiler
@pytest.mark.parametrize(
    ("text", "words"),
    [(BROKEN, "blur.cu: Line 21: "), (ENDLESS, "blur.cu: Line 16")],
    ids=["syntax", "endless"],
)
def test_what_goes_wrong_is_said_and_the_last_picture_stays(
    qtbot, window, folder, text, words, monkeypatch
):
    from kernels.engine import own_run

    monkeypatch.setattr(own_run, "CROP_S", 0.5)
    good = choose(qtbot, window)
    sentence = refused(qtbot, window, lambda: save(window, folder, text))
    assert words in sentence
    assert window.messages.sentence == sentence
    assert window.live.result is good
    assert view(window, "After").caption.endswith("of earlier settings")
    settled(qtbot, window, lambda: save(window, folder, f"{RIGHT}\n"))
    assert window.messages.sentence == ""


@needs_compiler
def test_a_file_that_is_gone_is_said_and_what_is_best_runs(qtbot, window, folder):
    choose(qtbot, window)
    result = settled(qtbot, window, (folder / "blur.cu").unlink)
    assert result.implementation == "opencv"
    assert "blur.cu is not in your folder of kernels" in window.messages.sentence
    assert yours(window) == []


@pytest.fixture
def elsewhere(home):
    """A kernel that is not in the user's folder, called as one that is."""
    path = home / "elsewhere" / "blur.cu"
    path.parent.mkdir()
    path.write_text(f"{RIGHT}// from elsewhere\n", encoding="utf-8")
    return path


@needs_compiler
def test_what_is_named_runs_from_where_it_is_and_again_at_a_save(qtbot, window, elsewhere):
    result = settled(qtbot, window, lambda: window.open_kernel(elsewhere))
    assert result.check.ok
    assert result.job.own == elsewhere.read_text(encoding="utf-8")
    assert yours(window) == ["blur.cu"]
    page = window.kernel.get()
    until(qtbot, lambda: page.is_tried)
    assert page.path == elsewhere
    assert page.trying.verdict[1] is not None  # it was not held back
    assert not child(window, "kernel-foreign").isVisible()
    assert "blur.cu" not in window.undo_history.undo_words
    result = settled(qtbot, window, lambda: save(window, elsewhere.parent, COPY))
    assert result.check.wrong > 0


# -- what is remembered, and taken back


@needs_compiler
def test_undo_takes_the_choice_back_and_redo_runs_what_the_file_has_by_then(qtbot, window, folder):
    choose(qtbot, window)
    assert window.undo_history.undo_words == "implementation OpenCV → blur.cu"
    assert settled(qtbot, window, window.undo_history.undo).implementation == "opencv"
    save(window, folder, COPY)
    (folder / "sign.cu").write_text(RIGHT, encoding="utf-8")
    until(qtbot, lambda: "sign.cu" in yours(window))
    choose(qtbot, window, "sign.cu")
    window.undo_history.undo()
    result = settled(qtbot, window, window.undo_history.redo)
    assert (result.implementation, result.job.own) == ("sign.cu", RIGHT)


@needs_compiler
def test_every_panel_and_the_presenter_show_it(qtbot, window):
    window.inspection.pin()
    result = choose(qtbot, window)
    assert result.check.ok
    for title in window.docks:
        window.docks.enter(title)
        qtbot.wait(20)
    window.inspection.pin()
    trigger(window, "Mismatch")
    until(qtbot, lambda: "no pixel differs" in view(window, "Comparison").caption)
    window.presenter.steps = (TalkStep("Mine", {"implementation": "blur.cu"}),)
    trigger(window, "Present")
    until(qtbot, lambda: window.presenter.show)
    said = ("verdict", "✓ verified"), ("time-note", "no time on the CPU runtime")
    until(
        qtbot, lambda: all(child(window, f"stage-{n}", QLabel).text() == text for n, text in said)
    )
    assert window.messages.kind != "error"


@needs_compiler
def test_the_script_that_is_copied_does_the_same(qtbot, window, home, monkeypatch, capsys):
    image_files.save(home / "a.png", noise(24, 40, 3))
    with qtbot.waitSignal(window.live.settled):
        window.opener.open_file(home / "a.png")
    result = choose(qtbot, window)
    QApplication.clipboard().clear()
    trigger(window, "Python")
    until(qtbot, QApplication.clipboard().text)
    script = QApplication.clipboard().text()
    monkeypatch.setattr("kernels.engine.engine.probe", lambda _: NoDevice("There is none."))
    names = {}
    exec(script, names)
    np.testing.assert_array_equal(names["filtered"], result.picture)
    assert capsys.readouterr().out.startswith("verified")
