"""Device code under g++'s sanitizers, which look from outside at what the ladder does."""

from __future__ import annotations

import subprocess

from kernels.cuda_on_cpu.compiler import NO_LIBRARIES, WATCHED, Flavour, the_compiler, why_not

_ADDRESS = (
    *("-Og", "-g1", "-fno-omit-frame-pointer"),
    *("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"),
)
_RACES = ("-Og", "-g1", *WATCHED)
ADDRESS = Flavour("address", (*_ADDRESS, *NO_LIBRARIES), _ADDRESS)
RACES = Flavour("races", (*_RACES, *NO_LIBRARIES), ("-O2", "-DRACE_DETECTOR"))
FLAVOURS = {flavour.name: flavour for flavour in (ADDRESS, RACES)}
LIBRARIES = {"address": ("libasan", "libubsan"), "races": ("libtsan",)}


def why_no_sanitizers() -> str | None:
    """The reason why they cannot be had here."""
    if reason := why_not():
        return reason
    return None if the_compiler().is_gnu else "sanitizers that Python can load are g++'s"


def environment(flavour: str) -> dict[str, str]:
    """The variables under which a Python can load such a library: it does not bring theirs."""
    # So that ASan knows every object's end; the race detector would look at each, and is slow.
    all_by_malloc = {"PYTHONMALLOC": "malloc"} if flavour == "address" else {}
    found = (_output("g++", f"-print-file-name={name}.so") for name in LIBRARIES[flavour])
    return {
        "LD_PRELOAD": " ".join(found),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps much until it ends
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "TSAN_OPTIONS": "halt_on_error=1",
        **all_by_malloc,
    }


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
