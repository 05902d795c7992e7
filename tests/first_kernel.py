"""The ten steps of assets/help/first-kernel.md as texts: two are whole, the others are changes."""

from __future__ import annotations

import re

from tests.conftest import ROOT

PAGE = ROOT / "assets" / "help" / "first-kernel.md"


def steps() -> dict[int, str]:
    """Return the text of each step, by its number."""
    found: dict[int, str] = {}
    text = ""
    for number, section in enumerate(_sections(), 1):
        for kind, block in re.findall(r"^```(cuda|diff)\n(.*?)^```", section, re.S | re.M):
            text = block if kind == "cuda" else changed(text, block)
        found[number] = text
    return found


def bugs() -> dict[int, str]:
    """Return the sentence that the page shows of a step's bug, by the step's number."""
    found = {}
    for number, section in enumerate(_sections(), 1):
        for block in re.findall(r"^```text\n(.*?)\n```", section, re.S | re.M):
            found[number] = block
    return found


def changed(text: str, difference: str) -> str:
    """Return `text` with lines replaced: those with a minus go, those with a plus come."""
    lines = difference.splitlines()
    before = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
    after = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
    assert text.count(before) == 1, f"is not there once:\n{before}"
    return text.replace(before, after)


def _sections() -> list[str]:
    page = PAGE.read_text(encoding="utf-8")
    found = re.findall(r"^## \d+\. .*?(?=^## )", page, re.S | re.M)
    assert len(found) == 10
    return found
