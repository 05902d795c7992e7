"""Measure a plan, cell by cell, into a folder: `workbench sweep PRESET|FILE.toml`."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

from kernels import Engine
from kernels.core.errors import KernelError
from kernels.core.plain_data import to_plain
from kernels.core.timing import CONFIDENCE
from kernels.core.version import program_version
from kernels.rungs.own_kernels import is_own, read_own_kernel
from kernels.sweeps.cell_jobs import Given, Texts, refusal, with_texts
from kernels.sweeps.estimate import about, estimated_s
from kernels.sweeps.machine import this_machine
from kernels.sweeps.plan import PICTURE_KINDS, Cell, Plan
from kernels.sweeps.plan_files import presets, read_plan, with_lists
from kernels.sweeps.plan_keys import KEYS, known_name
from kernels.sweeps.plan_run import cells_of, sweeping
from kernels.sweeps.record import Measurement, Record, Session
from kernels.sweeps.session_csv import sessions_csv
from kernels.sweeps.session_files import SUFFIXES, SessionFile, read_session, resume, session_path
from workbench.base.columns import columns
from workbench.base.numbers import plural
from workbench.cli import output
from workbench.cli.output import USAGE, CommandError
from workbench.cli.stopping import ended_by_sigterm
from workbench.cli.this_machine import engine_maker
from workbench.files.picture_errors import ImageFileError
from workbench.report.session_tables import SessionTables
from workbench.report.tables import Baseline, baseline_of
from workbench.session.session_store import refuse_other_pictures

ESTIMATE_EVERY_S = 1.0
Data = dict[str, Any]
Known = dict[Cell, Record]


def run(arguments: Namespace) -> int:
    """Print the plan, measure the rest of it, and print the results, also as JSON."""
    with output.printed_apart(arguments.json) as print_json, ended_by_sigterm():
        plan, texts = plan_for(arguments)
        given = _given(plan, arguments.plan)
        folder = _folder(arguments)
        engine = engine_maker(arguments)()
        cells = cells_of(plan, given)
        varied = " × ".join(f"{len(getattr(plan, name))} {KEYS[name]}" for name in plan.varied)
        made = f"{plural(len(cells), 'cell')}{varied and f': {varied}'}."
        print(*filter(None, (plan.title, plan.note, made)), sep="\n", flush=True)
        machine = this_machine(engine)
        known, file = Known(), None
        if arguments.resume:
            refuse_other_pictures(read_session(folder), given)
            session, file = resume(folder, machine, plan)
            for remark in session.remarks:
                output.complain(remark)
            known = {record.cell: record for record in session.records}
        left = {cell for cell in cells if cell not in known or not known[cell].is_complete}
        able = {cell for cell in left if refusal(engine, cell, texts) is None}
        took = f", in {about(estimated_s(able, known.values(), plan.sampling))}" if able else ""
        file = file or SessionFile.create(folder, plan, machine)
        try:
            with file as log:
                print(
                    f"To measure: {plural(len(able), 'cell')}{took}; "
                    f"measured already: {len(cells) - len(left)}; cannot run here: "
                    f"{len(left) - len(able)}. On {machine.name}, into {folder}.",
                    flush=True,
                )
                for record in _measured(plan, engine, given, able, known, texts):
                    log.append(record)
                    known[record.cell] = record
        finally:
            output.say("")
            session = read_session(folder)
            print("\n".join(closing_lines(session)))
            is_whole = _write_table(folder, session)
            if (error := sys.exception()) is None:
                print(f"\nKept in {folder}.")
            elif isinstance(error, (KeyboardInterrupt, KernelError)):  # no bug
                why = "It ended early" if isinstance(error, KernelError) else "Stopped"
                kept = f"{len(session.records)} of {len(cells)} cells are kept in {folder}"
                words = ["workbench", *arguments.words]
                words += [] if arguments.out else ["--out", str(folder)]
                words += [] if arguments.resume else ["--resume"]
                print(f"\n{why}: {kept}.  To resume:\n  {shlex.join(words)}", flush=True)
            print_json(partial(sweep_data, session, len(cells), folder))
    if not any(record.verified for record in session.records):
        raise CommandError(
            "Nothing was measured: no cell gave a right output in its time, for reasons above."
        )
    return 0 if is_whole else output.FAILED


def plan_for(arguments: Namespace) -> tuple[Plan, Texts]:
    """Read the named preset or file, with the options laid over it.

    And the sources of the user kernels that it measures: files beside the plan's, or, where the
    option names them, wherever that says.

    Raises HeaderError for a file that makes no kernel, CommandError for two of one name.
    """
    plan, folder = _named_plan(arguments.plan), Path(arguments.plan).parent
    if arguments.implementations:
        plan, folder = replace(plan, implementations=arguments.implementations), Path()
    if arguments.lists:
        plan = replace(with_lists(plan, arguments.lists, Path()), source="", table="", note="")
    if arguments.seconds is not None:
        plan = replace(plan, cell_seconds=arguments.seconds)
    files = {name: folder / name for name in plan.implementations if is_own(name)}
    keys = [files[name].name if name in files else name for name in plan.implementations]
    if twice := [key for key in keys if keys.count(key) > 1 and is_own(key)]:
        raise CommandError(f"Two kernels are called {twice[0]}; rename one.", USAGE)
    return with_texts(
        replace(plan, implementations=tuple(keys)), map(read_own_kernel, files.values())
    )


def _named_plan(word: str) -> Plan:
    found = {preset.key: preset.plan for preset in presets()}
    if word in found:
        return found[word]
    if word.endswith(SUFFIXES):
        raise CommandError(f"{word} is a session; `workbench report {word}` shows it.", USAGE)
    if word.endswith(".toml") or Path(word).is_file():
        return read_plan(Path(word))
    return found[known_name("preset", word, tuple(found), ": see `workbench list presets`")]


def _given(plan: Plan, word: str) -> Given:
    if not (names := [name for name in plan.pictures if name not in PICTURE_KINDS]):
        return {}
    from workbench.files import image_files  # Qt, which a plan without files does not need
    from workbench.model.plan_draft import BUILT_IN

    paths = {name: Path(word).parent / name for name in names}
    try:
        return {
            name: BUILT_IN[name]()
            if name in BUILT_IN and not os.path.lexists(path)
            else image_files.load(path).samples
            for name, path in paths.items()
        }
    except ImageFileError as error:
        raise CommandError(str(error)) from error


def _folder(arguments: Namespace) -> Path:
    """Choose the named folder, or a new one with the plan's name and the time."""
    folder: Path | None = arguments.out
    if folder is None:
        if arguments.resume:
            raise CommandError("--resume needs --out DIR, the folder of the session.", USAGE)
        name = f"{Path(arguments.plan).stem}-{datetime.now().astimezone():%Y-%m-%d-%H%M}"
        names = (name if again == 1 else f"{name}-{again}" for again in count(1))
        return next(Path(each) for each in names if not Path(each).exists())
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder} is a file; name a folder.", USAGE)
    if session_path(folder).exists() != bool(arguments.resume):
        reason = f"There is no session in {folder} to resume; leave --resume out to begin one."
        if not arguments.resume:
            reason = f"{folder} holds a session already; add --resume, or name another folder."
        raise CommandError(reason, USAGE)
    return folder


def _write_table(folder: Path, session: Session) -> bool:
    try:
        output.write_whole(folder / "session.csv", sessions_csv([session]))
    except (CommandError, KernelError) as error:
        output.complain(f"{error} The session itself is whole.")
        return False
    return True


def _measured(
    plan: Plan, engine: Engine, given: Given, able: set[Cell], known: Known, texts: Texts
) -> Iterator[Record]:
    """Measure the rest, record by record, with a line on the progress; the caller keeps `known`."""
    remaining, estimated_at = "", -ESTIMATE_EVERY_S
    for step in sweeping(plan, engine, given, known.values(), texts):
        if not isinstance(step, Record):
            output.say(f"{step.doing}{remaining}")
            continue
        yield step
        if step.is_complete:
            able.discard(step.cell)
        if monotonic() - estimated_at >= ESTIMATE_EVERY_S:
            estimated_at = monotonic()
            remaining = f" · {about(estimated_s(able, known.values(), plan.sampling))} left"


def closing_lines(session: Session) -> Iterator[str]:
    """Tabulate times and speed-ups, then the reasons for missing times."""
    made = SessionTables(session)
    for table in (made.times(), made.refusals()):
        if table is not None:
            titles = tuple(column.title for column in table.columns)
            yield f"\n{table.caption}"
            yield columns([titles, *(row.cells for row in table.rows)])
            yield from table.notes


def sweep_data(session: Session, cells: int, folder: Path) -> Data:
    """Describe a sweep as it stands.

    `cells` is their number in all, `records` those with an outcome, of which `measured` have a
    time beside a passed check.
    """
    baseline = baseline_of(session)
    return {
        "command": "sweep",
        "program": program_version(),
        "folder": str(folder),
        "title": session.plan.title,
        "machine": to_plain(session.machine),
        "confidence": CONFIDENCE,
        "cells": cells,
        "measured": sum(record.verified is not None for record in session.records),
        "is_complete": len(session.records) == cells
        and all(record.is_complete for record in session.records),
        "baseline": baseline.key if baseline else None,
        "records": [_record_data(record, baseline) for record in session.records],
    }


def _record_data(record: Record, baseline: Baseline | None) -> Data:
    data: Data = {"cell": to_plain(record.cell), "why_not": record.objection}
    if not isinstance(record.outcome, Measurement):
        return data | {"is_complete": True}
    measured = record.outcome
    kernel = measured.kernel
    speed_up = baseline.speed_up(record) if baseline else None
    return data | {
        "is_complete": record.is_complete,
        "median_ms": kernel.median_ms,
        "interval_ms": list(kernel.interval_ms) if kernel.interval_ms else None,
        "quartiles_ms": list(kernel.quartiles_ms),
        "steps_ms": [each.median_ms for each in measured.steps],
        "samples": len(kernel.samples_ms),
        "rounds": len(kernel.rounds) or 1,
        "ended": kernel.ended,
        "end_to_end_ms": measured.end_to_end_ms,
        "megapixels_per_s": record.megapixels_per_s,
        "speed_up": output.ratio_data(speed_up) if speed_up else None,
        "verified": record.verified is not None,
        "check": str(measured.check) if measured.check else None,
        "ran": [str(each) for each in measured.ran],
        "disturbances": list(measured.disturbances),
    }
