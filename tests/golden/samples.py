"""The books and results whose stored form and display are kept in tests/golden.

    PYTHONPATH=tests/support python tests/golden/samples.py    # writes tests/golden/stored anew

Nobody who updates the package may lose what it stored before: files in tests/golden/stored are
written once for each format, and read by every later version. Write them anew only where a format
changes before it is released.
"""

from __future__ import annotations

import datetime as dt
import json
import pickle
import shutil
import warnings
from pathlib import Path
from typing import Any

import tradingdata as td
from archiving import response

FOLDER = Path(__file__).parent
STORED = FOLDER / "stored" / "0.1"  # the version that first wrote its formats
DAY = dt.date(2026, 11, 20)
ZONE = dt.timezone(dt.timedelta(hours=5, minutes=30))


def sent(name: str) -> list[dict[str, Any]]:
    """The records of a stored response; its account numbers are masked."""
    records: list[dict[str, Any]] = json.loads((STORED / f"{name}.json").read_bytes())["data"]
    return [one | {"pan_no": "ABCDE1234F"} if "pan_no" in one else one for one in records]


# The last trade has what does not fit: text in a number, a number in text, nothing, and an unknown
# field.
*TRADES, ODD = sent("trades")
ORDERS, STOCKS = sent("orders"), sent("stocks")


def trade(
    number: int, side: str, quantity: int, price: float, at: str, **more: Any
) -> dict[str, Any]:
    """Another trade of the first one's share."""
    return {
        **TRADES[0],
        **dict.fromkeys(("order_date_time", "exch_order_time"), f"{DAY} {at}:00"),
        **dict.fromkeys(("exch_trade_time", "last_updated_time"), f"{DAY} {at}:07"),
        **{"order_no": f"1{number // 10}", "exch_order_no": f"11000000000{number // 10}"},
        **{"trade_no": f"8010{number}", "row_no": number, "txn_type": side},
        **{"quantity": quantity, "traded_price": price, "trade_value": round(quantity * price, 2)},
        **more,
    }


def body(records: list[dict[str, Any]]) -> bytes:
    return json.dumps({"data": records, "message": "Success", "status": "success"}).encode()


def books() -> dict[str, Any]:
    """The books whose files are stored, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        return {
            "trades": td.TradeBook.from_json(body([*TRADES, ODD])),
            "orders": td.OrderBook.from_json(body(ORDERS)),
            "stocks": td.StockList.from_json(json.dumps(STOCKS).encode()),
            "zoned": td.TradeBook.from_json(body(TRADES)).localize("Asia/Kolkata"),
        }


def responses() -> list[Any]:
    """What the archive has: two states of a day of one account, and one of another."""

    def at(time: str) -> dt.datetime:
        return dt.datetime.combine(DAY, dt.time.fromisoformat(time), ZONE)

    open_order = [ORDERS[0] | {"status": "Pending", "traded_qty": 0}]
    return [
        response(td.TradeBook, TRADES[:2], at("10:00"), account="desk1"),
        response(td.TradeBook, [*TRADES, ODD], at("15:45"), account="desk1"),
        response(td.OrderBook, open_order, at("09:16"), account="desk1"),
        response(td.OrderBook, ORDERS, at("15:45"), account="desk1"),
        response(td.TradeBook, [], at("15:45"), account="desk2"),
        response(td.OrderBook, [], at("15:45"), account="desk2"),
    ]


class Other:
    """Pickles as a book of another version."""

    def __reduce__(self) -> Any:
        restore, (version, *state) = books()["stocks"].__reduce__()
        return restore, (version + 1, *state)


def write() -> None:
    """Stores the books in each format, and an archive of the responses."""
    shutil.rmtree(STORED, ignore_errors=True)
    STORED.mkdir(parents=True)
    for name, book in books().items():
        for suffix in ("json", "parquet", "csv"):
            book.save(STORED / f"{name}.{suffix}")
        (STORED / f"{name}.pickle").write_bytes(pickle.dumps(book, 4))
    (STORED / "other.pickle").write_bytes(pickle.dumps(Other(), 4))
    archive = td.Archive(STORED / "archive")
    for each in responses():
        archive.add(each)


if __name__ == "__main__":
    write()
