"""Contents of a library, read from its file: symbols, and DWARF's lines by address.

DWARF is version 4 of the standard, section 6.2 (dwarfstd.org), as g++ has it.  Read here, since
binutils' addr2line does not come with every compiler.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from io import BytesIO
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

HEADER, SECTION = struct.Struct("<16xHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
NOTHING_STORED = 8  # a section that takes no room in the file
OBJECT = 1  # a symbol's kind, of a variable
GLOBAL, FUNCTION_TO_CHOOSE = 1, 10  # a symbol's binding; its kind, where loading it runs code
SPECIAL = 0xFF00  # from there on sections are none
POINTER_BYTES = 8
VERSION = 4  # of DWARF
COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 1, 2, 3, 4, 8
END_SEQUENCE, SET_ADDRESS = 1, 2


class Symbol(NamedTuple):
    """A name that a library defines: its bytes, from the library's begin on, and its section."""

    begin: int
    end: int
    name: str
    binding: int
    kind: int
    place: int


class Row(NamedTuple):
    """Code from `address` on, up to the next row, is of this line; line 0: of nobody's."""

    address: int
    file: str
    line: int


def sections_of(path: Path) -> dict[str, bytes]:
    """The contents of a library's sections, by name."""
    data = path.read_bytes()
    header = HEADER.unpack_from(data)
    start, size, count, names_at = header[5], header[10], header[11], header[12]
    sections = [SECTION.unpack_from(data, start + i * size) for i in range(count)]
    names = data[sections[names_at][4] :]
    return {
        _text(names, name): b"" if kind == NOTHING_STORED else data[begin : begin + size]
        for name, kind, _, _, begin, size, *_ in sections
    }


def symbols_of(library: Path) -> Iterator[Symbol]:
    """Yield the symbols that a library defines, also for itself alone."""
    sections = sections_of(library)
    names = sections.get(".strtab", b"")
    for name, info, _, place, begin, size in SYMBOL.iter_unpack(sections.get(".symtab", b"")):
        if place:
            words = _text(names, name)
            yield Symbol(begin, begin + size, words, info >> 4, info & 15, place)


def variables_of(library: Path) -> list[Symbol]:
    """The arrays and variables of a library that have a place of their own, by address."""
    return sorted(
        each._replace(name=short_name(each.name))
        for each in symbols_of(library)
        if each.kind == OBJECT and each.end > each.begin and each.place < SPECIAL
    )


def why_not_text(library: Path, runtime: Iterable[Path], *, is_watched: bool) -> str | None:
    """Reason not to load a library that was made of a user kernel; None: there is none.

    It would run code as it is loaded, which no GPU does, or take the place of the runtime.

    is_watched  compilers have added code that runs as it is loaded: it cannot be told apart
    """
    sections = sections_of(library)
    symbols = list(symbols_of(library))
    at_first = len(sections.get(".init_array", b"")) > POINTER_BYTES  # one is the compiler's own
    at_first = at_first or any(each.kind == FUNCTION_TO_CHOOSE for each in symbols)
    if not is_watched and (at_first or {".preinit_array", ".ctors"} & sections.keys()):
        return (
            "The text has code that runs as it is loaded, which no GPU does: a constructor, or a "
            "variable outside of all functions whose first value is computed."
        )
    own = {each.name for path in runtime for each in symbols_of(path) if each.binding == GLOBAL}
    taken = sorted(each.name for each in symbols if each.name in own)
    return f"The text defines {taken[0]}, a name of the CPU runtime." if taken else None


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("utf-8", "replace")


def short_name(symbol: str) -> str:
    """The last of the names in a mangled one: "tile" for "_ZZ8convolvevE4tile"."""
    name, at = symbol, 0 if symbol.startswith("_Z") else len(symbol)
    while found := re.compile(r"\d+").search(symbol, at):  # each stands behind its length
        at = found.end() + int(found[0])
        name = symbol[found.end() : at] or name
    return name


class LineTable:
    """The rows of one library, by address."""

    def __init__(self, library: Path) -> None:
        rows = _rows(sections_of(library).get(".debug_line", b""))
        self._rows = sorted(rows, key=attrgetter("address"))

    def at(self, address: int) -> Row | None:
        """The row of an address, counted from the library's begin."""
        place = bisect_right(self._rows, address, key=attrgetter("address"))
        row = self._rows[place - 1] if place else None
        return row if row and row.line else None


class _Reader(BytesIO):
    def number(self, size: int = 1, *, signed: bool = False) -> int:
        return int.from_bytes(self.read(size), "little", signed=signed)

    def leb128(self, *, signed: bool = False) -> int:
        value, bits, byte = 0, 0, 0x80
        while byte & 0x80:
            byte = self.number()
            value |= (byte & 0x7F) << bits
            bits += 7
        return value - (1 << bits) if signed and byte & 0x40 else value

    def text(self) -> str:
        return b"".join(iter(lambda: self.read(1), b"\0")).decode("utf-8", "replace")


def _rows(data: bytes) -> Iterator[Row]:
    while data:
        end = 4 + int.from_bytes(data[:4], "little")
        yield from _rows_of_unit(_Reader(data[4:end]))
        data = data[end:]


def _rows_of_unit(read: _Reader) -> Iterator[Row]:
    if read.number(2) != VERSION:
        return
    header_bytes = read.number(4)
    program = read.tell() + header_bytes
    least = read.number()
    read.read(2)  # operations an instruction, and whether lines begin as statements
    line_base, line_range, first_special = read.number(signed=True), read.number(), read.number()
    lengths = [read.number() for _ in range(first_special - 1)]
    while read.text():  # folders
        pass
    files = [""]
    while name := read.text():
        files.append(name)
        for _ in range(3):
            read.leb128()
    read.seek(program)
    address, file, line = 0, 1, 1
    while code := read.read(1):
        if code[0] >= first_special:
            steps, lines = divmod(code[0] - first_special, line_range)
            address, line = address + steps * least, line + line_base + lines
            yield Row(address, files[file], line)
        elif code[0] == 0:
            behind = read.leb128() + read.tell()
            extended = read.number()
            if extended == END_SEQUENCE:
                yield Row(address, "", 0)
                address, file, line = 0, 1, 1
            elif extended == SET_ADDRESS:
                address = read.number(POINTER_BYTES)
            read.seek(behind)
        elif code[0] == COPY:
            yield Row(address, files[file], line)
        elif code[0] == ADVANCE_PC:
            address += read.leb128() * least
        elif code[0] == ADVANCE_LINE:
            line += read.leb128(signed=True)
        elif code[0] == SET_FILE:
            file = read.leb128()
        elif code[0] == CONST_ADD_PC:
            address += (255 - first_special) // line_range * least
        else:
            for _ in range(lengths[code[0] - 1]):
                read.leb128()
