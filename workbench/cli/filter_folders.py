"""`workbench batch IN... OUT`: filter folders of pictures, as fast as their files allow."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Collection, Generator, Iterable
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

from kernels.core.cpu_load import usable_cores
from kernels.core.plain_data import without_controls
from kernels.core.safe_files import remove_abandoned
from workbench.base.memory import use_freed_memory_again
from workbench.batch.batch_run import Pausing, Say, running
from workbench.batch.cluster import Cluster, ClusterError
from workbench.batch.cluster_work import Work
from workbench.batch.device_run import DeviceRun
from workbench.batch.filtering import UNTIMED, Outcome, Recipe
from workbench.batch.journal import NAME, Journal, JournalError, last_run
from workbench.batch.pairs import FilePair, FilePairs, PairingError, Pairs, naming, pairs_into
from workbench.batch.shards import journals_among, merge
from workbench.batch.stage_times import (
    FinishedRow,
    StageTimes,
    closing_lines,
    marks_for,
    progress_words,
    rows_of,
    summary,
)
from workbench.cli import output
from workbench.cli.output import FAILED, USAGE, CommandError, ProgressLine, complain
from workbench.cli.recipe_options import (
    first_device,
    note_on,
    processes_for,
    recipe_of,
    sharing_devices,
)
from workbench.cli.result_words import asked_of, rows_record
from workbench.cli.stopping import HeldBack, RemoteControl, ended_by_sigterm
from workbench.cli.this_machine import engine_maker

NEWS_S = 0.1  # between two looks at how far it is, which is as often as they can be read
NEWS_ON_LINES_S = 10.0  # where each is a line that stays


def run(arguments: Namespace) -> int:
    """Filter every picture into the folder OUT; one that fails does not keep the others back."""
    if arguments.merge:
        return _merge(arguments)
    use_freed_memory_again()
    if arguments.workers is not None and arguments.scheduler is None:
        raise CommandError("--workers counts those of a --scheduler; give that as well.", USAGE)
    arguments.device = first_device(arguments)
    recipe = recipe_of(arguments, UNTIMED)
    arguments.json = arguments.json or arguments.control
    try:
        pairs = _sharded(_pairs(arguments, recipe), arguments)
        if arguments.dry_run:
            return _print_plan(pairs, arguments)
        if not pairs.pairs and arguments.shard is None:
            return _complain_of(pairs)
        devices = sharing_devices(arguments, recipe)
        asked = {**asked_of(recipe), **_asked_of_files(arguments)}
        name, resuming = _journal_name(arguments), arguments.resume
        assert isinstance(pairs.pairs, FilePairs)
        with (
            _cluster(arguments, pairs) as cluster,
            Journal(arguments.output, asked, resuming=resuming, name=name) as journal,
        ):
            for folder in pairs.pairs.folders:
                remove_abandoned(folder)
            return _run(recipe, pairs, journal, arguments, cluster or devices)
    except PairingError as error:
        raise CommandError(str(error), USAGE) from error
    except (JournalError, ClusterError) as error:
        raise CommandError(str(error)) from error


def _pairs(arguments: Namespace, recipe: Recipe) -> Pairs:
    inputs: list[Path] = []
    for each in arguments.inputs:
        inputs += output.read_names() if str(each) == output.STREAM else [each]
    if not inputs:
        raise PairingError("Standard input lists no pictures.")
    rename = naming(arguments.name, arguments.format, recipe.chosen)
    return pairs_into(inputs, arguments.output, recursive=arguments.recursive, rename=rename)


def _sharded(pairs: Pairs, arguments: Namespace) -> Pairs:
    """Return the part of the pairs that is the shard's."""
    if (shard := arguments.shard) is None:
        return pairs
    assert isinstance(pairs.pairs, FilePairs)
    mine = pairs.pairs.part(
        lambda target: shard.has(target.relative_to(arguments.output).as_posix())
    )
    return replace(pairs, pairs=mine)


def _journal_name(arguments: Namespace) -> str:
    return NAME if arguments.shard is None else str(arguments.shard.journal_name)


def _known(arguments: Namespace) -> Collection[str]:
    return last_run(arguments.output, _journal_name(arguments)).known


def _merge(arguments: Namespace) -> int:
    """Write the journals of shards as one, and say what became of the pictures."""
    try:
        counts = merge(journals_among(arguments.inputs), arguments.output)
    except JournalError as error:
        raise CommandError(str(error)) from error
    if arguments.json:
        print(output.json_of({"merged": {"counts": counts}}))
    else:
        said = ", ".join(f"{count:,} {status}" for status, count in counts.items()) or "none"
        print(f"{sum(counts.values()):,} pictures: {said}.")
    return FAILED if counts.keys() & {"failed", "wrong"} else 0


def _asked_of_files(arguments: Namespace) -> dict[str, Any]:
    """Return the options beside the filter's that decide what is in the results' files."""
    names = ("pixel_type", "implementation", "format", "name", "quality", "reduce")
    return {name: getattr(arguments, name) for name in names}


def _print_plan(pairs: Pairs, arguments: Namespace) -> int:
    """Print what would be done, and touch nothing."""
    known = _known(arguments) if arguments.resume else frozenset()
    count = 0
    for pair in pairs.pairs:
        if pair.target.relative_to(arguments.output).as_posix() in known:
            continue
        count += 1
        is_there = os.path.lexists(pair.target)
        if arguments.json:
            plan = {"input": pair.source_shown, "output": pair.target_shown, "is_there": is_there}
            print(output.json_of(plan))
        else:
            kept = " (is there already)" if is_there and not arguments.replace else ""
            print(without_controls(f"{pair.source_shown} → {pair.target_shown}{kept}"))
    if not arguments.json:
        print(f"{count:,} picture{'' if count == 1 else 's'}; nothing was written.")
    return _complain_of(pairs)


def _complain_of(pairs: Pairs) -> int:
    for sentence in pairs.complaints:
        complain(sentence)
    return FAILED if pairs.complaints else 0


def _cluster(arguments: Namespace, pairs: Pairs) -> AbstractContextManager[Cluster | None]:
    """Return the cluster that was asked for, after a look at whether it can do the batch."""
    if arguments.scheduler is None:
        return nullcontext()
    cluster = Cluster(arguments.scheduler, complain, arguments.workers or 1)
    try:
        first = next(iter(pairs.pairs), None)
        source = first.source.absolute() if first is not None else None
        cluster.check(arguments.output.absolute(), source)
    except BaseException:
        cluster.close()
        raise
    return cluster


def _run(
    recipe: Recipe,
    pairs: Pairs,
    journal: Journal,
    arguments: Namespace,
    elsewhere: Cluster | tuple[int, ...],
) -> int:
    """Filter what the journal does not know to be done, and print what came of it.

    elsewhere  who does it: a cluster, or several GPUs; nothing: this computer, with one at most
    """
    control = RemoteControl(sys.stdin.fileno() if arguments.control else None)
    said = ProgressLine(arguments.progress)
    say = _saying(said, arguments)
    code = _complain_of(pairs)
    total = max(len(pairs.pairs) - len(journal.known), 0)
    left = (each for each in pairs.pairs if journal.of(each.target) not in journal.known)
    stopping: AbstractContextManager[None]
    stopping = held_back = HeldBack()

    def rest() -> None:
        held_back.rest()
        control.rest()

    pausing = Pausing(control.is_paused, rest)
    if isinstance(elsewhere, Cluster):
        work = _work(recipe, elsewhere, arguments)
        jobs, engines = elsewhere.threads(work), elsewhere.workers
        times = StageTimes(total, jobs, control.clock, None, engines)
        rows = elsewhere.rows(work, left, total, pausing)
    elif processes := processes_for(elsewhere, total, recipe, arguments):
        asked = arguments.jobs or usable_cores()
        run = DeviceRun(processes, recipe, arguments.output, asked, complain)
        shares = run.shares if elsewhere else None
        times = StageTimes(total, run.jobs, control.clock, run.cpu_s, len(processes), shares)
        rows = run.rows(left, pausing, say)
    else:
        jobs = arguments.jobs or usable_cores()

        def say_and_obey(outcome: Outcome, doing: str) -> None:
            say(outcome, doing)
            if outcome.is_large:
                control.obey()

        rows = _rows_here(recipe, left, jobs, journal, say_and_obey, arguments, pausing)
        times, stopping = StageTimes(total, jobs, control.clock), ended_by_sigterm()
    try:
        with stopping, closing(rows):
            _tell(rows, times, journal, said, arguments)
    except KeyboardInterrupt:
        times.end()
        _close("stopped", times, arguments)
        complain(f"Stopped; the same command with --resume does the rest, as {journal.path} knows.")
        raise
    times.end()
    journal.append({"ended": summary(times)})
    _close("ended", times, arguments)
    if times.failed:
        complain(f"{times.failed:,} failed; {journal.path} says why, and --resume tries again.")
    return FAILED if times.failed else code


def _work(recipe: Recipe, cluster: Cluster, arguments: Namespace) -> Work:
    """Return what all workers have to know."""
    return Work(
        run=uuid4().hex,
        folder=arguments.output.absolute(),
        recipe=recipe,
        device=arguments.device or 0,
        use_gpu=not arguments.no_gpu,
        jobs=arguments.jobs,
        neighbours=cluster.neighbours,
    )


def _rows_here(
    recipe: Recipe,
    pairs: Iterable[FilePair],
    jobs: int,
    journal: Journal,
    say: Say,
    arguments: Namespace,
    pausing: Pausing,
) -> Generator[FinishedRow, None, None]:
    """Filter in this process; return what yields each picture's row."""
    engine = engine_maker(arguments)()
    if note := note_on(engine, recipe, arguments):
        complain(note)
    return rows_of(running(engine, pairs, recipe, jobs, say, pausing=pausing), journal.of)


def _saying(said: ProgressLine, arguments: Namespace) -> Say:
    """Return what is told how far a picture is, and says it of a large one."""

    def say(outcome: Outcome, doing: str) -> None:
        if outcome.is_large:
            if not arguments.control:
                said.say(f"{outcome.pair.name}: {doing}")
            elif outcome.strips is not None:
                print(output.json_of(rows_record(outcome)), flush=True)

    return say


def _tell(
    rows: Iterable[FinishedRow],
    times: StageTimes,
    journal: Journal,
    said: ProgressLine,
    arguments: Namespace,
) -> None:
    """Write each row into the journal, and say what is to be said of it."""
    every_s = NEWS_S if sys.stderr.isatty() or arguments.control else NEWS_ON_LINES_S
    _tell_progress(times, said, arguments)
    news_at, logs = monotonic() + every_s, set[str]()
    for row in rows:
        times.add(row)
        journal.append(row.line)
        if arguments.json or row.error is not None:
            said.say("")
        if arguments.json:
            print(output.json_of(row.line), flush=True)
        if row.error is not None:
            log = "" if row.log in logs else row.log
            logs.add(row.log)  # the same one of a hundred thousand pictures is told once
            complain("\n".join(filter(None, (row.error, log))))
        if monotonic() >= news_at:
            _tell_progress(times, said, arguments)
            news_at = monotonic() + every_s
    said.say("")


def _tell_progress(times: StageTimes, said: ProgressLine, arguments: Namespace) -> None:
    """Say how far it is: to a program in JSON, else to whoever looks at the terminal."""
    if arguments.control:
        print(output.json_of({"progress": asdict(times.progress())}), flush=True)
    elif times.finished:
        said.say(progress_words(times.progress()))


def _close(how: str, times: StageTimes, arguments: Namespace) -> None:
    if arguments.control:
        _tell_progress(times, ProgressLine(), arguments)
    if arguments.json:
        print(output.json_of({how: summary(times)}), flush=True)
    else:
        print("\n".join(closing_lines(times, marks_for(sys.stdout.encoding))), flush=True)
