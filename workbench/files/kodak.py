"""The Kodak set, 24 photographs that everybody tries filters on: fetched and verified."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable
from concurrent.futures import wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kernels.core import safe_files
from workbench.base.paths import asset

_TIMEOUT_S = 8  # without a single byte
_LOOK_S = 0.1  # between two reports, and so soon is noticed that nobody wants the file any more
_PIECE_BYTES = 4096


DEFAULT_MIRROR = "https://r0k.us/graphics/kodak/kodak/"
TOTAL_MB = 15
_NO_ADDRESS = f"“{{}}” is not an address to download from; it must look like {DEFAULT_MIRROR}."
MAX_BYTES = 1_000_000  # of a picture; the largest has 822,712
# As sha256sum writes and checks them.
_SUMS = asset("kodak.sha256").read_text(encoding="utf-8").splitlines()
HASHES = {name: sha256 for sha256, name in map(str.split, _SUMS)}
NAMES = tuple(HASHES)


class KodakError(Exception):
    """The pictures could not be had.  str(error) is one sentence for the user."""


class Stopped(Exception):  # noqa: N818 - it is a request, not an error
    """Raised by a listener to the progress, to end the download there."""


@dataclass(frozen=True, slots=True)
class Downloading:
    """Progress of a download."""

    finished: int  # pictures that are in the folder, verified
    part: float = 0.0  # of the picture under way, 0 to 1

    @property
    def share(self) -> float:
        return min((self.finished + self.part) / len(NAMES), 1.0)


@dataclass(frozen=True, slots=True)
class KodakSet:
    """The pictures as far as they are in a folder, under their usual names."""

    folder: Path

    def path(self, number: int) -> Path:
        return self.folder / NAMES[number - 1]

    def missing(self) -> tuple[int, ...]:
        """The numbers of the pictures that are missing or damaged.

        Reads every file: some 30 ms.
        """
        numbers = range(1, len(NAMES) + 1)
        return tuple(number for number in numbers if not self._is_right(number))

    def _is_right(self, number: int) -> bool:
        try:
            with self.path(number).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == HASHES[NAMES[number - 1]]
        except (OSError, ValueError):  # the latter: no file can have such a name
            return False


def use_folder(folder: Path) -> tuple[KodakSet, str]:
    """The set in a folder that the user has, and a sentence on how much of it is right.

    Raises KodakError where none of the pictures is there.
    """
    kodak = KodakSet(folder)
    missing = kodak.missing()
    right = len(NAMES) - len(missing)
    if not right:
        raise KodakError(
            f"None of the 24 Kodak pictures is in {folder.name}: they are called kodim01.png to "
            "kodim24.png; choose another folder, or download them."
        )
    if not missing:
        return kodak, f"All 24 Kodak pictures in {folder.name} are right."
    names = ", ".join(kodak.path(number).name for number in missing[:3])
    names += " …" if len(missing) > 3 else ""
    return kodak, f"{right} of the 24 Kodak pictures in {folder.name} are right, not {names}."


def download(folder: Path, mirror: str, report: Callable[[Downloading], None]) -> None:
    """Fetch what is missing; each picture is verified before it takes its place.

    mirror  the address that the pictures' names are appended to
    report  called before, between and within the pictures, ten times a second at least, here on
            this thread; whatever it raises ends the download, and what was finished stays for the
            next time
    raises  KodakError
    """
    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    store = pooch.create(path=folder, base_url=mirror.rstrip("/") + "/", registry=HASHES)
    for finished, name in enumerate(NAMES):
        report(Downloading(finished))
        _fetch(store, name, mirror, partial(_receive, finished, report))
    report(Downloading(len(NAMES)))


def _fetch(store: Any, name: str, mirror: str, receive: Any) -> None:
    from requests import exceptions

    host = _host(mirror)
    try:
        store.fetch(name, downloader=receive)
    except exceptions.HTTPError as error:
        status = getattr(error.response, "status_code", "error")
        raise KodakError(
            f"{host} does not hand out {name} (HTTP {status}); try another mirror, or use a folder "
            "you have."
        ) from error
    except exceptions.RequestException as error:
        if isinstance(error, ValueError):  # InvalidURL and its kin
            raise KodakError(_NO_ADDRESS.format(mirror)) from error
        raise KodakError(
            f"No connection to {host}; check the network and try again (finished pictures are "
            "kept), try another mirror, or use a folder you have."
        ) from error
    except ValueError as error:  # pooch's, for a wrong SHA-256; ours
        raise KodakError(
            f"What {host} sent as {name} is not that picture, so it was thrown away; try another "
            "mirror, or use a folder you have."
        ) from error
    except OSError as error:
        raise KodakError(f"Cannot keep {name}: {safe_files.reason(error)}.") from error


def _receive(
    finished: int, report: Callable[[Downloading], None], url: str, path: str, _: Any
) -> None:
    """Write what is at `url` into `path`: pooch's downloader, once the first two are given."""
    from workbench.files.from_pillow import in_background  # Pillow: not before it is needed

    data, total, is_left = bytearray(), 0, threading.Event()  # 0: the server does not say

    def fetch() -> None:
        nonlocal total
        import requests  # which takes a while

        with requests.get(url, stream=True, timeout=_TIMEOUT_S) as response:
            response.raise_for_status()
            total = int(response.headers.get("content-length", 0))
            for piece in response.iter_content(_PIECE_BYTES):
                data.extend(piece)
                if is_left.is_set() or max(len(data), total) > MAX_BYTES:
                    raise ValueError("more than was to be expected")

    fetching = in_background(fetch)
    try:
        while not wait((fetching,), _LOOK_S).done:
            report(Downloading(finished, min(len(data) / total, 1.0) if total > 0 else 0.0))
    finally:
        is_left.set()
    fetching.result()
    Path(path).write_bytes(data)


def _host(mirror: str) -> str:
    try:
        return urlsplit(mirror).hostname or mirror
    except ValueError as error:  # http://[::1
        raise KodakError(_NO_ADDRESS.format(mirror)) from error
