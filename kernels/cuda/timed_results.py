"""The results of a job on one GPU or several: the picture at once, then its time, ever surer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kernels.core.device_turns import Turns
from kernels.core.job import Progress, Result, Sampled, Sampling
from kernels.core.sampling import Sampler
from kernels.core.timing import Timing


def timed_results(
    run_ms: Callable[[], float],
    fetch: Callable[[], Result],
    complete: Callable[[Result, Timing], Result],
    sampling: Sampling,
    look: Callable[[], None],
    turns: Turns,
) -> Iterator[Progress | Result]:
    """Run until `sampling` is met; yields a Result after the first run, now and then, and last.

    run_ms    runs it once, and says how many milliseconds that took
    fetch     brings the answer of the last run, as a Result that has no time yet
    complete  gives that one the times of all runs so far
    look      looks after the GPU, when something has just run that was to be timed
    turns     on what it runs on; each run and each fetching has one of its own
    """
    is_shared = sampling.max_samples == 0  # with others that want the answer alone
    first_ms = yield from turns.doing(run_ms, shared=is_shared)
    samples = Sampler(first_ms, sampling, sampling.cache)
    known = yield from turns.doing(fetch, shared=is_shared)
    yield complete(known, samples.timing())  # before the first look: somebody may wait for it
    if samples.wants_more():
        while samples.wants_more():
            yield Sampled("timing", samples.timing())
            samples.add((yield from turns.doing(run_ms)))
            look()
            if samples.is_news():
                yield complete(known, samples.timing())
        # The answer to be checked is that of the last launch, which was timed.
        known = yield from turns.doing(fetch)
    if sampling.max_samples > 0:
        look()
    yield complete(known, samples.timing())
