"""Optional libraries: their oldest versions, and the extras that install them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tradingdata._util.optional_imports import MINIMUM

ROOT = Path(__file__).parents[2]


def extras() -> dict[str, list[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: dict[str, list[str]] = project["optional-dependencies"]
    return found


def test_the_oldest_versions_are_those_that_the_extras_require() -> None:
    required = {
        name.partition("[")[0]: least
        for extra, lines in extras().items()
        if extra not in ("test", "lint", "tidy", "types", "dev", "release", "docs", "bench")
        for name, separator, least in (line.partition(">=") for line in lines)
        if separator
    }
    assert {name: required.get(name) for name in MINIMUM} == MINIMUM


def test_each_extra_that_an_error_names_exists() -> None:
    code = "\n".join(
        path.read_text("utf-8") for path in (ROOT / "python/tradingdata").rglob("*.py")
    )
    named = re.findall(r'require\(\s*"[\w.]+",\s*"(\w+)"', code)
    assert len(named) >= 10
    assert set(named) <= set(extras())
