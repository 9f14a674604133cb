"""What is installed, to be sent along with a question."""

from __future__ import annotations

import io
import re

import pytest

import tradingdata as td
from tradingdata._util.optional_imports import versions


def test_show_versions_names_what_is_installed() -> None:
    found = versions()
    assert found["tradingdata"] == td.__version__
    gzip = "isa-l" if "isa-l" in found else "zlib"
    for library in ("libcurl", "OpenSSL", gzip, "pybind11"):
        assert re.fullmatch(r"\d+\.\d+(\.\w+)*", found[library]), library
    assert found["python"].startswith("CPython 3.")
    out = io.StringIO()
    td.show_versions(out)
    lines = out.getvalue().splitlines()
    assert len(lines) == len(found)
    assert re.fullmatch(rf"tradingdata +{re.escape(td.__version__)}", lines[0])
    assert "pandas" in out.getvalue()


def test_show_versions_prints(capsys: pytest.CaptureFixture[str]) -> None:
    td.show_versions()
    assert "tradingdata" in capsys.readouterr().out
