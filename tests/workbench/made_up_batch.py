"""A batch's process that does nothing: tests say what it reports."""

from workbench.session.batch_process import BatchEnd, BatchProcess


class MadeUpBatch(BatchProcess):
    """It runs from `start` until `end`.

    words  with which it was started last
    told   what it was told since
    """

    def __init__(self, parent):
        super().__init__(parent)
        self.words, self.told, self._is_running = [], [], False

    @property
    def is_running(self):
        return self._is_running

    def start(self, words):
        self.words, self.told, self._is_running = list(words), [], True

    def tell(self, word):
        self.told.append(word)

    def close(self):
        self._is_running = False

    def end(self, how="ended", complaint="", **counts):
        """End as a process does that has done so many pictures, by their status."""
        self._is_running = False
        self.ended.emit(BatchEnd(how, counts, 1.0, complaint))
