"""The outcome of one kernel of a check, in words and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kernels.core.timing import Timing
from kernels.cuda_on_cpu.cuda_compiler import NOT_SEEN

Verdict = Literal[
    "verified", "unsearched", "incomplete", "unfinished", "wrong", "failed", "refused", "broken"
]
# What the verdict says in a table's column, beside how many jobs were done.
WORDS: dict[Verdict, str] = {
    "verified": "verified",
    "unsearched": "right",
    "incomplete": "NOT VERIFIED",
    "unfinished": "not finished",
    "wrong": "WRONG",
    "failed": "failed",
    "refused": "refused",
    "broken": "no kernel",
}


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of one job, as the kernel's text has it, over the samples of the answer.

    loads, stores  of samples of the picture, and of the answer
    operations     additions and multiplications, a multiply-add as two; divisions and roots; None:
                   of what it computes with they cannot be counted
    """

    loads: float
    stores: float
    operations: float | None

    @property
    def in_words(self) -> str:
        """Return them for a table: "2.97 loads, 1 store, 98 operations"."""
        parts = ((self.loads, "load"), (self.stores, "store"), (self.operations, "operation"))
        said = (
            f"{value:.3g} {name}{'' if value == 1 else 's'}"
            for value, name in parts
            if value is not None
        )
        return ", ".join(said)


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """One row of a check's table.

    file      as the user named it, or below the folder that was named
    verdict   "verified": right in every pixel of every job that it takes, and without a bug;
              "unsearched": right likewise, and not searched for bugs; "incomplete": right in what
              it takes, where it has to take all;
              "unfinished": the CPU runtime is too slow for it, or had too little time;
              "wrong": not right in all;
              "failed": it did not come to an end, or did what none may, right or not;
              "refused": it takes none of the jobs, or the CPU runtime lacks what it uses;
              "broken": nothing to run could be made of it
    verified  jobs of `jobs` whose answer is right; `refused` that its header does not take
    job       the name of the first one that is not right
    words     one sentence: its first wrong pixel, or what is wrong otherwise; or what it refuses
    bug       one sentence on its cause, where that was looked for and found
    search    why there is none where it was asked for, or belongs to the verdict: it could not be
              looked for, all of it or on the GPU, or it was not found; empty: it was, or none is
    unseen    why no CUDA compiler has compiled it; empty: one has, or it is not verified
    log       the compiler's own words
    counts    of the job COUNTED; None: that is not among those that are right
    device    the GPU that it ran on; empty: the CPU runtime
    text_sha256  of its text: see `own_kernels.text_hash`; empty: it could not be read
    kernel    its time for the job of a megapixel; None unless that, and all others, are right
    """

    file: str
    verdict: Verdict
    jobs: int
    verified: int = 0
    refused: int = 0
    job: str = ""
    words: str = ""
    bug: str = ""
    search: str = ""
    unseen: str = ""
    log: str = ""
    counts: Counts | None = None
    device: str = ""
    text_sha256: str = ""
    kernel: Timing | None = None

    @property
    def compiles(self) -> bool:
        """Return whether there was something to run."""
        return self.verdict != "broken"

    @property
    def is_right(self) -> bool:
        """Whether it is verified."""
        return self.verdict == "verified"

    @property
    def is_sound(self) -> bool:
        """Whether nothing is known against it."""
        return self.verdict in ("verified", "unsearched")

    @property
    def verdict_in_words(self) -> str:
        """Return the verdict with how many jobs it is of: "verified, 4 of 5 jobs"."""
        if not self.compiles:
            return WORDS[self.verdict]
        done = "all jobs" if self.verified == self.jobs else f"{self.verified} of {self.jobs} jobs"
        if self.verdict == "verified":
            unseen = f", {NOT_SEEN}" if self.unseen else ""
            return f"verified on {done}{unseen}"
        if self.verdict == "unsearched":
            return f"right on {done}, not verified"
        return f"{WORDS[self.verdict]}; right in {self.verified} of {self.jobs} jobs"

    @property
    def sentence(self) -> str:
        """Return what is wrong, as exactly as it is known, and why not more exactly."""
        what = ": ".join(filter(None, (self.job, self.bug or self.words)))
        return " ".join(filter(None, (what, self.search)))
