"""The commands: what each does, its options, its help, and the module that runs it.

Parsing imports neither NumPy nor Qt nor CuPy; a command's module imports what it takes.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from workbench.cli import argument_types as types
from workbench.cli.options import (
    BLOCK,
    CSV,
    DEVICE,
    JOB,
    JSON,
    PROGRESS,
    SAMPLES,
    UNCONFINED,
    WEIGHTS,
    WINDOW_SIZE,
    Groups,
    devices,
    files,
    option,
    reporting,
)


class Command(NamedTuple):
    """One command.

    summary  one sentence
    module   in workbench.cli, with `run(arguments) -> exit code`
    options  by the heading that they stand under
    epilog   the end of its help
    """

    summary: str
    module: str
    options: Groups
    epilog: str = ""


LISTS = ("filters", "borders", "implementations", "presets")
BENCHES = ("kernels", "cpu", "batch")

WINDOW = Command(
    "See, time and verify image filters on the CPU and on a ladder of CUDA kernels.\n"
    "Without a command: open the window, on the pictures if any are named.",
    "open_window",
    {
        "": (
            option(
                "images IMAGE",
                "pictures or a folder to open; also sessions (.jsonl), plans (.toml), kernels "
                "(.cu)",
                Path,
                nargs="*",
            ),
        ),
        **JOB,
        **devices("the rows of a picture"),
    },
)

APPLY = Command(
    "Filter picture files, and print how long it took.",
    "filter_files",
    {
        "": (
            option(
                "inputs IN",
                "pictures to filter, and folders of them; - is standard input",
                types.picture,
                nargs="+",
            ),
            option("output OUT", "file or folder to write; a new folder ends with /; - is stdout"),
        ),
        **JOB,
        **devices("the rows of each picture"),
        **files(
            option(
                "--jobs N",
                "I/O threads; filtering stays one by one (default: 1)",
                types.positive,
                default=1,
            ),
            replaces=True,
            elsewhere=", or to - (default: png)",
        ),
        **reporting(1, "all"),
    },
    """\
In a folder, files with a picture's extension are filtered, in natural order; hidden files are not.
In an output folder each result has the name of its input.

  workbench apply scans/ out/ --recursive --format png --no-replace --jobs 4
  curl … | workbench apply - - --filter edges > edges.png

--implementation ./mine.cu filters with a user kernel: on the GPU, in its own process, and timed if
its output is right.  Without a GPU, or with --no-gpu, it runs slowly on the CPU: every pixel of the
output is verified, and nothing is timed.

--device 0,1, or all, splits the rows of each picture between these GPUs; the rows that a GPU needs
from another are copied between them.  The time is from the first start to the last end.

With OUT -, all messages go to stderr.  --json prints one line per picture: status (done, skipped,
failed, wrong), error, input, output, the options, what ran, its threads, median_ms, quartiles_ms, n
and check.  With --jobs nothing is read or written while a filter is timed.""",
)

BATCH = Command(
    "Filter folders of pictures, as fast as files allow.",
    "filter_folders",
    {
        "": (
            option(
                "inputs IN",
                "pictures, and folders of them; - is a list of them on standard input, one per "
                "line, or each ended by NUL",
                types.picture,
                nargs="+",
            ),
            option("output OUT", "folder to write into", Path),
        ),
        **JOB,
        **devices("the pictures"),
        **files(
            option("--name PATTERN", "names of results (default: as the picture), see below"),
            option("--resume", "finish a batch that was stopped, or begin one"),
            option(
                "--shard I/N",
                "filter the I-th of N shards, such as 2/8; each has its own journal in OUT",
                types.shard,
            ),
            option(
                "--scheduler ADDRESS",
                "use the workers of a cluster, such as tcp://head:8786 (needs the extra cluster); "
                "see below",
                types.scheduler,
            ),
            option(
                "--workers N",
                "with --scheduler: begin with N workers, or when no more come for a minute "
                "(default: 1)",
                types.positive,
            ),
            option("--merge", "only merge the journals of all shards, IN, into one in OUT"),
            option("--dry-run", "only print what would be written, and where"),
            option(
                "--jobs N",
                "I/O threads (default: CPU count); at most 3N + 2 images in memory, fewer if large",
                types.positive,
            ),
            replaces=False,
        ),
        **reporting(100, "100"),
    },
    """\
Pictures are read, filtered and written at the same time, so no single one is timed; `apply` does
that.  Progress and the slowest stage are shown meanwhile; at the end, how busy each stage was.

  workbench batch scans/ out/ --recursive --filter unsharp --format tiff
  find photos -newer stamp -print0 | workbench batch - out/ --name "{stem}_{filter}_{size}.png"

--name may contain {stem} and {ext}, of the picture's name, and {filter} and {size}.  A folder below
IN becomes the same folder below OUT.

OUT gets workbench-batch.jsonl, with a line for each picture that is finished or has failed.  After
Ctrl+C, a kill or a power cut the same command with --resume does the rest: pictures that are done
or were kept are not touched again, failed ones are tried again.  No file is ever half written.

--device 0,1, or all, starts a process for each of these GPUs; they share one list and one journal.
If a process is lost, its pictures are done again.  At the end each GPU has a line with its rate and
its limit.

--scheduler needs a `dask scheduler` and, on each computer or for each of its GPUs, a worker:

  CUDA_VISIBLE_DEVICES=0 dask worker tcp://head:8786 --nthreads 1

All of them need this version of Filter Workbench, and IN and OUT under the same names; that is
checked first.  The journal is the same; the pictures of a lost worker are done by another one.

--json prints the lines of that journal as they come: input, output, status (done, skipped, failed,
wrong), error, remarks, and the seconds of each stage; the last line has the stages.  Exit code 1 if
any picture failed.""",
)

LIST = Command(
    "List what there is, and why what is missing cannot run here.",
    "available",
    {
        "": (
            option(
                "what WHAT",
                f"only {types.in_words(LISTS)} (default: all)",
                types.one_of(*LISTS),
                nargs="?",
            ),
            JSON,
        ),
        **DEVICE,
    },
)

DOCTOR = Command(
    "Show what is installed here, and what is missing.", "doctor", {"": (JSON,), **DEVICE}
)

SHOT = Command(
    "Draw the real window off screen into a PNG file.",
    "draw_window",
    {
        "": (
            option("output OUT.png", "PNG file to write", Path),
            option("image IMAGE", "picture (default: the bundled one)", Path, nargs="?"),
            option(
                "--size-px WxH",
                "size of the window (default: 1440x900)",
                types.window_size,
                default=WINDOW_SIZE,
            ),
            option(
                "--theme {system,light,dark}",
                "default: system",
                types.one_of("system", "light", "dark"),
                default="system",
            ),
            option("--baseline NAME", "baseline of the speed-up (default: opencv)"),
        ),
        **JOB,
        **devices("the rows of the picture"),
    },
)

BENCH = Command(
    "Measure every rung, the CPU, or a batch, on this computer.",
    "benches",
    {
        "": (
            option(
                "bench BENCH", f"what to measure: {types.in_words(BENCHES)}", types.one_of(*BENCHES)
            ),
            option("--runs N", "of batch: files of each format", types.positive),
        ),
        "kernels; cpu takes --cells and --json, batch --peers and --json": (
            option("--peers", "time other libraries and programs as well"),
            option("--quick", "only the first two choices of auto"),
            option("--cells PATTERN", 'cells whose name matches, such as "gaussian float32"'),
            option("--sizes K,K", "of the weights: 3,5,7 (default: all)", types.sizes),
            option("--json FILE", "write everything that was measured to a file", Path),
        ),
        **DEVICE,
    },
)

TUNE = Command(
    "Measure every rung, so that auto picks the quickest.",
    "tune_rungs",
    {
        "": (
            option("--quick", "fewer kinds, and each rung in its usual block shape"),
            option("--missing", "only kinds that were never measured"),
            JSON,
        ),
        "kinds of jobs; several with commas between": (
            option("--filter NAME,…", "filters' names, or random", types.name_list),
            option("--size K,…", "K×K weights, K odd", types.sizes),
            option("--pixel-type TYPE,…", "uint8, uint16, float16 or float32", types.name_list),
            option("--channels N,…", "1 to 4", types.all_channels),
            option("--picture WxH,…", "sizes in pixels", types.pairs),
            option("--border NAME,…", "default: clamp", types.name_list),
        ),
        **DEVICE,
    },
    "Ctrl+C ends it at any time and keeps what was measured.",
)

SWEEP = Command(
    "Measure a whole plan, such as a published table.",
    "measure_plan",
    {
        "": (
            option(
                "plan PRESET|FILE.toml",
                "what to measure: a preset (`workbench list presets`), or a file",
            ),
            option(
                "--out DIR", "folder for session.jsonl and session.csv (default: a new one)", Path
            ),
            option(
                "--implementations --implementation NAME,…",
                "measure these instead of the plan's; ./mine.cu is a user kernel",
                types.name_list,
            ),
            UNCONFINED,
            option("--resume", "resume the session in DIR"),
            option(
                "--seconds S",
                "give up a cell whose first run takes longer (default: as the plan says); exit "
                "code 1 only if no cell is left with a time",
                types.positive_number,
            ),
            JSON,
        ),
        **DEVICE,
    },
    """\
Every cell is measured in ten rounds, a part at a time, with all others in between.  Ctrl+C ends it
at any time and keeps what was measured; --resume measures the rest.

  workbench sweep camerino_image_size
  workbench sweep mine.toml --out results/ --implementations sequential,opencv,shared

A plan is TOML.  A key takes one value or a list of them, and all combinations are measured; only
title and implementation are required:

  title = "Shared memory against registers"
  implementation = ["shared", "register_tile"]
  size = [256, 1024, "1920x1080"]
  kernel_size = [3, 5, 7]
  block = ["16x16", "32x8"]

More keys: filter, border, picture (noise, photo, uniform, checkerboard, gradient, or a file beside
the plan), channels, pixel_type, count, cache, devices (the number of GPUs that share a picture's
rows); and, of one value each, sigma, amount, transfers, cell_seconds, tolerance, note, and for
filter = "custom" matrix = "0 1 0; 1 -4 1; 0 1 0".

An implementation may be the file of a user kernel: ./mine.cu in --implementations, or one beside
the plan.  It is measured on the GPU alone, in its own process, and has a time only if its outputs
are right; the session keeps the SHA-256 of its source.""",
)

REPORT = Command(
    "Write what sweeps measured as a page to hand in.",
    "write_report",
    {
        "": (
            option("sessions SESSION", "folder or .jsonl of a sweep", Path, nargs="+"),
            option("--out DIR", "folder to write into (default: the first one's)", Path),
            option("--pdf", "write report.pdf for A4 as well"),
        )
    },
    """\
Writes report.html, which needs no network; tables.tex, whose tables fit A4 (its first lines name
the LaTeX packages: booktabs, longtable, array, textcomp, lscape); and results.csv, with the
speed-ups as well.  Sessions that came with the program are marked as recorded.  Of a folder with
several sessions all are reported, and two of one plan are compared cell by cell.""",
)

COMPARE = Command(
    "Show what is faster in one sweep than in another.",
    "compare_sessions",
    {
        "": (
            option("a A", "folder or .jsonl of a sweep", Path),
            option("b B", "folder or .jsonl of a sweep", Path),
            CSV,
            option(
                "--fail-slower PERCENT",
                "exit code 1 if a cell of B takes longer by more than this, and by more than two "
                "sessions of the same work differ (3%% on the GPU, 5%% under 10 µs, 15%% on the "
                "CPU), or has lost its time: rejected now, wrong, or missing; a disturbed time "
                "fails nothing, and stderr has their number",
                types.percentage,
            ),
            JSON,
        )
    },
    """\
Compares the cells that both have, measured on two machines or at two times.  A ratio of 2 means
that B takes half the time of A.  A wrong or unchecked output has no speed; a disturbed time (*) has
no verdict.""",
)

CHECK = Command(
    "Compile and verify user kernels, or those of a course.",
    "check_kernels",
    {
        "": (
            option("kernels FILE|FOLDER", "kernels, and folders of them", Path, nargs="+"),
            option("--find-bug", "show where a wrong kernel goes wrong: line, thread"),
            UNCONFINED,
            option(
                "--strict",
                "for hand-ins: every job counts, and only float32's own error is allowed, whatever "
                "the file's header says",
            ),
            option(
                "--seed N",
                "draw the same pictures and weights as the check with this seed",
                types.natural,
            ),
            option("--jobs N", "files checked at a time (default: 1)", types.positive, default=1),
            CSV,
            option("--html FILE", "write the table as a page as well", Path),
            JSON,
            PROGRESS,
        ),
        **DEVICE,
    },
    """\
Every kernel runs 16 small jobs, and each pixel is compared with the float64 reference.  The weights
are 3×3 and 7×7, and once 5×5, 9×9 or 11×11.  Samples (except of one black and one white picture),
weights and the sizes of three pictures are random, or drawn by --seed.  A kernel whose outputs are
right is then checked for races, barriers and bounds before it is verified.  With an NVIDIA GPU the
kernels run one after the other, and right ones are timed on a picture of a megapixel; else, or with
--no-gpu, they run on the CPU, and nothing is timed.  In a folder all .cu files are checked, also in
subfolders; a kernel that crashes, or does not end, costs only its own row.
--find-bug names the cause of a wrong output; the bug is looked for on the CPU.

  workbench check mine.cu --find-bug
  workbench check hand-ins/ --strict --csv marks.csv --html marks.html --jobs 4

Without --strict a kernel is verified on the jobs that its header accepts, with the error that its
header allows; the table shows on how many.  With it, a kernel that skips a job is not verified.

A file is compiled and run because you name it here, or its folder.  On the CPU it runs confined:
a kernel that opens a file or a connection, starts a program, or takes ten seconds for a job is
ended.  The compiler is confined on Linux with Landlock if it lies in a system folder; elsewhere
read files from people you do not know first.  The CPU runtime needs Linux on x86-64.  Exit code 1
unless all are verified; without --strict, a right kernel that could not be searched for bugs, as
without a C++ compiler, does not count against that.""",
)

KERNEL = "RUNG|FILE.cu"
SOURCE = Command(
    "Print a kernel, or the PTX or SASS it becomes.",
    "kernel_text",
    {
        "": (
            option(f"kernel {KERNEL}", "a rung's name, or a user kernel"),
            option("--ptx", "the compiler's intermediate code"),
            option("--sass", "the GPU's own instructions"),
            option("--architecture N", "90 for sm_90 (default)", types.positive, default=90),
            option(f"--against {KERNEL}", "another kernel to compare it with"),
            JSON,
        ),
        "compiled for": (
            option("--filter NAME", "a filter's name (default: gaussian)", default="gaussian"),
            option("--size K", "K×K weights, K odd (default: 5)", types.size, default=5),
            BLOCK,
            *SAMPLES,
        ),
    },
    """\
Each instruction is preceded by the line of the kernel that it was compiled from.  Nothing runs and
no GPU is needed: the compiler is NVRTC (`pip install nvidia-cuda-nvrtc`), and SASS needs NVIDIA's
disassembler as well (`pip install nvidia-cuda-nvdisasm`, 5 MB).

  workbench source shared --sass
  workbench source mine.cu --sass --architecture 120 --against shared

With --against, removed rows begin with − and new ones with +; below are the instructions by kind.
Registers and labels are not compared: two kernels rarely have them in common.""",
)

LAUNCH = Command(
    "Launch one rung once, for a profiler.",
    "launch",
    {
        "launch (`workbench list` shows the names)": (
            option("--implementation RUNG", "its name, or auto", required=True),
            BLOCK,
            option("--picture WxH", "default: 4096x4096", types.pair, default=(4096, 4096)),
            *SAMPLES,
            option("--filter NAME", "a filter's name, or random (default: gaussian)"),
            option("--size K", "K×K weights, K odd (default: 5)", types.size),
            *WEIGHTS,
        ),
        **DEVICE,
    },
    """\
The launch stands in an NVTX range named after the rung, so that a profiler finds it:

  ncu --nvtx --nvtx-include "shared/" workbench launch --implementation shared --size 7
  nsys profile -t cuda,nvtx workbench launch --implementation auto --picture 8192x8192""",
)

COMMANDS = {  # the window has no name
    "apply": APPLY,
    "batch": BATCH,
    "list": LIST,
    "doctor": DOCTOR,
    "shot": SHOT,
    "bench": BENCH,
    "tune": TUNE,
    "sweep": SWEEP,
    "report": REPORT,
    "compare": COMPARE,
    "check": CHECK,
    "source": SOURCE,
    "launch": LAUNCH,
}
