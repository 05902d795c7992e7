"""Constants stand together: two blank lines part what is defined, not the lines of one list."""

import ast
from itertools import pairwise

from tests.conftest import ROOT

FOLDERS = ("kernels", "workbench", "tests", "packaging")


def parted(text):
    """Yield the number of each line behind which two blank ones part a constant from the next."""
    lines, body = text.split("\n"), ast.parse(text).body
    for one, next_one in pairwise(body):
        between = lines[one.end_lineno : next_one.lineno - 1]
        are_constants = all(isinstance(x, ast.Assign | ast.AnnAssign) for x in (one, next_one))
        if are_constants and ("", "") in pairwise(between):
            yield one.end_lineno


def test_constants_are_not_parted_like_functions():
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in paths
        for line in parted(path.read_text(encoding="utf-8"))
    ]
    assert not found, found
