"""The libraries that a wheel contains: the gate of a release, and the hashes of their sources."""

from __future__ import annotations

import datetime
import hashlib
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TODAY = datetime.date.today()
TAGS = "ssl-3.5.2 ssl-3.5.9 ssl-3.5.10 ssl-3.5.11-beta1 ssl-3.6.3 other-3.5.99"
SSL = {"name": "SSL", "repository": "", "tags": r"ssl-(3)\.(5)\.(\d+)", "sha256": "0" * 64}


@pytest.fixture
def libraries() -> Any:
    """The script, as a module of this test."""
    script = Path(__file__).parents[2] / ".ci/platforms/libraries.py"
    module = ModuleType("libraries")
    module.__file__ = str(script)
    exec(compile(script.read_bytes(), script, "exec"), module.__dict__)  # writes no bytecode
    return module


@pytest.mark.parametrize(
    ("version", "days", "fault"),
    [
        ("3.5.10", 1, ""),
        ("3.5.9", 1, "SSL 3.5.9 is not the newest: run `libraries.py raise` for 3.5.10"),
        ("3.5.10", 0, "SSL 3.5.10 lost its support on"),
        ("3.5.10", -1, "SSL 3.5.10 lost its support on"),
    ],
)
def test_a_release_refuses_old_libraries(
    libraries: Any, monkeypatch: pytest.MonkeyPatch, version: str, days: int, fault: str
) -> None:
    """Neither a newer series nor a pre-release is the newest of the series in use."""
    shown = "".join(f"refs/tags/{tag}\n" for tag in TAGS.split())
    done = subprocess.CompletedProcess((), 0, shown)
    monkeypatch.setattr(libraries.subprocess, "run", lambda *_, **__: done)
    pinned = SSL | {"version": version, "ends": TODAY + datetime.timedelta(days)}
    assert " ".join(libraries.faults(pinned, TODAY))[: len(fault) or None] == fault


def test_an_archive_with_another_hash_is_refused(
    libraries: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    archive = tmp_path / "ssl-3.5.9.tar.gz"
    archive.write_text("changed")
    monkeypatch.setattr(libraries, "SOURCES", tmp_path / "sources")
    url = f"{tmp_path.as_uri()}/ssl-{{version}}.tar.gz"
    digest = hashlib.sha256(b"changed").hexdigest()
    with pytest.raises(SystemExit, match=f"has the SHA-256 {digest}, and libraries.toml names 0"):
        libraries.source(SSL | {"version": "3.5.9", "url": url}, tmp_path)
