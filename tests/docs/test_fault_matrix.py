"""The table of faults in the documentation has each once, and names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench import fault_peers

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/faults.md").read_text("utf-8")
ROWS = re.findall(r"^\| F(\d+) \| .+ \| `(\w+)(?:::(\w+)`|`: (.+?)) \|$", PAGE, re.MULTILINE)
SOURCES = {
    path.stem: path
    for folder, pattern in (("tests", "test_*.py"), ("cpp/tests", "*_test.cpp"))
    for path in (ROOT / folder).rglob(pattern)
}
# Others are about the decoder or the archive, and not this table's matter.
FAULTS = [*range(1, 80), *range(100, 111), *range(113, 119)]


def test_every_fault_is_in_the_table_once() -> None:
    found = [int(row[0]) for row in ROWS]
    assert len(found) == len(set(found)) == len(re.findall(r"^\| F\d+ \|", PAGE, re.MULTILINE))
    assert set(found) >= set(FAULTS)  # others have been found since


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"F{row[0]}")
def test_the_test_of_a_fault_exists(row: tuple[str, ...]) -> None:
    _, file, name, title = row
    assert (f"def {name}(" if name else f'"{title}"') in SOURCES[file].read_text("utf-8")


def test_the_table_of_peers_has_every_fault_that_its_command_makes_and_every_peer() -> None:
    lines = PAGE.partition("python tests/bench/fault_peers.py")[2].splitlines()
    head, _, *rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    assert head == ["Fault", *fault_peers.PEERS]
    assert [row[0] for row in rows] == [fault[0] for fault in fault_peers.FAULTS]
    assert {len(row) for row in rows} == {len(head)}
    assert not [row[0] for row in rows if "WRONG" in row[1]]
