"""nginx on loopback, in processes of its own: bodies from files, compressed or encrypted."""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
PATHS = {"Trade": "api/v1/trade/book", "Order": "api/v1/order/book"}

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
  keepalive_requests {calls};
  keepalive_timeout 3600;
  open_file_cache max=64 inactive=1h;
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
    """The base URLs, to which the name of a body is added, and the folder of the bodies."""

    http: str
    https: str
    ca_file: str
    folder: str

    def add(self, name: str, record: str, body: Path, *, compressed: bool = False) -> str:
        """Serves a book under a name, as gzip to whoever accepts it if `compressed`.

        Returns the name. Safe to call again, from any process.
        """
        file = Path(self.folder, name, PATHS[record])
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            if compressed:
                _place(file.with_name(f"{file.name}.gz"), gzip.compress(body.read_bytes(), 6))
            _place(file, body.read_bytes())
        return name


def _place(path: Path, content: bytes) -> None:
    """Writes a file that is complete when it is there, since several processes may add it."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    unfinished.write_bytes(content)
    _let_workers_read(unfinished, *path.parents[: path.parts[::-1].index("www")])
    unfinished.replace(path)


@contextlib.contextmanager
def serving(*, calls: int = 1_000_000_000) -> Iterator[Served]:
    """Starts nginx, which closes each connection after that number of `calls`."""
    if NGINX is None:
        raise FileNotFoundError("nginx is not installed (Debian: nginx-light)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "www").mkdir()
        # Bound here and inherited, so that nobody takes a port before nginx binds it.
        listeners = [socket.create_server(("127.0.0.1", 0), backlog=1024) for _ in range(2)]
        port, tls_port = (listener.getsockname()[1] for listener in listeners)
        _write_certificates(folder)
        _let_workers_read(folder, *folder.iterdir())
        configuration = folder / "nginx.conf"
        settings = CONFIGURATION.format(folder=folder, port=port, tls_port=tls_port, calls=calls)
        configuration.write_text(settings, "ascii")
        inherited = [listener.fileno() for listener in listeners]
        process = subprocess.Popen(
            [NGINX, "-p", name, "-c", configuration],
            env={**os.environ, "NGINX": "".join(f"{number};" for number in inherited)},
            pass_fds=inherited,
        )
        for listener in listeners:
            listener.close()
        try:
            at = (f"http://127.0.0.1:{port}", f"https://127.0.0.1:{tls_port}")
            yield Served(*at, str(folder / "ca.pem"), str(folder / "www"))
        finally:
            process.terminate()
            process.wait()


def _write_certificates(folder: Path) -> None:
    import trustme  # the processes that are measured do without

    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_and_cert_chain_pem.write_to_path(folder / "certificate.pem")


def _let_workers_read(*paths: Path) -> None:
    """Started as root, nginx's workers are of another user; the bodies are made up."""
    for path in paths:
        path.chmod(0o755 if path.is_dir() else 0o644)
