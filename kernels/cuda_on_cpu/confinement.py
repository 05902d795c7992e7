"""Confinement of runs, which may request memory, and end, and of compilers, to some folders.

The filter of a run (Linux's seccomp) comes before the kernel's library, whose constructors run as
it is loaded.  The file of the library is opened before, and handed over once by fibers.cpp in place
of a call that is refused.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from contextlib import suppress

# Numbers of x86-64.  Python itself needs them to say how the run went.
ALLOWED = {
    *(0, 1, 3, 5, 8, 17),  # read, write, close, fstat, lseek, pread64: of what is open
    *(9, 10, 11, 12, 25, 28),  # mmap, mprotect, munmap, brk, mremap, madvise
    *(13, 14, 15, 131),  # signals
    *(24, 39, 60, 98, 186, 202, 204, 228, 231),  # to yield, who and when it is, futex, to end
    *(318, 334),  # getrandom, rseq
}
TGKILL = 234
ARCHITECTURE = 0xC000003E  # x86-64
LOAD, EQUALS, RETURN = 0x20, 0x15, 0x06  # of the filter's language, BPF
NUMBER_AT, ARCHITECTURE_AT, FIRST_ARGUMENT_AT = 0, 4, 16
ALLOW, TRAP = 0x7FFF0000, 0x00030000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
ALLOWING_VARIABLE = "FILTER_WORKBENCH_UNCONFINED"  # of the environment: processes of ours have it
NONE_HERE = (
    "This system does not let a process confine itself (seccomp: {}): on its CPU a user kernel "
    "could read and change your files. It runs only where you allow that, as with --unconfined."
)


class _Program(ctypes.Structure):
    """The layout of struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


class NoConfinementError(Exception):
    """The system refuses the filter; the message is a sentence that says so."""


def why_not() -> str | None:
    """Reason why a user kernel may not run here; None where it is confined, or allowed."""
    if is_allowed():
        return None
    # A filter at no address: where one is allowed the error is EFAULT.
    number = _prctl(PR_SET_SECCOMP, MODE_FILTER, None)
    return None if number == errno.EFAULT else NONE_HERE.format(os.strerror(number))


def allow_unconfined() -> None:
    """Let user kernels run unconfined where the system has no filters: the user was asked."""
    os.environ[ALLOWING_VARIABLE] = "1"


def is_allowed() -> bool:
    """True if the user lets kernels run unconfined."""
    return ALLOWING_VARIABLE in os.environ


def confine(*, is_needed: bool = True) -> None:
    """Take from this process whatever no kernel needs.

    Raises NoConfinementError where the system has no filters and it `is_needed`.
    """
    steps = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (EQUALS, 1, 0, ARCHITECTURE),
        (RETURN, 0, 0, TRAP),
        (LOAD, 0, 0, NUMBER_AT),
        (EQUALS, 0, 4, TGKILL),  # abort() sends itself a signal
        (LOAD, 0, 0, FIRST_ARGUMENT_AT),
        (EQUALS, 0, 1, os.getpid()),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, TRAP),
    ]
    for number in sorted(ALLOWED):
        steps += [(EQUALS, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    steps.append((RETURN, 0, 0, TRAP))
    program = _Program(len(steps), b"".join(struct.pack("<HBBI", *step) for step in steps))
    number = _prctl(PR_SET_NO_NEW_PRIVS, 1, None) or _prctl(
        PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program)
    )
    if number and is_needed:
        raise NoConfinementError(NONE_HERE.format(os.strerror(number)))


def _prctl(what: int, value: int, pointer: object) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    return ctypes.get_errno() if library.prctl(what, value, pointer, 0, 0) else 0


# Numbers of Linux's Landlock, which has processes give up folders, from linux/landlock.h.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1, 2, 4, 8, 1 << 14
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
TO_READ = EXECUTE | READ_FILE | READ_DIR
RIGHTS_SINCE = (*13 * (1,), 2, 3, 5)  # the version of Landlock that knows each right to files
TCP, PROCESSES = 3, 3  # all rights to them, from versions 4 and 6 on


def give_up_files(readable: list[str], writable: list[str]) -> None:
    """Give up all files but these and what is in these, where the system knows Landlock."""
    library = ctypes.CDLL(None)
    version = library.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return
    files = sum(1 << bit for bit, since in enumerate(RIGHTS_SINCE) if since <= version)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    given_up = struct.pack("<3Q", files, TCP, PROCESSES)[:size]
    rules = library.syscall(CREATE_RULESET, given_up, ctypes.c_size_t(size), 0)
    for paths, rights in ((readable, TO_READ), (writable, files)):
        for path in paths:
            with suppress(OSError):  # not on every system
                file = os.open(path, os.O_PATH | os.O_CLOEXEC)
                own = rights & files & (-1 if stat.S_ISDIR(os.fstat(file).st_mode) else OF_FILES)
                library.syscall(ADD_RULE, rules, 1, struct.pack("<Qi", own, file), 0)
                os.close(file)
    library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    library.syscall(RESTRICT_SELF, rules, 0)
