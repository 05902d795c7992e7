"""Instructions beside the source: lines and instructions point at each other.

The compiler is NVIDIA's own, where it is installed; the trials are made up.
"""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QPlainTextEdit,
    QPushButton,
    QToolButton,
)

from kernels.cuda import nvrtc
from kernels.cuda_child.worker_pool import RunEndedError
from kernels.pictures.generated import noise
from tests.compilers import needs_nvrtc
from tests.workbench.driving import answer_file_dialogs, child, click, trigger
from tests.workbench.panels.kernel.made_up_trials import (
    MadeUpTrials,
    editor,
    text_of,
    tried,
    with_kernel,
    words,
)

SHARED = text_of("shared")


@pytest.fixture
def window(qtbot, make_window, home, monkeypatch):
    MadeUpTrials().take_over(monkeypatch)
    monkeypatch.setenv("FILTER_WORKBENCH_KERNELS", str(home / "kernels"))
    return with_kernel(qtbot, make_window(), noise(20, 30, 3))


def listing(window):
    return child(window, "kernel-code", QPlainTextEdit)


def chosen(window):
    return window.kernel.get().code.chosen


def rows(window):
    return listing(window).toPlainText().split("\n")


def write(qtbot, window, text):
    editor(window).replace_text(text)
    tried(qtbot, window)


def save(qtbot, window):
    trigger(window, "Save kernel")
    tried(qtbot, window)


@pytest.fixture
def shown(qtbot, window, home, monkeypatch):
    """The window with a user kernel in a file, and its PTX."""
    write(qtbot, window, SHARED)
    (home / "kernels").mkdir(exist_ok=True)
    answer_file_dialogs(monkeypatch, home / "kernels" / "mine.cu")
    save(qtbot, window)
    click(child(window, "kernel-show-code", QPushButton))
    tried(qtbot, window)
    return window


def point_at(code, row):
    cursor = code.textCursor()
    cursor.setPosition(code.document().findBlockByNumber(row).position())
    code.setTextCursor(cursor)


def line_with(text):
    return SHARED[: SHARED.index(text)].count("\n") + 1


# -- lines and instructions


@needs_nvrtc
def test_a_line_sets_off_its_instructions_and_an_instruction_marks_its_line(shown):
    assert words(shown, "kernel-code-caption").startswith("sm_90 · ")
    editor(shown).go_to_line(line_with("__syncthreads"))
    texts = [rows(shown)[row] for row in chosen(shown)]
    assert [row.split()[1:] for row in texts] == [["bar.sync", "0;"]]
    assert words(shown, "kernel-code-line").endswith(", instructions: 1 bar.")
    editor(shown).go_to_line(1)
    assert chosen(shown) == []
    assert words(shown, "kernel-code-line") == "Line 1, instructions: none."

    code, line = listing(shown), line_with("__syncthreads")
    at = next(row for row, text in enumerate(rows(shown)) if "bar.sync" in text)
    code.setFocus()
    point_at(code, at)
    assert editor(shown).step_line == line
    assert editor(shown).textCursor().blockNumber() + 1 == line
    assert at in chosen(shown)
    QTest.keyClick(code, Qt.Key.Key_Down)  # by keys as well
    assert code.textCursor().blockNumber() == at + 1
    editor(shown).setFocus()
    QTest.keyClick(editor(shown), Qt.Key.Key_Down)
    assert editor(shown).step_line == 0
    line = line_with("read_sample(")  # which stands in a header
    editor(shown).go_to_line(line)
    of_line = list(chosen(shown))
    assert any("ld.global" in rows(shown)[row] for row in of_line)
    code.setFocus()
    point_at(code, next(row for row in of_line if "ld.global" in rows(shown)[row]))
    assert words(shown, "kernel-code-line").startswith("From prelude.cuh, line ")


@needs_nvrtc
def test_a_listing_compiled_again_stays_where_it_was_and_moves_nothing(qtbot, shown):
    code = listing(shown)
    editor(shown).go_to_line(1)
    code.setFocus()
    point_at(code, 40)
    top = code.verticalScrollBar().value()
    editor(shown).replace_text(SHARED.replace("__syncthreads();", "__syncthreads(); " * 2, 1))
    step = editor(shown).step_line
    tried(qtbot, shown)
    assert sum("bar.sync" in row for row in rows(shown)) == 2
    assert code.textCursor().blockNumber() == 40
    assert code.verticalScrollBar().value() == top > 0
    assert editor(shown).step_line == step


@needs_nvrtc
def test_what_cannot_be_shown_is_said_and_leaves_what_was(qtbot, shown, monkeypatch):
    before = rows(shown)
    write(qtbot, shown, SHARED + "mistake;\n")
    line = SHARED.count("\n") + 1
    assert words(shown, "kernel-code-problem").startswith(f"Line {line}: ")
    assert "last text that compiled" in words(shown, "kernel-code-caption")
    assert rows(shown) == before
    write(qtbot, shown, SHARED)
    assert words(shown, "kernel-code-problem") == ""
    monkeypatch.setattr(nvrtc, "the_program", lambda: None)
    write(qtbot, shown, SHARED + "// once more\n")
    assert rows(shown)[0].strip()
    shown.kernel.get().code.choose("sass")
    assert "nvidia-cuda-nvdisasm" in rows(shown)[0]


def test_nothing_is_compiled_until_it_is_looked_at_which_a_key_does(qtbot, window, monkeypatch):
    compiled = []

    def compiling_apart(asked):
        compiled.append(asked)
        raise RunEndedError("Line 3: no.", 3)
        yield

    monkeypatch.setattr("workbench.session.kernel_code.compiling_apart", compiling_apart)
    write(qtbot, window, SHARED)
    assert compiled == []
    trigger(window, "PTX/SASS of the kernel")
    assert rows(window) == ["Compiling…"]
    tried(qtbot, window)
    assert rows(window)[0].startswith("Nothing is compiled yet")
    assert child(window, "kernel-machine-code").isVisible()
    assert words(window, "kernel-code-problem") == "Line 3: no."
    assert [each.architecture for each in compiled] == [90]
    assert not child(window, "kernel-verdict").isVisible()
    click(child(window, "kernel-code-close", QToolButton))
    assert child(window, "kernel-verdict").isVisible()
    pane = window.kernel.get()
    pane.restore({"shows_code": True, "code_kind": "sass", "code_against": "rung"})  # as once kept
    found = pane.choices()
    assert (found["shows_code"], found["code_kind"]) == (True, "sass")
    pane.restore({"shows_code": "yes", "code_kind": 3})
    found = pane.choices()
    assert (found["shows_code"], found["code_kind"]) == (False, "sass")
