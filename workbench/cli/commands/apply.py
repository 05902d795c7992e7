"""`workbench apply`: filter picture files, time each and check its output."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from workbench.base.importing import without_collecting
from workbench.cli import argument_types as types
from workbench.cli import options

HELP = """\
Of a folder, the files that have a picture's extension and no dot in front of their name are
filtered, as a person sorts them.  Into a folder every result goes under its input's name.

  workbench apply scans/ out/ --recursive --format png --no-replace --jobs 4
  curl … | workbench apply - - --filter edges > edges.png

--implementation ./mine.cu filters with a user kernel: on the GPU, in a process of its own, with a
time where its output is right.  Without a GPU, or with --no-gpu, it runs on the CPU, and slowly:
every pixel of the output is checked, and no time is taken.

--device 0,1, or all, has these GPUs share the rows of each picture; the rows that one needs of
another's are copied between them.  The time is from the first one's start until all have ended.

With OUT -, all words go to stderr.  --json tells, in one line for each picture: status (done,
skipped, failed, wrong), error, input, output, what was asked for, what ran, its threads, median_ms,
quartiles_ms, n and check.  With --jobs nothing is read or written while a filter is timed."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = HELP
    parser.add_argument(
        "inputs",
        metavar="IN",
        nargs="+",
        type=types.picture,
        help="pictures to filter, and folders of them; - is standard input",
    )
    parser.add_argument(
        "output",
        metavar="OUT",
        help="file to write, or folder; a new one ends with /; - is standard output",
    )
    options.add_job_options(parser)
    options.add_devices_options(parser, "the rows of each picture")
    group = options.add_file_options(parser, ", or to - (default: png)")
    options.add_replacing_options(group, is_default=True)
    group.add_argument(
        "--jobs",
        metavar="N",
        type=types.positive,
        default=1,
        help="I/O threads; filtering stays one by one (default: 1)",
    )
    options.add_reporting_options(parser, 1, "all")


def run(arguments: Namespace) -> int:
    """Import what it takes, and run."""
    with without_collecting():
        from workbench.cli import filter_files
    return filter_files.run(arguments)
