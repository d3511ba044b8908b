"""An HTTP server in a thread that takes posts, as the receiver of a webhook does."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """What came, and what is answered: `status`, `headers` and `body`, after `pause` seconds."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self.status, self.body, self.pause = 204, b"", 0.0
        self.headers: dict[str, str] = {}
        self.url = ""


@contextmanager
def run_receiver() -> Iterator[Receiver]:
    """A receiver at `url`, on this machine."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.asked.append((self.path, headers, body))
            time.sleep(receiver.pause)
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()
            with contextlib.suppress(OSError):  # whoever has read enough hangs up
                self.wfile.write(receiver.body)

        def do_GET(self) -> None:
            receiver.asked.append((self.path, {}, b""))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 – the standard library's name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = threading.Thread(target=served.serve_forever, args=(0.01,))
        thread.start()
        receiver.url = f"http://127.0.0.1:{served.server_port}"
        yield receiver
        served.shutdown()
        thread.join()
