"""A kernel's text to share: as it is, with a comment on what was found of it, and where."""

from __future__ import annotations

import re
from datetime import date

from kernels.core.job import Job
from kernels.rungs.headers import BEGIN, END
from kernels.sweeps.machine import cpu, system

TITLE = "Shared from Filter Workbench"
COMMENT = re.compile(rf"^// {TITLE}.*\n(?://.*\n)*\n?", re.M)  # and the blank line behind it
HEADER = re.compile(rf"\A{re.escape(BEGIN)}[ \t]*\n.*?^{re.escape(END)}[ \t]*\n", re.DOTALL | re.M)


def shared_text(text: str, verdict: str, job: Job | None, today: date) -> str:
    """Put a comment behind the header of `text`, in place of one from an earlier sharing.

    verdict  of the text, in words, with a time only where one was measured
    job      that it was tried on; None: it was not tried

    Names no file, user or host.
    """
    lines = [f"{TITLE}, {today.isoformat()}.", f"Verdict: {verdict}"]
    if job is not None:
        lines.append(f"Job: {_in_words(job)}.")
    lines.append(f"Machine: {cpu()}; {system()}.")
    comment = "".join(f"// {' '.join(line.split())}\n" for line in lines)
    text = COMMENT.sub("", text)
    header = HEADER.match(text)
    at = header.end() if header else 0
    return f"{text[:at]}{comment}\n{text[at:]}"


def _in_words(job: Job) -> str:
    return (
        f"{job.filter_title} {job.ksize}×{job.ksize}, border {job.border}, a picture of "
        f"{job.width}×{job.height} pixels, {job.channels} × {job.pixel_type}"
    )
