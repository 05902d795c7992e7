"""`workbench launch`: one launch of one rung, in an NVTX range named after it, for a profiler."""

from __future__ import annotations

from argparse import Namespace

from workbench.commands import made_jobs
from workbench.commands.machine import engine_maker


def run(arguments: Namespace) -> int:
    """Launch, and print what ran."""
    width, height = arguments.picture
    job = made_jobs.job(
        arguments.filter,
        arguments.size,
        (height, width),
        arguments.channels,
        arguments.pixel_type,
        arguments.border,
        implementation=arguments.implementation,
        block_xy=arguments.block,
    )
    for ran in engine_maker(arguments)().launch_once(job):
        print(ran)
    return 0
