"""Reads broken files one after another; a process of its own, since one may end it.

`python -m tests.broken.trying --kind pictures --seed 1 --first 0 --count 1000`; a line "case N"
before each, a line of JSON for each that ended as none should, and one with the counts.
"""

import argparse
import faulthandler
import json
import os
import resource
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from random import Random

CASE_S = 120  # a case that takes longer hangs: a sound file takes milliseconds
MORE_MEMORY = 2 << 30  # than after the sound files were read; what wants more gets a MemoryError
MAX_MIB = 700  # that a small file may make the process grow by: about what is opened unasked
MAX_SENTENCE = 600


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", nargs="+", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for the files that went wrong")
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    to_parent = os.dup(2)
    with tempfile.TemporaryFile() as noise, tempfile.TemporaryDirectory() as folder:
        os.dup2(noise.fileno(), 2)
        faulthandler.enable(to_parent)
        try:
            outcomes = {
                kind: _try_all(kind, arguments, Path(folder), noise, to_parent)
                for kind in arguments.kind
            }
        finally:
            faulthandler.cancel_dump_traceback_later()
            os.dup2(to_parent, 2)
    _tell(json.dumps({"outcomes": outcomes}))


def _try_all(kind, arguments, folder, noise, to_parent):
    from tests.broken.mutate import broken
    from tests.broken.readers import READERS

    reader = READERS[kind]
    files = reader.files()
    for name, data in files.items():
        (folder / name).write_bytes(data)
        assert reader.read(folder / name) is None, name
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MORE_MEMORY, resource.RLIM_INFINITY))
    noisy = os.fstat(noise.fileno()).st_size
    outcomes = Counter()
    for number in range(arguments.first, arguments.first + arguments.count):
        faulthandler.dump_traceback_later(CASE_S, exit=True, file=to_parent)
        rng = Random(f"{arguments.seed} {number}")
        name, data = broken(rng, rng.choice(sorted(files)), files)
        _tell(f"case {kind} {number} {name} {len(data)}")
        (folder / name).write_bytes(data)
        before = _peak_mib()
        problem, outcome = _read(reader, folder / name)
        grown = _peak_mib() - before
        if problem is None and grown > MAX_MIB:
            problem = f"took {grown:.0f} MiB for {len(data):,} bytes"
        if (size := os.fstat(noise.fileno()).st_size) > noisy:
            said = os.pread(noise.fileno(), size - noisy, noisy).decode(errors="replace")
            noisy = size
            if not all("(EXR_ERR_" in line for line in said.splitlines()):
                problem = problem or f"said on stderr: {said}"  # OpenEXR cannot be kept quiet
        outcomes[outcome] += 1
        if problem is not None:
            told = {
                "case": number,
                "kind": kind,
                "file": name,
                "bytes": len(data),
                "problem": problem[-3000:],
            }
            _tell(json.dumps(told))
            if arguments.keep:
                (arguments.keep / f"{kind} {number} {name}").write_bytes(data)
        (folder / name).unlink()
    return outcomes


def _read(reader, path):
    """(what is wrong with how it went, or None; how it went, in a word)."""
    try:
        wrong = reader.read(path)
    except reader.expected as error:
        return _objection(str(error), path), "refused"
    except Exception:  # noqa: BLE001 - it is what is looked for
        return traceback.format_exc(), "raised"
    return wrong and f"gave {wrong}", "read"


def _objection(sentence, path):
    """What is wrong with a sentence for the user."""
    if not sentence.rstrip("”)").endswith((".", "?", "!")) or "\n" in sentence:
        return f"is no sentence: {sentence!r}"
    if path.name not in sentence and str(path) not in sentence:
        return f"does not name the file: {sentence!r}"
    if len(sentence) - len(str(path)) > MAX_SENTENCE:
        return f"is long: {sentence!r}"
    return None


def _tell(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()  # or the last case before a crash would not be known


def _peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
