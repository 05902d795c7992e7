"""The commands: what each does, its options, its help, and what runs it."""

from __future__ import annotations

import re
from argparse import ArgumentParser, _ActionsContainer
from typing import Any, NamedTuple

from workbench.cli.argument_types import BENCHES, LISTS, TYPES, in_words
from workbench.files.formats import EXTENSION_OF


class Command(NamedTuple):
    """One command.

    summary   one sentence
    function  module and name in workbench.cli: `function(arguments) -> exit code`
    options   as `add_options` reads them
    epilog    the end of its help
    replaces  existing files, unless told otherwise
    """

    summary: str
    function: str
    options: str
    epilog: str = ""
    replaces: bool = False


GPU = """
GPU:
  --device N    number of the GPU, from 0 (default: 0)
  --no-gpu      run as on a computer without a GPU
"""
JSON = f"""
  --json        print one JSON document instead
{GPU}"""
GPUS = """
GPU:
  --device N,…  number of the GPU, from 0 (default: 0); 0,1 or all: several share {}
  --no-gpu      run as on a computer without a GPU
"""
UNCONFINED = """
  --unconfined  run a user kernel on the CPU even where this system cannot keep it from your files
"""
WEIGHTS = """
  --weights ROWS    own weights: --weights="0 1 0; 1 -4 1; 0 1 0"
  --offset O        added to the result of --weights, as a part of white: 1/2, or --offset=-0.25
"""
SAMPLES = """
  --block XxY        CUDA threads per block [default: 32x8]
  --pixel-type TYPE  uint8, uint16, float16 or float32 [default: float32]
  --channels N       1 to 4 [default: 1]
  --border NAME      [default: clamp]
"""
FILTERING = f"""
filtering (`workbench list` shows the names):
  --filter NAME      default: gaussian
  --size K           K×K weights, K odd
  --sigma S          standard deviation in pixels; without --size, K holds 99 % of the bell
  --amount A         strength of unsharp
{WEIGHTS}
  --border NAME      default: clamp
  --pixel-type TYPE  uint8, uint16, float16 or float32: convert the picture first
  --implementation NAME  or ./mine.cu, a user kernel (default: the best that can run the job)
{UNCONFINED}
  --block XxY        CUDA threads per block, such as 32x8
"""
FILES = f"""
files:
  --recursive      include subfolders
  --format NAME    {in_words(list(EXTENSION_OF))}: of results in a folder (default: as the input)
  --quality N      of JPEG and WebP, 1 to 100 (default: JPEG 95, WebP lossless)
  --reduce         round to 8 bits and put transparent pixels on white, if OUT can hold no more
  --memory SIZE    filter a TIFF that takes more, such as 2G, in strips (default: the free memory)
  --replace        replace existing files (default of apply)
  --no-replace --no-clobber  keep existing files (default of batch)
"""
REPORTING = """
checks and messages:
  --verify all|N|none  verify all, every Nth or no results [default: {}], of a large one a second's
              worth of pixels; without a value every pixel of all
  --json      print a line of JSON for each picture
  --progress  print progress on stderr even where it is no terminal
  --control   for programs: --json with lines on the progress; standard input takes the lines
              pause, resume and stop, and its end stops as well
"""

WINDOW = Command(
    "See, time and verify image filters on the CPU and on a ladder of CUDA kernels.\n"
    "Without a command: open the window, on the pictures if any are named.",
    "open_window.run",
    f"""
  images [IMAGE…]  pictures or a folder; also sessions (.jsonl), plans (.toml), kernels (.cu)
{FILTERING}{GPUS.format("the rows of a picture")}""",
)

COMMANDS = {  # the window has no name
    "apply": Command(
        "Filter picture files, and print how long it took.",
        "filter_files.run",
        f"""
  inputs IN…  pictures to filter, and folders of them; - is standard input
  output OUT  file or folder to write; a new folder ends with /; - is stdout
{FILTERING}{GPUS.format("the rows of each picture")}{FILES}
  --jobs N         I/O threads; filtering stays one by one [default: 1]
{REPORTING.format("all")}""",
        """\
Of a folder, files with a picture's extension are filtered, but for hidden ones.

  workbench apply scans/ out/ --recursive --format png --no-replace --jobs 4
  curl … | workbench apply - - --filter edges > edges.png

A user kernel (--implementation ./mine.cu) runs in its own process; without a GPU it runs slowly on
the CPU, and nothing is timed.  With OUT -, all messages go to stderr.""",
        replaces=True,
    ),
    "batch": Command(
        "Filter folders of pictures, as fast as files allow.",
        "filter_folders.run",
        f"""
  inputs IN…   pictures, and folders of them; - is a list on standard input, by lines or by NUL
  output OUT/  folder to write into
{FILTERING}{GPUS.format("the pictures")}{FILES}
  --name PATTERN   names of results, of {{stem}}, {{ext}}, {{filter}} and {{size}}
  --resume         finish a batch that was stopped, or begin one
  --shard I/N      filter the I-th of N shards, such as 2/8; each has its own journal in OUT
  --scheduler ADDRESS  use a cluster, such as tcp://head:8786 (needs the extra cluster)
  --workers N      begin with N of its workers, or when no more come for a minute (default: 1)
  --merge          only merge the journals of all shards, IN, into one in OUT
  --dry-run        only print what would be written, and where
  --jobs N         I/O threads (default: CPU count); at most 3N + 2 images in memory
{REPORTING.format("100")}""",
        """\
Pictures are read, filtered and written at the same time, so no single one is timed; `apply` does
that.  A folder below IN becomes the same folder below OUT.

  workbench batch scans/ out/ --recursive --filter unsharp --format tiff
  find photos -newer stamp -print0 | workbench batch - out/ --name "{stem}_{filter}_{size}.png"

OUT gets workbench-batch.jsonl, with a line for each picture, which --json prints.  The same command
with --resume does the rest, and tries failed ones again.  --scheduler needs a `dask scheduler` and
workers of the same version, one for each GPU, with IN and OUT under the same names:

  CUDA_VISIBLE_DEVICES=0 dask worker tcp://head:8786 --nthreads 1""",
    ),
    "list": Command(
        "List what there is, and why what is missing cannot run here.",
        "inventory.list_all",
        f"""
  what [WHAT]   only {in_words(LISTS)} (default: all)
{JSON}""",
    ),
    "doctor": Command(
        "Show what is installed here, and what is missing.",
        "inventory.doctor",
        JSON,
    ),
    "shot": Command(
        "Draw the real window off screen into a PNG file.",
        "draw_window.run",
        f"""
  output OUT.png    PNG file to write
  image [IMAGE]     picture (default: the bundled one)
  --size-px WxH     size of the window [default: 1440x900]
  --theme SCHEME    system, light or dark [default: system]
  --baseline NAME   baseline of the speed-up (default: opencv)
{FILTERING}{GPUS.format("the rows of the picture")}""",
    ),
    "bench": Command(
        "Measure every rung, the CPU, or a batch, on this computer.",
        "benches.run",
        f"""
  bench BENCH      what to measure: {in_words(BENCHES)}
  --runs N         of batch: files of each format
kernels; cpu takes --cells and --json, batch --peers and --json:
  --peers          time other libraries and programs as well
  --quick          only the first two choices of auto
  --cells PATTERN  cells whose name matches, such as "gaussian float32"
  --sizes K,…      of the weights: 3,5,7 (default: all)
  --json FILE      write everything that was measured to a file
{GPU}""",
    ),
    "tune": Command(
        "Measure every rung, so that auto picks the quickest.",
        "tune_rungs.run",
        f"""
  --quick              fewer kinds, and each rung in its usual block shape
  --missing            only kinds that were never measured
  --json               print one JSON document instead
kinds of jobs; several with commas between:
  --filter NAME,…      filters' names, or random
  --size K,…           K×K weights, K odd
  --pixel-type TYPE,…  uint8, uint16, float16 or float32
  --channels N,…       1 to 4
  --picture WxH,…      sizes in pixels
  --border NAME,…      default: clamp
{GPU}""",
        "Ctrl+C ends it at any time and keeps what was measured.",
    ),
    "sweep": Command(
        "Measure a whole plan, such as a published table.",
        "measure_plan.run",
        f"""
  plan PRESET|FILE.toml  what to measure: a preset (`workbench list presets`), or a file
  --out DIR     folder for session.jsonl and session.csv (default: a new one)
  --implementations --implementation NAME,…  instead of the plan's; ./mine.cu is a user kernel
{UNCONFINED}
  --resume      resume the session in DIR
  --seconds S   give up a cell whose first run takes longer (default: as the plan says)
{JSON}""",
        """\
Ctrl+C ends it at any time and keeps what was measured; --resume measures the rest.

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
filter = "custom" matrix = "0 1 0; 1 -4 1; 0 1 0".""",
    ),
    "report": Command(
        "Write what sweeps measured as a page to hand in.",
        "session_commands.report",
        """
  sessions SESSION…  folder or .jsonl of a sweep
  --out DIR          folder to write into (default: the first one's)
  --pdf              write report.pdf for A4 as well
""",
        """\
Writes report.html, tables.tex (its first lines name the LaTeX packages) and results.csv.  Of a
folder all sessions are reported, and two of one plan are compared cell by cell.""",
    ),
    "compare": Command(
        "Show what is faster in one sweep than in another.",
        "session_commands.compare",
        """
  a A           folder or .jsonl of a sweep
  b B           folder or .jsonl of a sweep
  --csv FILE    write the table to a file as well
  --fail-slower PERCENT  exit code 1 if a cell of B takes longer by more than this, and by more than
                noise (3% on the GPU, 5% under 10 µs, 15% on the CPU), or has no time any more
  --json        print one JSON document instead
""",
        """\
A ratio of 2 means that B takes half the time of A.  A wrong or unchecked output has no speed; a
disturbed time (*) has no verdict.""",
    ),
    "check": Command(
        "Compile and verify user kernels, or those of a course.",
        "check_kernels.run",
        f"""
  kernels FILE|FOLDER…  kernels, and folders of them
  --find-bug    show where a wrong kernel goes wrong: line, thread
{UNCONFINED}
  --strict      for hand-ins: every job and only float32's error, whatever the header says
  --seed N      draw the same pictures and weights as the check with this seed
  --jobs N      files checked at a time [default: 1]
  --csv FILE    write the table to a file as well
  --html FILE   write the table as a page as well
  --progress    print progress on stderr even where it is no terminal
{JSON}""",
        """\
Every kernel runs 16 small jobs, and each pixel is compared with the float64 reference.  A right one
is then checked for races, barriers and bounds, and on an NVIDIA GPU timed on a megapixel; without a
GPU all run on the CPU, which needs Linux on x86-64.  Exit code 1 unless all are verified.

  workbench check hand-ins/ --strict --csv marks.csv --html marks.html --jobs 4

Without --strict the jobs and the error are those that the kernel's header allows, and it need not
have been searched for bugs.  On the CPU a kernel runs confined, and at most ten seconds a job; the
compiler is confined on Linux with Landlock if it lies in a system folder.""",
    ),
    "source": Command(
        "Print a kernel, or the PTX or SASS it becomes.",
        "rung_commands.source",
        f"""
  kernel RUNG|FILE.cu   a rung's name, or a user kernel
  --ptx                 the compiler's intermediate code
  --sass                the GPU's own instructions
  --architecture N      90 for sm_90 [default: 90]
  --json                print one JSON document instead
compiled for:
  --filter NAME         a filter's name [default: gaussian]
  --size K              K×K weights, K odd [default: 5]
{SAMPLES}""",
        """\
No GPU is needed: the compiler is NVRTC (`pip install nvidia-cuda-nvrtc`), and SASS needs NVIDIA's
disassembler as well (`pip install nvidia-cuda-nvdisasm`).

  workbench source mine.cu --sass --architecture 120""",
    ),
    "launch": Command(
        "Launch one rung once, for a profiler.",
        "rung_commands.launch",
        f"""
launch (`workbench list` shows the names):
  --implementation RUNG  its name, or auto
  --picture WxH          [default: 4096x4096]
{SAMPLES}
  --filter NAME          a filter's name, or random (default: gaussian)
  --size K               K×K weights, K odd (default: 5)
{WEIGHTS}{GPU}""",
        """\
The launch stands in an NVTX range named after the rung, so that a profiler finds it:

  ncu --nvtx --nvtx-include "shared/" workbench launch --implementation shared --size 7
  nsys profile -t cuda,nvtx workbench launch --implementation auto --picture 8192x8192""",
    ),
}

ENTRY = re.compile(r"\n+(?=\S|  \S)")
SPECIAL: dict[str, dict[str, Any]] = {
    "--no-replace --no-clobber": {"dest": "replace", "action": "store_false"},
    "--device N,…": {"dest": "devices"},
    "--implementation RUNG": {"required": True},
}


def add_options(parser: ArgumentParser, text: str) -> None:
    """Add the options that `text` describes, each as its words and an explanation.

    `--json` is a flag, `--size K` takes a value of the type that TYPES has for it, and `inputs IN…`
    and `image [IMAGE]` are positional.  A line without an indent is the heading of a group.
    """
    group: _ActionsContainer = parser
    for entry in ENTRY.split(text.strip("\n")):
        if not entry.startswith(" "):
            group = parser.add_argument_group(entry.removesuffix(":"))
            continue
        words, explanation = re.split(r"  +|\n", entry.strip(), maxsplit=1)
        explanation = " ".join(explanation.split()).replace("%", "%%")
        *names, last = words.split()
        keywords: dict[str, Any] = {"help": explanation, **SPECIAL.get(words, {})}
        if last.startswith("-"):
            group.add_argument(*names, last, **{"action": "store_true", **keywords})
            continue
        metavar = last
        if not names[0].startswith("-"):
            metavar = last.strip("[]…")
            counts = (("…]", "*"), ("]", "?"), ("…", "+"))
            keywords["nargs"] = next((n for end, n in counts if last.endswith(end)), None)
        if default := re.search(r"\[default: (.+?)\]", explanation):
            keywords["default"] = default[1]
        kind = TYPES.get(words) or TYPES.get(metavar, str)
        group.add_argument(*names, metavar=metavar, type=kind, **keywords)
