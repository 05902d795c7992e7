"""Fetch a file from a web server that may be slow, endless or hostile."""

from __future__ import annotations

import threading
from collections.abc import Generator
from dataclasses import dataclass
from queue import Empty, Full, Queue
from typing import TYPE_CHECKING
from urllib.parse import urljoin

if TYPE_CHECKING:
    from requests import Response

_TIMEOUT_S = 8  # without a single byte
_LOOK_S = 0.1  # so soon is noticed that nobody wants the file any more
_PIECE_BYTES = 4096
_MAX_WAITING = 16  # pieces that nobody has taken yet
_MAX_REDIRECTS = 5


class BadAddressError(Exception):
    """There can be nothing at such an address."""


class TooLargeError(Exception):
    """More is sent than was to be expected."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes that came since the last piece, maybe none.

    total  bytes that there will be, as far as the server says; 0 where it does not
    """

    data: bytes
    total: int


def fetch(url: str, max_bytes: int) -> Generator[Piece]:
    """Yield the file at `url` piece by piece, an empty one every tenth of a second at least.

    The connection has a thread of its own, which writes nothing and is left to itself when the
    iterator is closed: nothing that a server or a name server does can keep the caller waiting.
    Raises BadAddressError, TooLargeError and requests' RequestException.
    """
    found: Queue[Piece | Exception | None] = Queue(_MAX_WAITING)
    is_left = threading.Event()
    threading.Thread(target=_receive, args=(url, found, is_left), daemon=True).start()
    received = 0
    try:
        while (piece := _next(found)) is not None:
            if isinstance(piece, Exception):
                raise piece
            received += len(piece.data)
            if max(received, piece.total) > max_bytes:
                raise TooLargeError
            yield piece
    finally:
        is_left.set()


def _next(found: Queue[Piece | Exception | None]) -> Piece | Exception | None:
    try:
        return found.get(timeout=_LOOK_S)
    except Empty:
        return Piece(b"", 0)


def _receive(url: str, found: Queue[Piece | Exception | None], is_left: threading.Event) -> None:
    """Put the file's pieces into `found`, and None behind them, or the exception that ended it."""
    last: Exception | None = None
    try:
        for piece in _pieces(url):
            if not _put(piece, found, is_left):
                return
    except Exception as error:  # noqa: BLE001 - raised again where the pieces are taken
        last = error
    _put(last, found, is_left)


def _put(
    piece: Piece | Exception | None,
    found: Queue[Piece | Exception | None],
    is_left: threading.Event,
) -> bool:
    """Put it into the queue; return whether it is there: not where nobody will ever take it."""
    while not is_left.is_set():
        try:
            found.put(piece, timeout=_LOOK_S)
        except Full:
            continue
        return True
    return False


def _pieces(url: str) -> Generator[Piece]:
    """Yield the bytes as they are sent: what is packed stays so, for it could be huge."""
    import requests  # which takes a while

    with requests.Session() as session:
        # Which would read all that comes with a redirection, even where it follows none.
        session.get_redirect_target = _nowhere  # type: ignore[assignment, method-assign]
        for _ in range(1 + _MAX_REDIRECTS):
            try:
                headers = {"Accept-Encoding": "identity"}
                response = session.get(url, stream=True, timeout=_TIMEOUT_S, headers=headers)
            except (
                ValueError
            ) as error:  # InvalidURL and its kin, and what names that are none raise
                raise BadAddressError from error
            with response:
                if not response.is_redirect:
                    yield from _body(response)
                    return
                url = urljoin(url, response.headers["location"])
        raise requests.TooManyRedirects(f"more than {_MAX_REDIRECTS}")


def _nowhere(_: Response) -> None:
    return None


def _body(response: Response) -> Generator[Piece]:
    import requests
    from urllib3.exceptions import HTTPError

    response.raise_for_status()
    length = response.headers.get("content-length", "")
    total = int(length) if length.isdecimal() and len(length) < 16 else 0
    try:
        while data := response.raw.read(_PIECE_BYTES, decode_content=False):
            yield Piece(data, total)
    except HTTPError as error:
        raise requests.ConnectionError(str(error)) from error
