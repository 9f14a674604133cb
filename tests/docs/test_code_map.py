"""The map of the code names layers, packages and functions that exist."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/contributing/code-map.md").read_text("utf-8")
STEPS = re.findall(r"^\|[^|]+\| `([\w:]+)` \| `([\w/.]+)` \|$", PAGE, re.MULTILINE)

sys.path.append(str(ROOT / "docs/_ext"))
code_map = importlib.import_module("code_map")


def test_every_layer_and_package_has_a_paragraph() -> None:
    described = re.findall(r"^\*\*(\w+)\*\*$", PAGE, re.MULTILINE)
    assert sorted(described) == sorted([*code_map.core(), *code_map.package()])


@pytest.mark.parametrize(("function", "file"), STEPS, ids=lambda value: str(value))
def test_a_function_that_a_response_passes_exists(function: str, file: str) -> None:
    source = (ROOT / file).read_text("utf-8")
    *scope, name = function.split("::")
    definition = rf"def {name}\(" if file.endswith(".py") else rf"\b{name}\("
    if scope and file.endswith(".cpp"):
        definition = rf"\b{'::'.join([*scope, name])}\("
    assert re.search(definition, source), f"{file} has no {function}"


def test_the_way_of_a_response_is_described() -> None:
    assert len(STEPS) > 20


def test_no_part_of_the_code_uses_one_above_it() -> None:
    """A cycle would make the picture endless, and the layers none."""
    for edges in (code_map.core(), code_map.package()):
        above: set[str] = set()
        for row in code_map.ranks(edges):
            above |= set(row)
            assert not any(edges[name] & (above - {name}) for name in row)


def test_the_picture_shows_every_box_and_no_line_twice() -> None:
    drawn = code_map.picture("core")
    assert all(f">{layer}<" in drawn for layer in code_map.core())
    lines = re.findall("<line [^>]*>", drawn)
    assert lines
    assert len(lines) == len(set(lines))
