"""Writes the tables of kernels/README.md between their markers: `make tables`.

The text comes from the rungs' own headers, what they ask for from the model of their work (see
`kernels.rungs.work`), registers from NVIDIA's compilers, and times from what `workbench bench
kernels --peers --json assets/measured/ladder.json` left.  Without the compilers the registers stay
as they were; without the times the tables say so.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from kernels import filters
from kernels.core.job import Job
from kernels.cuda import nvrtc
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import Rung, ladder
from kernels.rungs.work import Work, work_of
from workbench.base.columns import table, with_tables, wrapped

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "kernels" / "README.md"
MEASURED = ROOT / "assets" / "measured" / "ladder.json"
REGISTERS = ROOT / "assets" / "measured" / "registers.json"
COUNTERS = ROOT / "assets" / "measured" / "counters.json"  # of packaging/counters.py

ARCHITECTURES = (61, 75, 80, 86, 89, 90, 120)
SHOWN = 90  # in the table of the ladder
MAX_SHARED_BYTES = 232_448  # of a block on an H200
# What a rung is compiled for: the first of these that it takes.
FILTERS, KSIZES, SIDES = ("gaussian", "unsharp", "box"), (7, 5, 3, 15, 31), (512, 64)
PIXEL_TYPES = ("float32", "uint8")
FILTERS_FOR = {"low_rank": ("unsharp",)}  # by the form of the weights
LARGE_WEIGHTS = ("bands", "thin_bands", "spectrum", "spectrum_and_roots")  # forms made for them
# What the table of work is worked out for: likewise, on a device like the one that was measured.
WORK_KSIZES, WORK_SIDES, MULTIPROCESSORS = (7, 5), (2048, 64), 132
# The ladder's times are of this cell, or of the first one in which a rung ran.
HOME = {"weights": "gaussian", "pixel_type": "float32", "channels": 1, "width": 8192, "ksize": 7}
# Shares of what the hardware can do, by their names in COUNTERS, as the table's head has them.
COUNTED = {
    "issue": "issue slots",
    "fma": "FMA",
    "alu": "ALU",
    "tensor": "tensor",
    "l1": "L1",
    "l2": "L2",
    "dram": "DRAM",
}
NOT_MEASURED = "*Not measured yet: see `workbench bench kernels --json`.*"
NOTHING = "—"

Data = dict[str, Any]


# ---------------------------------------------------------------------------- registers


def usual_job(rung: Rung) -> Job | None:
    """What `rung` is compiled for in the table: mostly a 7×7 Gaussian blur of grey float32."""
    ksizes = (31, *KSIZES) if rung.weights in LARGE_WEIGHTS else KSIZES
    return _first_job(rung, FILTERS_FOR.get(rung.weights, FILTERS), ksizes, SIDES)


def _first_job(
    rung: Rung, names: Sequence[str], ksizes: Sequence[int], sides: Sequence[int]
) -> Job | None:
    """Of grey pictures in 32×8 blocks, the first that `rung` takes; None: none of them."""
    for pixel_type, ksize, name, side in product(PIXEL_TYPES, ksizes, names, sides):
        chosen, picture = filters.get(name), np.zeros((side, side, 1), pixel_type)
        weights = chosen.weights(ksize)
        job = Job(picture, weights, "clamp", rung.key, (32, 8), chosen.title, rung.gradient)
        if rung.why_not_anywhere(job) is None and _shared(rung, job) <= MAX_SHARED_BYTES:
            return job
    return None


def applies(rung: Rung, architecture: int) -> bool:
    """Whether there is a card of this architecture that should run `rung`."""
    return divmod(architecture, 10) >= rung.capability


def resources_of(rung: Rung, architecture: int) -> list[Data]:
    """What each function takes, with the shared memory that its launch asks for."""
    job = usual_job(rung)
    if job is None:
        return []
    dynamic = {each.function: Facts(job).value(each.shared_bytes) for each in rung.passes}
    return [
        {
            "function": each.function,
            "registers": each.registers,
            "spill_bytes": each.spill_bytes,
            "shared_bytes": each.shared_bytes + dynamic.get(each.function, 0),
        }
        for each in nvrtc.compile_rung(rung, job, architecture).resources
    ]


def compiler_versions() -> dict[str, str]:
    """By architecture, which compiler is here for it."""
    found = ((each, nvrtc.compiler_for(each)) for each in ARCHITECTURES)
    return {str(each): "{}.{}".format(*compiler.version) for each, compiler in found if compiler}


def measure_registers() -> Data:
    """Compile all rungs for all architectures; takes a minute."""
    return {
        "compilers": compiler_versions(),
        "rungs": {
            rung.key: {
                "job": _in_words(rung, usual_job(rung)),
                "architectures": {
                    str(each): resources_of(rung, each)
                    for each in ARCHITECTURES
                    if applies(rung, each)
                },
            }
            for rung in ladder()
        },
    }


def _shared(rung: Rung, job: Job) -> int:
    return max(Facts(job).value(each.shared_bytes) for each in rung.passes)


def _in_words(rung: Rung, job: Job | None) -> str:
    if job is None:
        return NOTHING
    x, y = job.block_xy
    words = f"{job.filter_title} {job.ksize}×{job.ksize}"
    if job.pixel_type != PIXEL_TYPES[0]:
        words += f" of {job.pixel_type}"
    return words if rung.own_block else f"{words}, {x}×{y}"


# ---------------------------------------------------------------------------- tables


def tables(
    measured: Data | None, registers: Data | None, counted: Data | None = None
) -> dict[str, str]:
    """Each table by the name in its markers."""
    cells = (measured or {}).get("cells", [])
    return {
        "ladder": ladder_table(cells, registers or {}),
        "registers": registers_table(registers or {}),
        "work": work_table(),
        "sizes": "\n\n".join(size_tables(cells)) or NOT_MEASURED,
        "peers": peers_table(cells) if cells else NOT_MEASURED,
        "bench": bench_words(measured) if measured else NOT_MEASURED,
        "counters": counters_table(counted["cells"]) if counted else NOT_MEASURED,
    }


def ladder_table(cells: Sequence[Data], registers: Data) -> str:
    head = (
        *("", "rung", "changes", "what is different"),
        *("registers", "shared", "time", "of copy", "against it"),
    )
    rows = []
    for rung in ladder():
        number = int(rung.file.partition("_")[0])
        home = home_of(rung.key, cells)
        own = times_in(home).get(rung.key, {})
        before = times_in(home).get(rung.after or "", {})
        ratio = before["ms"] / own["ms"] if own and before else None
        rows.append(
            (
                str(number),
                f"[`{rung.key}`](ladder/{rung.file})",
                f"`{rung.after}`" if rung.after else NOTHING,
                rung.idea.replace("|", "\\|"),
                *_sizes_of(rung, registers),
                f"{time(own['ms'])}{_where(home)}" if own else NOTHING,
                _percent(own.get("share")),
                f"{ratio:.2f}×" if ratio else NOTHING,
            )
        )
    return table(head, rows, right=(0, 4, 5, 6, 7, 8))


def registers_table(registers: Data) -> str:
    known = registers.get("rungs", {})
    if not known:
        return "*Not compiled yet: `make tables`.*"
    rows = []
    for rung in ladder():
        entry = known.get(rung.key, {})
        found = entry.get("architectures", {})
        values = (_registers_in_words(found.get(str(each))) for each in ARCHITECTURES)
        known_bytes = [_shared_bytes(each) for each in found.values() if each]
        shared = _kib(max(known_bytes)) if known_bytes else NOTHING
        rows.append((f"`{rung.key}`", entry.get("job", NOTHING), *values, shared))
    head = ("rung", "compiled for", *(f"sm_{each}" for each in ARCHITECTURES), "shared")
    return table(head, rows, right=range(2, len(head)))


def work_table() -> str:
    """What the model says of every rung, for one job or the nearest to it that the rung takes."""
    head = (
        *("rung", "loads", "bytes loaded", "bytes stored", "bytes moved"),
        *("operations", "operations a byte"),
    )
    rows, notes = [], []
    for rung in ladder():
        job = _first_job(rung, FILTERS, WORK_KSIZES, WORK_SIDES)
        if job is None:
            notes.append(f"`{rung.key}`: It takes none of the jobs that this table is of.")
            rows.append((f"`{rung.key}`", *[NOTHING] * (len(head) - 1)))
            continue
        work = work_of(job, rung, MULTIPROCESSORS)
        name = f"`{rung.key}`{_unlike_the_others(job)}"
        if work.unknown:
            notes.append(f"`{rung.key}`: {work.unknown}")
        rows.append((name, *_work_in_words(work)))
    return "\n\n".join((table(head, rows, right=range(1, len(head))), *notes))


def _unlike_the_others(job: Job) -> str:
    """What is not usual of the job, in brackets."""
    usual = PIXEL_TYPES[0], filters.get(FILTERS[0]).title, WORK_KSIZES[0], WORK_SIDES[0]
    own = job.pixel_type, job.filter_title, job.ksize, job.height
    words = (*own[:2], f"K={own[2]}", f"{own[3]}²")
    unusual = [word for word, mine, theirs in zip(words, own, usual, strict=True) if mine != theirs]
    return f" ({', '.join(unusual)})" if unusual else ""


def _work_in_words(work: Work) -> tuple[str, ...]:
    """By the sample, but for the last."""
    by_the_sample = (
        None if total is None else total / work.samples
        for total in (
            work.picture_loads,
            work.loaded_bytes,
            work.stored_bytes,
            work.memory_bytes,
            work.flops,
        )
    )
    return tuple(
        NOTHING if number is None else _three_digits(number)
        for number in (*by_the_sample, work.rung_intensity)
    )


def _three_digits(number: float) -> str:
    """1.23, 12.3, 123, 1,234."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def size_tables(cells: Iterable[Data]) -> Iterator[str]:
    """For each kind of weights and picture, the share of every rung at every size."""
    groups: dict[str, list[Data]] = {}
    for cell in cells:
        groups.setdefault(_group(cell), []).append(cell)
    for name, group in groups.items():
        if len(group) > 1:
            group.sort(key=lambda cell: cell.get("ksize", 0))
            yield f"**{name}**, in percent of the copy's bandwidth:\n\n{_size_table(group)}"


def _size_table(group: Sequence[Data]) -> str:
    head = ("rung", *(f"K={cell.get('ksize')}" for cell in group))
    by_cell = [times_in(cell) for cell in group]
    best = [min((e["ms"] for e in each.values() if _is_exact(e)), default=None) for each in by_cell]
    rows = []
    for rung in ladder():
        entries = [each.get(rung.key) for each in by_cell]
        if any(entries):
            words = map(_share_in_words, entries, best)
            rows.append((f"`{rung.key}`", *words))
    return table(head, rows, right=range(1, 1 + len(group)))


def _share_in_words(entry: Data | None, best_ms: float | None) -> str:
    """Bold for the quickest; in brackets where its error is above float32's."""
    if not entry:
        return NOTHING
    words = _percent(entry.get("share"))
    if not _is_exact(entry):
        return f"({words})"
    return f"**{words}**" if entry["ms"] == best_ms else words


def peers_table(cells: Iterable[Data]) -> str:
    """A line for each cell, and one more where a larger error is allowed and quicker."""
    head = ("cell", "ours", "time", "of copy", "best library", "its time", "its time ÷ ours")
    rows = []
    for cell in cells:
        for is_exact in (True, False):
            ours = _quickest(times_in(cell).items(), is_exact)
            peers = {each.get("name", ""): each for each in _able(cell.get("peers", []))}
            peer = _quickest(peers.items(), is_exact)
            if ours is None or (not is_exact and _is_exact(ours[1])):
                continue
            suffix = "" if is_exact else ", error to 1e-4"
            rows.append((f"{cell_name(cell)}{suffix}", *_against(ours, peer)))
    return table(head, rows, right=(2, 3, 5, 6))


def _against(ours: tuple[str, Data], peer: tuple[str, Data] | None) -> tuple[str, ...]:
    key, own = ours
    words = (f"`{key}`", time(own["ms"]), _percent(own.get("share")))
    if peer is None:
        return (*words, NOTHING, NOTHING, NOTHING)
    name, its = peer
    return (*words, name, time(its["ms"]), f"{its['ms'] / own['ms']:.2f}")


def counters_table(cells: Iterable[Data]) -> str:
    """What the hardware counted where an aim is missed, in percent of what it can do."""
    head = ("cell", "rung", "of copy", "aim", *COUNTED.values(), "warps", "stalls")
    rows = (
        (
            cell_name(cell),
            f"`{cell['rung']}`",
            _percent(cell["share"]),
            f"{cell['aim']} %" if isinstance(cell["aim"], int) else cell["aim"],
            *(f"{cell[name]:.0f}" for name in COUNTED),
            f"{cell['warps']:.1f}",
            _stalls_in_words(cell["stalls"]),
        )
        for cell in cells
    )
    return table(head, rows, right=range(2, len(head) - 1))


def _stalls_in_words(stalls: Data) -> str:
    """Return the two reasons that keep most warps from issuing, with how many at a time."""
    largest = sorted(stalls.items(), key=lambda each: -each[1])[:2]
    return ", ".join(f"{name.replace('_', ' ')} {count:.1f}" for name, count in largest)


def bench_words(measured: Data) -> str:
    """Where and when, and the bench's closing lines as printed."""
    device = measured.get("device", "")
    name = device.get("name", "") if isinstance(device, dict) else str(device)
    where = [name, f"CUDA {measured['cuda']}" if measured.get("cuda") else ""]
    where += [str(measured.get("date", ""))[:10]]
    lines = "\n".join(wrapped(str(line), "  ") for line in measured.get("closing", []))
    heading = ", ".join(each for each in where if each)
    return f"{heading}:\n\n```text\n{lines}\n```" if lines else f"{heading}."


# ---------------------------------------------------------------------------- cells and entries


def times_in(cell: Data) -> dict[str, Data]:
    """The rungs that ran in `cell` and were right, by key."""
    return {each["key"]: each for each in _able(cell.get("rungs", [])) if "key" in each}


def home_of(key: str, cells: Iterable[Data]) -> Data:
    """The cell that the ladder shows `key` in; empty where it ran in none."""
    ran = [cell for cell in cells if key in times_in(cell)]
    at_home = [cell for cell in ran if _is_home(cell)]
    return next(iter(at_home or ran), {})


def cell_name(cell: Data) -> str:
    return f"{_group(cell)}, K={cell.get('ksize', '?')}"


def _group(cell: Data) -> str:
    size = cell.get("size", "?")
    size = f"{size}²" if str(size).isdigit() else str(size).replace("x", "×")
    return (
        f"{cell.get('weights', '?')}, {cell.get('pixel_type', '?')} × {cell.get('channels', '?')}, "
        f"{size}"
    )


def _is_home(cell: Data) -> bool:
    return {**HOME, **{name: cell[name] for name in HOME if name in cell}} == HOME


def _where(cell: Data) -> str:
    return "" if _is_home(cell) else f" ({cell_name(cell)})"


def _able(entries: Iterable[Data]) -> Iterator[Data]:
    return (each for each in entries if each.get("ms") and each.get("ok", True))


def _is_exact(entry: Data) -> bool:
    return bool(entry.get("precision", "float32") == "float32")


def _quickest(entries: Iterable[tuple[str, Data]], is_exact: bool) -> tuple[str, Data] | None:
    """Of those with float32's error, or of all."""
    able = [each for each in entries if not is_exact or _is_exact(each[1])]
    return min(able, key=lambda each: each[1]["ms"], default=None)


def _sizes_of(rung: Rung, registers: Data) -> tuple[str, str]:
    """Registers a thread and shared memory a block: the most of all passes."""
    entry = registers.get("rungs", {}).get(rung.key, {})
    found = entry.get("architectures", {}).get(str(SHOWN), [])
    if not found:
        return NOTHING, NOTHING
    return str(max(each["registers"] for each in found)), _kib(_shared_bytes(found))


def _shared_bytes(found: Sequence[Data]) -> int:
    return max((each.get("shared_bytes", 0) for each in found), default=0)


def _kib(count: int) -> str:
    return f"{count / 1024:.3g} KiB" if count else "0"


def _registers_in_words(found: Sequence[Data] | None) -> str:
    if not found:
        return NOTHING
    spilt = sum(each.get("spill_bytes", 0) for each in found)
    words = str(max(each["registers"] for each in found))
    return f"{words}, {spilt} B spilt" if spilt else words


def _percent(share: float | None) -> str:
    return f"{share:.1f} %" if share is not None else NOTHING


def time(ms: float) -> str:
    """12.3 µs, 1.23 ms."""
    return f"{ms * 1e3:.3g} µs" if ms < 0.9995 else f"{ms:.3g} ms"


# ---------------------------------------------------------------------------- files


def read_json(path: Path) -> Data | None:
    """What the file holds; None where there is none."""
    try:
        data: Data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return data


def main() -> int:
    if len(compiler_versions()) == len(ARCHITECTURES):
        REGISTERS.parent.mkdir(parents=True, exist_ok=True)
        REGISTERS.write_text(json.dumps(measure_registers(), indent=1) + "\n", encoding="utf-8")
    else:
        print("Not all compilers are installed, so the registers stay as they were.")
    made = tables(read_json(MEASURED), read_json(REGISTERS), read_json(COUNTERS))
    README.write_text(with_tables(README.read_text("utf-8"), made), encoding="utf-8")
    print(f"Wrote the tables of {README.relative_to(ROOT)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
