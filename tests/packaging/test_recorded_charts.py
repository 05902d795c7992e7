"""The charts of docs/sweeps.md: drawn from recorded sessions, in step with them, in their words."""

import gzip
from xml.etree import ElementTree

import pytest

from kernels.sweeps.session_files import SessionFile
from tests.made_sessions import a_session

SVG = "{http://www.w3.org/2000/svg}"


def description(svg):
    return " ".join((ElementTree.fromstring(svg).findtext(f"{SVG}desc") or "").split())


def test_charts_and_page_are_those_of_the_sessions(script):
    drawn = list(script.figures())
    assert {each.name for each in script.DRAWN.glob("*.svg")} == {name for name, _ in drawn}
    for name, figure in drawn:
        svg = (script.DRAWN / name).read_text(encoding="utf-8")
        assert description(svg) == " ".join(figure.summary.split()), "run `make charts`"
    text = script.PAGE.read_text(encoding="utf-8")
    assert script.with_tables(text, {"charts": script.words(list(script.figures()))}) == text, (
        "run `make charts`"
    )


@pytest.fixture
def elsewhere(script, tmp_path, monkeypatch):
    """The script on a tree of its own, with one session that was made up."""
    for name, path in (
        ("ROOT", tmp_path),
        ("PAGE", tmp_path / "sweeps.md"),
        ("RECORDED", tmp_path / "assets" / "recorded"),
        ("DRAWN", tmp_path / "assets" / "charts"),
    ):
        monkeypatch.setattr(script, name, path)
    script.PAGE.write_text("before\n<!-- charts -->\nold\n<!-- /charts -->\nafter\n")
    script.RECORDED.mkdir(parents=True)
    session = a_session("sizes")
    plain = script.RECORDED / "camerino_image_size.jsonl"
    with SessionFile.create(plain, session.plan, session.machine, session.started) as file:
        for record in session.records:
            file.append(record)
    plain.with_name(f"{plain.name}.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    return script


def test_without_sessions_it_says_so_and_leaves_no_old_chart(elsewhere):
    elsewhere.main()
    for each in elsewhere.RECORDED.iterdir():
        each.unlink()
    elsewhere.main()
    assert elsewhere.NOT_MEASURED in elsewhere.PAGE.read_text(encoding="utf-8")
    assert list(elsewhere.DRAWN.iterdir()) == []
