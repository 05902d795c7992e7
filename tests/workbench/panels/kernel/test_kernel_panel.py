"""The panel of user kernels: its files, its trials, and their findings.

What a trial finds is made up here; `test_kernel_on_cpu.py` has the compiler's own words.
"""

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QToolButton, QWidget

from kernels.core.verdict import NOT_YET_SEARCHED
from kernels.pictures.generated import noise
from kernels.rungs.own_kernels import starting_points
from tests.workbench.driving import (
    answer_file_dialogs,
    child,
    click,
    drop,
    ready,
    settle,
    show_picture,
    trigger,
    until,
)
from tests.workbench.panels.kernel.made_up_trials import MadeUpTrials, editor, tried, words
from workbench.panels.compare.picture_view import PictureView
from workbench.panels.kernel import trying
from workbench.panels.kernel.trial_view import TrialView
from workbench.panels.kernel.trial_words import NOT_RIGHT

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def trials(monkeypatch):
    made = MadeUpTrials()
    made.take_over(monkeypatch)
    return made


@pytest.fixture
def window(qtbot, make_window, trials, home, monkeypatch):
    monkeypatch.setenv("FILTER_WORKBENCH_KERNELS", str(home / "kernels"))
    return ready(qtbot, make_window(), noise(20, 30, 3))


@pytest.fixture
def opened(qtbot, window):
    """The window with the panel open and its kernel tried."""
    trigger(window, "Kernel")
    tried(qtbot, window)
    return window


def text(window):
    return editor(window).toPlainText()


def type_at_end(window, letters):
    edit = editor(window)
    edit.moveCursor(edit.textCursor().MoveOperation.End)
    for line in letters.splitlines(keepends=True):
        QTest.keyClicks(edit, line.rstrip("\n"))
        if line.endswith("\n"):
            QTest.keyClick(edit, Qt.Key.Key_Return)


def type_comment(qtbot, window, letters):
    """Type a comment, which changes nothing but the text, and wait until it was tried."""
    type_at_end(window, f"// {letters}\n")
    tried(qtbot, window)


def save_new(window, monkeypatch, path):
    """Save the kernel into its first file."""
    answer_file_dialogs(monkeypatch, path)
    QTest.keyClick(editor(window), Qt.Key.Key_S, CTRL)
    assert path.is_file()


def test_an_empty_kernel_is_tried_at_once_and_typing_tries_it_after_a_pause(qtbot, opened, trials):
    assert trials.texts == [starting_points()[0].text]
    assert "✓ Verified on the whole picture" in words(opened, "kernel-verdict")
    assert words(opened, "kernel-verdict").endswith("Run on the CPU: no time.")
    before, after = (child(opened, n, PictureView) for n in ("kernel-before", "kernel-answer"))
    assert before.display.size == after.display.size == (30, 20)
    assert after.caption == "my_kernel.cu"
    assert words(opened, "kernel-problem") == ""
    type_comment(qtbot, opened, "one two three")
    assert len(trials.texts) == 2
    assert trials.texts[-1] == text(opened)


# -- trying


def test_an_error_stands_on_its_line_and_the_last_answer_stays(qtbot, opened):
    type_at_end(opened, "nonsense here;\n")
    tried(qtbot, opened)
    line = text(opened).count("\n")
    assert words(opened, "kernel-problem") == f"Line {line}: no such type."
    assert editor(opened).marked_lines() == {line - 1: "error"}
    assert editor(opened).sentence_at(line - 1) == "no such type"
    assert words(opened, "kernel-status") == trying.BEFORE
    said = words(opened, "kernel-verdict")
    assert said.startswith("Of the last text that ran: ✓ Verified")
    assert child(opened, "kernel-answer", PictureView).display is not None
    editor(opened).go_to_line(1)
    click(child(opened, "kernel-go-to-line", QPushButton))
    assert editor(opened).textCursor().blockNumber() == line - 1
    editor(opened).undo()
    while "nonsense" in text(opened):
        editor(opened).undo()
    tried(qtbot, opened)
    assert editor(opened).marked_lines() == {}
    assert words(opened, "kernel-problem") == words(opened, "kernel-status") == ""


def test_the_last_text_that_ran_goes_on_with_another_job(qtbot, opened, trials):
    good = text(opened)
    type_at_end(opened, "nonsense here;\n")
    tried(qtbot, opened)
    assert trials.texts[-1] != good
    show_picture(qtbot, opened, noise(10, 12, 1))
    tried(qtbot, opened)
    assert trials.texts[-2:] == [text(opened), good]
    assert child(opened, "kernel-answer", PictureView).display.size == (12, 10)
    assert "no such type" in words(opened, "kernel-problem")
    assert list(editor(opened).marked_lines().values()) == ["error"]
    assert words(opened, "kernel-status") == trying.BEFORE


def test_a_wrong_header_is_refused_without_running_and_a_wrong_answer_said(qtbot, opened, trials):
    before = len(trials.texts)
    edit = editor(opened)
    edit.begin_with(text(opened).replace("title", "titel"))
    tried(qtbot, opened)
    assert "titel is not known" in words(opened, "kernel-problem")
    assert edit.marked_lines() == {1: "error"}
    assert len(trials.texts) == before

    # a wrong answer is said with its worst pixel, which has a ring
    edit.begin_with(text(opened).replace("titel", "title"))
    type_comment(qtbot, opened, "too bright")
    found = words(opened, "kernel-verdict")
    assert "✗ Wrong in 7 samples" in found
    assert "x 4, y 3, green" in found
    assert opened.kernel.get().pictures.pixel == (4, 3)
    edit.begin_with(text(opened).replace("too bright", ""))
    tried(qtbot, opened)
    assert opened.kernel.get().pictures.pixel is None


def test_a_newer_text_takes_the_place_of_one_that_runs(qtbot, opened, trials):
    type_at_end(opened, "// endless\n")
    until(qtbot, lambda: "endless" in trials.texts[-1])
    edit = editor(opened)
    for number in range(5):
        edit.begin_with(f"{starting_points()[0].text}// {number}\n")
    tried(qtbot, opened)
    assert trials.closed == 1
    assert trials.texts[-1] == text(opened)
    assert sum("endless" in each for each in trials.texts) == 1


def test_while_a_text_is_tried_nothing_is_said_of_the_one_before(qtbot, opened, trials):
    type_at_end(opened, "nonsense here;\n")
    tried(qtbot, opened)
    editor(opened).begin_with(text(opened).replace("nonsense here;", "// endless"))
    until(qtbot, lambda: "endless" in trials.texts[-1])
    assert words(opened, "kernel-problem") == ""
    assert not child(opened, "kernel-go-to-line").isVisible()
    assert editor(opened).marked_lines() == {}
    assert words(opened, "kernel-verdict").startswith("Of the last text that ran: ✓")
    trials.go_on.set()
    tried(qtbot, opened)
    assert words(opened, "kernel-verdict").startswith("✓")


def test_what_was_cancelled_runs_again_once_it_is_saved_and_not_by_itself(
    qtbot, opened, trials, home, monkeypatch
):
    type_at_end(opened, "// endless\n")
    until(qtbot, lambda: "endless" in trials.texts[-1])
    child(opened, "kernel-cancel", QPushButton).click()
    until(qtbot, lambda: trials.closed == 1)
    opened.store.choose(view_mode="wipe")
    assert opened.kernel.get().is_tried  # nothing waits to be tried
    assert words(opened, "kernel-status") == trying.STOPPED
    trials.go_on.set()
    before = len(trials.texts)
    save_new(opened, monkeypatch, home / "kernels" / "mine.cu")
    until(qtbot, lambda: len(trials.texts) > before)
    tried(qtbot, opened)


def test_another_job_or_picture_is_tried_and_another_view_is_not(qtbot, opened, trials):
    before = len(trials.texts)
    settle(qtbot, opened, lambda: opened.store.choose(ksize=7))
    tried(qtbot, opened)
    assert trials.jobs[-1].ksize == 7
    show_picture(qtbot, opened, noise(10, 12, 1))
    tried(qtbot, opened)
    assert trials.jobs[-1].picture.shape == (10, 12, 1)
    assert len(trials.texts) == before + 2
    opened.store.choose(view_mode="wipe")
    settle(qtbot, opened, lambda: opened.store.choose(implementation="sequential"))
    tried(qtbot, opened)
    opened.docks["Kernel"].hide()  # closed, it tries nothing until it opens
    settle(qtbot, opened, lambda: opened.store.choose(ksize=9))
    assert opened.kernel.get().is_tried  # nothing waits either
    assert len(trials.texts) == before + 2
    trigger(opened, "Kernel")
    tried(qtbot, opened)
    assert trials.jobs[-1].ksize == 9


def test_a_right_output_is_searched_for_bugs_and_one_stays_on_its_line_until_the_text_is_another(
    qtbot, opened, monkeypatch
):
    right = text(opened)
    verdicts, show = [words(opened, "kernel-verdict")], TrialView.show_findings

    def note(view, found):
        verdicts.extend([found.verdict] if found.verdict != verdicts[-1] else [])
        show(view, found)

    monkeypatch.setattr(TrialView, "show_findings", note)
    type_comment(qtbot, opened, "racy")
    line = text(opened).count("\n")

    def says_the_bug():
        assert "write the same word" in words(opened, "kernel-problem")
        assert words(opened, "kernel-verdict").startswith(NOT_RIGHT)
        assert editor(opened).marked_lines() == {line - 1: "bug"}

    says_the_bug()
    assert [each for each in verdicts[1:] if "✓" in each] == []
    assert NOT_YET_SEARCHED in verdicts[1]
    editor(opened).go_to_line(1)
    click(child(opened, "kernel-find-bug", QPushButton))  # says the same
    until(qtbot, lambda: editor(opened).textCursor().blockNumber() == line - 1)
    tried(qtbot, opened)
    assert opened.kernel.get().pictures.pixel == (1, 1)  # sample 3 of RGB
    opened.store.choose(view_mode="wipe")
    assert opened.kernel.get().is_tried  # nothing waits to be tried
    says_the_bug()
    editor(opened).begin_with(right)
    until(qtbot, lambda: not words(opened, "kernel-problem"))
    tried(qtbot, opened)


# -- files


def test_save_asks_for_the_first_file_which_is_then_offered_among_the_implementations(
    qtbot, opened, home, trials, monkeypatch
):
    combo = child(opened, "implementation", QComboBox)
    chosen = combo.currentText()
    assert combo.findText("my_kernel.cu") < 0  # it is not saved yet
    path = home / "kernels" / "blur.cu"
    asked = answer_file_dialogs(monkeypatch, path)
    QTest.keyClick(editor(opened), Qt.Key.Key_S, CTRL)
    assert (asked[0].folder, asked[0].name) == (home / "kernels", "my_kernel.cu")
    assert path.read_text(encoding="utf-8") == text(opened)
    assert words(opened, "kernel-name") == "blur.cu"
    type_at_end(opened, "// more\n")
    assert words(opened, "kernel-name") == "blur.cu · not saved"
    click(child(opened, "kernel-save", QToolButton))
    assert path.read_text(encoding="utf-8").endswith("// more\n")
    assert len(asked) == 1
    until(qtbot, lambda: combo.findText("blur.cu") > 0)
    assert combo.itemText(combo.findText("blur.cu") - 1) == "Yours"
    assert combo.currentText() == chosen

    # what another editor saves is shown and tried, and can be undone
    tried(qtbot, opened)
    mine = text(opened)
    path.write_text(mine + "// outside\n", encoding="utf-8")
    until(qtbot, lambda: text(opened).endswith("// outside\n"))
    tried(qtbot, opened)
    assert trials.texts[-1].endswith("// outside\n")
    assert words(opened, "kernel-name") == "blur.cu"
    QTest.keyClick(editor(opened), Qt.Key.Key_Z, CTRL)
    assert text(opened) == mine


def test_of_files_from_elsewhere_what_is_no_text_changes_nothing_and_a_kernel_runs_after_a_click(
    qtbot, opened, home, trials, monkeypatch
):
    before = text(opened), words(opened, "kernel-verdict"), words(opened, "kernel-status")
    path = home / "theirs.cu"
    path.write_bytes(b"\xff\xfe\0")
    drop(opened, path)
    tried(qtbot, opened)
    assert "theirs.cu, line 1: " in opened.messages.sentence
    assert words(opened, "kernel-foreign-sentence") == ""
    after = text(opened), words(opened, "kernel-verdict"), words(opened, "kernel-status")
    assert after == before
    type_comment(qtbot, opened, "it goes on")
    assert words(opened, "kernel-status") == ""

    # one that is text runs after a click
    path.write_text(text(opened) + "// theirs\n", encoding="utf-8")
    before = list(trials.texts)
    answer_file_dialogs(monkeypatch, path)
    click(child(opened, "kernel-open", QToolButton))
    type_comment(qtbot, opened, "read it")
    opened.kernel.get().find_bug()
    tried(qtbot, opened)
    assert text(opened).endswith("// theirs\n// read it\n")
    assert "not in your folder of kernels" in words(opened, "kernel-foreign-sentence")
    assert trials.texts == before
    click(child(opened, "kernel-foreign-0"))
    tried(qtbot, opened)
    assert words(opened, "kernel-foreign-sentence") == ""
    assert trials.texts[len(before) :] == [text(opened)]
    type_comment(qtbot, opened, "more")
    assert trials.texts[-1].endswith("// more\n")


def test_a_kernel_is_opened_by_dropping_pasting_and_the_command_line_and_runs_after_a_click(
    qtbot, window, home, trials
):
    picture = window.store.state.picture
    for number, open_it in enumerate((drop, paste, name)):
        path = home / f"theirs_{number}.cu"
        path.write_text(f"// theirs {number}\n", encoding="utf-8")
        assert window.store.state.picture is picture
        open_it(window, path)
        tried(qtbot, window)
        assert text(window) == f"// theirs {number}\n"
        assert f"theirs_{number}.cu is not in your folder" in words(
            window, "kernel-foreign-sentence"
        )
        assert words(window, "kernel-status") == trying.HELD
    until(qtbot, lambda: window.store.state.picture is not picture)
    assert not any("theirs" in each for each in trials.texts)


def paste(window, path):
    content = QMimeData()
    content.setUrls([QUrl.fromLocalFile(str(path))])
    window.intake.take_content(content)


def name(window, path):
    """Name it on the command line, which opens the picture of the start as well."""
    window.intake.open_paths([path])


def test_a_copy_to_share_has_the_verdict_of_the_text_as_it_is(qtbot, opened, home, monkeypatch):
    path, mine = home / "to_share.cu", text(opened)
    answer_file_dialogs(monkeypatch, path)
    trigger(opened, "Save a copy to share…")
    assert f"// Verdict: {words(opened, 'kernel-verdict')}\n" in path.read_text(encoding="utf-8")
    assert "to_share.cu" in opened.messages.sentence
    assert words(opened, "kernel-name") == "my_kernel.cu · not saved"
    assert text(opened) == mine

    type_at_end(opened, "nonsense here;\n")
    trigger(opened, "Save a copy to share…")
    assert "// Verdict: It was not tried.\n" in path.read_text(encoding="utf-8")
    tried(qtbot, opened)
    trigger(opened, "Save a copy to share…")
    assert "// Verdict: ✗ It does not run. Line " in path.read_text(encoding="utf-8")


def test_what_was_not_saved_is_offered_by_the_next_start(qtbot, opened, make_window):
    type_at_end(opened, "// not saved\n")
    typed = text(opened)
    opened.close()
    again = make_window()
    again.docks.enter("Kernel")
    assert text(again) != typed
    assert child(again, "kernel-unsaved-sentence", QLabel).text().startswith("Not saved: ")
    click(child(again, "kernel-unsaved-0", QPushButton))
    assert text(again) == typed
    assert not child(again, "kernel-unsaved", QWidget).isVisible()
