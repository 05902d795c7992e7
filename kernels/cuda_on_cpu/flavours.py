"""Ways to build device code for the CPU: quick, or with every access told of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kernels.cuda_on_cpu.compiler import Compiler

HERE = Path(__file__).parent
RUNTIME = HERE / "fibers.cpp"


@dataclass(frozen=True)
class Flavour:
    """A way to build device code.

    flags          for the device code
    runtime_flags  for fibers.cpp and those beside it: what looks at accesses must not look at these
    beside         further files of the runtime
    gnu_flags      for the device code, where g++ compiles it: others do not know them
    """

    name: str
    flags: tuple[str, ...]
    runtime_flags: tuple[str, ...]
    beside: tuple[Path, ...] = ()
    gnu_flags: tuple[str, ...] = ()

    @property
    def is_watched(self) -> bool:
        """Compilers add code of their own, which runs as the library is loaded."""
        beginnings = ("-fsanitize=thread", "-fsanitize=address")
        return any(each.startswith(beginnings) for each in self.flags)

    def flags_for(self, compiler: Compiler) -> tuple[str, ...]:
        """Return what this compiler is given for the device code."""
        return (*self.flags, *(self.gnu_flags if compiler.is_gnu else ()))


# The runtime is linked with C++'s libraries: to look for them once more takes 40 ms each time.
NO_LIBRARIES = ("-nodefaultlibs",)
# Calls at each access, for whoever watches; compilers tell the text of that each in its own way.
WATCHED = ("-fsanitize=thread", "-DWATCHED")
# What runs for a moment is not worth optimising: -O1 takes up to twice as long to compile.
PLAIN = Flavour("plain", ("-Og", *NO_LIBRARIES), ("-O2",))
# Lines by address, in a form that line_table.py reads, and each function with a frame of its own.
_LINES = (
    *("-g1", "-gdwarf-4", "-gz=none", "-fno-optimize-sibling-calls"),
    *("-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer"),
)
_RUNTIME = ("-O2", "-fno-omit-frame-pointer")
# Nothing optimised, so that what the text says is what is counted; nor is libtsan linked, since
# counting.cpp has all that would be wanted of it.
_COUNTED = ("-O0", *WATCHED, *NO_LIBRARIES, *_LINES)
# An array in shared memory is of floats that have to be made, once, and by one thread here.
COUNTING = Flavour(
    "counting",
    (*_COUNTED, "-DCOUNTING", "-fno-threadsafe-statics"),
    _RUNTIME,
    (HERE / "counting.cpp",),
)
# Likewise, but for operations: the float that counts them does not know all that one can do.
ACCESSES = Flavour("accesses", _COUNTED, _RUNTIME, (HERE / "counting.cpp",))
# What a local variable holds that nobody gave a value: never zeros by luck.
_UNSET = ("-ftrivial-auto-var-init=pattern",)
_SET = ("-ftrivial-auto-var-init=zero",)
# As a user's file is run: quick to compile, and it tells of the line that it crashes in.
_TRIED = (
    *("-O0", "-fno-inline", *NO_LIBRARIES, *_LINES),
    # What a GPU does not forgive, and this CPU does: see the end of report.cpp.
    "-fsanitize=alignment,return,bounds",
)
_TRIED_BY_GNU = (
    "-Og",  # with which clang would make one call of two, and one access of several
    # Else g++ takes a variable without a value for one that has whatever value suits it.
    "-fno-tree-fre",
    # What a pointer is of, as far as one function tells: where nothing is optimised nobody knows.
    "-fsanitize=object-size",
    # Nor may it write a call twice: threads at one barrier are told apart by the calls to it.
    "-fno-thread-jumps",
)
_REPORT = (HERE / "report.cpp",)
TRIED = Flavour("tried", (*_TRIED, *_UNSET), _RUNTIME, _REPORT, _TRIED_BY_GNU)
# The same with zeros there: where its answer is another one, that depends on such a variable.
ZEROED = Flavour("zeroed", (*_TRIED, *_SET), _RUNTIME, _REPORT, _TRIED_BY_GNU)
# Compiled to be warned of them alone; less optimised, g++ does not see how values go.
WARNED = Flavour("warned", ("-O1",), ())
# Every step of one block written down, with what is loaded and stored at it.
STEPPED = Flavour(
    "stepped",
    ("-O0", *WATCHED, *NO_LIBRARIES, *_LINES),
    _RUNTIME,
    beside=(HERE / "report.cpp", HERE / "stepping.cpp"),
)
# Every access looked at before it is done, and every index of an array whose length the text tells.
CHECKED = Flavour(
    "checked",
    ("-O0", *WATCHED, "-fsanitize=bounds", *NO_LIBRARIES, *_LINES, *_UNSET),
    _RUNTIME,
    beside=(HERE / "report.cpp", HERE / "checking.cpp"),
)
