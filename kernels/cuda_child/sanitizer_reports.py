"""The reports that compute-sanitizer prints, as data.

Their form is that of NVIDIA's "Compute Sanitizer" documentation: each begins with "========= " and
a headline, and goes on in lines that are indented.  An older form of places, "at 0x160 in
mine.cu:6:convolve", is read as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kernels.cuda.listings import Place

Kind = Literal["outside", "misaligned", "race", "barrier", "uninitialised", "other"]
Thread = tuple[int, int]

LINE = re.compile(r"^ ?=========(.*)$", re.MULTILINE)
ACCESS = re.compile(
    r"(?:Potential i|I)nvalid (?:__(\w+)__ )?(\w+).* of size ([\d,]+)|"
    r"(Uninitialized) (?:__(\w+)__ )?.*read of size ([\d,]+)"
)
HAZARD = re.compile(
    r"Potential (\w+) hazard detected at __shared__ 0x([\da-f]+) in block (\(.*?\))"
)
ADDRESS = re.compile(r"(?:Address|Access to) 0x([\da-f]+)(.*)")
TUPLE = r"\((\d+), ?(\d+), ?\d+\)"
BY = re.compile(rf"by thread {TUPLE} in block {TUPLE}")
RACING = re.compile(rf"(Read|Write) Thread {TUPLE} at ")
PLACE = re.compile(r"\bin (.+?):(\d+)(?=[:\s]|$)")
# Headlines that are no report: of the run as a whole, and of what followed from a report.
NO_REPORT = re.compile(
    r"COMPUTE-SANITIZER|\w+ SUMMARY|Program hit|Error: process didn't terminate|"
    r"Target application returned|.*Warning: "
)
OF_THE_TOOL = re.compile(r"Internal Sanitizer Error|Error: |Unable to |.*not supported")


@dataclass(frozen=True, slots=True)
class Access:
    """One of two accesses that race.

    places  of the access, and then of the calls that led there
    """

    is_store: bool
    thread: Thread
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """One report.

    headline  as it was printed
    space     of the address: "global", "shared" or "local"
    thread, block  x then y; None: not told
    is_store  of an access
    size      of it, in bytes; 0: not told
    earlier   where it is a race: the access that came first
    """

    kind: Kind
    headline: str
    places: tuple[Place, ...] = ()
    thread: Thread | None = None
    block: Thread | None = None
    space: str = ""
    is_store: bool = False
    size: int = 0
    address: int = 0
    earlier: Access | None = None


def reports_of(printed: str) -> tuple[Report, ...]:
    """Return all reports, in the order in which they were printed."""
    found = (_report(each) for each in _paragraphs(printed))
    return tuple(each for each in found if each is not None)


def is_complete(printed: str) -> bool:
    """Return whether it came to its end, and so has reported all that there is."""
    return re.search(r"^ ?========= \w+ SUMMARY", printed, re.MULTILINE) is not None


def complaint_of(printed: str) -> str:
    """Return in its own words why it could not do its work; empty: it does not say."""
    headlines = [lines[0] for lines in _paragraphs(printed)]
    said = [each for each in headlines if OF_THE_TOOL.match(each) and not HAZARD.search(each)]
    if said:
        return said[-1]
    return next((line.strip() for line in reversed(printed.splitlines()) if line.strip("= ")), "")


def _paragraphs(printed: str) -> Iterator[list[str]]:
    """Yield a headline and the lines that belong to it, without what they begin with."""
    lines: list[str] = []
    for found in LINE.finditer(printed):
        words = found[1].rstrip()
        is_more = words.startswith("     ")
        if lines and not is_more:
            yield lines
            lines = []
        if words.strip() and (is_more <= bool(lines)):
            lines.append(words.strip())
    if lines:
        yield lines


def _report(lines: list[str]) -> Report | None:
    headline, *more = lines
    if hazard := HAZARD.search(headline):
        return _race(hazard, headline, more)
    if NO_REPORT.match(headline) or OF_THE_TOOL.match(headline):
        return None
    places = tuple(_places(more))
    thread = block = None
    if by := next(filter(None, map(BY.search, more)), None):
        thread, block = (int(by[1]), int(by[2])), (int(by[3]), int(by[4]))
    address = next(filter(None, map(ADDRESS.search, more)), None)
    where = int(address[1], 16) if address else 0
    if headline.startswith("Barrier error"):
        return Report("barrier", headline, places, thread, block)
    if not (access := ACCESS.match(headline)):
        return Report("other", headline, places, thread, block) if by or places else None
    kind: Kind = "misaligned" if address and "misaligned" in address[2] else "outside"
    return Report(
        "uninitialised" if access[4] else kind,
        headline,
        places,
        thread,
        block,
        access[1] or access[5] or "",
        is_store=bool(access[2]) and access[2] != "read",
        size=int((access[3] or access[6]).replace(",", "")),
        address=where,
    )


def _race(hazard: re.Match[str], headline: str, more: list[str]) -> Report | None:
    accesses = [
        Access(found[1] == "Write", (int(found[2]), int(found[3])), tuple(_places([line])))
        for line in more
        if (found := RACING.match(line))
    ]
    block = re.match(TUPLE, hazard[3])
    if len(accesses) != 2 or block is None:
        return None
    earlier, later = accesses
    return Report(
        "race",
        headline,
        later.places,
        later.thread,
        (int(block[1]), int(block[2])),
        "shared",
        is_store=later.is_store,
        address=int(hazard[2], 16),
        earlier=earlier,
    )


def _places(lines: list[str]) -> Iterator[Place]:
    for line in lines:
        if line.startswith("Saved host"):
            return
        is_one = line.startswith(("at ", "Device Frame")) or RACING.match(line)
        if is_one and (found := PLACE.search(line)):
            yield Place(re.split(r"[/\\]", found[1])[-1], int(found[2]))
