"""What the tests of wheels install has wheels itself, for each system and Python of a release."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.tags import Tag
from packaging.utils import parse_wheel_filename

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCKED: dict[str, dict[str, Any]] = {
    package["name"]: package
    for package in tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]
}
PYTHONS = [
    one.removeprefix("cp").removesuffix("-*") for one in PROJECT["tool"]["cibuildwheel"]["build"]
]
# The platform of a wheel, and what markers say of the system.
SYSTEMS = {
    r"manylinux.*_x86_64": ("linux", "x86_64"),
    r"manylinux.*_aarch64": ("linux", "aarch64"),
    r"musllinux.*_x86_64": ("linux", "x86_64"),
    r"musllinux.*_aarch64": ("linux", "aarch64"),
    r"macosx.*_(x86_64|universal2)": ("darwin", "x86_64"),
    r"macosx.*_(arm64|universal2)": ("darwin", "arm64"),
    r"win_amd64": ("win32", "AMD64"),
}


def environment(python: str, sys_platform: str, machine: str) -> dict[str, str]:
    version = f"3.{python.removeprefix('3').removesuffix('t')}"
    systems = {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}
    return {
        "sys_platform": sys_platform,
        "platform_machine": machine,
        "platform_system": systems[sys_platform],
        "os_name": "nt" if sys_platform == "win32" else "posix",
        "python_version": version,
        "python_full_version": f"{version}.9",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }


def required(markers: dict[str, str]) -> Iterator[dict[str, Any]]:
    """The packages of the group `test-wheel`, and what they require."""
    seen, waiting = set(), [*LOCKED["tradingdata"]["dev-dependencies"]["test-wheel"]]
    while waiting:
        needed = waiting.pop()
        if needed["name"] in seen or not Marker(needed.get("marker", "os_name != ''")).evaluate(
            markers
        ):
            continue
        seen.add(needed["name"])
        yield LOCKED[needed["name"]]
        waiting += LOCKED[needed["name"]].get("dependencies", [])


def fits(tag: Tag, python: str, platform: str) -> bool:
    if tag.platform != "any" and not re.fullmatch(platform, tag.platform):
        return False
    if tag.abi == "abi3":
        return not python.endswith("t") and int(tag.interpreter[3:]) <= int(python[1:])
    return tag.abi in ("none", f"cp{python}")


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("platform", SYSTEMS)
def test_what_the_tests_of_a_wheel_need_has_wheels(python: str, platform: str) -> None:
    """On a Mac with an Intel processor, pip would have compiled cryptography, with Rust."""
    found = list(required(environment(python, *SYSTEMS[platform])))
    assert len(found) > 8
    for package in found:
        files = [wheel["url"].rpartition("/")[2] for wheel in package.get("wheels", [])]
        tags = [tag for file in files for tag in parse_wheel_filename(file)[3]]
        assert any(fits(tag, python, platform) for tag in tags), package["name"]
