"""What the sandbox calls its options, and where it trades."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest

from sandbox_calls import column, orders, trades
from tradingdata import sandbox

MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()


@pytest.fixture(scope="module")
def day() -> Iterator[sandbox.Service]:
    with sandbox.start(orders=600) as running:
        yield running


def test_an_option_is_called_what_it_is(day: sandbox.Service) -> None:
    options = [row for row in trades(day) if row["strike_price"]]
    words = {"CE": "CALL", "PE": "PUT"}
    assert set(column(options, "opt_type")) == set(words)
    assert set(column(options, "tick_size")) == {0.05}
    for option in options:
        expiry = date.fromisoformat(option["expiry_date"])
        assert option["display_name"].split() == [
            option["symbol"],
            f"{expiry.day:02d}",
            MONTHS[expiry.month - 1],
            f"{option['strike_price']:g}",
            words[option["opt_type"]],
        ]


def test_both_exchanges_and_both_segments_are_there(day: sandbox.Service) -> None:
    found = trades(day)
    assert set(column(found, "exchange")) == {"NSE", "BSE"}
    kinds = set(column(orders(day), "instrument"))
    assert {"EQUITY", "OPTIDX", "OPTSTK"} < kinds
    assert kinds & {"FUTIDX", "FUTSTK"}
