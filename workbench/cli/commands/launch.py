"""`workbench launch`: launch a rung once, in an NVTX range named after it, for a profiler."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.cli import argument_types as types
from workbench.cli import options

if TYPE_CHECKING:
    from kernels import Job

HELP = """\
The launch stands in an NVTX range named after the rung, so that a profiler finds it:

  ncu --nvtx --nvtx-include "shared/" workbench launch --implementation shared --size 7
  nsys profile -t cuda,nvtx workbench launch --implementation auto --picture 8192x8192"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = HELP
    group = parser.add_argument_group("what to launch (`workbench list` shows the names)")
    group.add_argument("--implementation", metavar="RUNG", required=True, help="its name, or auto")
    options.add(group, "block")
    group.add_argument(
        "--picture", metavar="WxH", type=types.pair, default=(4096, 4096), help="default: 4096x4096"
    )
    options.add_sample_options(group)
    group.add_argument(
        "--filter", metavar="NAME", help="a filter's name, or random (default: gaussian)"
    )
    group.add_argument(
        "--size", metavar="K", type=types.size, help="K×K weights, K odd (default: 5)"
    )
    options.add(group, "weights", "offset")
    options.add_device_options(parser)


def run(arguments: Namespace) -> int:
    """Launch, and print what ran."""
    from workbench.cli.this_machine import engine_maker

    for ran in engine_maker(arguments)().launch_once(_job(arguments)):
        print(ran)
    return 0


def _job(arguments: Namespace) -> Job:
    """Return the job to launch.  Raises BadJobError where the options clash."""
    from kernels import filters
    from kernels.core.errors import BadJobError
    from kernels.filters import custom
    from kernels.pictures.generated import white
    from workbench.cli import made_jobs

    width, height = arguments.picture
    job = made_jobs.job(
        arguments.filter or "gaussian",
        arguments.size or 5,
        (height, width),
        arguments.channels,
        arguments.pixel_type,
        arguments.border,
        implementation=arguments.implementation,
        block_xy=arguments.block,
    )
    if arguments.weights is None:
        if arguments.offset is not None:
            raise BadJobError("--offset is added to what own weights give; it needs --weights.")
        return job
    if arguments.filter is not None or arguments.size is not None:
        raise BadJobError("--weights are own weights; leave out --filter and --size.")
    own, matrix = filters.get("custom"), custom.parse(arguments.weights)
    return replace(
        job,
        weights=own.weights(len(matrix), matrix=matrix),
        filter_title=own.title,
        offset=(arguments.offset or 0.0) * white(job.picture.dtype),
    )
