"""A web server on this computer that hands out a folder, and remembers what was asked."""

import contextlib
import functools
import http.server
import socket
import threading
import time


class KodakServer:
    """Serves until `close()`.  `breaks_off` names the files whose connection it drops half-way;
    while `gate` is not set, every answer waits."""

    def __init__(self, folder):
        self.folder = folder
        self.asked = []
        self.breaks_off = set()
        self.gate = threading.Event()
        self.gate.set()
        handler = functools.partial(_Handler, self, directory=str(folder))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self._server.server_port}/"

    def close(self):
        self.gate.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, server, *args, **options):
        self._of = server
        super().__init__(*args, **options)

    def do_GET(self):
        self._of.asked.append(self.path.lstrip("/"))
        super().do_GET()

    def copyfile(self, source, outputfile):
        outputfile.write(source.read(100_000))
        if self.path.lstrip("/") in self._of.breaks_off:
            return
        self._of.gate.wait(5)
        with contextlib.suppress(ConnectionError):  # who asked may have gone
            super().copyfile(source, outputfile)

    def log_message(self, *_):
        pass


class HostileServer:
    """Answers every connection with `behave(send)` on a thread of its own, until `close()`.

    behave  calls send(bytes) as often as it likes; a ConnectionError ends it
    """

    def __init__(self, behave):
        self._behave, self._is_closed, self._threads = behave, threading.Event(), []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0.05)
        self.sent = 0
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/"

    def close(self):
        self._is_closed.set()
        for thread in (self._listener, *self._threads):
            thread.join()
        self._socket.close()

    def _listen(self):
        while not self._is_closed.is_set():
            with contextlib.suppress(TimeoutError):
                connection, _ = self._socket.accept()
                thread = threading.Thread(target=self._answer, args=(connection,))
                self._threads.append(thread)
                thread.start()

    def _answer(self, connection):
        def send(data):
            if self._is_closed.is_set():
                raise ConnectionError
            connection.sendall(data)
            self.sent += len(data)

        connection.settimeout(0.2)
        with connection, contextlib.suppress(OSError):
            connection.recv(65536)
            self._behave(send)


def dripping(head, drop=b"x"):
    """Sends `head`, then `drop` ten times a second for ever: no one waits in vain for a byte."""

    def behave(send):
        send(head)
        while True:
            time.sleep(0.1)
            send(drop)

    return behave
