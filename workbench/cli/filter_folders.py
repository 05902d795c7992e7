"""`workbench batch IN... OUT`: filter folders of pictures, as fast as their files allow."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from time import monotonic

from kernels.core.cpu_load import usable_cores
from kernels.core.plain_data import without_controls
from kernels.core.safe_files import remove_abandoned
from kernels.engine.auto import AUTO
from workbench.base.memory import use_freed_memory_again
from workbench.batch.batch_run import Pausing, running
from workbench.batch.cluster import ClusterRun
from workbench.batch.device_run import DeviceRun
from workbench.batch.filtering import ANOTHER_PAGE, UNTIMED, Outcome, Recipe, options_of
from workbench.batch.journal import (
    NAME,
    Journal,
    LastRun,
    journals_among,
    last_run,
    merge,
    named_in,
    place_of,
    prune,
)
from workbench.batch.pairs import FilePairs, PairingError, naming, pairs_into
from workbench.batch.stage_times import StageTimes, closing_lines, progress_words, summary
from workbench.cli import output
from workbench.cli.output import FAILED, USAGE, CommandError, ProgressLine, complain
from workbench.cli.recipe_options import complain_of, processes_for, recipe_of, several_gpus
from workbench.cli.result_words import Failures, rows_record
from workbench.cli.stopping import HeldBack, RemoteControl, ended_by_sigterm
from workbench.cli.this_machine import engine_maker
from workbench.model.intents import filter_in_words

NEWS_S = 0.1  # between two lines of progress, as fast as they can be read
NEWS_ON_LINES_S = 10.0  # where each line stays


def run(arguments: Namespace) -> int:
    """Filter every picture into the folder OUT; one that fails does not keep the others back."""
    return _merge(arguments) if arguments.merge else _batch(arguments)


def _merge(arguments: Namespace) -> int:
    counts = merge(journals_among(arguments.inputs), arguments.output)
    if arguments.json:
        print(output.json_of({"merged": {"counts": counts}}))
    else:
        said = ", ".join(f"{count:,} {status}" for status, count in counts.items()) or "none"
        print(f"{sum(counts.values()):,} pictures: {said}.")
    return FAILED if counts.keys() & {"failed", "wrong"} else 0


def _batch(arguments: Namespace) -> int:
    use_freed_memory_again()
    if arguments.workers is not None and arguments.scheduler is None:
        raise CommandError("--workers counts those of a --scheduler; give that as well.", USAGE)
    named = arguments.devices
    if arguments.scheduler is not None and named is not None and len(named) != 1:
        raise CommandError("With --scheduler each worker has one GPU: choose --device N.", USAGE)
    recipe = recipe_of(arguments, UNTIMED)
    arguments.json = arguments.json or arguments.control
    pairs, shard = _pairs(arguments, recipe), arguments.shard
    path = place_of(arguments.inputs, arguments.output)
    if shard is not None or arguments.scheduler is not None:  # several computers see these
        path = arguments.output / (NAME if shard is None else shard.journal_name)
    if shard is not None:
        pairs = pairs.part(lambda target: shard.has(named_in(arguments.output, target)))
    if arguments.dry_run:
        return _print_plan(pairs, path, arguments)
    if not pairs and shard is None:
        return _complain_of(pairs)
    devices = several_gpus(arguments, recipe)
    asked = options_of(recipe.chosen, vars(arguments))
    how = {"resuming": arguments.resume, "replacing": arguments.replace}
    with (
        pairs.without_empty_folders(),
        _cluster(arguments, pairs) as cluster,
        Journal(arguments.output, asked, path=path, **how) as journal,
    ):
        prune()
        for folder in pairs.folders:
            remove_abandoned(folder)
        return _run(recipe, pairs, journal, arguments, cluster or devices)


def _pairs(arguments: Namespace, recipe: Recipe) -> FilePairs:
    inputs: list[Path] = []
    for each in arguments.inputs:
        inputs += output.read_names() if str(each) == output.STREAM else [each]
    if not inputs:
        raise PairingError("Standard input lists no pictures.")
    rename = naming(arguments.name, arguments.format, recipe.chosen)
    pairs = pairs_into(inputs, arguments.output, recursive=arguments.recursive, rename=rename)
    return pairs.by_page() if arguments.page == 0 else pairs


def _print_plan(pairs: FilePairs, journal: Path, arguments: Namespace) -> int:
    """Print the pictures and their results, and touch nothing."""
    last = last_run(journal) if arguments.resume else LastRun()
    last.replaces |= arguments.replace
    plan = list(last.left(pairs, arguments.output))
    done = len(pairs) - len(plan)
    failed = dict.fromkeys(each.objection for each in plan if each.objection)
    plan = [each for each in plan if not each.objection]
    for pair in plan:
        is_there = os.path.lexists(pair.target)
        if arguments.json:
            data = {"input": pair.source_shown, "output": pair.target_shown, "is_there": is_there}
            print(output.json_of(data))
        else:
            kept = " (is there already)" * (is_there and not (last.replaces or pair.is_ours))
            line = f"{pair.source_shown} → {pair.target_shown}{kept}"
            print(without_controls(line.replace("\n", " ")))
    if not arguments.json:
        already = f", {done:,} done already" * bool(done)
        print(f"{len(plan):,} picture{'s' * (len(plan) != 1)}{already}; nothing was written.")
    return _complain_of(replace(pairs, complaints=(*pairs.complaints, *failed)))


def _complain_of(pairs: FilePairs) -> int:
    for sentence in pairs.complaints:
        complain(sentence)
    return FAILED if pairs.complaints else 0


@contextmanager
def _cluster(arguments: Namespace, pairs: FilePairs) -> Iterator[ClusterRun | None]:
    if arguments.scheduler is None:
        yield None
        return
    with closing(ClusterRun(arguments.scheduler, complain, arguments.workers or 1)) as cluster:
        first = next((each.source.absolute() for each in pairs), None)
        cluster.check(arguments.output.absolute(), first)
        yield cluster


def _run(
    recipe: Recipe,
    pairs: FilePairs,
    journal: Journal,
    arguments: Namespace,
    elsewhere: ClusterRun | tuple[int, ...],
) -> int:
    """Filter what the journal does not know as done: `elsewhere`, or on this computer."""
    recipe = replace(recipe, keeps_files=not journal.last.replaces)
    # What auto takes is each picture's own: no one knows yet.
    asked = replace(recipe.chosen, implementation=recipe.implementation or AUTO.key)
    talk = _Talk(arguments, journal, filter_in_words(asked))
    code = _complain_of(pairs)
    left, into = journal.last.left, arguments.output
    # The journal may know results of pictures that are not among the inputs any more.
    total = sum(1 for _ in left(pairs, into)) if journal.last.known else len(pairs)
    talk.known = len(pairs) - total
    stopping: AbstractContextManager[None]
    stopping = held_back = HeldBack()
    control, jobs = talk.control, arguments.jobs or usable_cores()

    def rest() -> None:
        held_back.rest()
        control.rest()

    pausing = Pausing(control.is_paused, rest)
    if isinstance(elsewhere, ClusterRun):
        device = None if arguments.no_gpu else arguments.device or 0
        threads, engines = elsewhere.prepare(recipe, device, arguments.jobs), elsewhere.addresses
        times = StageTimes(total, threads, control.clock, None, len(engines))
        outcomes = elsewhere.outcomes(left(pairs, into), pausing, talk.say)
    elif processes := processes_for(elsewhere, total, recipe, arguments):
        run = DeviceRun(processes, recipe, jobs, complain)
        shares = run.shares if elsewhere else None
        times = StageTimes(total, run.jobs, control.clock, run.cpu_s, len(processes), shares)
        outcomes = run.outcomes(left(pairs, into), pausing, talk.say)
    else:

        def say_and_obey(outcome: Outcome, doing: str) -> None:
            talk.say(outcome, doing)
            if outcome.is_large:
                held_back.rest()
                control.obey()

        engine = engine_maker(arguments)()
        complain_of(engine, recipe, arguments)
        outcomes = running(engine, left(pairs, into), recipe, jobs, say_and_obey, pausing=pausing)
        times = StageTimes(total, jobs, control.clock)
        if recipe.is_own:  # whose processes a terminal's Ctrl+C ends, and that is no failure
            stopping = ended_by_sigterm()
    try:
        with stopping, closing(outcomes):
            talk.follow(outcomes, times)
    except KeyboardInterrupt:
        talk.close("stopped", times)
        complain(f"Stopped; the same command with --resume does the rest, as {journal.path} knows.")
        raise
    talk.close("ended", times)
    if failed := times.progress().failed:
        complain(f"{failed:,} failed; {journal.path} says why, and --resume tries again.")
    return FAILED if failed else code


class _Talk:
    """A batch's journal and its messages, to people or to a program."""

    def __init__(self, arguments: Namespace, journal: Journal, what: str) -> None:
        self._journal, self._line = journal, ProgressLine(arguments.progress)
        self._what, self._failures = what, Failures()
        self._as_json, self._is_controlled = arguments.json, arguments.control
        self._times = StageTimes(0, 1)
        self._named, self._named_at = -1, 0.0  # the picture told to be under way, and when it was
        self.known = 0  # pictures that the last run is done with
        self.control = RemoteControl(sys.stdin.fileno() if arguments.control else None)

    def say(self, outcome: Outcome, doing: str) -> None:
        if outcome.is_large and not self._is_controlled:
            self._line.say(f"{outcome.pair.name}: {doing}")
        elif outcome.is_large and outcome.strips is not None:
            print(output.json_of(rows_record(outcome)), flush=True)
        elif self._is_controlled and doing not in ("reading", "writing"):
            index, now = outcome.index, monotonic()
            if index != self._named and now >= self._named_at + NEWS_S:
                self._named, self._named_at = index, now
                self._times.under_way = outcome.pair.name
                self._show_progress(self._times)

    def follow(self, outcomes: Iterable[Outcome], times: StageTimes) -> None:
        """Write each outcome into the journal, and print it, errors and the progress."""
        every_s = NEWS_S if sys.stderr.isatty() or self._is_controlled else NEWS_ON_LINES_S
        self._times = times
        self._show_progress(times)
        news_at = monotonic() + every_s
        for outcome in outcomes:
            outcome.let_go()  # or its pictures stay in memory while others are waited for
            times.add(outcome.status, outcome.seconds, outcome.device)
            if is_named := outcome.index == self._named:
                times.under_way = ""
            times.cut += any(each.endswith(ANOTHER_PAGE) for each in outcome.remarks)
            times.lossy += outcome.is_lossy
            line = outcome.line(named_in(self._journal.folder, outcome.pair.target))
            self._journal.append(line)
            if self._as_json or outcome.error is not None:
                self._line.say("")
            if self._as_json:
                print(output.json_of(line), flush=True)
            self._failures.add(outcome)
            if is_named or monotonic() >= news_at:
                self._show_progress(times)
                news_at = monotonic() + every_s
        self._line.say("")

    def close(self, how: str, times: StageTimes) -> None:
        """Print the summary; a journal that was not stopped gets it as well."""
        self._failures.close()
        times.end()
        progress = times.progress()
        if how == "ended":
            self._journal.append({how: summary(progress)})
        if self._is_controlled:
            self._show_progress(times)
        if self._as_json:
            facts = {"filter": self._what, "journal": str(self._journal.path)}
            print(output.json_of({how: summary(progress) | facts}), flush=True)
        else:
            lines = closing_lines(progress, self._what)
            if self.known:
                known = f"{self.known:,} done already; --replace without --resume does all again."
                lines = [*lines, known] if progress.total else [f"Nothing is left: {known}"]
            print("\n".join((*lines, f"Journal: {self._journal.path}")), flush=True)

    def _show_progress(self, times: StageTimes) -> None:
        if self._is_controlled:
            print(output.json_of({"progress": asdict(times.progress())}), flush=True)
        elif (progress := times.progress()).finished:
            self._line.say(progress_words(progress))
