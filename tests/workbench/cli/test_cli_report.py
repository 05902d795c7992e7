"""`workbench report`: from the files of sweeps to a folder to hand in."""

from dataclasses import replace

import pytest

from kernels.sweeps.plan import Plan
from kernels.sweeps.session_files import SessionFile
from tests.made_sessions import H200, LAPTOP, a_session
from tests.workbench.report.reading_pages import read_page
from workbench.cli import main

SMALL = Plan("Small pictures", ("opencv", "global"), ((64, 64), (128, 128)), (3,), ((16, 16),))
WRITTEN = {"report.html", "tables.tex", "results.csv"}


def sweep_into(path, machine=H200, **more):
    """What `workbench sweep --out` leaves."""
    session = a_session(SMALL, machine, **more)
    with SessionFile.create(path, session.plan, session.machine, session.started) as file:
        for record in session.records:
            file.append(record)


def files_in(folder):
    return {each.name for each in folder.iterdir()}


def test_it_writes_beside_the_session_and_says_where(tmp_path, capsys):
    sweep_into(tmp_path / "run")
    assert main.main(["report", str(tmp_path / "run")]) == 0
    said = capsys.readouterr()
    assert str(tmp_path / "run" / "report.html") in said.out
    assert said.err == ""
    assert files_in(tmp_path / "run") == {"session.jsonl", *WRITTEN}


def test_two_sessions_are_one_report_in_the_folder_named(tmp_path):
    sweep_into(tmp_path / "a")
    sweep_into(tmp_path / "b", LAPTOP)
    out = tmp_path / "new" / "folder"
    paths = [str(tmp_path / "a"), str(tmp_path / "b" / "session.jsonl")]
    assert main.main(["report", *paths, "--out", str(out)]) == 0
    page = read_page((out / "report.html").read_text(encoding="utf-8"))
    assert page.all("h1")[0].words == "Small pictures on NVIDIA H200 and Intel Core i7-1260P"
    assert "Side by side" in page.words


def test_what_a_terminal_would_obey_reaches_no_terminal_and_no_page(tmp_path, capsys):
    evil = "\x1b]0;owned\x07\x1b[31mred\x9b2J\u202e title"
    plan = replace(SMALL, title=evil, note=f"One line,\nand {evil}")
    machine = replace(H200, gpu=evil, cpu=evil)
    for name in ("a", "b"):
        session = a_session(plan, machine)
        with SessionFile.create(tmp_path / name, plan, machine, session.started) as file:
            for record in session.records:
                file.append(record)
    paths = [str(tmp_path / name) for name in ("a", "b")]
    assert main.main(["report", *paths, "--out", str(tmp_path / "out")]) == 0
    assert main.main(["compare", *paths]) == 0
    said = capsys.readouterr()
    written = [path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir()]
    assert "red2J title" in said.out
    for text in (said.out, said.err, *written):
        assert not set("\x1b\x07\x9b\u202e") & set(text)
    assert "One line,\nand" in written[0] or "One line,\nand" in written[1]  # lines still end


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda path: path.mkdir(), "There is no session in "),
        (lambda path: None, "run"),
        (lambda path: path.write_text("nothing of ours\n"), "run"),
        (lambda path: path.write_bytes(b""), "it holds no session"),
        (lambda path: sweep_into(path, first=0), "nothing was measured yet"),
        (
            lambda path: sweep_into(path, outcome=lambda c, m: "No room."),
            "no verified time to report on: No room.",
        ),
    ],
)
def test_what_is_no_session_is_one_sentence(make, complaint, tmp_path, capsys):
    path = tmp_path / "run"
    make(path)
    out = tmp_path / "out"
    assert main.main(["report", str(path), "--out", str(out)]) == 1
    said = capsys.readouterr()
    assert complaint in said.err
    assert said.err.startswith("workbench: ")
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert not out.exists()
