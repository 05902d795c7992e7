"""A rung that its header does not describe, and one whose header is wrong, wherever they show."""

from dataclasses import replace
from shutil import copytree

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QTextBrowser

from kernels.cuda_on_cpu import compiler
from kernels.engine.engine import all_implementations
from kernels.pictures.generated import noise
from kernels.rungs import rung as reading
from kernels.rungs.cuda_text import LADDER
from kernels.sweeps.session_files import SessionFile, read_session
from tests.made_sessions import KINDS, PLANS, a_session
from tests.made_up import a_job
from tests.workbench.driving import child, ready, settle, show_picture, trigger, until
from tests.workbench.engines import MadeUpGpu
from workbench.charts.data.points import Data
from workbench.charts.kinds import chart_kinds
from workbench.cli import main
from workbench.model.names import implementation_title, kind_of
from workbench.panels.anatomy.subject import look_at, subject_of
from workbench.panels.rung import rung_panel

SILENT = "silent"  # `constant` without what describes it
BROKEN = "broken"
REASON = "25_broken.cu, line 2: titel is not known; the nearest is title."
UNDESCRIBED = "Loads and operations of this rung are not described."
ROOFLINE = next(kind for kind in chart_kinds() if kind.key == "roofline")
NO_PLACE = "Operations are not described, so that there is no place for it here"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The ladder with both of them in it."""
    folder = tmp_path / "ladder"
    copytree(LADDER, folder)
    text = (folder / "02_constant.cu").read_text(encoding="utf-8")
    described, _, rest = text.partition("[[passes]]")
    silent = f"{described}---*/{rest.partition('---*/')[2]}".replace("Constant memory", "Silent")
    (folder / "24_silent.cu").write_text(silent, encoding="utf-8")
    broken = silent.replace("title", "titel").replace("Silent", "<b>Broken</b>")
    (folder / "25_broken.cu").write_text(broken, encoding="utf-8")
    monkeypatch.setitem(KINDS, SILENT, "cuda")
    caches = (reading.whole_ladder, implementation_title, kind_of)
    monkeypatch.setattr(reading, "LADDER", folder)
    monkeypatch.setattr(rung_panel, "LADDER", folder)
    for cache in caches:
        cache.cache_clear()
    yield folder
    for cache in caches:
        cache.cache_clear()


def implementation(key):
    return next(each for each in all_implementations() if each.key == key)


# -- not described


def test_the_roofline_says_which_have_no_place_and_draws_the_others(folder):
    plan = replace(PLANS["ksizes"], implementations=("shared", SILENT), source="")
    chart = ROOFLINE.figure(Data([a_session(plan)]))
    assert {each.entry.label for each in chart.body.series} == {"Shared-memory tile"}
    assert f"{NO_PLACE}: Silent." in chart.notes


@pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
def test_the_anatomy_is_recorded_whatever_the_header_says(folder):
    subject = subject_of(implementation(SILENT), a_job(SILENT), None)
    said = dict(look_at(subject, 3, 3).sentences())
    assert "32 × 8" in said["The launch"]
    assert "recorded" in said["Not shown"]
    for _ in subject.records.making((0, 0)):
        pass
    found = look_at(subject, 3, 3)
    assert "Not shown" not in dict(found.sentences())
    assert (found.thread, found.sample_of(found.thread)) == (3 * 32 + 3, (3, 3))


def test_the_rung_panel_says_what_is_not_described(folder, qtbot, make_window):
    window = ready(qtbot, make_window(MadeUpGpu), noise(20, 30, 3))
    trigger(window, "Implementation")
    until(qtbot, window.rung.get().isVisible)
    settle(qtbot, window, lambda: window.store.update(implementation=SILENT))
    page = child(window, "rung-idea-page", QTextBrowser)
    until(qtbot, lambda: UNDESCRIBED in page.toPlainText())
    settle(qtbot, window, lambda: window.store.update(implementation="constant"))
    until(qtbot, lambda: UNDESCRIBED not in page.toPlainText())


def test_a_session_of_it_is_reported_with_its_time(folder, tmp_path, capsys):
    plan = replace(PLANS["ksizes"], implementations=("opencv", SILENT), source="")
    session = a_session(plan)
    with SessionFile.create(tmp_path / "run", plan, session.machine, session.started) as file:
        for record in session.records:
            file.append(record)
    assert main.main(["report", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().err == ""
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Silent" in page
    assert main.main(["compare", str(tmp_path / "run"), str(tmp_path / "run")]) == 0


# -- broken


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The current folder, with a picture's name and a plan."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(
        f'title = "P"\nimplementation = ["opencv", "{SILENT}", "{BROKEN}"]\nsize = 16\n'
        "kernel_size = 3\n[sampling]\nmax_samples = 2\nmin_samples = 1\nwarmup_seconds = 0\n"
    )
    return tmp_path


def test_a_sweep_measures_the_others_and_notes_its_reason(folder, here, capsys):
    assert main.main(["sweep", "plan.toml", "--out", "run", "--no-gpu"]) == 0
    outcomes = {
        each.cell.implementation: each.outcome for each in read_session(here / "run").records
    }
    assert outcomes[BROKEN] == REASON
    assert not isinstance(outcomes["opencv"], str)


def test_the_window_says_it_and_has_it_greyed_out(folder, qtbot, make_window):
    window = make_window(MadeUpGpu)
    assert window.messages.kind == "warning"
    assert window.messages.sentence == REASON
    until(qtbot, lambda: window.device)
    combo = child(window, "implementation", QComboBox)
    row = combo.findData(BROKEN)
    assert combo.itemText(row) == "25_broken.cu"
    assert not combo.model().flags(combo.model().index(row, 0)) & Qt.ItemFlag.ItemIsEnabled
    assert REASON in combo.itemData(row, Qt.ItemDataRole.ToolTipRole)
    show_picture(qtbot, window, noise(20, 30, 3))
    settle(qtbot, window, lambda: window.store.update(implementation=SILENT))
    assert window.live.result.implementation == SILENT
