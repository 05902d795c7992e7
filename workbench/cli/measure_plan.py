"""Measure a plan, cell by cell, into a folder: `workbench sweep PRESET|FILE.toml`."""

from __future__ import annotations

import io
import shlex
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from time import monotonic, time

from kernels import Engine
from kernels.core.cpu_load import disturbed_in_words
from kernels.core.errors import KernelError
from kernels.core.safe_files import replacing
from kernels.core.timing import CONFIDENCE, ENOUGH_SAMPLES
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.cell_jobs import Given, Texts, refusal, with_texts
from kernels.sweeps.estimate import about, estimated_s
from kernels.sweeps.machine import this_machine
from kernels.sweeps.plan import PICTURE_KINDS, Cell, Plan
from kernels.sweeps.plan_files import presets, read_plan
from kernels.sweeps.plan_run import cells_of, sweeping
from kernels.sweeps.record import Machine, Record, Session
from kernels.sweeps.session_csv import write_csv
from kernels.sweeps.session_files import SUFFIXES, SessionFile, read_session, resume, session_path
from workbench.base import numbers
from workbench.base.columns import columns
from workbench.base.numbers import star, why_starred
from workbench.cli.compare_sessions import sweep_data
from workbench.cli.output import USAGE, CommandError, printed_apart, say
from workbench.cli.recipe_options import read_named
from workbench.cli.stopping import ended_by_sigterm
from workbench.cli.this_machine import engine_maker
from workbench.files.picture_errors import ImageFileError
from workbench.report.tables import Baseline, baseline_of
from workbench.session.session_store import refuse_other_pictures

MAX_REASONS = 8
# By what a row stands for, then by implementation.
Rows = dict[tuple[str, ...], dict[str, list[Record]]]
# Of Plan's lists: what one value, or several, are called, and what a cell has there.
Words = Callable[[Cell], str]
DOWN: dict[str, tuple[str, str, Words]] = {
    "pictures": ("picture", "kinds of picture", lambda cell: cell.picture),
    "sizes": ("size", "sizes", lambda cell: cell.size_in_words),
    "pixel_types": ("type", "pixel types", lambda cell: cell.pixel_type),
    "channels": ("channels", "numbers of channels", lambda cell: str(cell.channels)),
    "counts": ("pictures", "numbers of pictures", lambda cell: str(cell.count)),
    "filters": ("filter", "filters", lambda cell: cell.filter),
    "borders": ("border", "borders", lambda cell: cell.border),
    "ksizes": ("K", "kernel sizes", lambda cell: f"{cell.ksize}×{cell.ksize}"),
    "caches": ("L2", "states of the cache", lambda cell: cell.cache or ""),
    "devices": ("GPUs", "numbers of GPUs", lambda cell: str(cell.devices) if cell.cache else ""),
    "blocks": ("block", "block shapes", lambda cell: cell.block_in_words),
}


def opening_lines(plan: Plan, cells: Sequence[Cell]) -> Iterator[str]:
    """Yield what is about to be measured."""
    yield plan.title
    if plan.note:
        yield plan.note
    parts = [f"{len(getattr(plan, name))} {DOWN[name][1]}" for name in plan.varied if name in DOWN]
    if len(plan.implementations) > 1:
        parts.append(f"{len(plan.implementations)} implementations")
    made = f": {' × '.join(parts)}" if parts else ""
    yield f"{len(cells)} cell{'s' if len(cells) != 1 else ''}{made}."


def closing_lines(session: Session) -> Iterator[str]:
    """Yield medians of what was right, speed-ups, what disturbed, and why others have none."""
    plan, records = session.plan, session.records
    down = _dimensions_down(plan)
    shows_block = "blocks" in plan.varied and "blocks" not in down
    rows = _rows(records, down)
    keys = list(dict.fromkeys(record.cell.implementation for record in records))
    if rows:
        head = (*(DOWN[name][0] for name in down), *keys)
        body = [
            (*key, *(_time(found.get(each, ()), shows_block) for each in keys))
            for key, found in rows.items()
        ]
        yield ""
        yield columns([head, *body])
        yield from _speed_ups(session, rows, down, keys)
        yield from _disturbances(records)
    if plan.tolerance is not None:
        yield from _errors(records, plan.tolerance)
    yield from _reasons(records)


def _rows(records: Sequence[Record], down: Sequence[str]) -> Rows:
    """Return the records of each row by their implementation; only of rows with a verified time."""
    rows: Rows = {}
    for record in records:
        key = tuple(DOWN[name][2](record.cell) for name in down)
        rows.setdefault(key, {}).setdefault(record.cell.implementation, []).append(record)
    return {
        key: found
        for key, found in rows.items()
        if any(record.verified for each in found.values() for record in each)
    }


def _speed_ups(
    session: Session, rows: Rows, down: Sequence[str], keys: Sequence[str]
) -> Iterator[str]:
    """Yield how many times as fast as the baseline, with the interval of each ratio."""
    baseline = baseline_of(session)
    timed = {record.cell.implementation for record in session.records if record.verified}
    others = [key for key in keys if baseline and key != baseline.key and key in timed]
    if baseline is None or not others:
        return
    head = (*(DOWN[name][0] for name in down), *others)
    body = [
        (*key, *(_speed_up(_quickest(found.get(each, ())), baseline) for each in others))
        for key, found in rows.items()
    ]
    yield ""
    yield (
        f"Speed-up against {baseline.title}, and its {100 * CONFIDENCE:g} % interval where there "
        f"are {ENOUGH_SAMPLES} samples or rounds:"
    )
    yield columns([head, *body])


def _speed_up(record: Record | None, baseline: Baseline) -> str:
    found = baseline.speed_up(record) if record else None
    if found is None:
        return numbers.MISSING
    return numbers.speed_up_between(found.ratio, *(found.interval or 2 * (found.ratio,)))


def _disturbances(records: Sequence[Record]) -> Iterator[str]:
    """Yield what stands behind the stars."""
    measured = [found for each in records if (found := each.verified)]
    if words := disturbed_in_words(each.load for each in measured):
        yield ""
        yield f"* {words}"
    seen = (why for each in measured if each.health for why in each.health.disturbances)
    if words := why_starred(tuple(dict.fromkeys(seen))):
        yield ""
        yield words


def _errors(records: Sequence[Record], tolerance: float) -> Iterator[str]:
    """Return how the answers compare with what the plan accepts."""
    checks = [found.check for each in records if (found := each.verified) and found.check]
    if not checks:
        return
    off = sum(check.max_error > tolerance for check in checks)
    within = f"{off} of them are off by more" if off else "none is off by more"
    largest = max(check.max_error for check in checks)
    yield ""
    yield (
        f"{len(checks)} answers compared with the reference: the largest error is {largest:.3g}; "
        f"the plan accepts {tolerance:g}, and {within}."
    )


def _dimensions_down(plan: Plan) -> tuple[str, ...]:
    """Return what a row stands for.

    Block shapes have rows where nothing else varies; else the quickest shape stands beside its
    time.
    """
    varied = [name for name in plan.varied if name in DOWN]
    return tuple(varied) if varied == ["blocks"] else tuple(x for x in varied if x != "blocks")


def _time(records: Sequence[Record], shows_block: bool) -> str:
    """Return the quickest time that was found right; a dash where none was.

    A star: something disturbed it.
    """
    record = _quickest(records)
    if record is None or record.verified is None:
        return numbers.MISSING
    block = record.cell.block_in_words if shows_block else ""
    once = "once" if len(record.verified.kernel.samples_ms) == 1 else ""
    duration = numbers.duration(record.verified.kernel.median_ms)
    duration += star(record.verified.disturbances)
    return " ".join(filter(None, (duration, block, once)))


def _quickest(records: Sequence[Record]) -> Record | None:
    """Return the quickest of those that were found right."""
    verified = [(found.kernel.median_ms, each) for each in records if (found := each.verified)]
    return min(verified, key=lambda each: each[0])[1] if verified else None


def _reasons(records: Sequence[Record]) -> Iterator[str]:
    """Yield why cells have no time, the commonest first."""
    objections = [(each.cell.implementation, each.objection) for each in records if each.objection]
    if not objections:
        return
    counts = Counter(reason for _, reason in objections)
    yield ""
    for reason, count in counts.most_common(MAX_REASONS):
        whose = list(dict.fromkeys(key for key, each in objections if each == reason))
        names = ", ".join(whose) if len(whose) <= 3 else f"{len(whose)} implementations"
        yield f"{count} × no time of {names}: {reason}"
    if len(counts) > MAX_REASONS:
        rest = sum(counts.values()) - sum(n for _, n in counts.most_common(MAX_REASONS))
        yield f"{rest} × no time for other reasons: session.csv has them."


ESTIMATE_EVERY_S = 1.0
NOTHING_MEASURED = (
    "Nothing was measured: no cell gave a right answer in its time; the reasons stand above."
)


def run(arguments: Namespace) -> int:
    """Print the plan, measure what is not measured yet, and print what came of it.

    With --json a document of that on stdout, and all else on stderr.
    """
    with printed_apart(arguments.json) as print_json, ended_by_sigterm():
        plan, texts = plan_for(arguments)
        given = _given(plan, arguments.plan)
        folder = _folder(arguments)
        engine = engine_maker(arguments)()
        cells = cells_of(plan, given)
        print("\n".join(opening_lines(plan, cells)), flush=True)
        machine = this_machine(engine)
        if arguments.resume:
            refuse_other_pictures(read_session(folder), given)
        before, file = _session_file(folder, plan, machine, resuming=arguments.resume)
        records = {record.cell: record for record in before}
        session = Session(plan, machine, time())
        with file:
            print(
                _prospect(engine, plan, cells, before, texts),
                f"On {machine.name}, into {folder}.",
                flush=True,
            )
            try:
                for record in _measured(plan, engine, given, cells, records, texts):
                    file.append(record)
                    records[record.cell] = record
            except BaseException as error:
                say("")
                session = read_session(folder)  # it may have ended between file and dict
                print("\n".join(closing_lines(session)))
                _print_interruption(error, session.records, len(cells), arguments, folder)
                print_json(partial(sweep_data, session, len(cells), folder))
                raise
            finally:
                say("")
                table = _write_table(folder)
        session = replace(session, records=tuple(records.values()))
        print("\n".join(closing_lines(session)))
        print(f"\nKept in {folder}.")
        print_json(partial(sweep_data, session, len(cells), folder))
    if table:
        raise table
    if not any(record.verified for record in session.records):
        raise CommandError(NOTHING_MEASURED)
    return 0


def plan_for(arguments: Namespace) -> tuple[Plan, Texts]:
    """Return the preset or file that is named, with what the options change about it.

    And the texts of the kernels of the user's own that it measures: files beside the plan's, or,
    where the option names them, wherever that says.
    """
    plan = _named_plan(arguments.plan)
    if arguments.implementations:
        plan, texts = with_kernels(plan, arguments.implementations, Path())
        plan.cells()  # BadJobError for one there is not
    else:
        plan, texts = with_kernels(plan, plan.implementations, Path(arguments.plan).parent)
    if arguments.seconds is not None:
        plan = replace(plan, cell_seconds=arguments.seconds)
    return plan, texts


def with_kernels(plan: Plan, names: Sequence[str], folder: Path) -> tuple[Plan, Texts]:
    """Return `plan` with these implementations, files among them, and the texts in those.

    folder  that files are named from
    Raises CommandError for a file that makes no kernel, and for two of one name.
    """
    files = {name: folder / name for name in names if is_own(name)}
    keys = [files[name].name if name in files else name for name in names]
    if twice := [key for key in keys if keys.count(key) > 1 and is_own(key)]:
        raise CommandError(
            f"Two kernels are called {twice[0]}, and tables would not tell them apart; rename one.",
            USAGE,
        )
    planned = replace(plan, implementations=tuple(keys))
    return with_texts(planned, map(read_named, files.values()))


def _named_plan(word: str) -> Plan:
    found = {preset.key: preset.plan for preset in presets()}
    if word in found:
        return found[word]
    if word.endswith(SUFFIXES):
        raise CommandError(
            f"{word} is a session that was measured, not a plan: `workbench report {word}` shows "
            "it, and --resume resumes one in the folder that --out names.",
            USAGE,
        )
    if word.endswith(".toml") or Path(word).is_file():
        return read_plan(Path(word))
    near = get_close_matches(word, found, n=2, cutoff=0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise CommandError(
        f"There is no preset {word!r}.{hint} `workbench list presets` shows them all; a plan of "
        "your own is a file that ends with .toml.",
        USAGE,
    )


def _given(plan: Plan, word: str) -> Given:
    """Return the pictures that the plan names by file, which lie beside it."""
    names = [name for name in plan.pictures if name not in PICTURE_KINDS]
    if not names:
        return {}
    from workbench.files import image_files  # Qt, which a plan without files does not need

    try:
        return {name: image_files.load(Path(word).parent / name).samples for name in names}
    except ImageFileError as error:
        raise CommandError(str(error)) from error


def _folder(arguments: Namespace) -> Path:
    """Return where to write: what is named, or a new folder with the plan's name and the time."""
    folder: Path | None = arguments.out
    if folder is None:
        if arguments.resume:
            raise CommandError("--resume needs --out DIR, the folder of the session.", USAGE)
        name = f"{Path(arguments.plan).stem}-{datetime.now().astimezone():%Y-%m-%d-%H%M}"
        folder, again = Path(name), 1
        while folder.exists():
            again += 1
            folder = Path(f"{name}-{again}")
        return folder
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder} is a file; name a folder.", USAGE)
    is_there = session_path(folder).exists()
    if is_there and not arguments.resume:
        raise CommandError(
            f"{folder} holds a session already; add --resume to resume it, or name another folder.",
            USAGE,
        )
    if arguments.resume and not is_there:
        raise CommandError(
            f"There is no session in {folder} to resume; leave --resume out to begin one.", USAGE
        )
    return folder


def _session_file(
    folder: Path, plan: Plan, machine: Machine, *, resuming: bool
) -> tuple[Sequence[Record], SessionFile]:
    """Return what there is already, and the file to append to."""
    if not resuming:
        return (), SessionFile.create(folder, plan, machine)
    session, file = resume(folder, machine, plan)
    for remark in session.remarks:
        print(f"workbench: {remark}", file=sys.stderr)
    return session.records, file


def _prospect(
    engine: Engine, plan: Plan, cells: Sequence[Cell], done: Sequence[Record], texts: Texts
) -> str:
    """Return how long it will take, in a sentence."""
    known = {record.cell for record in done if record.is_complete}
    left = [cell for cell in cells if cell not in known]
    able = [cell for cell in left if refusal(engine, cell, texts) is None]
    some = "all" if not left else f"{len(known)}"
    parts = [f"{some} of them are measured already"] if known else []
    if len(able) < len(left):
        parts.append(f"{len(left) - len(able)} cannot run here")
    if able:
        subject = "the rest takes" if parts else "measuring them takes"
        parts.append(f"{subject} {about(estimated_s(able, done, plan.sampling))}")
    sentence = ", ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _measured(
    plan: Plan,
    engine: Engine,
    given: Given,
    cells: Sequence[Cell],
    known: Mapping[Cell, Record],
    texts: Texts,
) -> Iterator[Record]:
    """Yield the records of what is left, as they come; a line says how far it is.

    known  the newest of each cell; whoever takes them adds those that come
    """
    left = [cell for cell in cells if cell not in known or not known[cell].is_complete]
    able = {cell for cell in left if refusal(engine, cell, texts) is None}
    remaining, worked_out = "", -ESTIMATE_EVERY_S
    for step in sweeping(plan, engine, given, known.values(), texts):
        if not isinstance(step, Record):
            say(f"{step.doing}{remaining}")
            continue
        yield step
        if step.is_complete:
            able.discard(step.cell)
        if monotonic() - worked_out >= ESTIMATE_EVERY_S:
            worked_out = monotonic()
            left_s = estimated_s(able, known.values(), plan.sampling)
            remaining = f" · {about(left_s)} left"


def _write_table(folder: Path) -> CommandError | None:
    """Write session.csv from what is on the disk; return what kept it from being written."""
    path = folder / "session.csv"
    table = io.StringIO(newline="")
    try:
        write_csv([read_session(folder)], table)
        with replacing(path) as file:
            file.write(table.getvalue().encode())
    except (OSError, KernelError) as error:
        why = getattr(error, "strerror", None) or error
        return CommandError(f"{path} cannot be written: {why}; the session itself is whole.")
    return None


def _print_interruption(
    error: BaseException, kept: Sequence[Record], total: int, arguments: Namespace, folder: Path
) -> None:
    """Print that nothing is lost, and how to resume."""
    if not isinstance(error, (KeyboardInterrupt, KernelError)):
        return  # a bug, which speaks for itself
    words = ["workbench", "sweep", arguments.plan, "--out", str(folder), "--resume"]
    if arguments.json:
        words.append("--json")
    if arguments.implementations:
        words += ["--implementations", ",".join(arguments.implementations)]
    if arguments.seconds is not None:
        words += ["--seconds", f"{arguments.seconds:g}"]
    if arguments.device:
        words += ["--device", str(arguments.device)]
    if arguments.no_gpu:
        words.append("--no-gpu")
    stopped = "Stopped" if isinstance(error, KeyboardInterrupt) else "It ended early"
    early = sum(not record.is_complete for record in kept)
    rest = f", {early} of them without their last rounds" if early else ""
    print(f"\n{stopped}: {len(kept)} of {total} cells are kept in {folder}{rest}.  To resume:")
    print(f"  {shlex.join(words)}", flush=True)
