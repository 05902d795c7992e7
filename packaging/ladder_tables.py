"""Write the tables of kernels/README.md between their markers: `make tables`.

From the rungs' headers, the model of their work, NVIDIA's compilers, and the times of `workbench
bench kernels --peers --json`, which are also written into kernels/engine/shipped_times.json, by
which `auto` goes until it is tuned.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from kernels import filters
from kernels.core.job import Job
from kernels.core.step import LENGTH, Step
from kernels.cuda import nvrtc
from kernels.engine.auto import Candidate, job_class_of, size_class
from kernels.rungs.headers import Facts
from kernels.rungs.rung import Rung, Work, ladder, list_ladder, work_of
from workbench.base.columns import table, with_tables, wrapped
from workbench.base.numbers import duration
from workbench.cli import made_jobs
from workbench.cli.benches.kernels import all_cells
from workbench.cli.benches.ways import Measured, Precision, quickest, read_measured

ROOT = Path(__file__).resolve().parents[1]
EVERY = (*ladder(), *list_ladder())
README = ROOT / "kernels" / "README.md"
MEASURED = ROOT / "assets" / "measured" / "ladder.json"
REGISTERS = ROOT / "assets" / "measured" / "registers.json"
COUNTERS = ROOT / "assets" / "measured" / "counters.json"  # of packaging/counters.py

ARCHITECTURES = (61, 75, 80, 86, 89, 90, 120)
SHOWN = 90  # in the table of the ladder
# What a rung is compiled for: the first of these that it takes.
FILTERS, KSIZES, SIDES = ("gaussian", "unsharp", "box"), (7, 5, 3, 15, 31), (512, 64)
PIXEL_TYPES = ("float32", "uint8")
FILTERS_FOR = {"low_rank": ("unsharp",)}  # by the form of the weights
DISKS = ("maximum", "closing")  # of which a disk is taken, where no square is
# By what the rung does.
RANKS = {
    "median": ("median",),
    "percentiles": ("median",),
    "extremes": ("minimum", "maximum"),
    "morphology": ("opening", "closing"),
    "bilateral": ("bilateral",),
    "non_local_means": ("non_local_means",),
    "guided": ("guided",),
}
LARGE_WEIGHTS = ("bands", "thin_bands", "spectrum", "spectrum_and_roots")  # forms made for them
# What the table of work is worked out for: likewise, on a device like the one that was measured.
WORK_KSIZES, WORK_SIDES, MULTIPROCESSORS = (7, 5, 3), (2048, 64), 132
# The ladder's times are of this cell, or of the first one in which a rung ran.
HOME = {"weights": "gaussian", "pixel_type": "float32", "channels": 1, "width": 8192, "ksize": 7}
# Shares of what the hardware can do, by their names in COUNTERS, as the table's head has them.
COUNTED = tomllib.loads((ROOT / "packaging" / "counters.toml").read_text("utf-8"))["titles"]
NOT_MEASURED = "*Not measured yet: see `workbench bench kernels --json`.*"
NOTHING = "—"
PRECISIONS: dict[Precision, str] = {"float32": "", "reduced": ", error to 1e-4"}
SHIPPED = ROOT / "kernels" / "engine" / "shipped_times.json"
KEPT = 6  # ways of each kind there: where the first refuses a job, there are others

Data = dict[str, Any]


def usual_job(rung: Rung) -> Job | None:
    """The job that `rung` is compiled for: mostly a 7×7 Gaussian blur of grey float32."""
    ksizes = (31, *KSIZES) if rung.weights in LARGE_WEIGHTS else KSIZES
    names = FILTERS_FOR.get(rung.weights, RANKS.get(rung.filter, FILTERS))
    return _first_job(rung, names, ksizes, SIDES)


def _first_job(
    rung: Rung, names: Sequence[str], ksizes: Sequence[int], sides: Sequence[int]
) -> Job | None:
    """Find the first job in 32×8 blocks that `rung` takes, grey if it takes that."""
    for channels, pixel_type, ksize, name, side in product(
        (1, 3), PIXEL_TYPES, ksizes, names, sides
    ):
        chosen, picture = filters.get(name), np.zeros((side, side, channels), pixel_type)
        made = chosen.of_size(ksize, is_disk=name in DISKS)
        step = Step(made, rung.key, (32, 8), title=chosen.title)
        job = Job(picture, (step, *(LENGTH,) * rung.gradient, *(step,) * (rung.filter == "list")))
        if not (rung.why_not_anywhere(job) or rung.why_never(job)):
            return job
    return None


def applies(rung: Rung, architecture: int) -> bool:
    """True if a card of this architecture should run `rung`."""
    return rung.compiles_for(divmod(architecture, 10))


def resources_of(rung: Rung, architecture: int) -> list[Data]:
    """Compile `rung`; list each function's registers and shared memory."""
    if (job := usual_job(rung)) is None:
        return []
    dynamic = {each.function: Facts(job).value(each.shared_bytes) for each in rung.passes}
    return [
        {**asdict(each), "shared_bytes": each.shared_bytes + dynamic.get(each.function, 0)}
        for each in nvrtc.compile_rung(rung, job, architecture).resources
    ]


def compiler_versions() -> dict[str, str]:
    found = ((each, nvrtc.compiler_for(each)) for each in ARCHITECTURES)
    return {str(each): "{}.{}".format(*compiler.version) for each, compiler in found if compiler}


def measure_registers() -> Data:
    """Compile all rungs for all architectures; takes a minute."""
    rungs = {
        rung.key: {
            "job": _in_words(rung, usual_job(rung)),
            "architectures": {
                str(each): resources_of(rung, each) for each in ARCHITECTURES if applies(rung, each)
            },
        }
        for rung in EVERY
    }
    return {"compilers": compiler_versions(), "rungs": rungs}


def _in_words(rung: Rung, job: Job | None) -> str:
    if job is None:
        return NOTHING
    words = f"{job.title} {job.ksize}×{job.ksize}"
    if job.pixel_type != PIXEL_TYPES[0]:
        words += f" of {job.pixel_type}"
    return words if rung.own_block else f"{words}, {'{}×{}'.format(*job.block_xy)}"


def tables(
    measured: Data | None, registers: Data | None, counted: Data | None = None
) -> dict[str, str]:
    cells, compiled = (measured or {}).get("cells", []), (registers or {}).get("rungs", {})
    return {
        "ladder": ladder_table(cells, compiled),
        "registers": registers_table(compiled)
        if compiled
        else "*Not compiled yet: `make tables`.*",
        "work": work_table(),
        "sizes": "\n\n".join(size_tables(cells)) or NOT_MEASURED,
        "filters": "\n\n".join(filter_tables(cells)),
        "peers": peers_table(cells) if cells else NOT_MEASURED,
        "bench": bench_words(measured) if measured else NOT_MEASURED,
        "counters": counters_table(counted["cells"]) if counted else NOT_MEASURED,
    }


def ladder_table(cells: Sequence[Data], compiled: Data) -> str:
    head = (
        *("", "rung", "changes", "what is different"),
        *("registers", "shared", "time", "of copy", "against it"),
    )
    rows = []
    for rung in EVERY:
        ran = [cell for cell in cells if rung.key in times_in(cell)]
        home = next((cell for cell in ran if HOME.items() <= cell.items()), ran[0] if ran else None)
        times = times_in(home) if home else {}
        own, before = times.get(rung.key), times.get(rung.after or "")
        where = f" ({cell_name(home)})" if home and not HOME.items() <= home.items() else ""
        shown = compiled.get(rung.key, {}).get("architectures", {}).get(str(SHOWN))
        rows.append(
            (
                str(int(rung.file.partition("_")[0])),
                f"[`{rung.key}`](ladder/{'lists/' * (rung.filter == 'list')}{rung.file})",
                f"`{rung.after}`" if rung.after else NOTHING,
                rung.idea.replace("|", "\\|"),
                str(_most(shown, "registers")) if shown else NOTHING,
                _kib(_most(shown, "shared_bytes")) if shown else NOTHING,
                f"{duration(own.time_ms)}{where}" if own else NOTHING,
                _percent(own.share) if own else NOTHING,
                f"{before.time_ms / own.time_ms:.2f}×" if own and before else NOTHING,
            )
        )
    return table(head, rows, right=(0, 4, 5, 6, 7, 8))


def registers_table(compiled: Data) -> str:
    head = ("rung", "compiled for", *(f"sm_{each}" for each in ARCHITECTURES), "shared")
    rows = []
    for rung in EVERY:
        entry = compiled.get(rung.key, {})
        found = entry.get("architectures", {})
        values = (_registers_in_words(found.get(str(each))) for each in ARCHITECTURES)
        shared = [_most(each, "shared_bytes") for each in found.values() if each]
        most = _kib(max(shared)) if shared else NOTHING
        rows.append((f"`{rung.key}`", entry.get("job", NOTHING), *values, most))
    return table(head, rows, right=range(2, len(head)))


def _registers_in_words(found: Sequence[Data] | None) -> str:
    if not found:
        return NOTHING
    spilt = sum(each["spill_bytes"] for each in found)
    registers = _most(found, "registers")
    return f"{registers}, {spilt} B spilt" if spilt else str(registers)


def _most(found: Sequence[Data], name: str) -> int:
    return max(int(each[name]) for each in found)


def _kib(count: int) -> str:
    return f"{count / 1024:.3g} KiB" if count else "0"


def work_table() -> str:
    """Tabulate the model of every rung, for one job or the nearest to it that the rung takes."""
    head = (
        *("rung", "loads", "bytes loaded", "bytes stored", "bytes moved"),
        *("operations", "operations a byte"),
    )
    rows, notes = [], []
    for rung in ladder():
        job = _first_job(rung, RANKS.get(rung.filter, FILTERS), WORK_KSIZES, WORK_SIDES)
        if job is None:
            notes.append(f"`{rung.key}`: It takes none of the jobs that this table is of.")
            rows.append((f"`{rung.key}`", *[NOTHING] * (len(head) - 1)))
            continue
        work = work_of(job, rung, MULTIPROCESSORS)
        if work.unknown:
            notes.append(f"`{rung.key}`: {work.unknown}")
        rows.append((f"`{rung.key}`{_unlike_the_others(job)}", *_work_in_words(work)))
    return "\n\n".join((table(head, rows, right=range(1, len(head))), *notes))


def _unlike_the_others(job: Job) -> str:
    facts = (
        (job.pixel_type, PIXEL_TYPES[0]),
        (job.title, filters.get(FILTERS[0]).title),
        (f"K={job.ksize}", f"K={WORK_KSIZES[0]}"),
        (f"{job.height}²", f"{WORK_SIDES[0]}²"),
    )
    unusual = [own for own, usual in facts if own != usual]
    return f" ({', '.join(unusual)})" if unusual else ""


def _work_in_words(work: Work) -> tuple[str, ...]:
    """Per sample, but for the last."""
    totals = (
        *(work.picture_loads, work.loaded_bytes, work.stored_bytes),
        *(work.memory_bytes, work.flops),
    )
    per_sample = [None if total is None else total / work.samples for total in totals]
    return tuple(
        NOTHING if n is None else f"{n:,.0f}" if n >= 100 else f"{n:.3g}"
        for n in (*per_sample, work.rung_intensity)
    )


def size_tables(cells: Iterable[Data]) -> Iterator[str]:
    """For each kind of weights and picture, the share of every rung at every size."""
    for name, group in _groups(cells):
        key = group[0]["weights"]
        if len(group) > 1 and not made_jobs.is_list(key) and _has_weights(key):
            shares = _size_table(group, lambda entry: _percent(entry.share))
            yield f"**{name}**, in percent of the copy's bandwidth:\n\n{shares}"


def filter_tables(cells: Sequence[Data]) -> Iterator[str]:
    """For each filter that is no weighted sum, the time of every rung at every size."""
    for key in dict.fromkeys(cell.weights for cell in all_cells() if not cell.is_list):
        if not _has_weights(key):
            own = [cell for cell in cells if cell["weights"] == key]
            yield f"### {filters.get(key).title}"
            for name, group in _groups(own):
                times = _size_table(group, lambda entry: duration(entry.time_ms))
                yield f"**{name}**:\n\n{times}"
            if not own:
                yield NOT_MEASURED


def _has_weights(key: str) -> bool:
    return key in made_jobs.DRAWN or filters.get(key).has_weights


def _groups(cells: Iterable[Data]) -> Iterable[tuple[str, list[Data]]]:
    """Cells of one kind and picture, by size."""
    groups: dict[str, list[Data]] = {}
    for cell in cells:
        groups.setdefault(_group(cell), []).append(cell)
    for group in groups.values():
        group.sort(key=lambda cell: int(cell["ksize"]))
    return groups.items()


def _size_table(group: Sequence[Data], figure: Callable[[Measured], str]) -> str:
    """Bold for the quickest; in brackets where the error is above float32's."""
    by_cell = [times_in(cell) for cell in group]
    best = [quickest(each.values(), "float32") for each in by_cell]

    def words(entry: Measured | None, best: Measured | None) -> str:
        if entry is None:
            return NOTHING
        if entry.precision != "float32":
            return f"({figure(entry)})"
        return f"**{figure(entry)}**" if best and entry.ms == best.ms else figure(entry)

    rows = []
    for rung in ladder():
        entries = [each.get(rung.key) for each in by_cell]
        if any(entries):
            rows.append((f"`{rung.key}`", *map(words, entries, best)))
    head = ("rung", *(f"K={cell['ksize']}" for cell in group))
    return table(head, rows, right=range(1, 1 + len(group)))


def peers_table(cells: Iterable[Data]) -> str:
    """A line for each cell, and one more where a larger error is allowed and quicker."""
    head = ("cell", "ours", "time", "of copy", "best library", "its time", "its time ÷ ours")
    rows = []
    for cell in cells:
        for precision, suffix in PRECISIONS.items():
            ours = quickest(times_in(cell).values(), precision)
            if ours is None or (suffix and ours.precision == "float32"):
                continue
            peer = quickest(read_measured(cell["peers"]), precision)
            theirs: tuple[str, ...] = (NOTHING,) * 3
            if peer:
                times = peer.time_ms / ours.time_ms
                theirs = (peer.name, duration(peer.time_ms), f"{times:.2f}")
            own = (f"`{ours.key}`", duration(ours.time_ms), _percent(ours.share))
            rows.append((f"{cell_name(cell)}{suffix}", *own, *theirs))
    return table(head, rows, right=(2, 3, 5, 6))


def counters_table(cells: Iterable[Data]) -> str:
    """The hardware's counters where an aim is missed, in percent of its limits."""
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
    largest = sorted(stalls.items(), key=lambda each: -each[1])[:2]
    return ", ".join(f"{name.replace('_', ' ')} {count:.1f}" for name, count in largest)


def bench_words(measured: Data) -> str:
    """Where and when, and the bench's closing lines as printed."""
    lines = "\n".join(wrapped(line, "  ") for line in measured["closing"])
    where = f"{measured['device']['name']}, CUDA {measured['cuda']}, {measured['date'][:10]}"
    return f"{where}:\n\n```text\n{lines}\n```"


def times_in(cell: Data) -> dict[str, Measured]:
    """The rungs that ran in `cell` and were right, by key."""
    return {each.key: each for each in read_measured(cell["rungs"]) if each.ms and each.ok}


def cell_name(cell: Data) -> str:
    return f"{_group(cell)}, K={cell['ksize']}"


def _group(cell: Data) -> str:
    size = str(cell["size"])
    size = f"{size}²" if size.isdigit() else size.replace("x", "×")
    return f"{cell['weights']}, {cell['pixel_type']} × {cell['channels']}, {size}"


def _percent(share: float | None) -> str:
    return f"{share:.1f} %"


def read_json(path: Path) -> Data | None:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def shipped_text(measured: Data) -> str:
    """Format the measurements as the file by which `auto` goes until it is tuned."""
    kinds = []
    for cell in measured["cells"]:
        if made_jobs.is_list(cell["weights"]):  # whose class is that of one of its steps
            continue
        what = cell["weights"], cell["ksize"], (8, 8), cell["channels"], cell["pixel_type"]
        size = size_class(cell["height"], cell["width"])
        kind = replace(job_class_of(made_jobs.job(*what)), size=size)
        kinds.append({"kind": asdict(kind), "measured": [asdict(each) for each in ways_in(cell)]})
    lines = ",\n".join(json.dumps(each) for each in kinds)
    return f'{{"device": {json.dumps(measured["device"]["name"])}, "kinds": [\n{lines}\n]}}\n'


def ways_in(cell: Data) -> list[Candidate]:
    """Select the quickest ways whose outputs were right, with all of float32."""
    exact = {rung.key: rung for rung in ladder() if not rung.reduced_precision}
    right = [e for e in times_in(cell).values() if e.key in exact and e.precision == "float32"]
    ways = []
    for each in sorted(right, key=lambda each: each.time_ms)[:KEPT]:
        block_xy = None if exact[each.key].own_block else each.block_xy
        shape = block_xy and (block_xy[0], block_xy[1])  # JSON has lists
        ways.append(Candidate(each.key, shape, each.time_ms, *(each.quartiles or ())))
    return ways


def main() -> int:
    if len(compiler_versions()) == len(ARCHITECTURES):
        REGISTERS.write_text(json.dumps(measure_registers(), indent=1) + "\n", encoding="utf-8")
    else:
        print("Not all compilers are installed, so the registers stay as they were.")
    made = tables(read_json(MEASURED), read_json(REGISTERS), read_json(COUNTERS))
    README.write_text(with_tables(README.read_text("utf-8"), made), encoding="utf-8")
    print(f"Wrote the tables of {README.relative_to(ROOT)}.")
    if measured := read_json(MEASURED):
        SHIPPED.write_text(shipped_text(measured), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
