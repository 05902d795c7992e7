"""The report's tables in LaTeX: balanced, whole rows, nothing that it would obey."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.made_sessions import LAPTOP, PLANS, a_session
from tests.workbench.report.written import tables_of
from workbench.report.writing import escaped

# What a pdfLaTeX since 2018 takes as it is: ASCII but what it obeys, and letters of Latin-1 and A.
HARMLESS = re.compile(
    r"(?:\\(?:[{}$&#%_,]|text[a-z]+\{[^{}\\]*\}|allowbreak\{\}|ldots\{\}|\((?:\\[a-z]+|-)\\\))"
    r"|\{[\[\]]\}|[^\\{}$&#%_^~<>|\"]|~)*"
)


@settings(max_examples=50)
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
def tex():
    """What a report can have: comparison, refusals, transfers, published."""
    odd = replace(PLANS["sizes"], title=r"50 % of {A} & B_1 \end{longtable}")
    sessions = [
        a_session(odd),
        a_session(odd, LAPTOP),
        *map(a_session, ("pays_off", "sizes_and_kernels")),
    ]
    return tables_of(sessions)


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
    found = re.findall(r"\\begin\{longtable\}\{(.*)\}\n([\s\S]*?)\\end\{longtable\}", tex)
    assert len(found) >= 8
    for columns, body in found:
        rows = [line for line in body.splitlines() if " & " in line]
        assert rows
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {columns.count("p{")}


# ---------------------------------------------------------------------------- in a real LaTeX

LATEX = shutil.which("pdflatex")
DOCUMENT = r"""\documentclass[{size}]{{article}}
\usepackage[a4paper,margin={margin}]{{geometry}}
\usepackage{{{packages}}}
\begin{{document}}
Before.
\input{{tables}}
After.
\end{{document}}
"""


def compiled(tex, folder, size="10pt", margin="2.5cm"):
    """What pdfLaTeX says of the tables in a document with the packages that they name."""
    (packages,) = re.findall(r"(?m)^%.*\\usepackage\{(.*)\}$", tex)
    (folder / "tables.tex").write_text(tex, encoding="utf-8")
    document = DOCUMENT.format(size=size, margin=margin, packages=packages)
    (folder / "document.tex").write_text(document, encoding="utf-8")
    command = [LATEX, "-draftmode", "-interaction=nonstopmode", "document.tex"]
    ended = subprocess.run(
        command, cwd=folder, capture_output=True, timeout=300, stdin=subprocess.DEVNULL
    )
    log = (folder / "document.log").read_text(encoding="latin-1")
    assert ended.returncode == 0, "\n".join(re.findall(r"(?m)^!.*", log))
    return log


def too_wide_pt(log):
    """By how many points each line is too long that is."""
    return [float(each) for each in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]


@pytest.mark.nightly
@pytest.mark.skipif(not LATEX, reason="needs pdflatex (texlive-latex-recommended)")
@pytest.mark.parametrize(("size", "margin"), [("10pt", "2cm"), ("12pt", "2.5cm")])
def test_every_table_fits_an_a4_page(tex, tmp_path, size, margin):
    assert max(too_wide_pt(compiled(tex, tmp_path, size, margin)), default=0) < 1


@pytest.mark.nightly
@pytest.mark.skipif(not LATEX, reason="needs pdflatex (texlive-latex-recommended)")
@pytest.mark.parametrize("name", [*PLANS, "recorded"])
def test_each_plan_s_tables_fit(name, tmp_path):
    recorded = replace(a_session("sizes"), is_shipped=True)
    tex = tables_of([recorded if name == "recorded" else a_session(name)])
    assert max(too_wide_pt(compiled(tex, tmp_path)), default=0) < 1
