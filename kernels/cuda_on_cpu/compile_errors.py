"""The compiler's complaints, on the lines of the file that its author sees."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kernels.cuda_on_cpu.building import REFUSED, TOO_LONG
from kernels.cuda_on_cpu.compiler import HERE, SYSTEM
from kernels.cuda_on_cpu.device_code import GENERATED
from kernels.rungs.cuda_text import header_parts, hint_for, line_without_end
from kernels.rungs.rung import Rung

PLACE = re.compile(r"<([^<>]*):(\d+)>")
MESSAGE = re.compile(r"^(.*?):(\d+):(?:(\d+):)? (fatal error|[eE]rror|[wW]arning|note): (.*)$")
CAME_FROM = re.compile(
    r"^(?:In file included from |\s+from |)(.*?):(\d+):(?:(\d+):)?\s+required from"
)
LACKING = "The CPU runtime lacks it; a GPU takes it."
# What user_text.h has them say of words that are no CUDA, as a sentence.
IN_WORDS = (
    (re.compile(r'attempt to use poisoned "(?:__)?asm(?:__)?"'), "asm runs on a GPU only"),
    (re.compile(r'attempt to use poisoned "(\w+)"'), r"CUDA's compiler does not take \1"),
    (re.compile(r".*\bCUDA_ATTRIBUTE_(\w+).*"), r"an attribute \1 is not for kernels"),
    (re.compile(r" \[-Werror=[\w-]+\]"), ""),
)
# Of CUDA, and not of the CPU runtime, where no CUDA compiler is there to say so.
OF_CUDA = re.compile(
    r'poisoned "(?:__)?asm(?:__)?"|'
    r"['‘](?:tex\w+|surf\w+|cuda\w+|__[a-z]\w*|cooperative_groups|nvcuda)['’] "
    r"(?:was not declared|has not been declared|does not name)"
)
OWN_NAMES = re.compile(r"\brung_\d+::|\{anonymous\}::|\(anonymous namespace\)::|(?<=\w)_0\b")
# What g++ says of a part of it that a signal has ended, and of itself: the first that fits.
GAVE_UP = (
    (TOO_LONG, "the text takes too long"),
    (
        r"File size limit exceeded.*signal terminated",
        "the text has arrays with values, or __shared__, of more than 128 MiB",
    ),
    (
        r"Killed.*signal terminated|out of memory|virtual memory exhausted",
        "the text needs more memory than it may have",
    ),
    (r"internal compiler error", "the text makes the compiler crash"),
    ("No space left on device", "no space is left on the disk"),
    # The linker: no instruction reaches as far.
    ("relocation truncated to fit", "the text has more than 2 GiB of arrays of fixed size"),
)
INCLUDED = re.compile(r"^(?:In file included |\s+)from (.*?):(\d+)[:,]")
FOREIGN = "a file that is not the kernel's own is included, or one that is not there"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One complaint of the compiler.

    file          the rung's own file as a rule; "prelude.cuh" or a header where it is about those
    line, column  counted from 1; column 0: not known
    is_error      else a warning
    """

    file: str
    line: int
    column: int
    is_error: bool
    text: str


def diagnostics_of(log: str, rung: Rung) -> tuple[Diagnostic, ...]:
    """Parse a compiler's log, each error on the rung's own line wherever there is one.

    An error in a file that is neither the rung's, ours nor the system's is not shown: it would
    quote it.
    """
    known = {rung.file, GENERATED, *(each.name for each in header_parts(rung.includes))}
    included = 0  # the line of the rung's file that includes what is complained of
    found: list[Diagnostic] = []
    own: tuple[int, int] | None = None  # that an error in a header was reached from
    for text in log.splitlines():
        if (from_there := CAME_FROM.match(text)) and from_there[1] == rung.file:
            own = own or (int(from_there[2]), int(from_there[3] or 0))
        if (inside := INCLUDED.match(text)) and inside[1] == rung.file:
            included = int(inside[2])
        if not (told := MESSAGE.match(text)) or told[4] == "note":
            continue
        file, line, column = told[1], int(told[2]), int(told[3] or 0)
        if file not in known and not _is_of_system(file):
            found.append(Diagnostic(rung.file, included or 1, 0, True, FOREIGN))
            continue
        if file != rung.file and own is not None:
            file, (line, column) = rung.file, own
        elif file == GENERATED:
            file, line, column = rung.file, rung.source.rstrip().count("\n") + 1, 0
        words = told[5]
        for pattern, plain in IN_WORDS:
            words = pattern.sub(plain, words)
        words = OWN_NAMES.sub("", words)
        if file == rung.file and (meant := line_without_end(rung.source, line, words)) != line:
            line, column = meant, 0
        found.append(Diagnostic(file, line, column, told[4].lower() != "warning", words))
        own = None
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=64)
def _is_of_system(file: str) -> bool:
    if file.startswith("<"):  # "<built-in>"
        return True
    return any(Path(file).resolve().is_relative_to(each) for each in (*SYSTEM, HERE))


def with_lacking(log: str, *, is_taken: bool) -> str:
    """Add LACKING to a log where CUDA takes what the CPU runtime does not.

    is_taken  whether CUDA's compiler was asked, and takes the text
    """
    gave_up = log.startswith(REFUSED) or any(re.search(died, log) for died, _ in GAVE_UP)
    is_lacking = not gave_up and (is_taken or OF_CUDA.search(log))
    return f"{log}\n{LACKING}" if is_lacking else log


def first_error(log: str, rung: Rung) -> tuple[str, int | None]:
    """The sentence for a source that does not compile, and the line of the rung's file."""
    if log.startswith(REFUSED):
        return log.removeprefix(REFUSED), None
    for died, what in GAVE_UP:
        if re.search(died, log):
            return f"The compiler gave up: {what}.", None
    found = [each for each in diagnostics_of(log, rung) if each.is_error]
    if not found:
        return "The compiler refused the text without saying why.", None
    first = next((each for each in found if each.file == rung.file), found[0])
    end = "" if first.text.endswith(("?", "!", ".")) else "."  # some are questions
    words = f"{first.text}{end} {hint_for(first.text)}".rstrip()
    words += f" {LACKING}" if LACKING in log else ""
    if first.file == rung.file:
        return f"Line {first.line}: {words}", first.line
    return f"{first.file}, line {first.line}: {words}", None


def with_line(message: str, file: str) -> tuple[str, int | None]:
    """Word the places in a message of the runtime; return it, and the first line in `file`.

    "<test.cu:7>: 3 of the ..." begins with "Line 7: 3 of the ..." then.
    """
    lines = [int(line) for name, line in PLACE.findall(message) if name == file]

    def in_words(found: re.Match[str]) -> str:
        word = "Line" if found.start() == 0 else "line"
        return f"{word} {found[2]}" if found[1] == file else f"{found[1]}, line {found[2]}"

    return PLACE.sub(in_words, message), lines[0] if lines else None
