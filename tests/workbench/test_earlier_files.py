"""Files of 28 November 2026 (d9068c4), before the parts were merged, can be read."""

import json
import shutil
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest

from kernels.sweeps.plan_files import read_plan
from tests.workbench.driving import until
from workbench.base.paths import data_folder
from workbench.base.settings import DIRECTORY_VARIABLE
from workbench.cli.main import main
from workbench.model.choices import from_data
from workbench.model.state import State
from workbench.panels.weights.named_weights import read_file
from workbench.session.kernel_file import KernelJournal

EARLIER = Path(__file__).parent / "earlier"


@pytest.fixture
def folder(tmp_path):
    """All of them, with three pictures, which some of them name."""
    for path in EARLIER.iterdir():
        text = path.read_text(encoding="utf-8").replace("FOLDER", tmp_path.as_posix())
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    for name in "abc":
        iio.imwrite(tmp_path / f"{name}.png", np.full((20, 30, 3), 77, np.uint8))
    return tmp_path


def test_sessions_and_plans(folder, capsys):
    session, page = folder / "session.jsonl", folder / "report.html"
    assert main(["compare", str(session), str(session)]) == 0
    assert "Sequential" in capsys.readouterr().out
    assert main(["report", str(session)]) == 0
    assert "Two sizes on the CPU" in page.read_text(encoding="utf-8")
    plan = read_plan(folder / "plan.toml")
    assert (plan.title, plan.sizes, plan.ksizes) == (
        "Two sizes on the CPU",
        ((16, 16), (24, 20)),
        (3,),
    )


def test_journals_of_batches(folder, capsys):
    out = folder / "out"
    out.mkdir()
    shutil.move(folder / "workbench-batch.jsonl", out)
    pictures = [str(folder / f"{name}.png") for name in "abc"]
    for name in "abc":
        (out / f"{name}.png").write_bytes(b"what was made then")
    how = ["--filter", "gaussian", "--size", "5", "--alpha", "apart", "--no-gpu"]
    how += ["--resume", "--json"]
    assert main(["batch", *pictures, str(out), *how]) == 0
    assert {(out / f"{name}.png").read_bytes() for name in "abc"} == {b"what was made then"}


@pytest.mark.parametrize("name", ["sharper.toml", "sharper.csv"])
def test_weights(folder, name):
    drawing = read_file(folder / name).drawing
    assert drawing.matrix == ((0, -1, 0), (-1, 5, -1), (0, -1, 0))
    assert drawing.added == (0.125 if name.endswith("toml") else 0.0)


def test_texts_of_kernels_that_were_not_saved(folder, home):
    (journals := data_folder() / "unsaved-kernels").mkdir(parents=True)
    shutil.move(folder / "unsaved-kernel.json", journals / "5a7372be.json")
    journal = KernelJournal()
    left = journal.left()
    journal.close()
    assert left is not None
    assert left.text == "// typed and not saved\n"


def test_settings_and_steps(qtbot, folder, home, make_window, monkeypatch):
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(folder))  # where settings.json is
    window = make_window()
    until(qtbot, lambda: window.device is not None)
    kept = json.loads((folder / "settings.json").read_text())["choices"]
    state = window.store.state
    assert not window.messages.sentence.startswith("The settings")
    for name in ("filter", "ksize", "sigma", "border", "matrix", "last_free_ksize"):
        now, then = getattr(state, name), kept[name]
        assert json.loads(json.dumps(now)) == then, name
    assert state.filter != State().filter or state.ksize != State().ksize

    window.presenter.open_file(folder / "talk.steps.toml")
    until(qtbot, lambda: window.presenter.steps)
    first, second = window.presenter.steps
    assert from_data(first.data, state)["filter"] == "custom"
    assert first.picture is not None
    assert first.picture.path == folder / "a.png"
    assert second.note == "Ask first: who reads this sample besides?"
