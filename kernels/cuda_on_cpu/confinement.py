"""The confinement of a run: it may ask the operating system for memory, and to end, no more.

Anything else ends it: a filter of Linux (seccomp), which the process sets upon itself and cannot
take away.  On a GPU a kernel reaches no file and no network; here it would, as its user may do.
While its library is loaded, which runs what that begins with, it may read files, too.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator

# Numbers of x86-64.  Python itself needs them to say how the run went.
ALLOWED = {
    *(1, 3, 5, 8),  # write, close, fstat, lseek: of what is open
    *(9, 10, 11, 12, 25, 28),  # mmap, mprotect, munmap, brk, mremap, madvise
    *(13, 14, 15, 131, 38),  # signals, and the timer of the deadline
    *(24, 39, 60, 98, 186, 202, 204, 228, 231),  # to yield, who and when it is, futex, to end
    *(318, 334),  # getrandom, rseq
}
READING = {0, 17, 262}  # read, pread64, newfstatat
TGKILL, OPENAT, PRCTL, PRLIMIT = 234, 257, 157, 302
ARCHITECTURE = 0xC000003E  # x86-64
LOAD, EQUALS, HAS, RETURN = 0x20, 0x15, 0x45, 0x06  # of the filter's language, BPF
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16
ALLOW, TRAP = 0x7FFF0000, 0x00030000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
TO_WRITE = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC

Step = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    """The layout of struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def confine(*, is_loading: bool = False) -> None:
    """Take from this process whatever no kernel needs; nothing, where the system has no filters.

    is_loading  leave what it takes to load a library, and to be confined further
    """
    steps = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (EQUALS, 1, 0, ARCHITECTURE),
        (RETURN, 0, 0, TRAP),
        (LOAD, 0, 0, NUMBER_AT),
        *_allowing(TGKILL, 0, os.getpid()),  # abort() sends itself a signal
    ]
    if is_loading:
        steps += _allowing(PRCTL, 0, PR_SET_SECCOMP)
        steps += _allowing(PRLIMIT, 0, 0)  # its own
        steps += _allowing(OPENAT, 2, TO_WRITE, HAS)
    for number in sorted(ALLOWED | READING if is_loading else ALLOWED):
        steps += [(EQUALS, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    steps.append((RETURN, 0, 0, TRAP))
    program = _Program(len(steps), b"".join(struct.pack("<HBBI", *step) for step in steps))
    prctl = ctypes.CDLL(None).prctl
    if is_loading:
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program), 0, 0)


def _allowing(number: int, argument: int, value: int, test: int = EQUALS) -> Iterator[Step]:
    """Yield what allows a call where an argument is `value`, or HAS none of its bits."""
    yield EQUALS, 0, 4, number
    yield LOAD, 0, 0, ARGUMENTS_AT + 8 * argument
    yield (EQUALS, 0, 1, value) if test == EQUALS else (HAS, 1, 0, value)
    yield RETURN, 0, 0, ALLOW
    yield RETURN, 0, 0, TRAP
