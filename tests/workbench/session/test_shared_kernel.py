"""The text of a kernel that is shared: with machine and verdict behind its header."""

from datetime import date

import numpy as np

from kernels.core.job import Job
from kernels.rungs.own_kernels import own_kernel, starting_points
from kernels.sweeps.machine import cpu
from workbench.session.kernel_file import shared_text

DAY = date(2026, 11, 23)
JOB = Job.of(
    np.zeros((20, 30, 3), np.uint8), np.ones((5, 5), np.float32), title="Gaussian blur \\\n"
)
TEXT = starting_points()[0].text
VERDICT = "✓ Verified on the whole picture. Run on the CPU: no time."


def test_the_comment_stands_behind_the_header_and_the_text_is_still_a_kernel():
    shared = shared_text(TEXT, VERDICT, JOB, DAY)
    header, _, rest = TEXT.partition("---*/\n")
    comment = shared.removeprefix(f"{header}---*/\n").removesuffix(rest).splitlines()
    assert comment == [
        "// Shared from Filter Workbench, 2026-11-23.",
        f"// Verdict: {VERDICT}",
        "// Job: Gaussian blur \\ 5×5, border clamp, a picture of 30×20 pixels, 3 × uint8.",
        comment[3],
        "",
    ]
    assert comment[3].startswith(f"// Machine: {cpu()}; ")
    assert own_kernel("mine.cu", shared).title == own_kernel("mine.cu", TEXT).title
