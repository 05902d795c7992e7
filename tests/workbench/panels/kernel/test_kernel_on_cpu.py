"""The Kernel panel with a real compiler: what is typed runs, on this computer's CPU."""

import errno

import numpy as np
import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QToolButton

from kernels import filters
from kernels.cuda_on_cpu import confinement
from kernels.cuda_on_cpu.compiler import why_not
from kernels.oracle.reference import filtered
from kernels.pictures.generated import noise
from tests.workbench.driving import (
    answer_file_dialogs,
    child,
    click,
    settle,
    show_picture,
    trigger,
    until,
)
from tests.workbench.panels.kernel.made_up_trials import (
    editor,
    text_of,
    tried,
    with_kernel,
    words,
    write,
)
from workbench.panels.compare.picture_view import PictureView
from workbench.panels.kernel.trying import Trying

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
BARRIER = "    __syncthreads();"


@pytest.fixture
def window(qtbot, make_window):
    return with_kernel(qtbot, make_window(), noise(24, 40, 1), ksize=3)


def line_of(text, part):
    return text[: text.index(part)].count("\n") + 1


def test_a_kernel_that_cannot_be_confined_runs_only_where_the_user_says_so(
    qtbot, window, monkeypatch
):
    monkeypatch.setenv(confinement.ALLOWING_VARIABLE, "")  # so that it is as before afterwards
    monkeypatch.delenv(confinement.ALLOWING_VARIABLE)
    monkeypatch.setattr(confinement, "_prctl", lambda *_: errno.EINVAL)
    write(qtbot, window, text_of("shared"))
    assert "seccomp" in words(window, "kernel-foreign-sentence")
    assert words(window, "kernel-verdict").startswith("Of the last text that ran: ")
    click(child(window, "kernel-foreign-0"))
    tried(qtbot, window)
    assert words(window, "kernel-foreign-sentence") == ""
    assert "✓ Verified on the whole picture" in words(window, "kernel-verdict")


def test_why_a_new_kernel_is_wrong_is_told_and_its_picture_is_the_result_if_wanted(
    qtbot, window, home, monkeypatch
):
    assert "✓ Verified on the whole picture" in words(window, "kernel-verdict")
    show_picture(qtbot, window, noise(512, 768, 3))
    settle(qtbot, window, lambda: window.store.choose(filter="sobel_x"))
    plain = editor(window).toPlainText()
    write(qtbot, window, plain.replace("[j * KSIZE + i]", "[i * KSIZE + j]"))
    told = "Right if the weights are transposed"
    assert f" pixels at (258, 162). {told}. The worst, at " in words(window, "kernel-verdict")
    for size, lines in {(1024, 640): 12, (1280, 720): 20}.items():
        window.resize(*size)
        qtbot.wait(100)
        verdict, view = child(window, "kernel-verdict", QLabel), editor(window).viewport()
        assert verdict.visibleRegion().boundingRect() == verdict.rect()  # no scrolling
        assert view.height() >= lines * editor(window).fontMetrics().lineSpacing()
    trigger(window, "Find the bug in the kernel")
    tried(qtbot, window)
    assert words(window, "kernel-problem").startswith(f"{told}. Line 39: ")
    assert "rows and columns count from there" in words(window, "kernel-status")
    go = child(window, "kernel-go-to-line")
    assert go.visibleRegion().boundingRect() == go.rect()  # nor for what follows

    answer_file_dialogs(monkeypatch, home / "mine.cu")  # elsewhere than in the user's folder
    trigger(window, "Filter with the kernel")
    until(qtbot, lambda: window.store.state.implementation == "mine.cu")
    until(qtbot, lambda: window.live.of_view and told in str(window.live.of_view[1].check))
    _, result, _ = window.live.of_view
    right = filtered(result.job.but(weights=result.job.correlation.weights.T.copy()))
    assert np.array_equal(result.picture, right.astype(np.float32))
    saved = home / "saved.tif"
    asked = answer_file_dialogs(monkeypatch, saved)
    trigger(window, "Save result as…")
    until(qtbot, saved.is_file)
    assert "unverified" in str(asked)
    window.findChild(QAction, "Undo").trigger()
    assert window.store.state.implementation != "mine.cu"


@pytest.mark.parametrize(
    ("key", "choices", "after"),
    [
        ("sobel_x", {}, ""),
        ("median", {}, ""),
        ("bilateral", {}, "bilateral_taps"),
        ("opening", {"is_disk": True}, "morphology_disk"),
    ],
)
def test_a_new_kernel_is_right_for_the_chosen_filter(qtbot, window, key, choices, after):
    settle(qtbot, window, lambda: window.store.choose(filter=key, **choices))
    tried(qtbot, window)
    if key == "median":  # the plain kernel stands there still
        said = "choose a filter with weights, or New ▸ My median."
        assert words(window, "kernel-status").endswith(said)
        assert words(window, "kernel-problem") == ""
    child(window, "kernel-new", QToolButton).menu().actions()[0].trigger()
    tried(qtbot, window)
    assert words(window, "kernel-problem") == ""
    assert "✓ Verified on the whole picture" in words(window, "kernel-verdict")
    assert f'after   = "{after}"' in editor(window).toPlainText() or not after
    assert window.store.state.filter == key


def test_from_the_plain_kernel_over_an_error_to_a_race_that_is_found(qtbot, window):
    text = text_of("shared")
    write(qtbot, window, text)
    assert "✓ Verified on the whole picture" in words(window, "kernel-verdict")
    assert child(window, "kernel-answer", PictureView).display is not None
    counted = "9 multiply-adds per sample"  # rows are shown once the layout has them
    until(qtbot, lambda: words(window, "kernel-count-operations") == counted)
    assert words(window, "kernel-count-bank-conflicts") == "none"
    edit = editor(window)
    edit.make_counts_visible(True)
    assert edit.counted_lines()[line_of(text, "= to_sample(sum)") - 1] == "1 B"
    edit.make_counts_visible(False)

    wrong = text.replace("float sum = OFFSET;", "float sum = OFSET;")
    write(qtbot, window, wrong)
    line = line_of(wrong, "OFSET")
    assert words(window, "kernel-problem").startswith(f"Line {line}: ")
    assert "OFSET" in words(window, "kernel-problem")
    assert "?." not in words(window, "kernel-problem")  # g++ asks whether OFFSET was meant
    assert editor(window).marked_lines()[line - 1] == "error"
    assert "✓ Verified" in words(window, "kernel-verdict")  # of the text before
    show_picture(qtbot, window, noise(300, 400))  # so large that a part of it is searched
    trigger(window, "Find the bug in the kernel")
    tried(qtbot, window)
    assert "OFSET" in words(window, "kernel-problem")
    assert "pixels" not in words(window, "kernel-status")  # nothing ran

    racy = text.replace(BARRIER, "    //")
    write(qtbot, window, racy)
    trigger(window, "Find the bug in the kernel")
    tried(qtbot, window)
    assert "thread" in words(window, "kernel-problem")
    assert list(editor(window).marked_lines().values()) == ["bug"]

    write(qtbot, window, text)
    trigger(window, "Find the bug in the kernel")
    tried(qtbot, window)
    assert "blocks of 32×8, 16×4, 8×8;" in words(window, "kernel-status")  # and no others

    only_wide = text.replace(BARRIER, "    if (BLOCK_X > 16) __syncthreads();")
    write(qtbot, window, only_wide)
    assert "✓ Verified" in words(window, "kernel-verdict")
    trigger(window, "Find the bug in the kernel")
    tried(qtbot, window)
    assert "With blocks of 16×4: " in words(window, "kernel-problem")
    assert "✓" not in words(window, "kernel-verdict")


@pytest.mark.parametrize(
    ("title", "key", "right", "wrong"),
    [
        ("My median", "median", "? low :", "? low + 1 :"),
        ("My dilation", "maximum", "fmaxf(greatest", "fminf(greatest"),
    ],
)
def test_a_whole_kernel_brings_its_filter_and_is_held_against_that(
    qtbot, window, title, key, right, wrong
):
    before, said = window.store.state.filter, set()
    trying = window.findChild(Trying)
    trying.asked_for.connect(lambda asked: said.add(asked.job.title) if asked else None)
    menu = child(window, "kernel-new", QToolButton).menu()
    next(each for each in menu.actions() if each.text() == title).trigger()
    tried(qtbot, window)
    assert window.store.state.filter == key
    assert said == {filters.get(key).title}  # and of no job before that
    assert "✓ Verified on the whole picture" in words(window, "kernel-verdict")

    text = editor(window).toPlainText()
    assert text.count(right) == 1
    write(qtbot, window, text.replace(right, wrong))
    assert "✗ Wrong in" in words(window, "kernel-verdict")

    write(qtbot, window, text)
    window.findChild(QAction, "Undo").trigger()
    tried(qtbot, window)
    assert window.store.state.filter == before
    assert "asks for weighted sums; choose such a filter" in words(window, "kernel-status")
    assert words(window, "kernel-problem") == ""  # nothing was typed wrong

    bare = text.partition("---*/")[2]  # without a header the step decides
    write(qtbot, window, bare)
    assert "✗ Wrong in" in words(window, "kernel-verdict")
    window.store.choose(filter=key)
    tried(qtbot, window)
    assert "✓ Verified on the whole picture" in words(window, "kernel-verdict")
