"""What a library is made of, read from its file: the format ELF, as Linux has it on x86-64."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

HEADER, SECTION = struct.Struct("<16xHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
NOTHING_STORED = 8  # a section that takes no room in the file
OBJECT = 1  # a symbol's kind, of a variable
GLOBAL, FUNCTION_TO_CHOOSE = 1, 10  # a symbol's binding; its kind, where loading it runs code
POINTER_BYTES = 8


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name that a library defines: the number of its section, and its bytes in memory."""

    name: str
    binding: int
    kind: int
    place: int
    begin: int
    size: int


def sections_of(path: Path) -> dict[str, bytes]:
    """Return the contents of a library's sections, by name."""
    data = path.read_bytes()
    header = HEADER.unpack_from(data)
    start, size, count, names_at = header[5], header[10], header[11], header[12]
    sections = [SECTION.unpack_from(data, start + i * size) for i in range(count)]
    names = data[sections[names_at][4] :]
    return {
        _text(names, each[0]): b""
        if each[1] == NOTHING_STORED
        else data[each[4] : each[4] + each[5]]
        for each in sections
    }


def symbols_of(sections: dict[str, bytes]) -> Iterator[Symbol]:
    """Yield what a library defines, also for itself alone."""
    names = sections.get(".strtab", b"")
    for name, info, _, place, begin, size in SYMBOL.iter_unpack(sections.get(".symtab", b"")):
        if place:
            yield Symbol(_text(names, name), info >> 4, info & 15, place, begin, size)


def why_not_text(library: Path, runtime: Iterable[Path], *, is_watched: bool) -> str | None:
    """Reason not to load a library that was made of a user kernel; None: there is none.

    It would run code as it is loaded, which no GPU does, or take the place of what watches it.

    is_watched  compilers have added code that runs as it is loaded: it cannot be told apart
    """
    sections = sections_of(library)
    symbols = list(symbols_of(sections))
    at_first = len(sections.get(".init_array", b"")) > POINTER_BYTES  # one is the compiler's own
    at_first = at_first or any(each.kind == FUNCTION_TO_CHOOSE for each in symbols)
    if not is_watched and (at_first or {".preinit_array", ".ctors"} & sections.keys()):
        return (
            "The text has code that runs as it is loaded, which no GPU does: a constructor, or a "
            "variable outside of all functions whose first value is computed."
        )
    own = {
        each.name
        for path in runtime
        for each in symbols_of(sections_of(path))
        if each.binding == GLOBAL
    }
    taken = sorted(each.name for each in symbols if each.name in own)
    return f"The text defines {taken[0]}, a name of the CPU runtime." if taken else None


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("utf-8", "replace")
