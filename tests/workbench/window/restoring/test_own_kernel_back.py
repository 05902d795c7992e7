"""After a crash, and out of a screenshot, a kernel of the user's own is back, but no other text."""

import json

import pytest

from kernels.cuda_on_cpu import compiler
from kernels.pictures.generated import noise
from kernels.rungs.own_kernels import text_hash
from tests.first_kernel import steps
from tests.workbench.driving import (
    answer_file_dialogs,
    drop,
    settle,
    show_picture,
    trigger,
    until,
)
from tests.workbench.window.restoring.test_restoring import PATIENCE_S, crashed, started
from workbench.base.settings import Settings
from workbench.files import image_files
from workbench.model import choices, intents
from workbench.model.state import State
from workbench.session.screenshot_files import read_settings, save_png
from workbench.window.restoring.restoring import Restoring

pytestmark = pytest.mark.skipif(
    bool(compiler.why_not()), reason="device code needs a C++ compiler to run on the CPU"
)
RIGHT = steps()[6]


@pytest.fixture
def folder(home, monkeypatch):
    """The user's folder of kernels, with one in it."""
    folder = home / "kernels"
    folder.mkdir()
    monkeypatch.setenv("FILTER_WORKBENCH_KERNELS", str(folder))
    (folder / "blur.cu").write_text(RIGHT, encoding="utf-8")
    return folder


@pytest.fixture
def photo(tmp_path):
    image_files.save(tmp_path / "photo.png", noise(30, 40, 3))
    return tmp_path / "photo.png"


@pytest.fixture
def window(qtbot, make_window, folder, photo):
    """A window that filters with the kernel, and has that result pinned."""
    window = make_window()
    until(qtbot, lambda: window.device and window.kernel_folder.names)
    settle(qtbot, window, lambda: drop(window, photo))
    window.store.choose(implementation="blur.cu", ksize=3)
    until(qtbot, lambda: is_own_result(window) and window.live.result.check)
    window.inspection.pin()
    return window


def is_own_result(window):
    result = window.live.result
    return result is not None and result.job.own and intents.is_answer(result, window.store.state)


def shot_of(qtbot, window, path, monkeypatch, what="Window…"):
    answer_file_dialogs(monkeypatch, path)
    with qtbot.waitSignal(window.exporter.saved):
        trigger(window, what)
    return path


def another(folder):
    (folder / "blur.cu").write_text(f"{RIGHT}// again\n", encoding="utf-8")


# -- a crash, with real processes


def test_a_killed_window_is_back_with_its_kernel_and_the_pins_of_its_text(home, photo, folder):
    process = started("leave-kernel", photo, folder)
    try:
        assert process.stdout.readline() == "kept\n"
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE_S)
    again = started("look")
    said, _ = again.communicate(timeout=PATIENCE_S)
    assert again.returncode == 0
    found = json.loads(said)
    now = (folder / "blur.cu").read_text()
    assert found["settings"]["choices"]["implementation"] == "blur.cu"
    assert found["own"] == now
    assert [pin["text_sha256"] for pin in found["pins"]] == [text_hash(now)]
    assert "is back as it was" in found["said"]
    assert "A pinned result is not back: blur.cu has another text by now." in found["said"]
    assert found["unsaved"].startswith("Not saved: ")


def test_where_its_file_is_gone_that_is_said_and_what_is_best_runs(
    qtbot, home, folder, photo, make_window
):
    data = choices.to_data(State(implementation="gone.cu", ksize=3))
    picture = {"name": "photo.png", "path": str(photo), "built_in": None}
    pin = {**data, "text_sha256": "0" * 64}
    crashed({"settings": {"choices": data}, "picture": picture, "pins": [pin]})
    restoring = Restoring(Settings(), is_asked=False)
    window = make_window()
    restoring.begin(window.contents, window.intake, window.restarter, [])
    until(qtbot, lambda: "ended unexpectedly" in window.messages.sentence)
    assert "gone.cu is not in your folder of kernels." in window.messages.sentence
    assert "A pinned result is not back: gone.cu is not in" in window.messages.sentence
    assert window.store.state.implementation == "opencv"
    assert window.store.state.ksize == 3
    assert window.inspection.pins == ()
    restoring.end()


# -- a screenshot


def test_a_screenshot_brings_its_kernel_and_its_pin_back(
    qtbot, window, make_window, tmp_path, monkeypatch
):
    path = shot_of(qtbot, window, tmp_path / "window.png", monkeypatch)
    kept = read_settings(path)
    assert (kept["implementation"], kept["text_sha256"]) == ("blur.cu", text_hash(RIGHT))
    other = make_window()
    until(qtbot, lambda: other.device and other.kernel_folder.names)
    drop(other, path)
    until(qtbot, lambda: is_own_result(other) and len(other.inspection.pins) == 1)
    assert other.inspection.pins[0].samples.tobytes() == (
        window.inspection.pins[0].samples.tobytes()
    )
    assert other.messages.sentence.startswith("Settings restored from window.png.")
    assert "text" not in other.messages.sentence


def test_a_screenshot_of_another_text_says_so_and_brings_no_pin_of_it(
    qtbot, window, make_window, folder, tmp_path, monkeypatch
):
    path = shot_of(qtbot, window, tmp_path / "window.png", monkeypatch)
    another(folder)
    other = make_window()
    until(qtbot, lambda: other.device and other.kernel_folder.names)
    said = []
    show = other.messages.show_message
    other.messages.show_message = lambda *what, **how: (said.append(what[1]), show(*what, **how))
    drop(other, path)
    until(qtbot, lambda: "A pinned result is not back: blur.cu has another text by now." in said)
    assert any(
        each.startswith("Settings restored from window.png.")
        and each.endswith("blur.cu has another text by now.")
        for each in said
    )
    until(qtbot, lambda: is_own_result(other))
    assert other.inspection.pins == ()


def test_a_screenshot_of_a_kernel_that_is_not_there_brings_everything_else(
    qtbot, window, make_window, folder, tmp_path, monkeypatch
):
    settle(qtbot, window, lambda: window.store.choose(border="wrap"))
    path = shot_of(qtbot, window, tmp_path / "filtered.png", monkeypatch, "Comparison…")
    (folder / "blur.cu").unlink()
    other = make_window()
    until(qtbot, lambda: other.device)
    show_picture(qtbot, other, noise(8, 8))
    settle(qtbot, other, lambda: drop(other, path))
    assert (other.store.state.border, other.store.state.implementation) == ("wrap", "opencv")
    assert other.messages.sentence == (
        "Settings restored from filtered.png, except the implementation: blur.cu is not in your "
        "folder of kernels."
    )


def test_what_a_screenshot_names_is_looked_for_in_the_users_folder_alone(
    qtbot, window, home, tmp_path, monkeypatch
):
    path = shot_of(qtbot, window, tmp_path / "window.png", monkeypatch)
    kept = read_settings(path)
    (tmp_path / "theirs.cu").write_text(RIGHT, encoding="utf-8")
    theirs = str(tmp_path / "theirs.cu")
    save_png(tmp_path / "a.png", noise(8, 8), {**kept, "implementation": theirs, "pins": []})
    with qtbot.waitSignal(window.opener.restored):
        drop(window, tmp_path / "a.png")
    assert window.store.state.implementation == "blur.cu"
