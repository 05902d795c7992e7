"""An executable in compute-sanitizer's place, which says and does what a file beside it has."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

VERSION = "NVIDIA (R) Compute Sanitizer\nCopyright (c) 2020-2025\nVersion {} (build 1) (release)\n"


def main() -> None:
    here = Path(sys.argv[0]).parent
    doing = json.loads((here / "doing.json").read_text())
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(VERSION.format(doing.get("version", "2025.4.0.0")))
        return
    folder, tool = Path(sys.argv[-1]), sys.argv[sys.argv.index("--tool") + 1]
    with (here / "log").open("a") as log:
        log.write(" ".join(sys.argv[1:-4]) + "\n")
    if tool == doing.get("hangs"):
        kernel = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        (here / "pids").write_text(f"{os.getpid()} {kernel.pid}")
    if doing.get("runs"):
        subprocess.run(
            sys.argv[-5:], stdin=None if doing["runs"] == "piped" else subprocess.DEVNULL
        )
    elif (said := doing.get("said", {}).get(tool, doing.get("facts"))) is not None:
        (folder / "said.json").write_text(json.dumps(said))
    if tool != "initcheck" and "answer" in doing:
        shutil.copy(doing["answer"], folder / "answer.npy")
    sys.stdout.write(doing.get(tool, ""))
    sys.stdout.flush()
    if tool == doing.get("hangs"):
        time.sleep(600)
    if tool == doing.get("crashes"):
        os.kill(os.getpid(), 11)


main()
