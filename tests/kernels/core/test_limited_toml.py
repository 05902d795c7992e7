"""TOML that others wrote: whatever it is, it is read or refused at once."""

import tomllib

import pytest

from kernels.core.plain_data import (
    MAX_BYTES,
    MAX_DOTS,
    LimitedTomlError,
    parse_toml,
    text_of_small_file,
)

DOTS = "a" + ".a" * 50_000


@pytest.mark.parametrize(
    "text",
    [
        f"{DOTS} = 1",
        f"[[{DOTS}]]",
        f"x = [{{ {DOTS} = 1 }}]",
        '""' + '.""' * 50_000 + " = 1",
        "a" + "\t.\t'b'" * 30_000 + " = 1",
    ],
)
def test_dots_without_end_are_refused_before_they_are_parsed(text, monkeypatch):
    monkeypatch.setattr(tomllib, "loads", lambda _: pytest.fail("it was parsed"))
    with pytest.raises(LimitedTomlError, match=f"^x.toml has a key of {MAX_DOTS} dots"):
        parse_toml(text, "x.toml")


@pytest.mark.parametrize(
    "text",
    [
        f"x = [{', '.join(['0.25'] * 100)}]",
        "x = '''\n0.1 0.1 0.1 0.1 0.1\n0.1 0.1 0.1 0.1 0.1'''\n# a.b.c.d.e.f.g.h.i.j.k.l.m.n",
        f"x = '{'a' * 300_000}'",
        "a.b.c.d = 1\n[a.e.f]\ng.h = 2026-11-22T10:00:00.5Z",
        "",
    ],
)
def test_what_people_write_is_read(text):
    assert parse_toml(text, "x.toml") == tomllib.loads(text)


@pytest.mark.parametrize(
    "text", ["x", "x = " + "[" * 5000, "x = " + "9" * 5000, "x = '", 'x = """', "x = [" + '"' * 999]
)
def test_what_is_no_toml_is_said_in_a_sentence(text):
    with pytest.raises(LimitedTomlError, match=r"^x.toml is not TOML: [^\n]+\.$"):
        parse_toml(text, "x.toml")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\xef\xbb\xbftitle = 'a'", "title = 'a'"),
        (b"a" * MAX_BYTES, "a" * MAX_BYTES),
        (b"a" * (MAX_BYTES + 1), None),
        (b"a = '\x00'", None),
        (b"\xff\xfe", None),
    ],
)
def test_a_file_is_text_and_small(tmp_path, content, text):
    path = tmp_path / "some.toml"
    path.write_bytes(content)
    assert text_of_small_file(path) == text
