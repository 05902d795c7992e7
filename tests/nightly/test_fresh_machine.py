"""The README's two commands on a machine that has nothing: a bare Debian made by debootstrap."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUITE = "bookworm"
# What the README asks for; the rest is brought by `make run`, or named by it.
PACKAGES = "git,make,python3-venv,ca-certificates"
# Of the network that this machine is in: where packages come from.
NETWORK = ("etc/resolv.conf", "etc/pip.conf", "etc/ssl/certs/ca-certificates.crt")
BARE = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(shutil.which("debootstrap") is None, reason="debootstrap is not installed"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a root of its own"),
]


class Machine:
    """A bare root with a clone of this checkout for `user`."""

    def __init__(self, root: Path, user: str) -> None:
        self.root, self.user = root, user
        self.home = f"/home/{user}" if user != "root" else "/root"
        if user != "root":
            self.call("useradd", "--create-home", user, user="root")
        clone = root / self.home[1:] / "checkout"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        self.call("chown", "--recursive", user, f"{self.home}/checkout", user="root")

    def call(self, *words: str, user: str = "", folder: str = "/") -> subprocess.CompletedProcess:
        """Run a command as `user` without any variable of this process."""
        user = user or self.user
        home = "/root" if user == "root" else self.home
        command = ["chroot", f"--userspec={user}", self.root, "env", "-i", f"HOME={home}"]
        script = f'cd {folder} && exec "$@"'
        return subprocess.run(
            [*command, *(f"{k}={v}" for k, v in BARE.items()), "sh", "-c", script, "sh", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def make(self, *words: str) -> subprocess.CompletedProcess:
        return self.call("make", *words, folder=f"{self.home}/checkout")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator:
    """Make a machine for a user; its mounts end with the test."""
    root = tmp_path / "root"
    with ExitStack() as mounts:

        def made(user: str) -> Machine:
            # A package that was downloaded for one root serves the next.
            cache = tmp_path.parent / "debs"
            cache.mkdir(exist_ok=True)
            bare = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}"]
            subprocess.run(
                [*bare, f"--cache-dir={cache}", SUITE, root, *_mirror()],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            for name in NETWORK:
                if (path := Path("/", name)).is_file():
                    (root / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, root / name)
            for name in ("proc", "sys", "dev", "dev/pts", "dev/shm"):
                (root / name).mkdir(exist_ok=True)
                subprocess.run(["mount", "--bind", f"/{name}", root / name], check=True)
                mounts.callback(subprocess.run, ["umount", "--lazy", root / name], check=True)
            return Machine(root, user)

        yield made


def _mirror() -> list[str]:
    """The mirror that this machine's apt takes Debian from; none on another system."""
    asked = subprocess.run(["apt-cache", "policy"], capture_output=True, text=True)
    found = re.search(rf"(https?://\S+/debian) {SUITE}/main", asked.stdout)
    return [found[1]] if found else []


def _ends_well(done: subprocess.CompletedProcess) -> str:
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def test_both_commands_work_for_root(machine):
    fresh = machine("root")
    assert "workbench.png" in _ends_well(fresh.make("run"))
    assert re.search(r"\d+ passed", _ends_well(fresh.make("test")))


def test_both_commands_work_for_a_user_who_is_told_what_is_missing(machine):
    fresh = machine("student")
    for command in ("run", "test"):
        refused = fresh.make(command)
        assert refused.returncode != 0
        (apt,) = re.findall("^(?:sudo )?apt-get install .*$", refused.stdout, re.MULTILINE)
        _ends_well(fresh.call("apt-get", "update", user="root"))
        words = apt.removeprefix("sudo ").split()
        _ends_well(fresh.call("env", "DEBIAN_FRONTEND=noninteractive", *words, user="root"))
        said = _ends_well(fresh.make(command))
        assert "workbench.png" in said or re.search(r"\d+ passed", said)
