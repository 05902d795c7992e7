"""`workbench batch`: filter folders of pictures, as fast as their files allow."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from workbench.base.importing import without_collecting
from workbench.cli import argument_types as types
from workbench.cli import options

HELP = """\
Pictures are read, filtered and written at the same time, so no time of one alone is taken; `apply`
does that.  How far it is, and which stage the others wait for, is said meanwhile; at the end, how
busy each stage was.

  workbench batch scans/ out/ --recursive --filter unsharp --format tiff
  find photos -newer stamp -print0 | workbench batch - out/ --name "{stem}_{filter}_{size}.png"

What stands in braces in --name: stem and ext, of the picture's name, and filter and size.  A folder
below IN is the same folder below OUT.

OUT gets workbench-batch.jsonl, with a line for each picture that is finished or has failed.  After
Ctrl+C, a kill or a power cut the same command with --resume does the rest: what is done or was left
alone is not touched again, what failed is tried again.  A file is there as a whole, or not at all.

--device 0,1, or all, has a process for each of these GPUs; they take pictures from one list.  The
journal is the same; the pictures that a lost process had are done again.  At the end each GPU has a
line with its rate and its limit.

--scheduler needs a `dask scheduler` and, on each computer or for each of its GPUs, a worker:

  CUDA_VISIBLE_DEVICES=0 dask worker tcp://head:8786 --nthreads 1

All of them have this version of Filter Workbench, and see IN and OUT under the same names; that is
checked first.  The journal is the same; what a lost worker was at is done by another one.

--json prints the lines of that journal as they come: input, output, status (done, skipped, failed,
wrong), error, remarks, and the seconds of each stage; the last line has the stages.  Exit code 1
where any picture failed."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = HELP
    parser.add_argument(
        "inputs",
        metavar="IN",
        nargs="+",
        type=types.picture,
        help="pictures, and folders of them; - is a list of them on standard input, a line each, "
        "or with a NUL behind each",
    )
    parser.add_argument("output", metavar="OUT", type=Path, help="folder to write into")
    options.add_job_options(parser)
    options.add_devices_options(parser, "the pictures")
    group = options.add_file_options(parser)
    group.add_argument(
        "--name", metavar="PATTERN", help="of results (default: as the picture), see below"
    )
    options.add_replacing_options(group, is_default=False)
    group.add_argument(
        "--resume", action="store_true", help="do the rest of what was stopped; else begin"
    )
    group.add_argument(
        "--shard",
        metavar="I/N",
        type=types.shard,
        help="do the I-th of N shards, such as 2/8; each keeps a journal of its own in OUT",
    )
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        type=types.scheduler,
        help="have the workers of a cluster do it, such as tcp://head:8786 (needs the extra "
        "cluster); see below",
    )
    group.add_argument(
        "--workers",
        metavar="N",
        type=types.positive,
        help="with --scheduler: begin with N workers, or when no more come for a minute "
        "(default: 1)",
    )
    group.add_argument(
        "--merge",
        action="store_true",
        help="only write the journals of all shards, IN, as one journal into OUT",
    )
    group.add_argument(
        "--dry-run", action="store_true", help="only print what would be written, and where"
    )
    group.add_argument(
        "--jobs",
        metavar="N",
        type=types.positive,
        help="I/O threads (default: CPU count); at most 3N + 2 images in memory, fewer if large",
    )
    options.add_reporting_options(parser, 100, "100")


def run(arguments: Namespace) -> int:
    """Import what it takes, and run."""
    with without_collecting():
        from workbench.cli import filter_folders
    return filter_folders.run(arguments)
