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

SHARE: dict[str, Any] = {
    **{"exchange": "NSE", "segment": "E", "product": "C", "product_name": "CNC", "symbol": "INFY"},
    **{"display_name": "Infosys", "security_id": "1594", "isin": "INE009A01021", "series": "EQ"},
    **{"instrument": "EQUITY", "opt_type": "XX", "strike_price": 0, "expiry_date": "0001-01-01"},
    **{"lot_size": 1, "tick_size": 5, "exchange_inst_name": "ES"},
}
CALL: dict[str, Any] = {
    **{"exchange": "NSE", "segment": "D", "product": "M", "product_name": "MARGIN"},
    **{"symbol": "NIFTY", "display_name": "NIFTY 24 NOV 26000 CALL", "security_id": "43210"},
    **{"isin": "", "series": "XX", "instrument": "OPTIDX", "opt_type": "CE", "strike_price": 26000},
    **{"expiry_date": "2026-11-24", "lot_size": 75, "tick_size": 5, "exchange_inst_name": "OP"},
}
CLIENT: dict[str, Any] = {
    **{"client_id": "C00001", "pan_no": "ABCDE1234F", "participant_type": "B", "settlor": "90000"},
    **{"mkt_pro_flag": "N", "mkt_pro_value": 0, "encash_flag": "N", "mkt_type": "NL"},
    **{"algo_id": "0", "placed_by": "CUSTOMER", "placed_by_entity_id": "C00001"},
}


def trade(
    number: int,
    contract: dict[str, Any],
    side: str,
    quantity: int,
    price: float,
    at: str,
    **more: Any,
) -> dict[str, Any]:
    return {
        **CLIENT,
        **contract,
        **dict.fromkeys(("order_date_time", "exch_order_time"), f"{DAY} {at}:00"),
        **dict.fromkeys(("exch_trade_time", "last_updated_time"), f"{DAY} {at}:07"),
        **{"order_no": f"1{number // 10}", "exch_order_no": f"11000000000{number // 10}"},
        **{"trade_no": f"8010{number}", "txn_type": side, "order_type": "LMT", "row_no": number},
        **{"quantity": quantity, "traded_price": price, "trade_value": round(quantity * price, 2)},
        **more,
    }


def order(
    number: int,
    contract: dict[str, Any],
    side: str,
    quantity: int,
    price: float,
    at: str,
    **more: Any,
) -> dict[str, Any]:
    filled = more.get("traded_qty", quantity)
    return {
        **CLIENT,
        **contract,
        **dict.fromkeys(("order_date_time", "exch_order_time"), f"{DAY} {at}:00"),
        **{"last_updated_time": f"{DAY} {at}:07", "good_till_days_date": str(DAY)},
        **{"order_no": f"1{number}", "exch_order_no": f"11000000000{number}", "txn_type": side},
        **{"order_type": "LMT", "validity": "DAY", "status": "Success", "quantity": quantity},
        **{"price": price, "trigger_price": 0, "traded_qty": filled, "traded_price": price},
        **{"remaining_quantity": quantity - filled, "avg_traded_price": price if filled else 0},
        **{"rem_qty_tot_qty": f"{quantity - filled}/{quantity}", "disc_quantity": 0},
        **{"dq_qty_rem": 0, "serial_no": 1, "leg_no": 1, "group_id": 1, "child_leg_unq_id": 0},
        **{"row_no": number, "off_mkt_flag": "0", "algo_ord_no": "0", "trailing_sl_value": 0},
        **{
            "sl_abstick_value": 0,
            "pr_abstick_value": 0,
            "reason_description": "",
            "ref_ltp": price,
        },
        **dict.fromkeys(("error_code", "identifier"), "0"),
        **dict.fromkeys(("expiry_flag", "strategy_id"), "NA"),
        **dict.fromkeys(("remarks", "remarks1", "remarks2", "reason_description"), ""),
        **{"source": "W", "source_name": "WEB"},
        **more,
    }


TRADES = [
    trade(10, SHARE, "B", 100, 1500.5, "09:16"),
    trade(11, SHARE, "B", 23, 1500.55, "09:17"),
    trade(20, SHARE, "S", 50, 1512.25, "11:02"),
    trade(30, CALL, "B", 150, 101.05, "11:30"),
    trade(40, CALL, "S", 75, 123.4, "15:29"),
]
ORDERS = [
    order(1, SHARE, "B", 123, 1500.5, "09:16", avg_traded_price=1500.51),
    order(2, SHARE, "S", 50, 1512.25, "11:02"),
    order(3, CALL, "B", 150, 101.05, "11:30"),
    order(4, CALL, "S", 75, 123.4, "15:29"),
    order(5, SHARE, "S", 73, 1550, "15:10", status="Pending", traded_qty=0),
    order(6, CALL, "B", 75, 90, "15:20", status="Error", traded_qty=0, reason_description="Margin"),
]
STOCKS = [
    {
        **{"type": "STK", "co_code": 2806, "bsecode": "500209", "nsesymbol": "INFY"},
        **{"companyname": "Infosys Ltd", "companyshortname": "Infosys", "categoryname": "Company"},
        **{"isin": "INE009A01021", "bsegroup": "A", "mcap": 654321.05, "mcaptype": "Large Cap"},
        **{"displaytype": "SOFTWARE", "sectorcode": "00000034", "sectorname": "IT - Software"},
        **{"industrycode": "00000072", "industryname": "Computers - Software - Large"},
        **dict.fromkeys(("bselistedflag", "nselistedflag"), "Y"),
        **dict.fromkeys(("BSEStatus", "NSEStatus"), "Active"),
    }
]
# What does not fit: text in a number, a number in text, nothing at all, and an unknown field.
ODD = trade(50, SHARE, "B", 1, 1.0, "15:30", order_no=15, brand_new={"a": [1, None]})
ODD |= {"quantity": "5", "traded_price": "NA"}
del ODD["settlor"]


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
