"""Make `.venv` ready: system packages, locked wheels, this project, and the CuPy that fits the GPU.

It runs before anything is installed, so it uses the standard library alone, and nothing newer than
Python 3.8, so that an older Python can still say why not.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"

SYSTEM_PYTHON = "/usr/bin/python3"
OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 14)  # the versions the lock files have wheels for

# For tests: a compiler of the CPU runtime, a virtual screen, and programs that read the report;
# those that take half a minute to install are for the nightly tests alone.
DAILY = {"g++": "g++", "Xvfb": "xvfb", "xdotool": "xdotool", "pdftotext": "poppler-utils"}
LATEX = "texlive-latex-recommended"  # 50 MB with what it needs; it brings booktabs
NIGHTLY = {**DAILY, "chromium": "chromium", "pdflatex": LATEX}
PROGRAMS = {"app": {}, "test": DAILY, "nightly": NIGHTLY}

# Both CuPys own one folder, and either takes the newest NVRTC it sees, though its driver may refuse
# what that makes: the other CUDA's packages (the tests bring both NVRTCs) have to go.
NEVER_BESIDE = {
    "cuda12": ("cupy-cuda13x", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime"),
    "cuda13": ("cupy-cuda12x", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-runtime-cu12"),
}


class SetupError(Exception):
    """A sentence on what the user has to do first, shown without a traceback."""


def missing_packages(part: str) -> dict[str, str]:
    """Map everything that `part`, a key of PROGRAMS, lacks here to its Debian package."""
    sys.path.insert(0, str(ROOT))
    from workbench.base.qt_libraries import ALWAYS, ON_X11, missing_among

    missing = missing_among({**ALWAYS, **ON_X11})
    importlib.invalidate_caches()  # apt may have brought it a moment ago
    if importlib.util.find_spec("ensurepip") is None:  # Debian has it in a package for each version
        is_system = Path(sys.executable).resolve() == Path(SYSTEM_PYTHON).resolve()
        version = "python3" if is_system else "python{}.{}".format(*sys.version_info)
        missing["Python's venv module"] = f"{version}-venv"
    missing.update({name: p for name, p in PROGRAMS[part].items() if not shutil.which(name)})
    return missing


def install_system_packages(part: str) -> None:
    """Install missing packages if this is root on a Debian; else raise SetupError."""
    missing = missing_packages(part)
    if not missing:
        return
    if not shutil.which("apt-get"):
        raise SetupError(
            f"Missing on this system: {', '.join(missing)}. "
            "Install them with its package manager, then try again."
        )
    packages = list(missing.values())
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if os.geteuid() != 0:
        sudo = ["sudo"] if shutil.which("sudo") else []
        raise SetupError(" ".join(sudo + command))
    print("Installing system packages:", *packages, flush=True)
    if not apt(command):  # the package lists may be old
        apt(["apt-get", "update"])
        if not apt(command):
            raise SetupError(f"apt-get could not install {', '.join(packages)}; see above.")
    if missing_packages(part):
        raise SetupError(f"Still missing after apt-get: {', '.join(missing_packages(part))}.")


def apt(command: Sequence[str]) -> bool:
    """Run apt-get without questions; it prints errors alone."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    quiet = subprocess.DEVNULL
    return subprocess.call(command, env=environment, stdin=quiet, stdout=quiet) == 0


class Gpus(NamedTuple):
    """The driver's CUDA version (13000 is 13.0) and each card's compute capability."""

    driver_version: int
    compute_capabilities: Sequence[tuple[int, int]]


def find_gpus() -> Gpus | str:
    """Ask the NVIDIA driver; return a reason where there is no GPU."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "No NVIDIA driver was found"
    error = cuda.cuInit(0)
    if error != 0:
        return f"The NVIDIA driver finds no usable GPU (cuInit returned {error})"

    def ask(function: str, *arguments: object) -> int:
        answer = ctypes.c_int()
        getattr(cuda, function)(ctypes.byref(answer), *arguments)
        return answer.value

    major, minor = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
    capabilities = [
        (ask("cuDeviceGetAttribute", major, device), ask("cuDeviceGetAttribute", minor, device))
        for device in range(ask("cuDeviceGetCount"))
    ]
    return Gpus(ask("cuDriverGetVersion"), capabilities)


def choose_cuda(driver_version: int, compute_capabilities: Sequence[tuple[int, int]]) -> str | None:
    """The lock file whose CuPy runs on this driver and on every card, or None.

    CUDA 13's compiler starts at sm_75, so one older card among several decides for CUDA 12.
    """
    if not compute_capabilities or driver_version < 12000:
        return None
    if driver_version >= 13000 and min(compute_capabilities) >= (7, 5):
        return "cuda13"
    return "cuda12"


def install_cupy() -> None:
    """Install the CuPy that fits, or say in one sentence why there is none."""
    gpus, choice = find_gpus(), None
    why_not = str(gpus)
    if isinstance(gpus, Gpus):
        choice = choose_cuda(*gpus)
        version = f"{gpus.driver_version // 1000}.{gpus.driver_version % 1000 // 10}"
        why_not = f"The NVIDIA driver (CUDA {version}) is too old for CuPy"
    if choice is None:
        print(
            f"{why_not}, so CuPy is left out and filters run on the CPU; "
            "once that has changed, `make setup` looks again."
        )
        return
    print(f"Installing CuPy for CUDA {choice[-2:]}, which fits the NVIDIA driver", flush=True)
    pip("uninstall", "--yes", *NEVER_BESIDE[choice])
    install_lock(choice)


def venv_works() -> bool:
    """True if `.venv` is whole and was made here: its scripts hold the path they were made for."""
    try:
        first_words = (VENV / "bin" / "pip").read_text(encoding="utf-8")[:400]
    except OSError:
        return False
    quiet = subprocess.DEVNULL
    command = [str(VENV_PYTHON), "-m", "pip", "--version"]
    return str(VENV) in first_words and not subprocess.call(command, stdout=quiet, stderr=quiet)


def make_venv() -> None:
    """Make a `.venv` unless there is one that works.

    That begins by emptying the folder, so a link, whose target may be in use, is left alone.
    """
    if VENV.is_symlink():
        raise SetupError(
            f"{VENV} is a symbolic link to {VENV.readlink()}, which stays as it is: "
            "remove the link, then try again."
        )
    if venv_works():
        return
    print("Making .venv", flush=True)
    if subprocess.call([sys.executable, "-m", "venv", "--clear", str(VENV)]) != 0:
        raise SetupError(f"Could not make {VENV}; see above.")


def pip(*arguments: str) -> None:
    """Run pip, and print what it downloads, and its errors."""
    command = [str(VENV_PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input"]
    environment = {**os.environ, "PIP_USER": "0"}  # a user's `user = true` is an error in a venv
    failure = "pip could not install the dependencies; see above."
    with subprocess.Popen(
        [*command, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        for line in process.stdout or ():
            if line.strip().startswith((b"Downloading ", b"ERROR: ")):
                print(line.decode(errors="replace").strip(), flush=True)
            if b"connection broken by" in line:  # pip blames the package
                failure = "The package index cannot be reached: check the network, then try again."
    if process.returncode != 0:
        raise SetupError(failure)


def install_lock(name: str) -> None:
    """Install the files of a lock file, each checked against its hash; two halves at once.

    Tests import less than half of theirs, so that pip compiles none of them.
    """
    files = re.split(r"\n(?=\w)", (ROOT / "packaging" / "lock" / f"{name}.txt").read_text())
    exactly = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--requirement"]
    exactly = ["--no-compile"] * (name == "test") + exactly
    with TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        halves = [Path(folder, name) for name in "ab"]
        for begin, half in enumerate(halves):
            half.write_text("\n".join(files[begin::2]))
        list(pool.map(lambda half: pip("install", *exactly, str(half)), halves))


def best_python() -> str:
    """The system's own Python where it has this one's version, else this one.

    A distribution builds its Python with optimisations that pyenv leaves out: a loop of plain
    Python takes half as long again there.
    """
    # Debian has ensurepip, which makes environments, in a package of its own.
    ask = "import ensurepip, sys; print(sys.version_info[:2])"
    command = [SYSTEM_PYTHON, "-c", ask]
    try:
        said = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ).stdout
    except OSError:
        return sys.executable
    return SYSTEM_PYTHON if said.strip() == str(sys.version_info[:2]) else sys.executable


def set_up(part: str) -> None:
    """Do everything for `part`; the stamps tell make that nothing is left to do."""
    version = sys.version_info[:2]
    if not OLDEST_PYTHON <= version <= NEWEST_PYTHON:
        raise SetupError(
            "Python 3.11 to 3.14 is needed and this is {}.{}: "
            "name another one, as in `make run PYTHON=python3.12`.".format(*version)
        )
    install_system_packages(part)
    make_venv()
    print("Installing the locked dependencies (a minute or two on first use)", flush=True)
    install_lock("app" if part == "app" else "test")  # test.txt holds all of app.txt
    pip("install", "--no-deps", "--no-index", "--no-build-isolation", "--editable", str(ROOT))
    install_cupy()
    for stamp in PROGRAMS if part == "nightly" else {"app", part}:
        (VENV / f"{stamp}.stamp").write_text(str(ROOT), encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in (*PROGRAMS, "python"):
        print(f"usage: bootstrap.py {'|'.join(PROGRAMS)}|python", file=sys.stderr)
        return 2
    if arguments[0] == "python":
        print(best_python())
        return 0
    try:
        set_up(arguments[0])
    except SetupError as reason:
        print(reason, file=sys.stderr)
    except OSError as error:  # a read-only tree, a full disk
        print(f"The setup stopped: {error}.", file=sys.stderr)
    except KeyboardInterrupt:
        print("Interrupted; the next call resumes here.", file=sys.stderr)
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
