"""The process that a compiler runs in: on its own files alone, for so long, with its parent.

Run as `python -c`, with no more imports than it takes: each costs every compilation its time.
It ends the compiler, with whatever that has started, when its own standard input ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import stat
import struct
import sys
import threading
from contextlib import suppress
from typing import Any

# Numbers of Linux's Landlock, which has processes give up folders, from linux/landlock.h.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1, 2, 4, 8, 1 << 14
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
TO_READ = EXECUTE | READ_FILE | READ_DIR
# What there is to give up, by the version of Landlock: rights to files, to TCP, to other processes.
RIGHTS = ((1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1)
TCP, PROCESSES = 3, 3
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
RULES_FROM, TCP_FROM, PROCESSES_FROM = 1, 4, 6


def main(order: dict[str, Any]) -> int:
    """Run a compiler; return its exit code.

    words     the command
    scratch   the folder that it may write to, and begins in
    readable  files and folders that it may read; empty: all that its user may
    seconds   that it may take, by the clock
    too_long  words for when it takes longer
    limits    (RLIMIT_..., the most) of each
    """
    process = os.fork()
    if process == 0:
        try:
            _become(order)
        except OSError as error:
            sys.stderr.write(f"{order['words'][0]}: {error}\n")
            sys.stderr.flush()
        finally:
            os._exit(127)
    with suppress(OSError):  # it did so itself
        os.setpgid(process, process)
    ended = os.pipe()
    watch = threading.Thread(target=_watch, args=(process, order, ended[0]))
    watch.start()
    _, status = os.waitpid(process, 0)
    os.close(ended[1])
    watch.join()
    return os.waitstatus_to_exitcode(status) & 0xFF


def _watch(process: int, order: dict[str, Any], ended: int) -> None:
    """End the compiler when its time is up, or its parent closed standard input."""
    ready, _, _ = select.select([0, ended], [], [], order["seconds"])
    if not ready:
        sys.stderr.write(f"{order['too_long']}\n")
    if ended not in ready:
        with suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)  # whatever it has started, too
    if 0 in ready:
        import shutil

        shutil.rmtree(order["scratch"], ignore_errors=True)


def _become(order: dict[str, Any]) -> None:
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for each in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python does not listen to
        signal.signal(each, signal.SIG_DFL)
    for kind, most in order["limits"]:
        resource.setrlimit(kind, (most, most))
    os.chdir(order["scratch"])
    if order["readable"]:
        confine([*order["readable"], os.devnull], [order["scratch"], os.devnull])
    os.execvp(order["words"][0], order["words"])


def confine(readable: list[str], writable: list[str]) -> bool:
    """Give up all files but these and what is in these; False: the system knows no such thing."""
    library = ctypes.CDLL(None)
    version = library.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < RULES_FROM:
        return False
    files = RIGHTS[min(version, len(RIGHTS)) - 1]
    given_up = struct.pack("<Q", files)
    given_up += struct.pack("<Q", TCP) if version >= TCP_FROM else b""
    given_up += struct.pack("<Q", PROCESSES) if version >= PROCESSES_FROM else b""
    rules = library.syscall(CREATE_RULESET, given_up, ctypes.c_size_t(len(given_up)), 0)
    for paths, rights in ((readable, TO_READ), (writable, files)):
        for path in paths:
            _allow(library, rules, path, rights & files)
    library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return bool(library.syscall(RESTRICT_SELF, rules, 0) == 0)


def _allow(library: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    try:
        file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # not on every system
        return
    rights &= -1 if stat.S_ISDIR(os.fstat(file).st_mode) else OF_FILES
    library.syscall(ADD_RULE, rules, 1, struct.pack("<Qi", rights, file), 0)
    os.close(file)


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
