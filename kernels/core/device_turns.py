"""Turns on a device: one process of a user at a time uses it.  What drives generators.

The operating system holds a lock for each device, by its UUID, which ends with its process.  No
lock is held between two steps of a generator, so that a paused computation blocks no other.
"""

from __future__ import annotations

import os
import tempfile
import time
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from kernels.core.device import Device
from kernels.core.job import Progress
from kernels.core.safe_files import lock, unlock

LOOK_S = 0.0005  # between two tries
STEP_S = 0.02  # of waiting, after which the caller may do something else
STUCK_S = 60.0  # with the same holder: a process that was stopped, say; then it is timed beside it
RECORD_BYTES = 160  # of a lock's file: whose turn it is, since when, for what

T = TypeVar("T")
_purpose: ContextVar[str] = ContextVar("purpose", default="another computation")


@contextmanager
def purpose(words: str) -> Iterator[None]:
    """Name the use of a device meanwhile, for processes that wait: "a sweep"."""
    before = _purpose.set(words)
    try:
        yield
    finally:
        _purpose.reset(before)


def present_purpose() -> str:
    return _purpose.get()


@dataclass(frozen=True, slots=True)
class Waiting(Progress):
    """Progress of a computation that waits for its turn; others may go on meanwhile."""


def turns_folder() -> Path:
    """The folder of this user's locks on this computer.  Raises OSError."""
    user = os.getuid() if hasattr(os, "getuid") else None
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{user}")
    path = runtime / "filter-workbench"
    if not os.access(runtime, os.W_OK):
        path = Path(tempfile.gettempdir(), f"filter-workbench-{'turns' if user is None else user}")
    path.mkdir(mode=0o700, exist_ok=True)
    if path.is_symlink() or (user is not None and path.stat().st_uid != user):
        raise PermissionError(f"{path} belongs to somebody else")
    return path


def note_process() -> None:
    """Note that this process takes turns, until it ends."""
    with suppress(OSError):
        folder = turns_folder()
        for each in folder.glob("process-*") if os.name != "nt" else ():  # where this would end it
            try:
                os.kill(int(each.name.rpartition("-")[2]), 0)
            except ProcessLookupError:
                each.unlink(missing_ok=True)
            except PermissionError:
                pass  # it lives, and is another user's
        (folder / f"process-{os.getpid()}").touch()


def takes_turns(process: int) -> bool:
    """True if a process of this user takes turns with us, or is this one."""
    with suppress(OSError):
        return process == os.getpid() or (turns_folder() / f"process-{process}").exists()
    return False


class Turns:
    """Turns on some devices at once; for one thread, of this process or its parent."""

    def __init__(self, devices: Iterable[Device], process: int | None = None) -> None:
        # Always in the same order, so that two processes do not wait for one another.
        self._devices = sorted((each for each in devices if each.uuid), key=lambda each: each.uuid)
        self._process = process or os.getpid()
        self._depth = 0
        self.are_anew = True  # others had the turn before the present one, or the last
        self._written = self._why_no_locks = ""
        self._beside = ""  # whom the last turn was had beside: somebody who kept the device
        self._stuck = ""  # the record of that holder, which is not waited for again

    @property
    def why_not_alone(self) -> str:
        """Reason why other processes of ours may use the device meanwhile; "" where none do."""
        if not self._locks and self._why_no_locks:
            return f"programs of yours could not be kept off the GPU: {self._why_no_locks}"
        return self._beside

    def doing(self, do: Callable[[], T], *, shared: bool = False) -> Generator[Waiting, None, T]:
        """Do something once it is our turn; shared: beside others that time nothing, either."""
        yield from self._waiting(shared)
        try:
            return do()
        finally:
            self._release()

    @contextmanager
    def held(self, say: Callable[[str], None] = lambda _: None) -> Iterator[None]:
        """Wait for our turn, saying for whom, and have it while the block runs."""
        for each in self._waiting(shared=False):
            say(each.doing)
        try:
            yield
        finally:
            self._release()

    def _waiting(self, shared: bool) -> Generator[Waiting, None, None]:
        seen, since = "", time.monotonic()
        while not self._tried(shared):
            if (holder := self._read()) != seen:
                seen, since = holder, time.monotonic()
            if holder == self._stuck or time.monotonic() - since > STUCK_S:
                self._stuck = holder
                self._depth, self._beside = 1, f"{self._holder()} did not end"
                return
            yield Waiting(f"waiting for {self._holder()}")

    def _tried(self, shared: bool) -> bool:
        """Take all locks, or none where that takes longer than a step."""
        if self._depth:
            self._depth += 1
            return True
        until = time.monotonic() + STEP_S
        if not all(each.take(shared, until) for each in self._locks):
            self._unlock()
            return False
        self._depth, self._beside = 1, ""
        self.are_anew = self._read() != self._written or bool(self._why_no_locks)
        for each in self._locks:
            each.write(f"{self._process} {time.monotonic_ns()} {present_purpose()}")
        self._written = self._read()
        return True

    def _release(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._unlock()

    def _unlock(self) -> None:
        for each in self._locks:
            unlock(each.device)

    def _read(self) -> str:
        return "\n".join(each.read() for each in self._locks)

    def _holder(self) -> str:
        """Format "a sweep of process 1234 on NVIDIA H200", for the first device."""
        process, _, doing = (*self._read().partition("\n")[0].split(" ", 2), "", "")[:3]
        whose = "" if process == str(self._process) else f" of process {process}"
        return f"{doing or 'another computation'}{whose} on {self._devices[0].name}"

    @cached_property
    def _locks(self) -> list[_Lock]:
        """A lock of each device; none where files cannot be locked."""
        try:
            return [_Lock(turns_folder() / each.uuid.replace(":", "-")) for each in self._devices]
        except OSError as error:
            self._why_no_locks = error.strerror or str(error)
            return []


class _Lock:
    """The lock of a device, and one in front, for whoever waits to be next."""

    def __init__(self, path: Path) -> None:
        names = f"{path.name}.queue", path.name
        how = os.O_RDWR | os.O_CREAT
        self._queue, self.device = (os.open(path.with_name(each), how, 0o600) for each in names)
        for each in (self._queue, self.device):
            weakref.finalize(self, os.close, each)

    def take(self, shared: bool, until: float) -> bool:
        try:
            return _tried(self._queue, False, until) and _tried(self.device, shared, until)
        finally:
            unlock(self._queue)

    def write(self, record: str) -> None:
        os.lseek(self.device, 0, os.SEEK_SET)
        with suppress(OSError):  # a full disk: then nobody knows for whom they wait
            os.write(self.device, record.encode()[:RECORD_BYTES].ljust(RECORD_BYTES))

    def read(self) -> str:
        os.lseek(self.device, 0, os.SEEK_SET)
        return os.read(self.device, RECORD_BYTES).decode("utf-8", "replace").strip()


def _tried(file_number: int, shared: bool, until: float) -> bool:
    while not lock(file_number, shared=shared):
        if time.monotonic() > until:
            return False
        time.sleep(LOOK_S)
    return True


def outcome_of(steps: Generator[Any, None, T], tell: Callable[[Any], object] = bool) -> T:
    """Drive `steps` to their end at once, and `tell` each; return their value."""
    while True:
        try:
            tell(next(steps))
        except StopIteration as end:
            outcome: T = end.value
            return outcome


def last_of(steps: Iterable[Progress | T]) -> Generator[Progress, None, T]:
    """Drive `steps`, yielding every Progress; return the last of what else there is."""
    found: list[T] = []
    for step in steps:
        if isinstance(step, Progress):
            yield step
        else:
            found = [step]
    return found[0]


def run_with_progress(steps: Generator[Any, None, T], where: Any) -> Generator[Any, None, T]:
    """Drive `steps`, yielding `where` instead of each but a Waiting; return their value.

    where  a value, or a function that gives it after each step
    Closing this closes `steps` at once.
    """
    try:
        while True:
            step = next(steps)
            present = where() if callable(where) else where
            yield step if isinstance(step, Waiting) else present
    except StopIteration as end:
        outcome: T = end.value
        return outcome
    finally:
        steps.close()


def side_by_side(*steps: Generator[Any, None, Any]) -> Generator[None, None, list[Any]]:
    """Drive several by turns to their ends; return their values.

    As soon as the first returns anything, the others are closed, and return None.
    """
    found: dict[int, Any] = {}
    try:
        while len(found) < len(steps) and not found.get(0):
            for number, each in enumerate(steps):
                if number not in found:
                    try:
                        next(each)
                    except StopIteration as end:
                        found[number] = end.value
            yield
    finally:
        for each in steps:
            each.close()
    return [found.get(number) for number in range(len(steps))]
