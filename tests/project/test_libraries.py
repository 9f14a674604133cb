"""The libraries that a wheel contains: their pins, the gate of a release, newer versions."""

from __future__ import annotations

import datetime
import functools
import hashlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".ci/platforms/libraries.py"
PINS = tomllib.loads((ROOT / ".ci/platforms/libraries.toml").read_text("utf-8"))
TODAY = datetime.date.today()


class World:
    """A library's repository with tags, its releases, and a file that pins one of them."""

    def __init__(self, folder: Path, version: str, ends: datetime.date, tags: str) -> None:
        self.folder, self.pins = folder, folder / "pins.toml"
        git = functools.partial(subprocess.run, cwd=folder, check=True, capture_output=True)
        git(["git", "init", "-q", "."])
        who = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
        git(["git", *who, "commit", "-q", "--allow-empty", "-m", "x"])
        for tag in tags.split():
            git(["git", "tag", tag])
            (folder / f"{tag}.tar.gz").write_text(tag)
        url = f"{folder.as_uri()}/ssl-{{version}}.tar.gz"
        self.pins.write_text(
            f'[SSL]\nversion = "{version}"\nsha256 = "{self.digest(version)}"\nurl = "{url}"\n'
            f"repository = \"{folder}\"\ntags = 'ssl-(3)\\.(5)\\.(\\d+)'\nends = {ends}\n"
        )

    def digest(self, version: str) -> str:
        return hashlib.sha256(f"ssl-{version}".encode()).hexdigest()

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "LIBRARIES": str(self.pins)}
        command = [sys.executable, str(SCRIPT), *arguments]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("version", "ends", "fault"),
    [
        ("3.5.10", 1, None),
        ("3.5.9", 1, "SSL 3.5.9 is not the newest: run `libraries.py raise` for 3.5.10"),
        ("3.5.10", 0, "SSL 3.5.10 lost its support on"),
        ("3.5.10", -1, "SSL 3.5.10 lost its support on"),
    ],
)
def test_a_release_refuses_old_libraries(
    tmp_path: Path, version: str, ends: int, fault: str | None
) -> None:
    """Neither a newer series nor a pre-release is the newest of the series in use."""
    tags = "ssl-3.5.2 ssl-3.5.9 ssl-3.5.10 ssl-3.5.11-beta1 ssl-3.6.3 other-3.5.99"
    world = World(tmp_path, version, TODAY + datetime.timedelta(days=ends), tags)
    done = world.run("check")
    assert done.returncode == (0 if fault is None else 1)
    assert fault is None or done.stdout.startswith(fault)


def test_an_archive_with_another_hash_is_refused(tmp_path: Path) -> None:
    pins = (ROOT / ".ci/platforms/libraries.toml").read_text("utf-8")
    world = World(tmp_path, "3.5.9", TODAY, "ssl-3.5.9")
    url = re.compile(r'^url = ".*openssl.*"', re.MULTILINE)
    other = f'url = "{tmp_path.as_uri()}/ssl-3.5.9.tar.gz"'
    world.pins.write_text(url.sub(other, pins))
    done = world.run("build", str(tmp_path / "built"))
    assert done.returncode == 1
    assert f"has the SHA-256 {world.digest('3.5.9')}, and pins.toml names" in done.stderr


def test_every_library_is_pinned() -> None:
    for name, pin in PINS.items():
        assert re.fullmatch(r"[0-9a-f]{64}", pin["sha256"]), name
        assert pin["url"].startswith("https://")
        assert "{version}" in pin["url"]
        numbers = pin["version"].split(".")
        fixed = re.findall(r"\((\d+)\)", pin["tags"])
        assert numbers[: len(fixed)] == fixed, f"{name} {pin['version']} is of another series"
