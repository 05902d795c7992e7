"""A screenshot restores a user kernel and its pins, but no other text of that name."""

import pytest

from kernels.pictures.generated import noise
from kernels.rungs.own_kernels import text_hash
from tests.compilers import needs_compiler
from tests.first_kernel import steps
from tests.workbench.driving import answer_file_dialogs, drop, settle, trigger, until
from workbench.files import image_files
from workbench.model import intents
from workbench.session.exporter import read_settings, save_png

pytestmark = needs_compiler
RIGHT = steps()[6]


@pytest.fixture
def folder(kernels):
    """The user's folder of kernels, with one in it."""
    (kernels / "blur.cu").write_text(RIGHT, encoding="utf-8")
    return kernels


@pytest.fixture
def photo(tmp_path):
    image_files.save(tmp_path / "photo.png", noise(30, 40, 3))
    return tmp_path / "photo.png"


@pytest.fixture
def window(qtbot, make_window, folder, photo):
    """A window that filters with the kernel, and has that result pinned."""
    window = make_window()
    until(qtbot, lambda: window.device and window.kernel_folder.kernels)
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


def recorded(messages):
    """Every sentence from now on, as an info goes by itself."""
    said, show = [], messages.show_message
    messages.show_message = lambda *what, **how: (said.append(what[1]), show(*what, **how))
    return said


def another(folder):
    (folder / "blur.cu").write_text(f"{RIGHT}// again\n", encoding="utf-8")


def test_a_screenshot_brings_its_kernel_and_its_pin_back(
    qtbot, window, make_window, tmp_path, monkeypatch
):
    path = shot_of(qtbot, window, tmp_path / "window.png", monkeypatch)
    kept = read_settings(path)
    assert (kept["implementation"], kept["text_sha256"]) == ("blur.cu", text_hash(RIGHT))
    other = make_window()
    until(qtbot, lambda: other.device and other.kernel_folder.kernels)
    said = recorded(other.messages)
    drop(other, path)
    until(qtbot, lambda: is_own_result(other) and len(other.inspection.pins) == 1)
    assert other.inspection.pins[0].samples.tobytes() == (
        window.inspection.pins[0].samples.tobytes()
    )
    assert any("window.png" in each for each in said)
    assert not any("text" in each for each in said)


def test_a_screenshot_of_another_text_says_so_and_brings_no_pin_of_it(
    qtbot, window, make_window, folder, tmp_path, monkeypatch
):
    path = shot_of(qtbot, window, tmp_path / "window.png", monkeypatch)
    another(folder)
    other = make_window()
    until(qtbot, lambda: other.device and other.kernel_folder.kernels)
    said = recorded(other.messages)
    drop(other, path)
    until(
        qtbot, lambda: any("pinned" in each and "blur.cu has another text" in each for each in said)
    )
    assert any(
        each.startswith("Settings restored from window.png.")
        and each.endswith("blur.cu has another text by now.")
        for each in said
    )
    until(qtbot, lambda: is_own_result(other))
    assert other.inspection.pins == ()


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
