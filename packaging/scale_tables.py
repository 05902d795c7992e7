"""Write the tables of docs/scale.md from the files in assets/measured/: `make tables`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from kernels.core.plain_data import table_beside
from kernels.sweeps.estimate import about
from workbench.base import numbers
from workbench.base.columns import table, with_tables, wrapped
from workbench.batch.stage_times import IN_WORDS, rate
from workbench.cli.benches.batch import PEERS_TITLE, tables_of

ROOT = Path(__file__).resolve().parents[1]
MEASURED = ROOT / "assets" / "measured"
PAGE = ROOT / "docs" / "scale.md"

PLANNED_SIDE = 100_000  # pixels of 8-bit RGB
STAGES = {"read": "reading", "filter": "filtering", "write": "writing", "all": "all at a time"}
LIMITS = {"files": "files and memory", "kernel": "the GPU's kernel"}  # of a folder on GPUs
PARTS = {"link": "of it the link", "kernel": "of it the kernels"}
ROWS = ("read", "filter", *PARTS, "write", "all")
STAGES_AND_PARTS = {name: {**STAGES, **PARTS}[name] for name in ROWS}
COMMANDS = table_beside(__file__)
NOTHING = "—"

Data = dict[str, Any]
Measured = dict[str, list[Data]]


def measured(folder: Path) -> Measured:
    """Read the measurements, by the name of their bench."""
    return {
        kind: [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob(f"{kind}*.json"))]
        for kind in COMMANDS
    }


def page_tables(found: Measured) -> dict[str, str]:
    """Make the tables of docs/scale.md, by the names of their markers."""
    made: dict[str, tuple[str, Iterable[str]]] = {
        "batch": ("batch", map(_batch, found["batch"])),
        "large": ("large", map(_large, found["large"])),
        "plan": ("large", [_plan(found["large"])]),
        "devices": ("devices", map(_devices, found["devices"])),
        "folders": ("devices", map(_folders, found["devices"])),
        "many": ("many", map(_many, found["many"])),
        "kills": ("kills", map(_kills, found["kills"])),
    }
    return {
        name: "\n\n".join(filter(None, parts)) or f"*Not measured yet: `{COMMANDS[kind]} FILE`.*"
        for name, (kind, parts) in made.items()
    }


def _batch(data: Data) -> str:
    height, width = data["size"]
    processes = data.get("processes", 1)
    how = (
        f"{data['files']} files of each format, {width:,}×{height:,} RGB, 5×5 Gaussian, "
        f"{data['jobs']} threads that read and write"
        f"{f', in {processes} processes' if processes > 1 else ''}"
    )
    said = f"{_where(data)}: {how}, in pictures per second."
    (head, *rows), others = tables_of(data)
    parts = [wrapped(said), table(head, rows, (1, 2, 3, 4, 5, 7))]
    if others:
        parts += [f"{PEERS_TITLE}:", table(others[0], others[1:], range(1, len(others[0])))]
    return "\n\n".join(parts)


def _large(data: Data) -> str:
    side, seconds = data["side"], data["seconds"]
    rows = [
        (
            title,
            numbers.duration(taken * 1e3),
            numbers.byte_rate(data["bytes"] / 1e9 / taken),
            numbers.pixel_rate(side**2 / 1e6 / taken),
        )
        for name, title in STAGES_AND_PARTS.items()
        if (taken := seconds.get(name)) is not None
    ]
    said = (
        f"{_where(data)}: {side:,}×{side:,} RGB, a TIFF of tiles, not packed, 5×5 Gaussian, each "
        "stage alone and all at a time."
    )
    of_wall = numbers.percent(data["of_wall"])
    closing = f"The wall is {data['wall']}: all at a time reach {of_wall} of its rate" + (
        f", with {numbers.byte_count(data['peak_bytes'])} at most." if data["peak_bytes"] else "."
    )
    made = table(("", "time", "of the picture", ""), rows, (1, 2, 3))
    return f"{wrapped(said)}\n\n{made}\n\n{wrapped(closing)}"


def _plan(runs: Iterable[Data]) -> str:
    """The time of PLANNED_SIDE² pixels at each machine's rates."""
    head = ("machine", *STAGES.values(), "link", "kernels", "wall")
    rows = []
    for data in runs:
        seconds, times = data["seconds"], (PLANNED_SIDE / data["side"]) ** 2
        taken = (
            about(seconds[name] * times) if seconds.get(name) is not None else NOTHING
            for name in (*STAGES, *PARTS)
        )
        rows.append((_machine(data), *taken, str(data["wall"])))
    return table(head, rows, range(1, 7)) if rows else ""


def _devices(data: Data) -> str:
    if not data["cells"]:
        return ""
    head = ("", "GPUs", "filtering", "against 1", "with transfers", "against 1", "halo")
    rows = [_device_row(cell) for cell in data["cells"]]
    return f"{_where(data)}: float32, one channel, L2 cold.\n\n{table(head, rows, range(1, 7))}"


def _device_row(cell: Data) -> tuple[str, ...]:
    is_one, size = cell["devices"] == 1, f"{cell['ksize']}×{cell['ksize']}, {cell['side']:,}²"
    halo = max((share["halo_ms"] for share in cell["shares"]), default=None)
    what = f"{cell['kind']}: {cell['weights']} {size}, `{cell['implementation']}`"
    return (
        what if is_one else "",
        str(cell["devices"]),
        numbers.duration(median(cell["filtering"]["samples_ms"])),
        "" if is_one else _against(cell, cell["against_one"]),
        numbers.duration(median(cell["with_transfers"]["samples_ms"])),
        "" if is_one else _against(cell, cell["against_one_with_transfers"]),
        "" if halo is None else numbers.duration(halo),
    )


def _against(cell: Data, against: Data) -> str:
    """Describe a ratio: "1.93×" of a strong cell, "97 % of 2×" of a weak one, and a tie as such."""
    said = numbers.speed_up(against["ratio"], numbers.fine_ratio)
    if cell["kind"] == "weak":
        said = f"{numbers.percent(against['ratio'])} of {cell['devices']}×"
    return f"{said}, equal" if against["verdict"] == "same" else said


def _folders(data: Data) -> str:
    if not data["folders"]:
        return ""
    single = [each for each in data["folders"] if len(each["devices"]) == 1]
    one = {each["name"]: max(each["per_s"]) for each in single}
    rows = []
    for each in data["folders"]:
        count, per_s = len(each["devices"]), max(each["per_s"])
        name = f"{each['name'].removeprefix('folder ')} ({LIMITS[each['limit']]})"
        against = numbers.fine_ratio(per_s / one[each["name"]]) if count > 1 else ""
        limit = IN_WORDS.get(each["waited_for"], NOTHING)
        rows.append((name if count == 1 else "", str(count), rate(per_s), against, limit))
    head = ("", "GPUs", "pictures", "against 1", "limit")
    return f"{_where(data)}.\n\n{table(head, rows, (1, 2, 3))}"


def _many(data: Data) -> str:
    first, last = (numbers.three_digits(data["per_s"][at]) for at in (0, -1))
    early, late = (numbers.byte_count(data["peak_bytes"][at]) for at in (0, -1))
    first_s, alone_s = (numbers.duration(data[name] * 1e3) for name in ("first_s", "alone_s"))
    return wrapped(
        f"{_where(data)}: {data['files']:,} files of {data['side']}×{data['side']} pixels. The "
        f"first was finished {first_s} after the start of the command, which takes {alone_s} where "
        f"there is one file; the first tenth took {first} files per second, the last {last}; the "
        f"most memory until then was {early} and {late}. It took {about(data['seconds'])}."
    )


def _kills(data: Data) -> str:
    peak = numbers.byte_count(data["peak_bytes"])
    return wrapped(
        f"{_where(data)}: {data['files']:,} files of {data['width']}×{data['height']} pixels; the "
        f"batch was killed {data['kills']} times, and resumed with `--resume`. "
        f"Lost: {data['lost']}. Done twice: {data['twice']}. "
        f"Half written: {data['half_written']}. "
        f"Hidden files of killed writes, which a later write takes away: {data['abandoned']}. "
        f"It took {about(data['seconds'])}, with {peak} of memory at most."
    )


def _machine(data: Data) -> str:
    machine = data["machine"]
    gpus = len(data.get("devices", ())) or 1
    gpu = f"{gpus} × {machine['gpu']}" if gpus > 1 else machine["gpu"]
    cores = str(machine["cpu"]).rpartition(", ")[2]
    return f"{gpu}, {cores}" if gpu else f"{cores}, no GPU"


def _where(data: Data) -> str:
    machine = data["machine"]
    parts = [_machine(data), str(machine["cpu"]).rpartition(", ")[0], machine["memory"]]
    return f"**{', '.join(filter(None, parts))}**, {data['date'][:10]}"


def main() -> int:
    made = page_tables(measured(MEASURED))
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), made), encoding="utf-8")
    print(f"Wrote the tables of {PAGE.relative_to(ROOT)}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
