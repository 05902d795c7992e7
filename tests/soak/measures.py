"""What a process holds: memory, files, threads, and objects by their kind."""

import ctypes
import gc
import os
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import _lru_cache_wrapper
from pathlib import Path

from PySide6.QtWidgets import QApplication

from tests.soak.finding import parts

PACKAGES = ("kernels.", "workbench.")


@dataclass(frozen=True)
class Held:
    """A process at rest.

    rss_mib       resident memory, freed pages given back
    files         open file descriptors, by what they point to
    threads       by name
    windows       top-level widgets by class, hidden ones too
    qt_objects    QObjects below them, by class
    objects       Python's containers and instances, by type
    """

    rss_mib: float
    files: Counter
    threads: Counter
    windows: Counter
    qt_objects: Counter
    objects: Counter

    @property
    def counts(self):
        """All that is counted, {what: how many}."""
        groups = {
            "open file": self.files,
            "thread": self.threads,
            "window": self.windows,
            "Qt object": self.qt_objects,
            "Python object": self.objects,
        }
        return {(kind, name): n for kind, found in groups.items() for name, n in found.items()}


def held():
    """Look at this process, when it has nothing to do."""
    _empty_bounded_caches()
    for _ in range(3):
        if not gc.collect():
            break
    with suppress(AttributeError, OSError):  # there is none but in glibc
        ctypes.CDLL(None).malloc_trim(0)
    tops = QApplication.topLevelWidgets()
    return Held(
        rss_mib=_rss_mib(),
        files=_open_files(),
        threads=_threads(),
        windows=Counter(_name_of(type(each)) for each in tops),
        qt_objects=Counter(each.metaObject().className() for top in tops for each in parts(top)),
        objects=_objects(),
    )


def _objects():
    found = Counter()
    for kind, count in Counter(map(type, gc.get_objects())).items():
        found[_name_of(kind)] += count
    return found


def _name_of(kind):
    return f"{kind.__module__}.{kind.__qualname__}"


def _threads():
    """All that the system counts, Qt's and the libraries' among them."""
    tasks = Path("/proc/self/task").iterdir()
    return Counter(task.joinpath("comm").read_text().strip() for task in tasks)


def _empty_bounded_caches():
    """Ours are as large as they may become, sooner or later; what has no bound stays in view."""
    for each in [each for each in gc.get_objects() if type(each) is _lru_cache_wrapper]:
        is_ours = each.__module__.startswith(PACKAGES)
        if is_ours and each.cache_parameters()["maxsize"] is not None:
            each.cache_clear()


def _open_files():
    found = Counter()
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the listing's own is gone by now
            found[str(entry.readlink()).partition(":")[0]] += 1
    return found


def _rss_mib():
    resident = int(Path("/proc/self/statm").read_text().split()[1])
    return resident * os.sysconf("SC_PAGE_SIZE") / 2**20
