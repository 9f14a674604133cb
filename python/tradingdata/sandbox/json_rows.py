"""Records as the service sends them: every field, in the documented order, as JSON.

Values that the service document leaves open are invented here: codes as in its examples, "0" for no
error, the trading day for the validity of a day order, empty text for everything else.
"""

from __future__ import annotations

import json
from datetime import date
from functools import lru_cache

from .._core import names_of
from .accounts import Account
from .company_generator import Company
from .instruments import Instrument, short_name
from .listed_companies import SECTORS
from .market import OPEN
from .orders import Order, State, Ticket, Trade

ZERO_DATE = "0001-01-01"
"""The expiry date of instruments that do not expire."""

_PRODUCTS = {"C": "CNC", "I": "INTRADAY", "M": "MARGIN"}
_SOURCES = {"W": "WEB", "M": "MOBILE", "A": "API"}
_SECTOR_CODES = {name: f"{n:08d}" for n, name in enumerate(sorted(set(SECTORS.values())), 1)}
_INDUSTRY_CODES = {name: f"{n:08d}" for n, name in enumerate(sorted(SECTORS), 101)}
_LARGE, _MID = 100, 250
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def encode(value: object) -> bytes:
    """Encodes a value as JSON: UTF-8, without spaces."""
    return _ENCODER.encode(value).encode()


@lru_cache(maxsize=1 << 15)
def timestamp(day: date, second: int) -> str:
    """Returns the time `second` seconds after the opening bell, in the service's format."""
    minutes, seconds = divmod(OPEN + second, 60)
    return f"{day} {minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}"


def order_record(
    order: Order, state: State, row: int, price: int, account: Account, day: date
) -> bytes:
    """Returns an element of the order book; `price` is the market price in paise."""
    ticket = order.ticket
    left = ticket.quantity - state.filled
    average = round(state.value / (state.filled * 100), 4) if state.filled else 0.0
    return _in_order(
        "Order",
        _shared_fields(ticket, account, day)
        | {
            "last_updated_time": timestamp(day, state.updated),
            "status": state.status,
            "quantity": ticket.quantity,
            "remaining_quantity": left,
            "rem_qty_tot_qty": f"{left}/{ticket.quantity}",
            "price": ticket.price / 100,
            "trigger_price": ticket.trigger / 100,
            "disc_quantity": ticket.disclosed,
            "dq_qty_rem": min(ticket.disclosed, left),
            "serial_no": ticket.number,
            "validity": ticket.validity,
            "traded_qty": state.filled,
            "traded_price": state.last_price / 100,
            "avg_traded_price": average,
            "reason_description": state.reason,
            "leg_no": 1,
            "row_no": row,
            "algo_ord_no": f"{ticket.algo}-{ticket.number}" if ticket.algo else "",
            "trailing_sl_value": 0.0,
            "sl_abstick_value": 0.0,
            "pr_abstick_value": 0.0,
            "off_mkt_flag": "0",
            "child_leg_unq_id": 0,
            "good_till_days_date": str(day),
            "group_id": 0,
            "error_code": state.code,
            "expiry_flag": _expiry_flag(ticket.instrument),
            "identifier": "",
            "ref_ltp": price / 100,
            "remarks": "",
            "remarks1": "",
            "remarks2": "",
            "source": ticket.source,
            "source_name": _SOURCES[ticket.source],
            "strategy_id": "",
        },
    )


def trade_record(trade: Trade, account: Account, day: date) -> bytes:
    """Returns an element of the trade book; its row number is the trade's number."""
    fill = trade.fill
    traded = timestamp(day, fill.second)
    return _in_order(
        "Trade",
        _shared_fields(trade.order.ticket, account, day)
        | {
            "exch_trade_time": traded,
            "last_updated_time": traded,
            "trade_no": f"{account.number}{trade.number:07d}",
            "quantity": fill.quantity,
            "traded_price": fill.price / 100,
            "trade_value": fill.quantity * fill.price / 100,
            "row_no": trade.number,
        },
    )


def _shared_fields(ticket: Ticket, account: Account, day: date) -> dict[str, object]:
    """Returns the fields that an order and its trades have in common."""
    instrument = ticket.instrument
    protected = ticket.order_type in ("MKT", "SLM")
    return {
        "client_id": account.client_id,
        "order_date_time": timestamp(day, ticket.entered),
        "exch_order_time": timestamp(day, ticket.received),
        "order_no": _order_no(ticket, account, day),
        "exch_order_no": _exchange_order_no(ticket, account, day),
        "exchange": instrument.exchange,
        "txn_type": ticket.side,
        "segment": instrument.segment,
        "instrument": instrument.kind,
        "symbol": instrument.symbol,
        "product": ticket.product,
        "product_name": _PRODUCTS[ticket.product],
        "order_type": ticket.order_type,
        "security_id": instrument.security_id,
        "lot_size": instrument.lot,
        "pan_no": account.pan,
        "participant_type": "B",
        "mkt_pro_flag": "Y" if protected else "N",
        "mkt_pro_value": 3.0 if protected else 0.0,
        "settlor": "",
        "encash_flag": "N",
        "mkt_type": "NL",
        "algo_id": ticket.algo,
        "strike_price": instrument.strike / 100,
        "expiry_date": str(instrument.expiry) if instrument.expiry else ZERO_DATE,
        "opt_type": instrument.option,
        "series": instrument.series,
        "isin": instrument.isin,
        "display_name": instrument.display_name,
        "exchange_inst_name": instrument.exchange_name,
        "placed_by": ticket.dealer or account.client_id,
        "placed_by_entity_id": ticket.dealer or account.client_id,
        "tick_size": instrument.tick / 100,
    }


def _in_order(record: str, values: dict[str, object]) -> bytes:
    """Encodes the fields of a record in the service's order."""
    return encode({name: values[name] for name in _names(record)})


_names = lru_cache(maxsize=2)(names_of)


def stock_record(company: Company, rank: int) -> bytes:
    """Returns an element of a search result; its rank by market capitalization sets its class."""
    return encode(
        {
            "type": "STK",
            "co_code": company.code,
            "bsecode": company.bse,
            "nsesymbol": company.nse,
            "companyname": company.name,
            "companyshortname": short_name(company.name),
            "categoryname": "Company",
            "isin": company.isin,
            "bsegroup": company.group,
            "mcap": company.crores,
            "mcaptype": "Large Cap" if rank < _LARGE else "Mid Cap" if rank < _MID else "Small Cap",
            "displaytype": company.industry,
            "sectorcode": _SECTOR_CODES[company.sector],
            "sectorname": company.sector,
            "industrycode": _INDUSTRY_CODES[company.industry],
            "industryname": company.industry,
            "bselistedflag": "Y" if company.bse else "N",
            "nselistedflag": "Y" if company.nse else "N",
            "BSEStatus": _listing_status(company, "BSE", company.bse),
            "NSEStatus": _listing_status(company, "NSE", company.nse),
        }
    )


def _order_no(ticket: Ticket, account: Account, day: date) -> str:
    return f"{_written(day, '%y%m%d')}{account.number:03d}{ticket.number:06d}"


def _exchange_order_no(ticket: Ticket, account: Account, day: date) -> str:
    """Returns sixteen digits on NSE, nineteen on BSE."""
    if ticket.instrument.exchange == "NSE":
        return f"11{_written(day, '%j')}{account.number:04d}{ticket.number:07d}"
    moment = f"{_written(day, '%y%j')}{OPEN + ticket.received:05d}"
    return f"{moment}{account.number:04d}{ticket.number:05d}"


@lru_cache(maxsize=64)
def _written(day: date, form: str) -> str:
    return day.strftime(form)


def _expiry_flag(instrument: Instrument) -> str:
    return "" if instrument.is_share else "M" if instrument.monthly else "W"


def _listing_status(company: Company, exchange: str, listed: str) -> str:
    if not listed:
        return ""
    return "Suspended" if company.suspended == exchange else "Active"
