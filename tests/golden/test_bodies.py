"""Bodies as services of this family publish them, decoded to golden rows and issues.

Account numbers, clients and settlors are replaced. What the sources show of a body in part, it has
in part. Sources:

    trade-book, trade-details, order-book, order-details, stocks, company-detail
                        heytorus.gitbook.io/torus-digital-open-api: the pages of these names
    paytm-order         a test of a client on paytmmoney/pyPMClient, with the envelope around it
    kite-*              zerodha/kiteconnect-mocks: trades.json and the first of orders.json
    smartapi-orders     smartapi.angelbroking.com, "order book API response vs purchase API"
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import tradingdata as td
from golden.samples import FOLDER

pytestmark = pytest.mark.sanitize
BODIES: dict[str, Any] = {
    "trade-book": td.TradeBook,
    "trade-details": td.TradeBook,  # numbers in text, and text in numbers
    "order-book": td.OrderBook,
    "order-details": td.OrderBook,
    "stocks": td.StockList,
    "company-detail": td.StockList,  # no list
    "paytm-order": td.OrderBook,  # of the same family
    "kite-trades": td.TradeBook,  # of another one
    "kite-orders": td.OrderBook,
    "smartapi-orders": td.OrderBook,
}


def test_every_body_is_decoded() -> None:
    assert {path.stem for path in (FOLDER / "bodies").glob("*.json")} == set(BODIES)


def decoded(kind: Any, body: bytes) -> str:
    """Returns the fields with values, the issues and the unknown fields, or the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", td.DataWarning)
            book = kind.from_json(body)
    except td.TradingDataError as error:
        return f"{type(error).__name__}: {error}\n"
    lines = [repr(book), ""]
    for row in book:
        lines += [
            f"{name} = {value!r}" for name, value in row._asdict().items() if value is not None
        ]
    missing = [issue.field for issue in book.issues if issue.problem == "missing"]
    lines += [str(issue) for issue in book.issues if issue.problem != "missing"]
    lines += [f"missing: {' '.join(missing)}", f"unknown: {' '.join(book.extra_fields)}"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", BODIES)
def test_a_published_body_is_decoded_as_ever(
    name: str, golden: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    body = (FOLDER / f"bodies/{name}.json").read_bytes()
    golden(f"bodies/{name}.txt", decoded(BODIES[name], body))
