"""Each fault in the tables of the documentation has a test, which `faults.toml` names."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/faults.md").read_text("utf-8").partition("## Comparison")[0]
TESTS: dict[str, list[int]] = tomllib.loads(Path(__file__).with_name("faults.toml").read_text())
SOURCES = {
    path.stem: path
    for folder, pattern in (("tests", "test_*.py"), ("cpp/tests", "*_test.cpp"))
    for path in (ROOT / folder).rglob(pattern)
}
# Others are about the decoder, the archive or a watch, and not this page's matter.
FAULTS = [*range(1, 80), *range(100, 111), *range(113, 119)]


def test_every_fault_is_on_the_page_once_and_has_a_test() -> None:
    rows = re.findall(r"\((F\d+(?:,\s+F\d+)*)\)$", PAGE, re.MULTILINE)
    found = [int(number) for row in rows for number in re.findall(r"\d+", row)]
    assert sorted(found) == sorted(number for faults in TESTS.values() for number in faults)
    assert len(found) == len(set(found))
    assert set(found) >= set(FAULTS)  # others have been found since


@pytest.mark.parametrize("test", TESTS)
def test_the_test_of_a_fault_exists(test: str) -> None:
    file, function, name = re.split(r"(::|: )", test, maxsplit=1)
    definition = f"def {name}(" if function == "::" else f'"{name}"'
    assert definition in SOURCES[file].read_text("utf-8")


def test_the_table_of_faults_has_a_row_for_each_of_its_numbers() -> None:
    rows = SOURCES["test_faults"].read_text("utf-8")
    for number in TESTS["test_faults::test_a_fault_comes_to_what_the_table_says"]:
        assert f'"F{number} ' in rows
