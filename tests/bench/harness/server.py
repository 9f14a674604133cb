"""nginx on loopback in a process of its own, with responses from files, compressed or encrypted."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import trustme

from .bodies import compressed as as_gzip

BOOK_PATH = "api/v1/trade/book"
READY_SECONDS = 5

# A file serves GET requests only; 405 redirects to the same file, so that a POST is as fast.
CONFIGURATION = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  sendfile on;
  gzip_static on;
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
    listen 127.0.0.1:{port} backlog=1024;
    listen 127.0.0.1:{tls_port} ssl;
    ssl_certificate {folder}/certificate.pem;
    ssl_certificate_key {folder}/certificate.pem;
    root {folder}/www;
    error_page 405 =200 $uri;
  }}
}}
"""


@dataclass(frozen=True)
class Served:
    """Where bodies are served; the trade book of `<base URL>/<name>` is the body of that name."""

    http: str
    https: str
    ca_file: str


@contextlib.contextmanager
def serving(bodies: Mapping[str, Path], compressed: Container[str] = ()) -> Iterator[Served]:
    """Serves each body; those named in `compressed` as gzip to whoever accepts it."""
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if nginx is None:
        raise FileNotFoundError("this suite needs nginx: apt-get install nginx-light")
    with tempfile.TemporaryDirectory() as name:
        folder, port, tls_port = Path(name), _free_port(), _free_port()
        for body, source in bodies.items():
            file = folder / "www" / body / BOOK_PATH
            file.parent.mkdir(parents=True)
            shutil.copyfile(source, file)
            if body in compressed:
                shutil.copyfile(as_gzip(source), file.with_name(f"{file.name}.gz"))
        _write_certificates(folder)
        _let_workers_read(folder)
        configuration = folder / "nginx.conf"
        settings = CONFIGURATION.format(folder=folder, port=port, tls_port=tls_port)
        configuration.write_text(settings, "ascii")
        process = subprocess.Popen([nginx, "-p", name, "-c", configuration])
        try:
            _await(process, port)
            at = (f"http://127.0.0.1:{port}", f"https://127.0.0.1:{tls_port}")
            yield Served(*at, str(folder / "ca.pem"))
        finally:
            process.terminate()
            process.wait()


def _write_certificates(folder: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_and_cert_chain_pem.write_to_path(folder / "certificate.pem")


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
