"""What others wrote, in sessions, plans, names of files and weights, is never taken for HTML."""

import sys
from dataclasses import replace

import pytest
from PySide6.QtCore import QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QGraphicsTextItem,
    QGraphicsView,
    QLabel,
    QMessageBox,
    QTextEdit,
    QTreeView,
    QWidget,
)

from kernels.pictures.generated import noise
from kernels.sweeps.plan_files import as_toml
from kernels.sweeps.session_files import SessionFile
from tests.made_sessions import H200, PLANS, a_session
from tests.workbench import scenes
from tests.workbench.driving import open_recent
from tests.workbench.engines import MadeUpGpu
from workbench.base.plain_text import Label, is_agreed, tip_text
from workbench.files import image_files
from workbench.panels.weights.named_weights import Named, WeightsLibrary
from workbench.panels.weights.weights_draft import WeightsDraft

TAG = "<img src=EVIL.png>"
MACHINE = replace(
    H200,
    **dict.fromkeys(("cpu", "memory", "system", "gpu"), f"{TAG} machine"),
    software={f"{TAG} software": TAG},
)
TIP = Qt.ItemDataRole.ToolTipRole


def rendered(text):
    """Whether Qt would take it for HTML with an image in it, where it is to find out by itself."""
    return GuiQt.mightBeRichText(text) and TAG in text


def holds_image(text):
    """Whether a document, or what holds one, has an image; as HTML only where it may."""
    return "\ufffc" in text.toPlainText() and "<img src" in text.toHtml()


def labels_and_tips(root):
    """Whose text Qt may render, what that is, and whether it does."""
    for widget in [root, *root.findChildren(QWidget)]:
        for text in (widget.toolTip(), widget.whatsThis()):
            yield widget, text, rendered(text)
        if isinstance(widget, QLabel):
            is_rich = widget.textFormat() != Qt.TextFormat.PlainText
            yield widget, widget.text(), is_rich and TAG in widget.text()
        if isinstance(widget, QTextEdit):
            yield widget, widget.toPlainText(), holds_image(widget)
        if isinstance(widget, QGraphicsView):
            for item in widget.scene().items() if widget.scene() else ():
                if isinstance(item, QGraphicsTextItem):
                    yield widget, item.toPlainText(), holds_image(item)
    for action in root.findChildren(QAction):
        yield action, action.toolTip(), rendered(action.toolTip())
        yield action, action.text(), False  # which menus draw as it is


def items(root):
    """The same of what is listed."""
    for view in [*root.findChildren(QAbstractItemView), *root.findChildren(QComboBox)]:
        if (model := view.model()) is not None:
            for index in below(model, QModelIndex(), isinstance(view, QTreeView)):
                tip = str(model.data(index, TIP) or "")
                yield view, tip, rendered(tip)
                yield view, str(model.data(index) or ""), False


def below(model, parent, is_tree):
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)
    for row in range(model.rowCount(parent)):
        for column in range(columns):
            index = model.index(row, column, parent)
            yield index
            if is_tree and column == 0:
                yield from below(model, index, is_tree)


@pytest.fixture
def hostile(make_window, tmp_path):
    """A window that was given everything of everybody."""
    plan = replace(
        PLANS["ksizes"],
        title=f"{TAG} title",
        note=f"{TAG} note",
        source=f"{TAG} source",
        table=f"{TAG} table",
    )
    (tmp_path / "plan.toml").write_text(as_toml(plan))
    WeightsLibrary().save(Named(f"{TAG} weights", WeightsDraft((("1",),))))
    window = make_window(MadeUpGpu)
    window.resize(1280, 800)
    scenes.prepare(window)
    for name in ("a", "b"):
        session = a_session(plan, MACHINE, outcome=one_refused)
        path = tmp_path / f"{TAG} {name}.jsonl"
        with SessionFile.create(path, session.plan, session.machine) as file:
            for record in session.records:
                file.append(record)
        window.sweep_menu.open_session(path)
    scenes.until(lambda: len(window.sessions.shown) == 4)
    picture = tmp_path / f"{TAG} picture.png"
    image_files.save(picture, noise(40, 60))
    window.intake.open_paths([tmp_path / "plan.toml", picture])
    scenes.until(lambda: window.store.state.picture.name == picture.name)
    scenes.settle(window)
    return window


def one_refused(cell, measured):
    return f"{TAG} refusal" if cell.ksize == 7 else measured


@pytest.mark.skipif(sys.platform == "win32", reason="no file can have such a name there")
def test_nothing_of_what_others_wrote_is_rendered_anywhere(hostile, qapp):
    open_recent(hostile)
    found, seen = [], set()
    for name, _ in scenes.all_scenes(hostile):
        for root in QApplication.topLevelWidgets():
            for owner, text, is_rendered in [*labels_and_tips(root), *items(root)]:
                if "EVIL" in text:
                    seen.update(word for word in WORDS if word in text)
                if is_rendered:
                    found.append(f"{name}: {type(owner).__name__} {owner.objectName()}: {text}")
    assert found == []
    assert seen == set(WORDS)  # or nothing was looked at


WORDS = ("title", "note", "source", "machine", "picture.png", "weights", "a.jsonl")


def test_a_question_is_plain_and_no_is_what_enter_says(qtbot, monkeypatch):
    parent, asked = QWidget(), []
    qtbot.addWidget(parent)

    def executed(box):
        asked.append((box.textFormat(), box.text(), box.standardButton(box.defaultButton())))
        return QMessageBox.StandardButton.No

    monkeypatch.setattr(QMessageBox, "exec", executed)
    assert not is_agreed(parent, "Save", TAG)
    assert asked == [(Qt.TextFormat.PlainText, TAG, QMessageBox.StandardButton.No)]


@pytest.mark.parametrize("text", [TAG, f"{TAG}\nsecond <b>line</b>", "a & b <i>c</i>"])
def test_a_tooltip_shows_the_characters_themselves(qtbot, text):
    label = Label()
    qtbot.addWidget(label)
    label.setTextFormat(Qt.TextFormat.AutoText)
    label.setText(tip_text(text))
    document = QTextEdit()
    qtbot.addWidget(document)
    document.setHtml(tip_text(text))
    assert document.toPlainText() == text
    assert not holds_image(document)
    document.setHtml(TAG)
    assert holds_image(document)
    assert tip_text("3 < 5 & so on") == "3 < 5 & so on"
