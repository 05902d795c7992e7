"""Docstrings: the first line is a sentence that can be read without the name above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT

# Rooms that keep the rule.
ROOMS = {
    "kernels": (
        *("core", "filters", "oracle", "cpu", "rungs", "cuda"),
        *("export", "engine", "measuring", "pictures", "sweeps", "anatomy"),
        "cuda_on_cpu",
    ),
    "workbench": (
        "base",
        "widgets",
        "imaging",
        "files",
        "batch",
        "report",
        "cli",
        "model",
        "session",
        "window",
        "charts",
        "panels",
    ),
}
# A function says what it does.
VERBS = """
    Accept Add Adjust Allow Answer Append Apply Ask Begin Bring Build Call Cancel Check Choose
    Clear Close Colour Compare Compile Compose Compute Connect Continue Convert Copy Correlate
    Count Cover Crop Cut Decide Decode Derive Describe Disable Discard Divide Do Download Drag
    Draw Drive Drop Emit Empty Enable Encode End Ensure Enter Explain Export Express Fetch Fill
    Filter Find Finish Fit Fix Fold Forget Format Free Give Go Handle Have Hide Hold Ignore
    Insert Join Keep Launch Lay Lead Leave Let List Load Look Make Map Mark Measure Merge Move
    Name Note Notice Number Offer Open Pack Paint Parse Pass Pause Perform Pin Place Plan Point
    Prepare Press Print Put Queue Raise Read Receive Refuse Register Remember Remove Replace
    Replay Report Reserve Reset Resize Restore Resume Return Round Run Save Say Scale Scroll
    Send Set Settle Shape Share Show Shrink Silence Slide Sort Split Spread Start Step Stop
    Store Style Subtract Sum Summarise Swap Sweep Switch Take Tell Test Time Translate Try Turn
    Update Upload Use Wait Walk Warm Watch Widen Work Wrap Write Yield Zoom
"""
# Documented where Qt declares them, as are all in camelCase.
CALLED_BY_QT = "count event fixup validate"
# A module or a class says what it is, or what it is for.
FRAGMENTS = """
    About Also Among As At Because Behind Beside By For From How If In Into Of On Once Only Or
    Out So Such That Those To What When Where Whether Which Who Whoever Whose Why With Without
"""


def documented(room: str) -> Iterator[tuple[str, ast.AST, str | None, bool]]:
    """Where each definition of a room stands, itself, its docstring, and whether it needs one."""
    for path in sorted((ROOT / room).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield f"{path.relative_to(ROOT)}:1", tree, ast.get_docstring(tree), True
        yield from _inside(tree, f"{path.relative_to(ROOT)}", is_public=True)


def _inside(parent: ast.AST, path: str, *, is_public: bool) -> Iterator[tuple]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            needs = is_public and not node.name.startswith("_")
            mine = node.name == node.name.lower() and node.name not in CALLED_BY_QT.split()
            mine |= isinstance(node, ast.ClassDef)
            yield f"{path}:{node.lineno} {node.name}", node, ast.get_docstring(node), needs and mine
            in_class = isinstance(node, ast.ClassDef)
            yield from _inside(node, path, is_public=needs and in_class)
        else:
            yield from _inside(node, path, is_public=is_public)


def why_not(node: ast.AST, text: str | None, needs: bool) -> str | None:
    """What is wrong with a docstring, or None."""
    if text is None:
        return "has none" if needs else None
    first = text.split("\n", 1)[0]
    word = first.replace(",", " ").replace(":", " ").split()[0].rstrip(".;")
    if not first.endswith("."):
        return f"first line goes on: {first}"
    if "\n" in text and text.split("\n")[1].strip():
        return f"first line is followed by another: {first}"
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    if is_function and word not in VERBS.split():
        return f"does not begin with a verb: {first}"
    if not is_function and (
        word in FRAGMENTS.split() or not (first[0].isupper() or first[0] in "`_")
    ):
        return f"cannot be read alone: {first}"
    return None


@pytest.mark.parametrize(
    "room", [f"{package}/{room}" for package, rooms in ROOMS.items() for room in rooms]
)
def test_every_docstring_begins_with_a_sentence(room):
    wrong = [
        f"{where}: {reason}"
        for where, node, text, needs in documented(room)
        if (reason := why_not(node, text, needs)) is not None
    ]
    assert not wrong, "\n".join(wrong)
