"""TOML that others wrote: whatever it is, it is read or refused at once."""

import random
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
        f"[{DOTS}]",
        f"[[{DOTS}]]",
        f"x = {{ {DOTS} = 1 }}",
        f"x = [{{ {DOTS} = 1 }}]",
        f'x = """a"""""\n{DOTS} = 1',
        f'x = {{ y = """a"""", {DOTS} = 1 }}',
        f"x = {{ y = '''a'''', {DOTS} = 1 }}",
        f'x = {{ y = "\\"", {DOTS} = 1 }}',
        f"x = {{ y = '\\', {DOTS} = 1 }}",
        f'x = """\\""" {DOTS}"""\n{DOTS} = 1',
        f"x = 1 # '''\n{DOTS} = 1",
        f'"#" = 1\n{DOTS} = 1',
        '""' + '.""' * 50_000 + " = 1",
        "a" + " . a" * 50_000 + " = 1",
        "a" + "\t.\t'b'" * 30_000 + " = 1",
    ],
)
def test_dots_without_end_are_refused_before_they_are_parsed(text, monkeypatch):
    monkeypatch.setattr(tomllib, "loads", lambda _: pytest.fail("it was parsed"))
    with pytest.raises(LimitedTomlError, match=f"^x.toml has a key of more than {MAX_DOTS} dots."):
        parse_toml(text, "x.toml")


@pytest.mark.parametrize(
    "text",
    [
        "x = [0.1, 0.25, 1.5e-3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]",
        'rows = ["0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1", "a.b.c.d.e.f.g.h.i.j.k.l.m"]',
        "x = '''\n0.1 0.1 0.1 0.1 0.1\n0.1 0.1 0.1 0.1 0.1'''\n# a.b.c.d.e.f.g.h.i.j.k.l.m.n",
        'x = """say "0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1" """',
        "a.b.c.d = 1\n[a.e.f]\ng.h = 2026-11-22T10:00:00.5Z",
        "",
    ],
)
def test_what_people_write_is_read(text):
    assert parse_toml(text, "x.toml") == tomllib.loads(text)


def test_where_texts_end_is_where_tomllib_sees_it():
    """Or dots could hide."""
    drawn = random.Random(1)
    pieces = ['"', "'", '"""', "'''", "\\", "#", "\n", "a", " ", "[", "]", ",", "{b="]
    dots, counts = DOTS[:41], {True: 0, False: 0}
    for _ in range(60_000):
        body = "".join(drawn.choices(pieces, k=drawn.randint(1, 7)))
        text = f"x={body}{drawn.choice([',', ' '])}\n{dots}=1{drawn.choice(['', '}'])}"
        text = text.replace(",\n", ",") if "{" in text else text
        try:
            has_dots = depth(tomllib.loads(text)) > MAX_DOTS
        except ValueError:
            continue
        counts[has_dots] += 1
        if has_dots:
            with pytest.raises(LimitedTomlError, match="dots"):
                parse_toml(text, "x.toml")
        else:
            assert parse_toml(text, "x.toml")
    assert min(counts.values()) > 20, counts


def depth(data):
    """How many tables lie in each other."""
    return 1 + max(map(depth, data.values()), default=0) if isinstance(data, dict) else 0


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
