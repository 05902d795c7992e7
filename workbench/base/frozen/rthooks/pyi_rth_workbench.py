"""Lets the packaged program act as `python -c` and `python -m`, which its child processes are."""

import runpy
import sys

if sys.argv[1:2] == ["-c"]:
    program, sys.argv[1:] = sys.argv[2], sys.argv[3:]
    exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})
    sys.exit()
if sys.argv[1:2] == ["-m"]:
    module, sys.argv[1:] = sys.argv[2], sys.argv[3:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    sys.exit()
