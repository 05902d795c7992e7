"""Builds of the texts that were saved, which that of a new text is compared with."""

from __future__ import annotations

from kernels.cuda_child.gpu_trial import Built
from workbench.session.kernel_trial import KernelText


class SavedBuilds:
    """The builds of the last two texts that were saved, and of the one that was tried last."""

    def __init__(self) -> None:
        self._tried: tuple[KernelText, Built] | None = None
        self._saved: list[tuple[KernelText, Built]] = []  # the newest last

    def forget(self) -> None:
        """Begin with another kernel."""
        self._tried, self._saved = None, []

    def take(self, asked: KernelText, built: Built, is_saved: bool) -> Built | None:
        """Take what a text became; return what that of the last save before it had become.

        None where that is not known, or was for another job.
        """
        self._tried = asked, built
        if is_saved:
            self.note_saved(asked.text)
        others = [each for each in self._saved if each[0].text != asked.text]
        if not others or not others[-1][0].job.same_work(asked.job):
            return None
        return others[-1][1]

    def note_saved(self, text: str) -> None:
        """Keep what was tried last, if it is that text, as the newest that was saved."""
        if self._tried is None or self._tried[0].text != text:
            return
        others = [each for each in self._saved if each[0].text != text]
        self._saved = [*others[-1:], self._tried]
