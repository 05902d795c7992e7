"""`workbench check`: verify kernels, and time those that are right on a GPU."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from workbench.base.importing import without_collecting
from workbench.cli import argument_types as types
from workbench.cli import options

HELP = """\
Every kernel does 16 small jobs, and each pixel is held against the float64 reference.  Their
weights are 3×3 and 7×7, and once 5×5, 9×9 or 11×11.  Samples (but of one black and one white
picture), weights and the sizes of three pictures are drawn anew each time, or by --seed.  A kernel
whose outputs are right is run under checks of races, barriers and bounds before it is verified.
With an NVIDIA GPU one kernel runs after the other, and what is right is timed on a picture of a
megapixel; else, or with --no-gpu, they run on the CPU, and no time is taken.  Of a folder, all .cu
files in it and in the folders in it are checked; one that crashes, or does not end, costs only its
own row.
--find-bug names the cause where an output is wrong; that is looked for on the CPU.

  workbench check mine.cu --find-bug
  workbench check hand-ins/ --strict --csv marks.csv --html marks.html --jobs 4

Without --strict a kernel is verified on the jobs that its header takes, with the error that its
header allows; the table says on how many.  With it, a job that is not done leaves a kernel not
verified.

A file is compiled and run because you name it here, or its folder.  While it runs on the CPU it is
confined: what opens a file or a connection, or starts a program, is ended, and so is what takes ten
seconds for a job.  The compiler is confined where Linux has Landlock and it lies in a system
folder; elsewhere look at files from people you do not know.  On the CPU it works on Linux on
x86-64.  Exit code 1 where not all are verified; without --strict, what is right and could not be
searched for bugs, as without a C++ compiler, is no reason for that."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = HELP
    parser.add_argument(
        "kernels", metavar="FILE|FOLDER", nargs="+", type=Path, help="kernels, and folders of them"
    )
    parser.add_argument(
        "--find-bug", action="store_true", help="say where a wrong kernel goes wrong: line, thread"
    )
    options.add(parser, "unconfined")
    parser.add_argument(
        "--strict",
        action="store_true",
        help="for hand-ins: every job counts, and only float32's own error is allowed, whatever "
        "the file's header says",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=types.natural,
        help="draw the same pictures and weights as the check that named this seed",
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=types.positive,
        default=1,
        help="files checked at a time (default: 1)",
    )
    options.add(parser, "csv")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write it as a page as well")
    options.add(parser, "json")
    options.add(parser, "progress")
    options.add_device_options(parser)


def run(arguments: Namespace) -> int:
    """Import what it takes, and run."""
    with without_collecting():
        from workbench.cli import check_kernels
    return check_kernels.run(arguments)
