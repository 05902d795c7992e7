"""The Kodak pictures, from a server of our own."""

import gzip
import shutil
import tracemalloc

import pytest

from tests.workbench.files.kodak_server import HostileServer, KodakServer, dripping
from workbench.files.kodak import (
    NAMES,
    Downloading,
    KodakError,
    KodakSet,
    Stopped,
    download,
    use_folder,
)


@pytest.fixture
def serve():
    servers = []

    def start(what, kind=KodakServer):
        servers.append(kind(what))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def ignore(_):
    pass


def test_all_pictures_arrive_and_are_right(kodak, serve, tmp_path):
    reports, server = [], serve(kodak)
    server.gate.clear()

    def report(progress):
        """Let the rest of a picture come only when its progress was reported."""
        reports.append(progress)
        if 0 < progress.part < 1:
            server.gate.set()

    download(tmp_path / "new", server.address, report)
    assert server.gate.is_set()
    assert KodakSet(tmp_path / "new").missing() == ()
    assert reports[0] == Downloading(0)
    assert reports[-1] == Downloading(24)
    shares = [report.share for report in reports]
    assert shares == sorted(shares)


def test_a_damaged_picture_counts_as_missing_and_is_fetched_again(kodak, serve, tmp_path):
    for name in NAMES:
        shutil.copyfile(kodak / name, tmp_path / name)
    (tmp_path / NAMES[6]).write_bytes(b"damaged")
    assert KodakSet(tmp_path).missing() == (7,)
    server = serve(kodak)
    download(tmp_path, server.address, ignore)
    assert server.asked == [NAMES[6]]
    assert KodakSet(tmp_path).missing() == ()


@pytest.mark.parametrize("at", [Downloading(2), "within"])
def test_stopping_keeps_what_is_finished_and_leaves_nothing_half(kodak, serve, tmp_path, at):
    def stop(progress):
        if progress == at or (progress.part > 0 and not server.gate.is_set()):
            raise Stopped
        if at == "within" and progress == Downloading(2):
            server.gate.clear()  # half of the next picture, and no more

    server = serve(kodak)
    with pytest.raises(Stopped):
        download(tmp_path, server.address, stop)
    server.gate.set()
    assert sorted(path.name for path in tmp_path.iterdir()) == list(NAMES[:2])
    download(tmp_path, server.address, ignore)
    assert KodakSet(tmp_path).missing() == ()
    assert server.asked.count(NAMES[0]) == 1


def test_a_connection_that_breaks_off_is_said_and_can_be_resumed(kodak, serve, tmp_path):
    server = serve(kodak)
    server.breaks_off = {NAMES[3]}
    with pytest.raises(KodakError, match=r"No connection to 127\.0\.0\.1"):
        download(tmp_path, server.address, ignore)
    assert sorted(path.name for path in tmp_path.iterdir()) == list(NAMES[:3])
    server.breaks_off = set()
    download(tmp_path, server.address, ignore)
    assert KodakSet(tmp_path).missing() == ()


BODY = b"HTTP/1.1 200 OK\r\nContent-Length: 600000\r\n\r\n"


@pytest.mark.nightly
@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nX: ", BODY, b""])
def test_a_server_that_drips_can_be_stopped(serve, tmp_path, head):
    """Whoever hears of the progress is asked all the time, whatever the server does."""
    server, asked = serve(dripping(head), HostileServer), []

    def report(_):
        asked.append(server.sent)
        if len(asked) > 15:
            raise Stopped

    with pytest.raises(Stopped):
        download(tmp_path / "new", server.address, report)
    assert server.sent < 1000
    assert list((tmp_path / "new").iterdir()) == []


def test_what_is_packed_is_not_unpacked(serve, tmp_path):
    """300 kB may be 60 MB."""
    body = gzip.compress(bytes(60_000_000), 1)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    server = serve(lambda send: send(head.encode() + body), HostileServer)
    tracemalloc.start()
    try:
        with pytest.raises(KodakError, match=r"kodim01\.png is not that picture"):
            download(tmp_path, server.address, ignore)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


def test_a_folder_the_user_has_is_checked(kodak, tmp_path):
    found, sentence = use_folder(kodak)
    assert found.folder == kodak
    assert sentence.startswith("All 24")
    for name in NAMES[:5]:
        shutil.copy(kodak / name, tmp_path)
    found, sentence = use_folder(tmp_path)
    assert sentence.startswith("5 of the 24")
    assert "kodim06.png" in sentence
    assert found.missing() == tuple(range(6, 25))
