"""Each fault in the tables of the documentation has a test, which `faults.toml` names."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from bench import fault_peers

ROOT = Path(__file__).parents[2]
PAGE, _, PEERS = (ROOT / "docs/explanation/faults.md").read_text("utf-8").partition("## Comparison")
TESTS: dict[str, list[int]] = tomllib.loads(Path(__file__).with_name("faults.toml").read_text())
SOURCES = {
    path.stem: path
    for folder, pattern in (("tests", "test_*.py"), ("cpp/tests", "*_test.cpp"))
    for path in (ROOT / folder).rglob(pattern)
}
# Others are about the decoder, the archive or a watch, and not this page's matter.
FAULTS = [*range(1, 80), *range(100, 111), *range(113, 119)]


def test_every_fault_is_on_the_page_once_and_has_a_test() -> None:
    rows = re.findall(r"^\| F.+$", PAGE, re.MULTILINE)
    found = [int(number) for row in rows for number in re.findall(r"(?:^\| |; )F(\d+) ", row)]
    assert sorted(found) == sorted(number for faults in TESTS.values() for number in faults)
    assert len(found) == len(set(found))
    assert set(found) >= set(FAULTS)  # others have been found since


@pytest.mark.parametrize("test", TESTS)
def test_the_test_of_a_fault_exists(test: str) -> None:
    file, function, name = re.split(r"(::|: )", test, maxsplit=1)
    definition = f"def {name}(" if function == "::" else f'"{name}"'
    assert definition in SOURCES[file].read_text("utf-8")


def test_the_table_of_peers_is_of_faults_that_its_command_makes_and_of_every_peer() -> None:
    head, _, *rows = [
        line.strip("| ").split(" | ") for line in PEERS.splitlines() if line.startswith("|")
    ]
    assert head == ["Fault", *fault_peers.PEERS]
    assert {row[0] for row in rows} <= {fault[0] for fault in fault_peers.FAULTS}
    assert f"tries {len(fault_peers.FAULTS)} faults" in PEERS
    assert {len(row) for row in rows} == {len(head)}
    assert not [row[0] for row in rows if "WRONG" in row[1]]
