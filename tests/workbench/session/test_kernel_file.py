"""A kernel's text and its file: both directions, and nothing that was typed is lost."""

import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtTest import QTest

from kernels.core import safe_files
from tests.workbench.driving import PATIENCE_MS, until
from workbench.session.kernel_file import KernelFile, KernelJournal, Unsaved, _Held
from workbench.session.kernel_folder import KernelFileError

ROOT = Path(__file__).parents[3]


class Heard:
    """What a KernelFile said, in order."""

    def __init__(self, file):
        self.arrived, self.began, self.sentences, self.saved = [], [], [], 0
        file.arrived.connect(self.arrived.append)
        file.began.connect(self.began.append)
        file.said.connect(self.sentences.append)
        file.saved.connect(self._count)

    def _count(self):
        self.saved += 1


@pytest.fixture
def journal(home):
    return KernelJournal()


@pytest.fixture
def file(qapp, journal):
    file = KernelFile(journal)
    file.heard = Heard(file)
    yield file
    file.close()


@pytest.fixture
def mine(tmp_path):
    folder = tmp_path / "kernels"
    folder.mkdir()
    path = folder / "mine.cu"
    path.write_text("one\n", encoding="utf-8")
    return path


def wait(is_so):
    for _ in range(PATIENCE_MS // 5):
        if is_so():
            return
        QTest.qWait(5)
    raise AssertionError("nothing came")


def _waited(do):
    """Do it, and wait for its outcome; raise what it failed with."""
    outcome = []
    do(lambda *_: outcome.append(None), outcome.append)
    wait(lambda: bool(outcome))
    if outcome[0] is not None:
        raise outcome[0]


def opened(file, path):
    _waited(partial(file.open, path))


def saved(file, path=None):
    _waited(partial(file.save, path))


def brought_back(file, left):
    file.bring_back(left, lambda _: None)
    wait(lambda: file.text == left.text)


def unsaved(file):
    """What the program offers to bring back."""
    found = []
    file.look_for_unsaved(found.append)
    wait(lambda: bool(found))
    return found[0]


def journals(home):
    return sorted((home / "data" / "filter-workbench" / "unsaved-kernels").glob("*.json"))


def offered():
    """What a program that starts now would offer."""
    journal = KernelJournal()
    left = journal.left()
    journal.close()
    return left


def replace(path, text):
    """Save as most editors do: another file in its place."""
    beside = path.with_suffix(".swp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


# -- opening and saving


def test_saving_under_another_name_goes_on_there(qtbot, file, mine):
    file.begin("new\n", "my_kernel.cu")
    assert (file.path, file.name) == (None, "my_kernel.cu")
    other = mine.with_name("other.cu")
    saved(file, other)
    assert (file.path, file.name) == (other, "other.cu")
    replace(other, "by another\n")
    until(qtbot, lambda: file.heard.arrived == ["by another\n"])


def test_a_file_that_cannot_be_written_leaves_the_text_and_says_why(file, mine):
    file.begin("kept\n", "my_kernel.cu")
    with pytest.raises(KernelFileError, match="its folder does not exist"):
        saved(file, mine.parent / "nowhere" / "mine.cu")
    assert file.text == "kept\n"
    assert file.path is None


# -- both directions


@pytest.mark.parametrize("how", [replace, lambda path, text: path.write_text(text)])
def test_what_is_saved_outside_arrives_again_and_again(how, qtbot, file, mine):
    opened(file, mine)
    for text in ("two\n", "three\n", "four\n"):
        how(mine, text)
        until(qtbot, lambda text=text: file.heard.arrived[-1:] == [text])
    assert file.is_saved
    assert file.heard.sentences == []


def test_what_is_saved_here_does_not_come_back(qtbot, file, mine):
    opened(file, mine)
    file.type("two\n")
    saved(file)
    replace(mine, "three\n")  # the answer to which comes after any to the first
    until(qtbot, lambda: file.heard.arrived)
    assert file.heard.arrived == ["three\n"]


def test_where_both_changed_the_disk_is_shown_and_what_was_typed_is_beside_it(qtbot, file, mine):
    opened(file, mine)
    file.type("typed\n")
    replace(mine, "outside\n")
    until(qtbot, lambda: file.heard.arrived)
    assert file.text == "outside\n"
    assert mine.with_name("mine.typed.cu").read_text(encoding="utf-8") == "typed\n"
    (sentence,) = file.heard.sentences
    assert "mine.typed.cu" in sentence
    file.type("typed again\n")
    replace(mine, "outside again\n")
    until(qtbot, lambda: len(file.heard.arrived) == 2)
    assert mine.with_name("mine.typed.cu").read_text(encoding="utf-8") == "typed\n"
    assert mine.with_name("mine.typed2.cu").read_text(encoding="utf-8") == "typed again\n"


def test_saving_before_the_change_outside_was_noticed_writes_over_nothing(file, mine):
    opened(file, mine)
    file.type("typed\n")
    replace(mine, "outside\n")
    saved(file)
    assert mine.read_text(encoding="utf-8") == "outside\n"
    assert mine.with_name("mine.typed.cu").read_text(encoding="utf-8") == "typed\n"


def test_a_file_that_is_gone_is_said_once_and_can_be_written_again(qtbot, file, mine):
    opened(file, mine)
    mine.unlink()
    until(qtbot, lambda: file.heard.sentences)
    saved(file)
    assert mine.read_text(encoding="utf-8") == "one\n"
    assert len(file.heard.sentences) == 1
    replace(mine, "back\n")
    until(qtbot, lambda: file.heard.arrived == ["back\n"])


# -- over a crash


def test_what_was_typed_a_moment_ago_outlives_a_crash(qtbot, home):
    """Of a program that is killed in the middle of typing, with no chance to tidy up."""
    typing = (
        "from PySide6.QtCore import QCoreApplication, QTimer\n"
        "from workbench.session.kernel_file import KernelFile\n"
        "from workbench.session.kernel_file import KernelJournal\n"
        "app = QCoreApplication([])\n"
        "file = KernelFile(KernelJournal())\n"
        "file.begin('', 'my_kernel.cu')\n"
        "timer = QTimer(interval=1)\n"
        "timer.timeout.connect(lambda: file.type(file.text + 'x'))\n"
        "timer.start()\n"
        "app.exec()\n"
    )
    with subprocess.Popen([sys.executable, "-c", typing], cwd=ROOT) as process:
        sizes = set()
        while len(sizes) < 3:  # as it is written again and again
            sizes |= {path.stat().st_size for path in journals(home)}
            assert process.poll() is None
            qtbot.wait(10)
        os.kill(process.pid, signal.SIGKILL)
    left = offered()
    assert set(left.text) == {"x"}
    assert len(left.text) >= max(sizes) - len('{"text": "", "path": "", "name": "my_kernel.cu"}')
    assert left.path is None


def test_no_letter_waits_for_the_disk(qtbot, file, home, monkeypatch):
    replacing, on_threads = safe_files.replacing, []

    def seen(*arguments, **options):
        on_threads.append(threading.current_thread())
        return replacing(*arguments, **options)

    monkeypatch.setattr(safe_files, "replacing", seen)
    file.begin("", "my_kernel.cu")
    for number in range(1, 101):
        file.type("x" * number)
    until(qtbot, lambda: journals(home))
    assert len(on_threads) == 1
    assert on_threads != [threading.main_thread()]
    file.close()
    assert offered().text == "x" * 100


@pytest.mark.parametrize("is_there", [True, False])
def test_what_was_not_saved_is_offered_with_its_file_and_brought_back(file, mine, is_there):
    opened(file, mine)
    file.type("typed\n")
    file.close()
    if not is_there:
        mine.unlink()
    later = KernelJournal()
    left = later.left()
    assert left == Unsaved("typed\n", mine, "mine.cu")
    again = KernelFile(later)
    brought_back(again, left)
    later.drop_left()
    assert (again.path, again.text, again.is_saved) == (mine, "typed\n", False)
    assert mine.exists() == is_there
    assert not is_there or mine.read_text(encoding="utf-8") == "one\n"
    saved(again)
    assert mine.read_text(encoding="utf-8") == "typed\n"
    again.close()
    assert offered() is None


def test_a_new_kernel_is_brought_back_under_the_name_proposed_for_it(file):
    file.begin("new\n", "my_median.cu")
    file.type("typed\n")
    file.close()
    later = KernelJournal()
    again = KernelFile(later)
    assert later.left().name == "my_median.cu"
    brought_back(again, later.left())
    assert (again.path, again.name) == (None, "my_median.cu")
    again.close()


def test_another_program_that_runs_keeps_its_own(qtbot, file, home, mine):
    opened(file, mine)
    file.type("typed\n")
    until(qtbot, lambda: journals(home))
    assert offered() is None


def test_a_text_that_is_not_wanted_is_gone_before_its_lock(tmp_path):
    (path := tmp_path / "a.json").touch()
    seen = []
    lock = SimpleNamespace(close=lambda: seen.append(path.exists()))
    _Held(path, lock).close(is_wanted=False)
    assert seen == [False]


def test_a_damaged_journal_is_passed_over(home, journal, file):
    file.begin("", "my_kernel.cu")
    file.type("typed\n")
    file.close()
    folder = journals(home)[0].parent
    for number, text in enumerate((b"{", b'{"text": 1, "path": ""}', b"[]", b"\xff")):
        (folder / f"damaged{number}.json").write_bytes(text)
    assert offered().text == "typed\n"


def test_what_is_typed_while_it_is_saved_or_opened_is_not_lost(qtbot, file, mine):
    opened(file, mine)
    file.type("two\n")
    file.save()
    file.type("three\n")
    until(qtbot, lambda: file.heard.saved == 1)
    assert (file.text, file.is_saved) == ("three\n", False)
    assert mine.read_text(encoding="utf-8") == "two\n"
    file.open(mine)
    file.type("four\n")
    until(qtbot, lambda: file.text == "two\n")
    assert unsaved(file) == Unsaved("four\n", mine, "mine.cu")


def test_of_several_that_are_opened_the_newest_is_worked_on(qtbot, file, mine):
    other = mine.with_name("other.cu")
    other.write_text("other\n")
    file.open(mine)
    file.open(other)
    until(qtbot, lambda: file.path == other)
    file.open(mine)
    file.begin("new\n", "my_kernel.cu")
    unsaved(file)  # by now it was read
    assert (file.text, file.path, file.heard.began) == ("new\n", None, ["other\n", "new\n"])


def test_what_is_saved_as_the_program_ends_is_saved(file, mine):
    opened(file, mine)
    file.type("two\n")
    file.save()
    file.close()
    assert mine.read_text(encoding="utf-8") == "two\n"
    assert offered() is None
