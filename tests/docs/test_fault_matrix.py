"""The table of faults in the documentation names tests that exist and that name the fault."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fault_matrix
from bench import fault_peers

PAGE = Path(__file__).parents[2] / "docs/explanation/faults.md"
ROW = re.compile(r"^\| F(\d+) \| (.+?) \| (.+?) \| `(\w+)(?:::(\w+)`|`: (.+?)) \|$", re.MULTILINE)
# F80 to F99 are about the decoder, F111 and F112 about the archive: not this table's matter.
FAULTS = [*range(1, 80), *range(100, 111), *range(113, 119)]


def test_every_fault_is_in_the_table_once() -> None:
    found = [int(row[1]) for row in ROW.finditer(PAGE.read_text("utf-8"))]
    assert len(found) == len(set(found))
    assert set(found) >= set(FAULTS)  # others have been found since


@pytest.mark.parametrize("row", ROW.findall(PAGE.read_text("utf-8")), ids=lambda row: f"F{row[0]}")
def test_the_test_of_a_fault_exists_and_names_it(row: tuple[str, ...]) -> None:
    fault, _, _, file, name, title = row
    tests = fault_matrix.covered()[int(fault)]
    assert f"{file}::{name or title}" in tests, f"tests of F{fault}: {tests}"


def test_the_table_of_peers_has_every_fault_that_its_command_makes_and_every_peer() -> None:
    lines = PAGE.read_text("utf-8").partition("python tests/bench/fault_peers.py")[2].splitlines()
    head, _, *rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    assert head == ["Fault", *fault_peers.PEERS]
    assert [row[0] for row in rows] == [fault[0] for fault in fault_peers.FAULTS]
    assert {len(row) for row in rows} == {len(head)}
    assert not [row[0] for row in rows if "WRONG" in row[1]]
