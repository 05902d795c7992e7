"""`workbench source`: print a kernel, or its PTX or SASS."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from workbench.base.importing import without_collecting
from workbench.cli import argument_types as types
from workbench.cli import options

HELP = """\
Before each instruction stands the line of the kernel that it was made of.  Nothing is run and no
GPU is needed: the compiler is NVRTC (`pip install nvidia-cuda-nvrtc`), and SASS takes NVIDIA's
disassembler as well (`pip install nvidia-cuda-nvdisasm`, 5 MB).

  workbench source shared --sass
  workbench source mine.cu --sass --architecture 120 --against shared

With --against, what is gone has a − before it and what is new a +; below are the instructions by
kind.  Registers and labels are not compared: two texts rarely have them in common."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = HELP
    parser.add_argument("kernel", metavar="RUNG|FILE.cu", help="a rung's name, or a user kernel")
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
    options.add(parser, "json")
    group = parser.add_argument_group("what it is compiled for")
    group.add_argument(
        "--filter", metavar="NAME", default="gaussian", help="a filter's name (default: gaussian)"
    )
    group.add_argument(
        "--size", metavar="K", type=types.size, default=5, help="K×K weights, K odd (default: 5)"
    )
    options.add(group, "block")
    options.add_sample_options(group)


def run(arguments: Namespace) -> int:
    """Import what it takes, and run."""
    with without_collecting():
        from workbench.cli import kernel_text
    return kernel_text.run(arguments)
