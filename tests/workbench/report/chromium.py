"""A headless Chromium that opens a file, and what it did meanwhile: its console and its network."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROGRAM = shutil.which("chromium")
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--disable-extensions", "--hide-scrollbars", "--mute-audio"),
    *("--enable-logging=stderr", "--v=0"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # itself it has no network either
)
BROWSER = "not an origin"


@dataclass(frozen=True)
class Visit:
    """dom      as text, after loading, where it was asked for
    console  what the page caused to be said there, a line each
    fetched  addresses of the network that were asked for
    """

    dom: str
    console: list[str]
    fetched: list[str]


def visit(page: Path, folder: Path, *flags: str, width: int = 1280, height: int = 900) -> Visit:
    """Open `page` with `flags` such as --dump-dom, a new profile and no network; folder: empty."""
    log = folder / "net.json"
    ended = subprocess.run(
        [
            *(PROGRAM, *QUIET, f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}"),
            *(f"--window-size={width},{height}", *flags, page.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=100,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(folder)},
    )
    assert ended.returncode == 0, ended.stderr
    console = [line for line in ended.stderr.splitlines() if ":CONSOLE" in line]
    return Visit(ended.stdout, console, list(_network(log)))


def _network(log: Path):
    """Addresses that a page asked for; what Chromium itself looks for has no origin."""
    for event in json.loads(log.read_text(encoding="utf-8"))["events"]:
        about = event.get("params", {})
        if about.get("initiator", BROWSER) != BROWSER:
            yield about["url"]


def why_not() -> str:
    """Empty where it can run."""
    if sys.platform != "linux":
        return "these are the flags of Chromium on Linux"
    return "" if PROGRAM else "needs chromium"
