"""A web server on this computer that hands out a folder, and remembers what was asked."""

import contextlib
import functools
import http.server
import threading


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
