"""The declarations of records and calls that the core exports."""

from __future__ import annotations

import pytest

import service
import tradingdata as td
from tradingdata import _core

RECORDS = {record["name"]: record for record in _core.records()}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_names_its_types_and_its_fields(name: str) -> None:
    record = RECORDS[name]
    assert getattr(td, record["book"])._record == name
    fields = [field["name"] for field in record["fields"]]
    assert fields == _core.names_of(name)
    for some in ("identity", "event_times", "display", "narrow"):
        assert set(record[some]) <= set(fields), some
    assert set(record["narrow"]) <= set(record["display"])
    assert record["identity"], "an archive and a diff need to know a record again"


@pytest.mark.parametrize("name", RECORDS)
def test_event_times_are_timestamps(name: str) -> None:
    kinds = {field["name"]: field["kind"] for field in RECORDS[name]["fields"]}
    assert {kinds[time] for time in RECORDS[name]["event_times"]} <= {"timestamp"}


@pytest.mark.parametrize("call", _core.calls(), ids=[call["name"] for call in _core.calls()])
def test_a_call_is_a_method_of_both_clients_and_documented(call: dict[str, object]) -> None:
    assert hasattr(td.Client, str(call["name"]))
    assert hasattr(td.AsyncClient, str(call["name"]))
    assert call["record"] in RECORDS
    assert (call["form"] == "envelope") == (call["body"] is not None)
    document = service.DOCUMENT.read_text()
    assert f"| Method | {call['method']} |" in document
    assert f"| Path | {{base_url}}{call['path']} |" in document
