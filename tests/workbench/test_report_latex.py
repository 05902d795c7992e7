"""The report's tables in LaTeX: balanced, whole rows, nothing that it would obey."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.made_sessions import LAPTOP, PLANS, a_session
from workbench.report.latex import escaped
from workbench.report.writing import write_report

# What a pdfLaTeX since 2018 takes as it is: ASCII but what it obeys, and letters of Latin-1 and A.
HARMLESS = re.compile(
    r"(?:\\(?:[{}$&#%_,]|text[a-z]+\{[^{}\\]*\}|ldots\{\}|\((?:\\[a-z]+|-)\\\))"
    r"|\{[\[\]]\}|[^\\{}$&#%_^~<>|\"]|~)*"
)


@given(st.text())
def test_any_text_is_harmless(text):
    assert HARMLESS.fullmatch(escaped(text))
    assert all(ord(each) < 0x180 for each in escaped(text))


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("1024²", r"1024\textsuperscript{2}"),
        ("5×5, σ 2", r"5\(\times\)5, \(\sigma\) 2"),
        ("12.3\u202fµs", r"12.3\,\textmu{}s"),
        ("Göttingen, 50 % & more", r"Göttingen, 50 \% \& more"),
        (r"\input{x_1}", r"\textbackslash{}input\{x\_1\}"),
        ("½ ﬁne", "1/2 fine"),
        ("猫", "(U+732B)"),
    ],
)
def test_what_is_meant_is_kept(text, latex):
    assert escaped(text) == latex


@pytest.fixture(scope="module")
def tex(tmp_path_factory):
    """Everything a report can have: comparison, refusals, transfers, published, folded."""
    odd = replace(PLANS["sizes"], title=r"50 % of {A} & B_1 \end{longtable}")
    sessions = [
        a_session(odd),
        a_session(odd, LAPTOP),
        *map(a_session, ("pays_off", "everything", "sizes_and_kernels")),
    ]
    folder = tmp_path_factory.mktemp("report")
    write_report(sessions, folder)
    return (folder / "tables.tex").read_text(encoding="utf-8")


def test_what_is_begun_is_ended(tex):
    begun = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", re.sub(r"(?m)^%.*$", "", tex)):
        if kind == "begin":
            begun.append(name)
        else:
            assert begun.pop() == name
    assert begun == []
    braces = re.sub(r"\\[{}]", "", re.sub(r"(?m)^%.*$", "", tex))
    depth = 0
    for each in braces:
        depth += (each == "{") - (each == "}")
        assert depth >= 0
    assert depth == 0


def test_every_row_has_as_many_cells_as_there_are_columns(tex):
    found = re.findall(r"\\begin\{longtable\}\{(.*?)\}\n(.*?)\\end\{longtable\}", tex, re.DOTALL)
    assert len(found) >= 8
    for columns, body in found:
        count = len(re.sub(r"p\{[^}]*\}?", "p", columns))
        rows = [line for line in body.splitlines() if " & " in line]
        assert rows
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {count}


def test_labels_are_unique(tex):
    labels = re.findall(r"\\label\{(.*?)\}", tex)
    assert len(labels) == len(set(labels)) >= 8


def test_it_uses_no_package_but_those_it_names(tex):
    commands = set(re.findall(r"\\([a-zA-Z]+)", re.sub(r"(?m)^%.*$", "", tex)))
    assert commands <= {
        *("begin", "end", "caption", "label", "small", "noindent", "textwidth"),
        *("toprule", "midrule", "bottomrule", "addlinespace"),
        *("endfirsthead", "endhead", "endlastfoot"),
        *("textsuperscript", "textsubscript", "textmu", "textdegree", "textbackslash", "times"),
        *("div", "cdot", "sigma", "ldots", "leq", "geq", "approx"),
    }
