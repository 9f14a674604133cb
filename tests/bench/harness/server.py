"""nginx on loopback in a process of its own, answering with bodies from files."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

BOOK_PATH = "api/v1/trade/book"
READY_SECONDS = 5

# A file answers a GET only; 405 is led back to the same file, so that a POST is answered as fast.
CONFIGURATION = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  sendfile on;
  tcp_nodelay on;
  keepalive_requests 1000000000;
  keepalive_timeout 3600;
  open_file_cache max=16 inactive=1h;
  open_file_cache_valid 1h;
  default_type application/json;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} backlog=256;
    root {folder}/www;
    error_page 405 =200 $uri;
  }}
}}
"""


@contextlib.contextmanager
def serving(bodies: Mapping[str, Path]) -> Iterator[str]:
    """Serves each body as the trade book of the base URL `<what is yielded>/<name>`."""
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if nginx is None:
        raise FileNotFoundError("the http suite needs nginx: apt-get install nginx-light")
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), _free_port()
        for body, source in bodies.items():
            file = folder / "www" / body / BOOK_PATH
            file.parent.mkdir(parents=True)
            shutil.copyfile(source, file)
        _let_workers_read(folder)
        configuration = folder / "nginx.conf"
        configuration.write_text(CONFIGURATION.format(folder=folder, port=port), "ascii")
        process = subprocess.Popen([nginx, "-p", name, "-c", configuration])
        try:
            _await(process, port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def _let_workers_read(folder: Path) -> None:
    """Started as root, nginx's workers are of another user; the bodies are made up."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _await(process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.01)
    raise RuntimeError(f"nginx did not start (exit {process.poll()})")
