"""The arguments of each command, and its help."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from workbench.cli import argument_types as types
from workbench.files.format_names import EXTENSION_OF
from workbench.model.modes import MODES

LISTS = ("filters", "borders", "implementations", "presets")
BENCHES = ("kernels", "cpu", "batch")

APPLY_HELP = """\
Of a folder, the files that have a picture's extension and no dot in front of their name are
filtered, as a person sorts them.  Into a folder every result goes under its input's name.

  workbench apply scans/ out/ --recursive --format png --no-replace --jobs 4
  curl … | workbench apply - - --filter edges > edges.png

--implementation ./mine.cu filters with a kernel of your own: on the GPU, in a process that it may
crash, with a time where its answers are right.  Without a GPU, or with --no-gpu, it runs on the
CPU, and slowly: every pixel of the answer is checked, and no time is taken.

--device 0,1, or all, has these GPUs share the rows of each picture; the rows that one needs of
another's are copied between them.  The time is from the first one's start until all have ended.

With OUT -, all words go to stderr.  --json tells, in one line for each picture: status (done,
skipped, failed, wrong), error, input, output, what was asked for, what ran, its threads, median_ms,
quartiles_ms, n and check.  With --jobs nothing is read or written while a filter is timed."""

BATCH_HELP = """\
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

TUNE_HELP = """\
Ctrl+C ends it at any time: what was measured until then is kept."""

LAUNCH_HELP = """\
The launch stands in an NVTX range named after the rung, so that a profiler finds it:

  ncu --nvtx --nvtx-include "shared/" workbench launch --implementation shared --size 7
  nsys profile -t cuda,nvtx workbench launch --implementation auto --picture 8192x8192"""

SWEEP_HELP = """\
Every cell is measured in ten rounds, a part at a time, with all others in between.  Ctrl+C ends it
at any time: what was measured until then is kept, and --resume measures the rest.

  workbench sweep camerino_image_size
  workbench sweep mine.toml --out results/ --implementations sequential,opencv,shared

A plan is TOML.  A key takes one value or a list of them, and all combinations are measured; what
is left out, but for title and implementation, has its usual value:

  title = "Shared memory against registers"
  implementation = ["shared", "register_tile"]
  size = [256, 1024, "1920x1080"]
  kernel_size = [3, 5, 7]
  block = ["16x16", "32x8"]

More keys: filter, border, picture (noise, photo, uniform, checkerboard, gradient, or a file beside
the plan), channels, pixel_type, count, cache, devices (how many GPUs share a picture's rows); and,
of one value each, sigma, amount, transfers, cell_seconds, tolerance, note, and for filter =
"custom" matrix = "0 1 0; 1 -4 1; 0 1 0".

An implementation may be a kernel of your own, by its file: ./mine.cu of --implementations, or one
beside the plan.  It is measured on the GPU alone, in a process that it may crash, and has a time
only where its answers are right; the session keeps the SHA-256 of its text."""

REPORT_HELP = """\
Writes report.html, which needs no network, tables.tex, whose tables fit A4 (its first lines say
which LaTeX packages they need: booktabs, longtable, array, textcomp, lscape), and results.csv,
which has the speed-ups as well.  What came with the program is marked as recorded.  Of a folder
with several sessions, all are reported on; two of one plan are compared, cell by cell."""

CHECK_HELP = """\
Every kernel does the same 16 small jobs, sizes 3 and 7, and each pixel is held against the float64
reference; two pictures have sizes drawn anew each time.  A kernel whose outputs are right is run
under checks of races, barriers and bounds before it is verified.  With an NVIDIA GPU that is there,
one kernel runs after the other, and what is right is timed on a picture of a megapixel; else, or
with --no-gpu, they run on the CPU, and no time is taken.  Of a folder, all .cu files in it and in
the folders in it are checked; one that crashes, or does not end, costs only its own row.
--find-bug names the cause where an output is wrong; that is looked for on the CPU.

  workbench check mine.cu --find-bug
  workbench check hand-ins/ --strict --csv marks.csv --html marks.html --jobs 4

Without --strict a kernel is verified on the jobs that its header takes, with the error that its
header allows; the table says on how many.  With it, a job that is not done leaves a kernel not
verified.

A file is compiled and run because you name it here, or its folder.  While it runs on the CPU it is
confined: what opens a file or a connection, or starts a program, is ended, and so is what takes ten
seconds for a job.  The compiler is not confined: look at files from people you do not know.  On the
CPU it works on Linux on x86-64.  Exit code 1 where not all are verified; without --strict, what is
right and could not be searched for bugs, as without a C++ compiler, is no reason for that."""

SOURCE_HELP = """\
Before each instruction stands the line of the kernel that it was made of.  Nothing is run and no
GPU is needed: the compiler is NVRTC (`pip install nvidia-cuda-nvrtc`), and SASS takes NVIDIA's
disassembler as well (`pip install nvidia-cuda-nvdisasm`, 5 MB).

  workbench source shared --sass
  workbench source mine.cu --sass --architecture 120 --against shared

With --against, what is gone has a − before it and what is new a +; below are the instructions by
kind.  Registers and labels are not compared: two texts rarely have them in common."""

COMPARE_HELP = """\
Cells are compared that both have; on two machines, or at two times.  A ratio of 2 says that B takes
half the time of A.  What is wrong, or was not checked, has no speed; where something disturbed a
time (*), there is no verdict."""


def add_window_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `workbench`."""
    parser.add_argument(
        "images",
        metavar="IMAGE",
        nargs="*",
        type=Path,
        help="pictures or a folder to open; also sessions (.jsonl), plans (.toml), kernels (.cu)",
    )
    _add_job_options(parser)
    _add_devices_options(parser, "the rows of a picture")


def add_apply_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `workbench apply`."""
    parser.epilog = APPLY_HELP
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
    _add_job_options(parser)
    _add_devices_options(parser, "the rows of each picture")
    options = _add_file_options(parser, ", or to - (default: png)")
    _add_replacing_options(options, is_default=True)
    _add_jobs_option(options, "read and write so many at a time; filtering stays one by one")
    _add_control_option(_add_saying_options(parser, types.Verifying(1), "all"))


def add_batch_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `workbench batch`."""
    parser.epilog = BATCH_HELP
    parser.add_argument(
        "inputs",
        metavar="IN",
        nargs="+",
        type=types.picture,
        help="pictures, and folders of them; - is a list of them on standard input, a line each, "
        "or with a NUL behind each",
    )
    parser.add_argument("output", metavar="OUT", type=Path, help="folder to write into")
    _add_job_options(parser)
    _add_devices_options(parser, "the pictures")
    _add_batch_options(_add_file_options(parser))
    _add_control_option(_add_saying_options(parser, types.Verifying(100), "100"))


def _add_batch_options(options: argparse._ArgumentGroup) -> None:
    options.add_argument(
        "--name", metavar="PATTERN", help="of results (default: as the picture), see below"
    )
    _add_replacing_options(options, is_default=False)
    options.add_argument(
        "--resume", action="store_true", help="do the rest of what was stopped; else begin"
    )
    options.add_argument(
        "--shard",
        metavar="I/N",
        type=types.shard,
        help="do the I-th of N shards, such as 2/8; each keeps a journal of its own in OUT",
    )
    options.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        type=types.scheduler,
        help="have the workers of a cluster do it, such as tcp://head:8786 (needs the extra "
        "cluster); see below",
    )
    options.add_argument(
        "--workers",
        metavar="N",
        type=types.positive,
        help="with --scheduler: begin once so many are there, or no other comes in a minute "
        "(default: 1)",
    )
    options.add_argument(
        "--merge",
        action="store_true",
        help="only write the journals of all shards, IN, as one journal into OUT",
    )
    options.add_argument(
        "--dry-run", action="store_true", help="only print what would be written, and where"
    )
    options.add_argument(
        "--jobs",
        metavar="N",
        type=types.positive,
        help="read and write so many at a time (default: as many as there are cores); at "
        "most three times as many and two are in memory, fewer where they are large",
    )


def _add_file_options(
    parser: argparse.ArgumentParser, elsewhere: str = ""
) -> argparse._ArgumentGroup:
    options = parser.add_argument_group("files")
    options.add_argument(
        "--recursive", action="store_true", help="look into the folders in folders, too"
    )
    options.add_argument(
        "--format",
        metavar="NAME",
        type=types.one_of(*EXTENSION_OF),
        help=f"{types.in_words(list(EXTENSION_OF))}: of what is written into a folder "
        f"(default: as in the input's name){elsewhere}",
    )
    options.add_argument(
        "--quality",
        metavar="N",
        type=types.quality,
        help="of JPEG and WebP, 1 to 100 (default: JPEG 95, WebP without loss)",
    )
    options.add_argument(
        "--reduce",
        action="store_true",
        help="round to 8 bits, and put what is transparent on white, where OUT cannot hold it",
    )
    options.add_argument(
        "--memory",
        metavar="SIZE",
        type=types.memory,
        help="filter a TIFF that takes more, such as 2G or 500M, in strips that do not (default: "
        "one that takes more than is free)",
    )
    return options


def _add_replacing_options(options: argparse._ArgumentGroup, *, is_default: bool) -> None:
    does, does_not = (" (default)", "") if is_default else ("", " (default)")
    options.add_argument(
        "--replace",
        action="store_true",
        default=is_default,
        help=f"write files anew that are there already{does}",
    )
    options.add_argument(
        *("--no-replace", "--no-clobber"),
        dest="replace",
        action="store_false",
        help=f"leave them alone{does_not}",
    )


def _add_saying_options(
    parser: argparse.ArgumentParser, usually: types.Verifying, in_words: str
) -> argparse._ArgumentGroup:
    options = parser.add_argument_group("what is checked and said")
    options.add_argument(
        "--verify",
        metavar="all|N|none",
        type=types.verifying,
        default=usually,
        help="hold all results, or every N-th, or none against the float64 reference (default: "
        f"{in_words}), of a large one a second's worth of pixels; without a value every pixel of "
        "all",
    )
    options.add_argument("--json", action="store_true", help="a line of JSON for each picture")
    _add_progress_option(options)
    return options


def _add_control_option(options: argparse._ArgumentGroup) -> None:
    options.add_argument(
        "--control",
        action="store_true",
        help="for programs: --json with lines on the progress, and standard input takes pause, "
        "resume and stop, a line each; where it ends, that is a stop",
    )


def add_shot_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `workbench shot`."""
    parser.add_argument("output", metavar="OUT.png", type=Path, help="PNG file to write")
    parser.add_argument(
        "image", metavar="IMAGE", nargs="?", type=Path, help="picture; by default the bundled one"
    )
    parser.add_argument(
        "--size-px",
        metavar="WxH",
        type=types.window_size,
        default=(1440, 900),
        help="size of the window (default: 1440x900)",
    )
    parser.add_argument(
        "--theme",
        metavar="{system,light,dark}",
        type=types.one_of("system", "light", "dark"),
        default="system",
        help="default: system",
    )
    parser.add_argument(
        "--baseline", metavar="NAME", help="what the speed-up is against (default: opencv)"
    )
    parser.add_argument(
        "--mode",
        metavar="NAME,…",
        type=types.modes,
        default=(),
        help=f"what to show: {types.in_words(list(MODES))}; "
        "several one after the other: wipe,anatomy",
    )
    parser.add_argument(
        "--at", metavar="X,Y", type=types.pixel, help="pixel to look at (default: the middle)"
    )
    parser.add_argument(
        "--zoom",
        metavar="S",
        type=types.positive_number,
        help="screen pixels per pixel, looking closely",
    )
    _add_job_options(parser)
    _add_devices_options(parser, "the rows of the picture")


def add_bench_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `workbench bench`."""
    parser.add_argument(
        "bench",
        metavar="BENCH",
        type=types.one_of(*BENCHES),
        help=f"what to measure: {types.in_words(BENCHES)}",
    )
    parser.add_argument(
        "--runs",
        metavar="N",
        type=types.positive,
        help="of batch: files of each format",
    )
    options = parser.add_argument_group("kernels; of cpu --cells and --json; of batch --peers, too")
    options.add_argument(
        "--peers", action="store_true", help="time other libraries and programs as well"
    )
    options.add_argument(
        "--quick", action="store_true", help="only what auto picks, and its second choice"
    )
    options.add_argument(
        "--cells", metavar="PATTERN", help='such as "gaussian float32": those whose name fits'
    )
    options.add_argument(
        "--sizes",
        metavar="K,K",
        type=types.sizes,
        help="of the weights: 3,5,7; default: all there are",
    )
    options.add_argument(
        "--json", metavar="FILE", type=Path, help="write everything that was measured there"
    )
    _add_device_options(parser)


def add_tune_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `workbench tune`."""
    parser.epilog = TUNE_HELP
    options = parser.add_argument_group("kinds of jobs; several with commas between")
    options.add_argument(
        "--filter", metavar="NAME,…", type=types.name_list, help="filters' names, or random"
    )
    options.add_argument("--size", metavar="K,…", type=types.sizes, help="K×K weights, K odd")
    options.add_argument(
        "--pixel-type",
        metavar="TYPE,…",
        type=types.name_list,
        help="uint8, uint16, float16 or float32",
    )
    options.add_argument("--channels", metavar="N,…", type=types.all_channels, help="1 to 4")
    options.add_argument("--picture", metavar="WxH,…", type=types.pairs, help="sizes in pixels")
    options.add_argument("--border", metavar="NAME,…", type=types.name_list, help="default: clamp")
    parser.add_argument(
        "--quick", action="store_true", help="fewer kinds, and each rung in its usual block shape"
    )
    parser.add_argument(
        "--missing", action="store_true", help="only kinds of which nothing is known yet"
    )
    _add_json_option(parser)
    _add_device_options(parser)


def add_launch_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `workbench launch`."""
    parser.epilog = LAUNCH_HELP
    options = parser.add_argument_group("what to launch (`workbench list` shows the names)")
    options.add_argument(
        "--implementation", metavar="RUNG", required=True, help="its name, or auto"
    )
    _add_block_option(options)
    _add_made_picture_options(options)
    options.add_argument(
        "--filter", metavar="NAME", help="a filter's name, or random (default: gaussian)"
    )
    options.add_argument(
        "--size", metavar="K", type=types.size, help="K×K weights, K odd (default: 5)"
    )
    _add_weights_options(options)
    _add_device_options(parser)


def add_source_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `workbench source`."""
    parser.epilog = SOURCE_HELP
    parser.add_argument(
        "kernel", metavar="RUNG|FILE.cu", help="a rung's name, or a kernel of your own"
    )
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--ptx", action="store_true", help="the compiler's intermediate code")
    kinds.add_argument("--sass", action="store_true", help="the GPU's own instructions")
    parser.add_argument(
        "--architecture",
        metavar="N",
        type=types.positive,
        default=90,
        help="90 for sm_90 (default)",
    )
    parser.add_argument(
        "--against", metavar="RUNG|FILE.cu", help="another kernel, which it is compared with"
    )
    _add_json_option(parser)
    options = parser.add_argument_group("what it is compiled for")
    options.add_argument(
        "--filter", metavar="NAME", default="gaussian", help="a filter's name (default: gaussian)"
    )
    options.add_argument(
        "--size", metavar="K", type=types.size, default=5, help="K×K weights, K odd (default: 5)"
    )
    _add_block_option(options)
    _add_sample_options(options)


def _add_block_option(options: argparse._ArgumentGroup) -> None:
    options.add_argument(
        "--block",
        metavar="XxY",
        type=types.pair,
        default=(32, 8),
        help="CUDA threads per block (default: 32x8)",
    )


def _add_made_picture_options(options: argparse._ArgumentGroup) -> None:
    options.add_argument(
        "--picture", metavar="WxH", type=types.pair, default=(4096, 4096), help="default: 4096x4096"
    )
    _add_sample_options(options)


def _add_sample_options(options: argparse._ArgumentGroup) -> None:
    options.add_argument(
        "--pixel-type",
        metavar="TYPE",
        type=types.one_of("uint8", "uint16", "float16", "float32"),
        default="float32",
        help="uint8, uint16, float16 or float32 (default)",
    )
    options.add_argument("--channels", metavar="N", type=types.channels, default=1, help="1 to 4")
    options.add_argument("--border", metavar="NAME", default="clamp", help="default: clamp")


def add_sweep_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `workbench sweep`."""
    parser.epilog = SWEEP_HELP
    parser.add_argument(
        "plan",
        metavar="PRESET|FILE.toml",
        help="what to measure: a preset (`workbench list presets`), or a file",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="folder to write session.jsonl and session.csv into (default: a new one here)",
    )
    parser.add_argument(
        *("--implementations", "--implementation"),
        metavar="NAME,…",
        type=types.name_list,
        help="these instead of the plan's; ./mine.cu is a kernel of your own",
    )
    _add_unconfined_option(parser)
    parser.add_argument("--resume", action="store_true", help="resume the session that DIR holds")
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=types.positive_number,
        help="give a cell up whose first run takes longer (default: as the plan says); exit code 1 "
        "only where no cell is left with a time",
    )
    _add_json_option(parser)
    _add_device_options(parser)


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `workbench report`."""
    parser.epilog = REPORT_HELP
    parser.add_argument(
        "sessions", metavar="SESSION", nargs="+", type=Path, help="folder or .jsonl of a sweep"
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help="folder to write into (default: the first one's)"
    )
    parser.add_argument("--pdf", action="store_true", help="write report.pdf for A4 as well")


def add_compare_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `workbench compare`."""
    parser.epilog = COMPARE_HELP
    for name in ("a", "b"):
        parser.add_argument(
            name, metavar=name.upper(), type=Path, help="folder or .jsonl of a sweep"
        )
    _add_csv_option(parser)
    parser.add_argument(
        "--fail-slower",
        metavar="PERCENT",
        type=types.percentage,
        help="exit code 1 where a cell of B takes longer by more than that, and by more than two "
        "sessions of the same work differ (3%% on the GPU, 5%% under 10 µs, 15%% on the CPU), or "
        "has lost its time: refused now, wrong, or not there at all; a disturbed time fails "
        "nothing, and stderr says how many there were",
    )
    _add_json_option(parser)


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `workbench check`."""
    parser.epilog = CHECK_HELP
    parser.add_argument(
        "kernels", metavar="FILE|FOLDER", nargs="+", type=Path, help="kernels, and folders of them"
    )
    parser.add_argument(
        "--find-bug", action="store_true", help="say where a wrong kernel goes wrong: line, thread"
    )
    _add_unconfined_option(parser)
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
        help="draw the same two picture sizes as the check that named this seed",
    )
    _add_jobs_option(parser, "check so many files at a time")
    _add_csv_option(parser)
    parser.add_argument("--html", metavar="FILE", type=Path, help="write it as a page as well")
    _add_json_option(parser)
    _add_progress_option(parser)
    _add_device_options(parser)


def add_list_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `workbench list`."""
    parser.add_argument(
        "what",
        metavar="WHAT",
        nargs="?",
        type=types.one_of(*LISTS),
        help=f"only {types.in_words(LISTS)} (default: all)",
    )
    _add_json_option(parser)
    _add_device_options(parser)


def add_doctor_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `workbench doctor`."""
    _add_json_option(parser)
    _add_device_options(parser)


def _add_job_options(parser: argparse.ArgumentParser) -> None:
    """Add what to compute and how; `workbench list` shows the names."""
    options = parser.add_argument_group("filtering (`workbench list` shows the names)")
    options.add_argument("--filter", metavar="NAME", help="default: gaussian")
    options.add_argument("--size", metavar="K", type=types.size, help="K×K weights, K odd")
    options.add_argument(
        "--sigma",
        metavar="S",
        type=types.number,
        help="standard deviation of the bell in pixels; without --size K holds 99 %% of it, or is "
        "the largest",
    )
    options.add_argument("--amount", metavar="A", type=types.number, help="strength of unsharp")
    _add_weights_options(options)
    options.add_argument("--border", metavar="NAME", help="default: clamp")
    options.add_argument(
        "--pixel-type",
        metavar="TYPE",
        type=types.one_of("uint8", "uint16", "float16", "float32"),
        help="uint8, uint16, float16 or float32: store the picture so first "
        "(default: as in its file)",
    )
    options.add_argument(
        "--implementation",
        metavar="NAME",
        help="or ./mine.cu, a kernel of your own (default: the best that can run it)",
    )
    _add_unconfined_option(options)
    options.add_argument(
        "--block", metavar="XxY", type=types.pair, help="CUDA threads per block, such as 32x8"
    )


def _add_weights_options(options: argparse._ArgumentGroup) -> None:
    options.add_argument(
        "--weights", metavar="ROWS", help='own weights: --weights="0 1 0; 1 -4 1; 0 1 0"'
    )
    options.add_argument(
        "--offset",
        metavar="O",
        type=types.part_of_white,
        help="added to what --weights give, as a part of white: 1/2, or --offset=-0.25",
    )


def _add_progress_option(options: argparse._ActionsContainer) -> None:
    options.add_argument(
        "--progress",
        action="store_true",
        help="say on stderr what is under way, where that is no terminal, too",
    )


def _add_jobs_option(options: argparse._ActionsContainer, does: str) -> None:
    options.add_argument(
        "--jobs", metavar="N", type=types.positive, default=1, help=f"{does} (default: 1)"
    )


def _add_csv_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--csv", metavar="FILE", type=Path, help="write the table there as well")


def _add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a document of JSON instead")


def _add_device_options(parser: argparse.ArgumentParser) -> None:
    options = parser.add_argument_group("GPU")
    options.add_argument(
        "--device", metavar="N", type=types.natural, help="which GPU, from 0 (default: 0)"
    )
    _add_no_gpu_option(options)


def _add_devices_options(parser: argparse.ArgumentParser, shared: str) -> None:
    options = parser.add_argument_group("GPU")
    options.add_argument(
        "--device",
        dest="devices",
        metavar="N,…",
        type=types.devices,
        help=f"which GPU, from 0 (default: 0); 0,1 or all: several share {shared}",
    )
    _add_no_gpu_option(options)


def _add_unconfined_option(options: argparse._ActionsContainer) -> None:
    options.add_argument(
        "--unconfined",
        action="store_true",
        help="run a user kernel on the CPU though this system cannot keep it from your files",
    )


def _add_no_gpu_option(options: argparse._ActionsContainer) -> None:
    options.add_argument("--no-gpu", action="store_true", help="as on a computer without one")


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "apply": ("Filter picture files, and say how long it took.", add_apply_arguments),
    "batch": ("Filter folders of pictures, as fast as files allow.", add_batch_arguments),
    "list": ("List what there is, and why what is missing cannot run here.", add_list_arguments),
    "doctor": ("Say what is installed here, and what is missing.", add_doctor_arguments),
    "shot": ("Draw the real window off screen into a PNG file.", add_shot_arguments),
    "bench": ("Measure every rung, the CPU, or a batch, on this computer.", add_bench_arguments),
    "tune": ("Measure every rung, so that auto picks the quickest.", add_tune_arguments),
    "sweep": ("Measure a whole plan, such as a published table.", add_sweep_arguments),
    "report": ("Write what sweeps measured as a page to hand in.", add_report_arguments),
    "compare": ("Say what is faster in one sweep than in another.", add_compare_arguments),
    "check": ("Compile and verify kernels of your own, or of a course.", add_check_arguments),
    "source": ("Print a kernel, or the PTX or SASS it becomes.", add_source_arguments),
    "launch": ("Launch one rung once, for a profiler.", add_launch_arguments),
}
