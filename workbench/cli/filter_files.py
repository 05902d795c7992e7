"""`workbench apply IN... OUT`: filter picture files, time them, and check the output."""

from __future__ import annotations

import shutil
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kernels import Sampling
from kernels.core.plain_data import without_controls
from workbench.batch.batch_run import in_order, running
from workbench.batch.filtering import IS_THERE, Outcome, Recipe
from workbench.batch.journal import make_folder
from workbench.batch.large_filtering import is_begun
from workbench.batch.pairs import FilePairs, pairs_of, with_extension
from workbench.cli import output
from workbench.cli.output import FAILED, USAGE, CommandError, ProgressLine, complain
from workbench.cli.recipe_options import PIXEL, complain_of, recipe_of, several_gpus
from workbench.cli.result_words import (
    Failures,
    in_one_line,
    large_in_one_line,
    list_in_words,
    record_of,
    rows_record,
)
from workbench.cli.stopping import RemoteControl, ended_by_sigterm
from workbench.cli.this_machine import engine_maker, facts
from workbench.files.formats import EXTENSION_OF
from workbench.model.intents import swings_around_zero


def run(arguments: Namespace) -> int:
    """Filter every file; one that fails does not keep the others from being done."""
    recipe = recipe_of(arguments, Sampling())
    if numbers := several_gpus(arguments, recipe):  # they share the rows of every picture
        arguments.devices, arguments.device = numbers, numbers[0]
        recipe = replace(recipe, chosen=replace(recipe.chosen, devices=len(numbers)))
    if arguments.control:
        arguments.json = True
        if output.STREAM in map(str, arguments.inputs):
            raise CommandError("--control takes standard input, and so does IN -.", USAGE)
    if output.STREAM not in (arguments.output, *map(str, arguments.inputs)):
        return _apply(recipe, _pairs(arguments.inputs, arguments.output, arguments), arguments)
    with TemporaryDirectory(prefix="workbench-") as folder:
        return _apply_to_streams(recipe, arguments, Path(folder))


def _pairs(inputs: list[Path], target: str, arguments: Namespace) -> FilePairs:
    is_for_files = arguments.format is not None and arguments.output != output.STREAM
    rename = with_extension(EXTENSION_OF[arguments.format]) if is_for_files else None
    pairs = pairs_of(inputs, target, recursive=arguments.recursive, rename=rename)
    return pairs.by_page() if arguments.page == 0 else pairs


def _apply_to_streams(recipe: Recipe, arguments: Namespace, folder: Path) -> int:
    """Apply with files in `folder` in place of standard input and output."""
    stdin, stdout = folder / "stdin", folder / f"stdout{EXTENSION_OF[arguments.format or 'png']}"
    writes_stdout = arguments.output == output.STREAM
    if writes_stdout:
        if arguments.json:
            raise CommandError("--json writes to standard output, and so does OUT -.", USAGE)
        if len(arguments.inputs) > 1 or arguments.inputs[0].is_dir() or arguments.page == 0:
            raise CommandError(
                "Standard output takes one picture; for several, name a folder.", USAGE
            )
        if sys.__stdout__ is None:
            raise CommandError("- writes a picture to standard output, which is closed here.")
        output.refuse_terminal(sys.stdout, "writes a picture to standard output")
    inputs = [stdin if str(each) == output.STREAM else each for each in arguments.inputs]
    if inputs.count(stdin) > 1:
        raise CommandError("Standard input holds one picture; name - once.", USAGE)
    if stdin in inputs:  # into a file: pictures are read by seeking, which a pipe cannot
        output.refuse_terminal(sys.stdin, "reads a picture from standard input")
        with stdin.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    pairs = _pairs(inputs, str(stdout) if writes_stdout else arguments.output, arguments)
    pairs = replace(pairs, shown={stdin: output.STREAM, stdout: "stdout"})
    code = _apply(recipe, pairs, arguments)
    if stdout.exists():
        with stdout.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    return code


def _apply(recipe: Recipe, pairs: FilePairs, arguments: Namespace) -> int:
    engine = engine_maker(arguments)()
    complain_of(engine, recipe, arguments)
    for sentence in pairs.complaints:
        complain(sentence)
    machine = facts(engine) if arguments.json else {}
    progress = ProgressLine(arguments.progress)
    failures, count = len(pairs.complaints), len(pairs)
    control = RemoteControl(sys.stdin.fileno() if arguments.control else None)
    began, how, counts, said = control.clock(), "stopped", Counter[str](), Failures()

    def say(outcome: Outcome, doing: str) -> None:
        if not arguments.control and not arguments.quiet:
            of_all = "" if count == 1 else f" ({outcome.index + 1:,} of {count:,})"
            progress.say(f"{outcome.pair.name}{of_all}: {doing}")
        elif outcome.strips is not None:
            print(output.json_of(rows_record(outcome)), flush=True)
        control.obey()

    with pairs.without_empty_folders():
        if not any(group.is_named for group in pairs.groups):
            make_folder(Path(arguments.output), parents=False)
        try:
            with ended_by_sigterm():
                for outcome in in_order(running(engine, pairs, recipe, arguments.jobs, say)):
                    progress.say("")
                    _print_outcome(outcome, recipe, machine, arguments)
                    said.add(outcome)
                    failures += outcome.error is not None
                    counts[outcome.status] += 1
                    del outcome  # its pictures would stay in memory while the next ones are read
            how = "ended"
        except KeyboardInterrupt:
            progress.say("")
            for pair in (each for each in pairs if is_begun(each.target)):
                complain(f"{pair.target_shown} is written in part; the same command resumes it.")
            raise
        finally:
            said.close()
            if arguments.control:
                end = {"counts": dict(counts), "seconds": control.clock() - began}
                print(output.json_of({how: end}), flush=True)
    return FAILED if failures else 0


def _print_outcome(
    outcome: Outcome, recipe: Recipe, machine: dict[str, Any], arguments: Namespace
) -> None:
    """Print one picture's outcome: words or JSON on stdout, warnings and errors on stderr."""
    for warning in outcome.warnings:
        complain(warning)
    if arguments.json:
        print(output.json_of(record_of(outcome, recipe) | {"machine": machine}), flush=True)
    elif not arguments.quiet:
        words = sys.stderr if arguments.output == output.STREAM else sys.stdout
        for line in _lines(outcome, recipe):
            print(without_controls(line.replace("\n", " ")), file=words, flush=True)


def _lines(outcome: Outcome, recipe: Recipe) -> Iterator[str]:
    pair, line, chosen = outcome.pair, "", recipe.chosen
    what = list_in_words(chosen)
    for remark in outcome.remarks:
        yield f"{pair.name}: {remark}"
    if outcome.skipped:
        yield f"{pair.name}: {IS_THERE.format(pair.target_shown)}"
    elif outcome.large is not None:
        line = large_in_one_line(what, outcome.large)
    elif outcome.result is not None:
        line = in_one_line(what, outcome.result)
        is_whole = outcome.result.job.picture.dtype.kind == "u"
        if is_whole and swings_around_zero(replace(chosen, picture=PIXEL)):
            yield f"{pair.name}: sums below 0 become 0; TIFF with --pixel-type float32 keeps them."
    if line and outcome.error is None:
        yield f"{pair.name} → {pair.target_shown}: {line}"
