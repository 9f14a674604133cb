"""What the libraries of the command line say is reworded: no jargon, one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from command_line import Run
from tradingdata.cli.exit_codes import Code
from tradingdata.sandbox import Service, start


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Service]:
    with start(orders=5) as service:
        yield service


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        ("trades --limit x", "invalid value for '--limit': it must be a whole number"),
        ("trads", "no such command 'trads': did you mean 'trades'"),
        ("trades --format xml", "'xml' is not one of 'table', 'csv'"),
        ("trades extra", "unexpected argument: extra"),
        ("trades -o notes.txt", "end it in one of .csv, .json, .ndjson, .jsonl, .parquet, .xlsx"),
    ],
)
def test_what_a_library_says_is_reworded(run: Run, arguments: str, reported: str) -> None:
    ran = run(*arguments.split())
    assert ran.code == Code.USAGE
    assert reported in ran.err
    assert not re.search(r"Value error|Input should|\?;|\.;", ran.err)
