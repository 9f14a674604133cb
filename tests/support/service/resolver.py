"""Names that do not resolve, or late, or to loopback, for a client process (F2, F3)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("resolver.c")


class NoCompiler(Exception):
    """This machine cannot build the shim: skip the test."""


def resolver_environment(
    folder: Path, *, seconds: float = 0.0, address: str | None = None
) -> dict[str, str]:
    """Return environment variables under which every name but localhost resolves as said.

    It takes `seconds`, in which no signal is heard by the resolving thread, and gives `address`
    (None: no such host). `folder` keeps the built shim. NoCompiler away from Linux or without cc.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or sys.platform != "linux":
        raise NoCompiler("a slow resolver needs Linux and a C compiler")
    shim = folder / "resolver.so"
    if not shim.exists():
        command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(shim), str(SOURCE), "-ldl"]
        subprocess.run(command, check=True)
    environment = {"LD_PRELOAD": str(shim), "TEST_RESOLVER_SECONDS": str(seconds)}
    if address is not None:
        environment["TEST_RESOLVER_ADDRESS"] = address
    return environment
