"""The sandbox's records: the documented fields and types, the same bytes for the same day."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path

import pytest

import service
from sandbox_calls import Record, ask, column, orders, search, trades
from tradingdata import sandbox
from tradingdata._util.declarations import BOOK_CALLS, CALLS, RECORDS

KINDS = [name.lower() for name in RECORDS]


@pytest.fixture(scope="module")
def day() -> Iterator[sandbox.Service]:
    with sandbox.start() as running:
        yield running


def rows(day: sandbox.Service, record: str) -> list[Record]:
    if record == "stock":
        return search(day, "ltd", limit=5000)
    return trades(day) if record == "trade" else orders(day)


@pytest.mark.parametrize("record", KINDS)
def test_every_record_has_the_documented_fields_in_the_documented_order(
    day: sandbox.Service, record: str
) -> None:
    found = rows(day, record)
    assert len(found) > 100
    assert {tuple(row) for row in found} == {tuple(service.names(record))}


@pytest.mark.parametrize("record", KINDS)
def test_every_value_has_the_documented_type(day: sandbox.Service, record: str) -> None:
    found = rows(day, record)
    kinds: dict[str, type | tuple[type, ...]] = {
        "string": str,
        "integer": int,
        "number": (int, float),
    }
    for field in service.fields(record):
        kind, _, form = field.type.partition(", ")
        values = column(found, field.name)
        assert all(isinstance(value, kinds[kind]) for value in values), field.name
        assert not any(isinstance(value, bool) for value in values), field.name
        if form == "timestamp":
            assert all(datetime.strptime(value, "%Y-%m-%d %H:%M:%S") for value in values)
        elif form == "date":
            assert all(date.fromisoformat(value) for value in values)


def test_the_envelope_is_that_of_the_service(day: sandbox.Service) -> None:
    for endpoint in BOOK_CALLS:
        response = ask(day, endpoint)
        assert list(response.json) == ["data", "message", "status"]
        assert response.body.endswith(b'],"message":"Success","status":"success"}')


def test_rows_are_numbered_and_keys_are_unique(day: sandbox.Service) -> None:
    for found, key in ((trades(day), ("trade_no",)), (orders(day), ("order_no", "leg_no"))):
        assert column(found, "row_no") == list(range(1, len(found) + 1))
        assert len({tuple(row[name] for name in key) for row in found}) == len(found)


def test_personal_data_is_fictional_and_of_valid_form(day: sandbox.Service) -> None:
    for found in (trades(day), orders(day)):
        assert len(set(column(found, "pan_no"))) == 1
        assert re.fullmatch(r"[A-Z]{3}P[A-Z]\d{4}[A-Z]", found[0]["pan_no"])
        assert found[0]["pan_no"][5:9] != "0000"


def digests(service: sandbox.Service) -> list[str]:
    return [hashlib.sha256(ask(service, endpoint).body).hexdigest() for endpoint in CALLS]


def test_the_same_seed_and_day_give_the_same_bytes_in_another_process() -> None:
    script = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from tradingdata import sandbox; from test_sandbox_records import digests\n"
        "with sandbox.start(seed=7, day='2026-03-02') as service: print(*digests(service))"
    )
    command = [sys.executable, "-P", "-c", script, str(Path(__file__).parent), *sys.path]
    seen = {
        subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": hash_seed, "LC_ALL": "C"},
        ).stdout.strip()
        for hash_seed in ("1", "2")
    }
    with sandbox.start(seed=7, day=date(2026, 3, 2)) as service:
        assert seen == {" ".join(digests(service))}


def test_another_seed_or_day_is_another_book_and_the_same_listing(day: sandbox.Service) -> None:
    for changed in ({"seed": 1}, {"day": "2026-11-19"}):
        with sandbox.start(**changed) as other:
            same = zip(CALLS, digests(day), digests(other), strict=True)
            assert {name for name, ours, theirs in same if ours != theirs} == {*BOOK_CALLS}


def test_the_first_orders_of_a_day_do_not_depend_on_other_accounts() -> None:
    with sandbox.start() as one, sandbox.start(accounts=["desk1", "arbitrage"]) as two:
        assert ask(one, "order_book").body == ask(two, "order_book").body
