"""Texts that were bettered stay so: none of the worse ones is anywhere in the product."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORSE = (  # parts of sentences, as a user would have read them
    *("Black at", "White at", "Below zero", "Clipped to black", "Offset by half", "Scaled to fit"),
    *("clipped, without their sign", "around grey", "Values below zero"),
    "Pixels of the picture filtered in a second of kernel time",
    "It changes the result as far in as the radius",
    *("This picture, as it is set", "your picture has one size only", "each with every other"),
    *("cycles a pixel", "products a sample", "sample can grow by"),
    *("Even areas", "even areas", "Draw a filter", "Only the middle is left"),
    *("Enter goes down", "None of them lies beyond", "from the exact value", "from its rounding"),
    "May be off by",
    *("makes red of pixel", "makes green of pixel", "In small: the lane", "one turn for all"),
    *("is asked for", "caches have to answer"),
    "Not run yet with these settings",
    *("float64 oracle", "the oracle …", "rounded otherwise"),
    *("Not in sight", "takes 1.1× as long", "transfers left out", "The honest ladder"),
    *("Back to before the point", "Show all, pin none", "Start or cancel sweep"),
    *("Measure the ladder, or cancel", "Pause or resume", "Remember this as a step"),
    *("Forget these", "Like the system", "Start with defaults again", "Forget all choices"),
    *("A folder for the report's folder", "The report is "),
    *("Took over the settings", "so there is no CUDA C++ of it", "The picture was turned upright"),
    "The palette was replaced by",
    *("16-bit samples are rounded to 8 bits", "what is transparent is put on white"),
    *("24 photographs that everybody", "Use a folder I have", "Bars grow with the logarithm"),
    *("Filter and time once more", "Ask the window why", "is said, and the work goes on"),
    *("What was pinned goes with its picture", "Where there is one, and it is not found"),
    "## Where it fails",
    *("Pixels must be", "Pixels a side", "Samples a pixel", "Registers of a thread"),
    *("screen pixels a pixel", "threads a block", "pixels a side"),
    *("a pixel at a time", "a sample each", "a cell each"),
    *("Kernel time", "kernel time", "the kernel's time", ", kernel {}"),
)
TEXTS = ("*.md", "*.toml", "*.j2", "*.svg", "*.xml", "*.desktop")


@pytest.mark.parametrize("worse", WORSE)
def test_a_text_that_was_bettered_is_nowhere(worse):
    found = [place for place, text in surfaces() if worse in text]
    assert found == []


def test_what_was_stopped_is_resumed_and_what_was_not_continues():
    other = re.compile(r"\b(go|goes|gone|went|going) on\b|^Continue$", re.I | re.M)
    found = [(place, match.group()) for place, text in surfaces() if (match := other.search(text))]
    assert found == []


def test_limits_are_called_max_and_min():
    limit = re.compile(r"_?(MOST|LEAST|LONGEST|LARGEST|SMALLEST)_[A-Z_]+")
    found = [
        f"{path.relative_to(ROOT)}: {node.id}"
        for folder in ("workbench", "kernels")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name) and limit.fullmatch(node.id)
    ]
    assert found == []


@cache
def surfaces():
    """Return (place, text) of every text that a user may read, with its lines joined."""
    places = [*_code(), *_written()]
    return tuple((str(path.relative_to(ROOT)), text) for path, text in places)


def _code():
    for folder in ("workbench", "kernels"):
        for path in (ROOT / folder).rglob("*.py"):
            texts = "\n".join(_strings(ast.parse(path.read_text(encoding="utf-8"))))
            yield path, texts.replace("&", "")  # of mnemonics


def _strings(tree):
    """Yield the texts in code, but docstrings; those of an f-string with {} for its values."""
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(each.value) if isinstance(each, ast.Constant) else "{}" for each in node.values
            )
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
        ):
            yield node.value


def _written():
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    files += [path for kind in TEXTS for path in (ROOT / "assets" / "help").rglob(kind)]
    files += [ROOT / "kernels" / "README.md"]
    for path in files:
        yield path, re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
