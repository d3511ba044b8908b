"""Engines that fail on demand: a proxy before the real one, and a second one of its own."""

import contextlib
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import docker

from sandbox.backends.interpreter import write_harness

DEFAULT_HOST = "unix:///var/run/docker.sock"


def real_host() -> str:
    """Where the real engine listens."""
    return os.environ.get("DOCKER_HOST") or DEFAULT_HOST


class Proxy:
    """A socket before the real engine: it can be away, fail requests, or swallow their answers."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "engine.sock"
        self.host = f"unix://{self._path}"
        self._failing: tuple[str, str] | None = None
        self._mute: str | None = None
        self._open: set[socket.socket] = set()
        self._listener: socket.socket | None = None
        self.up()

    def up(self) -> None:
        """Listen, and pass everything on."""
        self._failing = self._mute = None
        if self._listener is None:
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(str(self._path))
            self._listener.listen(64)
            threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def down(self) -> None:
        """Be away: refuse connections, and cut all that there are."""
        if self._listener is not None:
            # Wakes the thread that accepts; close alone does not.
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
            self._path.unlink()
        self.cut()

    def cut(self) -> None:
        """Cut all connections that there are."""
        for one in list(self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def fail(self, requests: str, message: str) -> None:
        """Answer requests that match the expression by status 500 and a message."""
        self._failing = requests, message

    def mute(self, requests: str) -> None:
        """Pass requests that match the expression on, and keep the answers back."""
        self._mute = requests

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client = listener.accept()[0]
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as engine, contextlib.suppress(OSError):
            engine.connect(real_host().removeprefix("unix://"))
            self._open.add(client)
            try:
                self._pass_on(client, engine)
            finally:
                self._open.discard(client)

    def _pass_on(self, client: socket.socket, engine: socket.socket) -> None:
        muted = False
        while True:
            for ready in select.select((client, engine), (), ())[0]:
                data = ready.recv(1 << 16)
                if not data:
                    return
                line = data.partition(b"\r\n")[0].decode(errors="replace")
                if ready is engine:
                    if not muted:
                        client.sendall(data)
                elif self._failing and re.search(self._failing[0], line):
                    client.sendall(_failure(self._failing[1]))
                    return
                else:
                    muted = muted or bool(self._mute and re.search(self._mute, line))
                    engine.sendall(data)


def _failure(message: str) -> bytes:
    body = f'{{"message": "{message}"}}'
    head = "HTTP/1.1 500 Failed\r\nContent-Type: application/json\r\nConnection: close\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


class Engine:
    """A Docker Engine beside the machine's, its data on a small file system in memory. Only root may."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self._folder, self.data = folder, folder / "data"
        self.host = f"unix://{folder}/engine.sock"
        self._process: subprocess.Popen[bytes] | None = None
        self.data.mkdir()
        size = f"size={megabytes}m"
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(self.data)], check=True)

    @staticmethod
    def missing() -> str:
        """Why none can be started here, or nothing."""
        if os.geteuid() != 0:
            return "only root can start a second engine"
        return "" if shutil.which("dockerd") else "dockerd is not installed"

    def start(self) -> None:
        """Start it and wait until it answers."""
        options = ["--bridge=none", "--iptables=false", "--ip-forward=false", "--ip-masq=false"]
        places = ["--data-root", str(self.data), "--exec-root", str(self._folder / "exec")]
        files = ["--pidfile", str(self._folder / "pid"), "-H", self.host]
        log = (self._folder / "log").open("ab")
        # In a network of its own: an engine without a bridge removes the bridge of the first one.
        command = ["unshare", "--net", "dockerd", *places, *files, *options]
        self._process = subprocess.Popen(command, stdout=log, stderr=log)
        log.close()
        deadline = time.monotonic() + 60
        while not self._answers():
            assert time.monotonic() < deadline, (self._folder / "log").read_text()[-2000:]
            time.sleep(0.1)

    def stop(self) -> None:
        """Stop it in good order: it ends its containers."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)

    @contextlib.contextmanager
    def full(self) -> Iterator[None]:
        """No space is left on its disk inside the block."""
        filler = self.data / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(bytes(1 << 20)):
                pass
        try:
            yield
        finally:
            filler.unlink()

    def make_image(self, tag: str) -> None:
        """An execution image with the harness and no packages; its base comes from the machine's engine."""
        base, context = "python:3.11-slim-bookworm", self._folder / "context"
        context.mkdir()
        write_harness(context, Path(sys.executable))
        text = (
            f"FROM {base}\nCOPY sandbox /harness/sandbox\n"
            "RUN python3 -I -S -B /harness/sandbox/harness/bundle.py /harness\n"
            "WORKDIR /packages\nWORKDIR /layers\nWORKDIR /tmp\n"
        )
        (context / "Dockerfile").write_text(text)
        with self._client() as client, contextlib.closing(docker.DockerClient(base_url=real_host())) as other:
            client.images.load(b"".join(other.images.get(base).save(named=True)))
            client.images.build(path=str(context), tag=tag, rm=True)

    def containers(self) -> list[str]:
        """The names of all containers, running or not."""
        with self._client() as client:
            return [one["Names"][0] for one in client.api.containers(all=True)]

    def remove(self) -> None:
        """Stop it, and take its file system away."""
        with contextlib.suppress(AssertionError):
            self.stop()
        subprocess.run(["umount", "--lazy", str(self.data)], check=True)

    def _answers(self) -> bool:
        with self._client() as client, contextlib.suppress(docker.errors.DockerException, OSError):
            return bool(client.ping())
        return False

    def _client(self) -> contextlib.closing[docker.DockerClient]:
        return contextlib.closing(docker.DockerClient(base_url=self.host, timeout=30, version="1.41"))
