"""Optional libraries: their oldest versions, and the command that installs them."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from tradingdata._util.optional_imports import MINIMUM, install_command, require, requirements

ROOT = Path(__file__).parents[2]
REQUIRES = [
    'pandas>=2.2; extra == "pandas"',
    'pyarrow>=16.0; extra == "arrow"',
    'dask[dataframe,distributed]>=2025.1; extra == "dask"',
    'tradingdata[pandas,arrow]; extra == "dask"',
    "unconditional>=1",
]


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
    assert len(named) > 10
    assert set(named) <= set(extras())


class Installed(metadata.Distribution):
    """The package as pip records it after one kind of installation."""

    def __init__(self, direct_url: dict[str, object] | None) -> None:
        self.direct_url = direct_url

    def read_text(self, filename: str) -> str | None:
        if filename == "direct_url.json":
            return None if self.direct_url is None else json.dumps(self.direct_url)
        lines = [f"Requires-Dist: {line}" for line in REQUIRES]
        return "\n".join(["Metadata-Version: 2.1", "Name: tradingdata", *lines, ""])

    def locate_file(self, path: object) -> Path:
        return Path(str(path))


EACH = "pip install 'dask[dataframe,distributed]>=2025.1' 'pandas>=2.2' 'pyarrow>=16.0'"
CHECKOUT = {"url": "file:///home/me/tradingdata", "dir_info": {"editable": True}}
WHEEL = {"url": "file:///home/me/tradingdata-1.0-py3-none-any.whl", "archive_info": {}}


@pytest.mark.parametrize(
    ("direct_url", "command"),
    [
        (None, "pip install 'tradingdata[dask]'"),
        (CHECKOUT, EACH),
        (WHEEL, EACH),
    ],
)
def test_the_command_is_one_that_works_for_how_the_package_was_installed(
    monkeypatch: pytest.MonkeyPatch, direct_url: dict[str, object] | None, command: str
) -> None:
    monkeypatch.setattr(metadata, "distribution", lambda name: Installed(direct_url))
    assert install_command("dask", "dask") == command


def test_without_metadata_the_library_itself_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ImportError, match=r"dask, which is not installed: pip install 'dask>=2025"):
        require("dask", "dask", "a cluster")


def test_an_extra_may_include_others() -> None:
    assert list(requirements(REQUIRES, "arrow")) == ["pyarrow>=16.0"]
    assert list(requirements(REQUIRES, "none")) == []
