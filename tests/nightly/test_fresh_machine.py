"""The README's two commands on a machine that has nothing: a bare Debian made by debootstrap."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUITE = "bookworm"
# What the README asks for; the rest is brought by `make run`, or named by it.
PACKAGES = "git,make,python3-venv,ca-certificates"
# The way from this machine to the packages: names, certificates, pip's and apt's own settings.
NETWORK = ("resolv.conf", "pip.conf", "ssl/certs/ca-certificates.crt", "apt/apt.conf.d/99*")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# In namespaces of its own, so that what it mounts and leaves running ends with it; the shell stays,
# since the first process has to take leave of all that end.
ENTER = """
mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" || exit
chroot "$@"
exit $?
"""

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(shutil.which("debootstrap") is None, reason="debootstrap is not installed"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a root of its own"),
]


class Machine:
    """A bare root in `folder` with a clone of this checkout for `user`."""

    def __init__(self, folder: Path, user: str) -> None:
        self.user, self.root, self.log = user, folder / "root", folder / "log.txt"
        # A package that was downloaded for one root serves the next.
        cache = folder.parent / "debs"
        cache.mkdir(exist_ok=True)
        bare = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}"]
        subprocess.run([*bare, f"--cache-dir={cache}", SUITE, self.root, *_mirror()], check=True)
        for path in (each for name in NETWORK for each in Path("/etc").glob(name)):
            shutil.copy(path, self.root / path.relative_to("/"))
        self.home = "/root"
        if user != "root":
            self.home = f"/home/{user}"
            self.succeed("useradd", "--create-home", user, user="root")
        clone = f"{self.home}/checkout"
        subprocess.run(["git", "clone", "--no-hardlinks", ROOT, f"{self.root}{clone}"], check=True)
        self.succeed("chown", "--recursive", user, clone, user="root")

    def call(self, *words: str, user: str = "") -> tuple[bool, str]:
        """Run a command without any variable of this process: whether it succeeds, its output."""
        apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER]
        command = [*apart, self.root, f"--userspec={user or self.user}", self.root]
        alone = ["env", "-i", f"HOME={self.home}", f"PATH={PATH}"]
        with self.log.open("a+", encoding="utf-8") as log:
            start = log.tell()
            done = subprocess.run(
                [*command, *alone, *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            log.seek(start)
            return done.returncode == 0, log.read()

    def succeed(self, *words: str, user: str = "") -> str:
        succeeded, output = self.call(*words, user=user)
        assert succeeded, f"{words}\n{output[-4000:]}"
        return output

    def make(self, goal: str) -> list[str]:
        return ["make", "--directory", f"{self.home}/checkout", goal]


def _mirror() -> list[str]:
    """The mirror that this machine's apt takes Debian from; none on another system."""
    policy = subprocess.run(["apt-cache", "policy"], capture_output=True, text=True)
    found = re.search(rf"(https?://\S+/debian) {SUITE}/main", policy.stdout)
    return [found[1]] if found else []


GOALS = {"run": "workbench.png", "test": r"\d+ passed"}


def test_both_commands_work_for_root(tmp_path):
    fresh = Machine(tmp_path, "root")
    for goal, outcome in GOALS.items():
        assert re.search(outcome, fresh.succeed(*fresh.make(goal)))


def test_both_commands_work_for_a_user_once_root_installed_what_they_name(tmp_path):
    fresh = Machine(tmp_path, "student")
    for goal, outcome in GOALS.items():
        succeeded, output = fresh.call(*fresh.make(goal))
        assert not succeeded
        (apt,) = re.findall("^(?:sudo )?(apt-get install .*)$", output, re.MULTILINE)
        fresh.succeed("apt-get", "update", user="root")
        fresh.succeed("env", "DEBIAN_FRONTEND=noninteractive", *apt.split(), user="root")
        assert re.search(outcome, fresh.succeed(*fresh.make(goal)))
