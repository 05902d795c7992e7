"""User kernels as rungs: a `.cu` file of any name, or text that no file holds yet.

It is written like the ladder's, behind the same prelude.  The header may be left out, or fields of
it: then it is called by its file's name, its function is `convolve`, and it finds the weights in
`__constant__ float WEIGHTS[KSIZE * KSIZE]`, or without a word on weights does what the job asks.

More is checked than in a file of the ladder: a wrong argument would be read as another one, and a
tolerance of its own would make every output right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path

from kernels.core.job import Job
from kernels.rungs import headers
from kernels.rungs.cuda_text import kernels_in, line_at, parameters_of, refused, without_comments
from kernels.rungs.headers import BEGIN, END, PASSES, SMALLEST, Header, header_of, knobs, refusal
from kernels.rungs.operands import FORMS, example_of
from kernels.rungs.rung import OF_WEIGHTS, PICTURE, TAPS, Pass, Rung, ladder, rung_of

SUFFIX = ".cu"
MAX_BYTES = 256 << 10  # the longest of the ladder's has 15 KiB
IDEA = "A kernel of your own."
NUMBERS = ("height", "width", "pitch", "first_row", "end_row")
OF_TOLERANCE = ("chain_length", "error_factor")
HEADER_LINE = re.compile(rf"^{re.escape(BEGIN)}[ \t]*$", re.M)
# The size of a number, by a word of its type.
NUMBER_BYTES = {"char": 1, "uint8": 1, "short": 2, "uint16": 2, "float16": 2, "float": 4, "int": 4}
Requirement = tuple[headers.Expression, headers.Template]  # a field of Rung's
NOT_AN_INT = re.compile(r"\b(?:float|double|long|short|char|bool|size_t|sample)\b|[*\[&]")


def is_own(key: str) -> bool:
    """Return True if an implementation of that key is a user kernel, not a rung of the ladder."""
    return key.lower().endswith(SUFFIX)


def text_hash(text: str) -> str:
    """SHA-256 of a kernel's text, in hex."""
    return sha256(text.encode()).hexdigest()


def read_own_kernel(path: Path, *, is_strict: bool = False) -> Rung:
    """Read a file, as `own_kernel`; HeaderErrors have its name and the line."""
    if not is_own(path.name):
        raise refusal(path.name, f"a kernel's file ends with {SUFFIX}")
    return own_kernel(path.name, text_in(path), is_strict=is_strict)


def text_in(path: Path) -> str:
    """Read a file's text.  Raises HeaderError, with its name and the line, where it is none."""
    name = path.name
    if path.exists() and not path.is_file():
        raise refusal(name, "it is not a file that can be read")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(data) <= MAX_BYTES:  # else its last letter may be cut
            line = data.count(b"\n", 0, error.start) + 1
            raise refusal(name, "it is not UTF-8 text", line) from error
        text = ""
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", "no file can have that name")
        raise refusal(name, f"it cannot be read: {why}") from error
    _refuse_no_text(name, text, len(data))
    return text


def _refuse_no_text(name: str, text: str, length: int) -> None:
    if length > MAX_BYTES:
        raise refusal(name, f"it is too long; a kernel's file has up to {MAX_BYTES >> 10} KiB")
    if strange := re.search(r"[\0\ud800-\udfff]", text):
        raise refusal(name, "it is not text", line_at(text, strange.start()))


def own_kernel(name: str, text: str, *, is_strict: bool = False) -> Rung:
    """Make a rung of a text that is, or will be, in a file called `name`, which is its key.

    is_strict  hide from the text that it runs on the CPU, and hold it to plain float32 arithmetic

    No key of the ladder ends with .cu, so that shared.cu and shared are two.
    Raises HeaderError as `read_own_kernel`.
    """
    _refuse_no_text(name, text, len(text))
    if not text.strip():
        raise refusal(name, "it is empty")
    source = text.replace("\r\n", "\n").replace("\r", "\n")
    header = _header(name, source)
    title = re.sub(r"[_\s-]+", " ", Path(name).stem).strip()
    code = without_comments(source)
    has_weights = "weights" in header.fields or re.search("weights", code, re.IGNORECASE)
    does = header.fields.get("filter", "weights" if has_weights else "any")
    form = "constant" if does in OF_WEIGHTS else "none"
    usual = {"title": title[:1].upper() + title[1:] or name, "idea": IDEA, "weights": form}
    usual["filter"] = does
    header = replace(header, fields={**usual, **header.fields})
    _refuse_a_tolerance(header)
    form = header.fields["weights"]
    macros = {*knobs(SMALLEST), *(example_of(form).knobs if form in FORMS else ())}
    if found := refused(source, macros, is_strict=is_strict):
        line, reason = found
        raise refusal(name, reason, line)
    if PASSES not in header.fields:
        _refuse_another_name(name, code)
    rung = rung_of(name, header, source)
    if is_strict:  # plain float32 arithmetic
        rung = replace(rung, is_strict=True, chain_length=TAPS, error_factor=1.0)
    _check_constants(rung, header)
    functions = (_required(rung, each, code) for each in rung.passes if not each.library)
    return replace(rung, requires=(*rung.requires, *chain.from_iterable(functions)))


def _header(name: str, source: str) -> Header:
    found = HEADER_LINE.search(source)
    if not found:
        return Header(name, (), {})
    if found.start():
        what = "the header must be the first thing in the file"
        raise refusal(name, what, line_at(source, found.start()))
    return header_of(name, source)


def _refuse_a_tolerance(header: Header) -> None:
    """Refuse one of its own: it has the plain kernel's, or that of the rung named in `after`."""
    chosen = [field for field in OF_TOLERANCE if field in header.fields]
    name = header.fields.get("after")
    after = next((each for each in ladder() if each.key == name), None) if chosen else None
    for field in chosen:
        if header.fields[field] != getattr(after, field, None):
            raise header.error(
                f"{field} says how far an output may be off, which a kernel of your own cannot "
                "choose; leave it out, or copy it from the rung that is named in after",
                field,
            )


def _refuse_another_name(name: str, code: str) -> None:
    found = kernels_in(code)
    if not found:
        what = 'write one that begins with extern "C" __global__ void convolve('
        raise refusal(name, f"there is no kernel in it; {what}")
    if "convolve" not in found:
        other, line = next(iter(found.items()))
        what = (
            f"the kernel must be called convolve, not {other}; rename it, or say "
            f'function = "{other}" below [[passes]] in the header'
        )
        raise refusal(name, what, line)


def _check_constants(rung: Rung, header: Header) -> None:
    """Raise HeaderError where nothing takes the weights in the form that the header says."""
    code = without_comments(rung.headers + rung.source)
    for name, values in example_of(rung.weights).constants.items():
        if re.search(rf"__constant__(?:(?!__constant__)[^;])*?\b{name}\b", code):
            continue
        size = "KSIZE * KSIZE" if values.ndim > 1 else "…"
        what = f"come in __constant__ float {name}[{size}], which is declared nowhere"
        if header.lines:
            raise header.error(f"weights = {rung.weights!r} {what}", "weights")
        raise refusal(
            rung.file,
            "without a header a kernel finds the weights in __constant__ float "
            "WEIGHTS[KSIZE * KSIZE]; declare that above it, or begin the file with three lines, "
            f'{BEGIN} and weights = "global" and {END}, and take const float* weights after dst',
        )


def _required(rung: Rung, each: Pass, code: str) -> Iterator[Requirement]:
    """Yield what the function requires of the samples that it is to load and store.

    Raises HeaderError where a launch would pass other arguments than it takes.
    """
    found = parameters_of(each.function, code)
    if found is None:  # in a header of the ladder's, or a macro's
        return
    line, parameters = found
    names = tuple(_names(rung, each))
    if not re.search(r'\bextern\s+"C"', code):
        what = 'is found by its name, which C++ changes; write extern "C" before __global__'
        raise refusal(rung.file, f"{each.function} {what}", line)
    if len(parameters) != len(names):
        count = f"{len(parameters)} argument{'s' if len(parameters) != 1 else ''}"
        what = f"takes {count} and is given {len(names)}: {', '.join(names)}"
        raise refusal(rung.file, f"{each.function} {what}", line)
    for at, ((text, line), name) in enumerate(zip(parameters, names, strict=True), 1):
        is_number, is_pointer = name in NUMBERS, "*" in text or "[" in text
        if NOT_AN_INT.search(text) if is_number else not is_pointer:
            kind = "an int" if is_number else "a pointer"
            what = f"argument {at} of {each.function}, {name}, is {kind}, not {text}"
            raise refusal(rung.file, what, line)
        kind = next((word for word in NUMBER_BYTES if re.search(rf"\b{word}\b", text)), "")
        if kind and name in ("src", "dst"):
            what = f"Argument {at} of {each.function}, {name}, is a pointer to {kind}"
            what += ", and the picture's samples are {SAMPLE}: write sample."
            size = headers.Expression(f"SAMPLE_BYTES == {NUMBER_BYTES[kind]}")
            yield size, headers.Template(what)


def _names(rung: Rung, each: Pass) -> Iterator[str]:
    yield from ("src" if name == PICTURE else name for name in (each.reads, *each.also_reads))
    yield "dst" if each.writes == PICTURE else each.writes
    given = example_of(rung.weights).arguments
    yield from ("weights" if len(given) == 1 else f"weights {n}" for n in range(1, len(given) + 1))
    yield from NUMBERS


PLAIN = Path(__file__).with_name("plain_kernel.cu")
PASS = "[[passes]]"
STATEMENT = re.compile(r"\n(?=[\w.]+\s*=|\[|#)")  # before each: its value may go on in other lines
# Fields that are said anew, and those that the ladder's tests prove of a rung's text, but not of a
# changed one.
LEFT_OUT = ("title", "idea", "after", "loads", "stores", "flops", "anatomy", "layout")


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """A text to begin with."""

    key: str  # of the rung, or of its own; empty for the plain kernel
    title: str
    stem: str  # of a name for its file
    text: str
    tip: str = "Right for the chosen filter, and as plain as can be"
    filter: str = ""  # the key of the one that it is a whole kernel of


def starting_points() -> tuple[StartingPoint, ...]:
    """The plain kernel, whole ones of other filters, and every rung as something to change."""
    plain = StartingPoint("", "Plain kernel", "my_kernel", PLAIN.read_text(encoding="utf-8"))
    return (plain, *map(_whole, sorted(PLAIN.parent.glob("my_*.cu"))), *map(changing, ladder()))


def plainest(job: Job | None) -> StartingPoint:
    """The first that is right for what a job asks for: without weights, not the plain kernel."""
    found = starting_points()
    if job is None:
        return found[0]
    rungs = {each.key: each for each in ladder()}
    for each in found:
        rung = rungs.get(each.key) or own_kernel(f"{each.stem}{SUFFIX}", each.text)
        if rung.why_never(job) is None:
            return each
    return found[0]


def _whole(path: Path) -> StartingPoint:
    text = path.read_text(encoding="utf-8")
    said = header_of(path.name, text).fields
    return StartingPoint(path.stem, said["title"], path.stem, text, said["idea"], said["filter"])


def changing(rung: Rung) -> StartingPoint:
    """`rung`'s text with a header of its own, to change one thing about."""
    header, _, body = rung.source.removeprefix(BEGIN).partition(END)
    kept: list[str] = []
    for each in STATEMENT.split(header.strip("\n")):
        name = re.match(r"\w+", each)
        if name is None or name[0] not in LEFT_OUT:
            kept.append(each.rstrip())
            continue
        while kept and kept[-1].startswith("#"):  # which tells of what is left out
            kept.pop()
    if kept.count(PASS) == 1 and kept[-1] == PASS:  # a pass that is as one is anyway
        kept.pop()
    lines = [
        f'title   = "{rung.title}, changed"',
        f'idea    = "What is different from {rung.key}, in one sentence."',
        f'after   = "{rung.key}"',
        *(f"\n{each}" if each.startswith("[") else each for each in kept),
    ]
    text = "\n".join((BEGIN, *lines, END)) + body
    return StartingPoint(rung.key, rung.title, f"my_{rung.key}", text, rung.key)
