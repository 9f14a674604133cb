# Written by .ci/stubs.py from the compiled field tables: run it rather than edit this.
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Self, final, type_check_only

class Row: ...

@type_check_only
class _RecordBase(Row):
    def __getitem__(self, name: str, /) -> Any: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Self: ...
    def __replace__(self, /, **changes: Any) -> Self: ...
    def _asdict(self, *, extra: bool = False) -> dict[str, Any]: ...
    def _replace(self, **changes: Any) -> Self: ...
    @property
    def _extra(self) -> dict[str, Any]: ...

@final
@dataclass(frozen=True, kw_only=True)
class Trade(_RecordBase):
    """One executed trade of the trade book."""

    order_date_time: datetime | None = None
    """Order entry time."""
    exch_order_time: datetime | None = None
    """Time the exchange received the order."""
    exch_trade_time: datetime | None = None
    """Time the trade executed on the exchange."""
    last_updated_time: datetime | None = None
    """Last update of the order details."""
    order_no: str | None = None
    """Unique order identifier."""
    exch_order_no: str | None = None
    """Exchange-assigned order identifier."""
    trade_no: str | None = None
    """Unique trade identifier."""
    client_id: str | None = None
    """Client identifier."""
    exchange: str | None = None
    """Exchange (e.g. NSE, BSE)."""
    txn_type: str | None = None
    """Transaction type (buy or sell; single-letter code)."""
    segment: str | None = None
    """Market segment (single-letter code)."""
    order_type: str | None = None
    """Order type (e.g. limit, market, stop loss; short codes)."""
    symbol: str | None = None
    """Trading symbol."""
    display_name: str | None = None
    """Custom symbol name."""
    product: str | None = None
    """Product code (single letter)."""
    product_name: str | None = None
    """Product name."""
    quantity: int | None = None
    """Number of shares or contracts."""
    traded_price: float | None = None
    """Execution price."""
    trade_value: float | None = None
    """Total trade value."""
    security_id: str | None = None
    """Security identifier."""
    row_no: int | None = None
    """Row index in the dataset."""
    pan_no: str | None = None
    """Permanent account number of the client."""
    participant_type: str | None = None
    """Participant type (e.g. client, dealer; code)."""
    mkt_pro_flag: str | None = None
    """Market protection indicator."""
    mkt_pro_value: float | None = None
    """Market protection value."""
    settlor: str | None = None
    """Entity responsible for settlement."""
    encash_flag: str | None = None
    """Indicator whether encashment is allowed."""
    mkt_type: str | None = None
    """Market type (e.g. normal, odd lot, auction; code)."""
    strike_price: float | None = None
    """Option strike price."""
    expiry_date: date | None = None
    """Derivative expiry date."""
    opt_type: str | None = None
    """Option type (call, put; code)."""
    instrument: str | None = None
    """Instrument name."""
    lot_size: int | None = None
    """Lot size."""
    series: str | None = None
    """Security series (e.g. EQ)."""
    isin: str | None = None
    """ISIN code."""
    exchange_inst_name: str | None = None
    """Instrument name on the exchange."""
    placed_by: str | None = None
    """Who placed the order."""
    placed_by_entity_id: str | None = None
    """Identifier of the entity that placed the order."""
    tick_size: float | None = None
    """Minimum price movement."""
    algo_id: str | None = None
    """Identifier of the algorithm used, if any."""
    account: str | None = None
    """Label of the account, set by its client and never sent."""

@final
@dataclass(frozen=True, kw_only=True)
class Order(_RecordBase):
    """One order of the day's order book."""

    client_id: str | None = None
    """Client identifier."""
    order_date_time: datetime | None = None
    """Order entry time."""
    last_updated_time: datetime | None = None
    """Last update time."""
    exch_order_time: datetime | None = None
    """Time the exchange received the order."""
    order_no: str | None = None
    """Unique order identifier."""
    exch_order_no: str | None = None
    """Exchange-assigned order identifier."""
    exchange: str | None = None
    """Exchange (e.g. NSE, BSE)."""
    txn_type: str | None = None
    """Transaction type (buy or sell; code)."""
    segment: str | None = None
    """Market segment (code)."""
    instrument: str | None = None
    """Instrument type."""
    symbol: str | None = None
    """Trading symbol."""
    product: str | None = None
    """Product code (e.g. C, M, I, H)."""
    product_name: str | None = None
    """Product name."""
    status: str | None = None
    """Current order status."""
    quantity: float | None = None
    """Total order quantity."""
    remaining_quantity: float | None = None
    """Remaining quantity."""
    rem_qty_tot_qty: str | None = None
    """Remaining quantity and total quantity, as a text pair separated by a slash."""
    price: float | None = None
    """Order price."""
    trigger_price: float | None = None
    """Trigger price."""
    order_type: str | None = None
    """Order type (e.g. limit, market, stop loss; short codes)."""
    disc_quantity: float | None = None
    """Disclosed quantity."""
    dq_qty_rem: float | None = None
    """Remaining disclosed quantity."""
    serial_no: float | None = None
    """Serial number assigned to the order."""
    security_id: str | None = None
    """Security identifier."""
    validity: str | None = None
    """Order validity (e.g. IOC, DAY)."""
    lot_size: float | None = None
    """Regular lot size."""
    traded_qty: float | None = None
    """Executed quantity."""
    traded_price: float | None = None
    """Price of execution."""
    avg_traded_price: float | None = None
    """Average execution price."""
    reason_description: str | None = None
    """Reason text for an action or event."""
    leg_no: float | None = None
    """Leg value of the order."""
    row_no: float | None = None
    """Row index."""
    pan_no: str | None = None
    """Permanent account number of the client."""
    participant_type: str | None = None
    """Participant type (code)."""
    mkt_pro_flag: str | None = None
    """Market protection indicator."""
    mkt_pro_value: float | None = None
    """Market protection value."""
    settlor: str | None = None
    """Entity responsible for settlement."""
    encash_flag: str | None = None
    """Indicator whether encashment is allowed."""
    mkt_type: str | None = None
    """Market type (codes such as NL, OL, AU, SP, A1, A2)."""
    algo_id: str | None = None
    """Algorithm identifier."""
    algo_ord_no: str | None = None
    """Algorithmic order identifier."""
    trailing_sl_value: float | None = None
    """Trailing stop-loss price."""
    sl_abstick_value: float | None = None
    """Stop-loss price."""
    pr_abstick_value: float | None = None
    """Profit price."""
    off_mkt_flag: str | None = None
    """Off-market indicator."""
    child_leg_unq_id: float | None = None
    """Child leg identifier of a multi-leg order."""
    strike_price: float | None = None
    """Option strike price."""
    expiry_date: date | None = None
    """Derivative expiry date."""
    opt_type: str | None = None
    """Option type (code)."""
    series: str | None = None
    """Security series (e.g. EQ)."""
    good_till_days_date: date | None = None
    """Date until which the order stays valid."""
    group_id: float | None = None
    """Group identifier of the order."""
    isin: str | None = None
    """ISIN code."""
    display_name: str | None = None
    """Custom symbol name."""
    exchange_inst_name: str | None = None
    """Instrument name on the exchange."""
    placed_by: str | None = None
    """Who placed the order."""
    placed_by_entity_id: str | None = None
    """Identifier of the entity that placed the order."""
    tick_size: float | None = None
    """Minimum price movement."""
    error_code: str | None = None
    """Meaning not shown by the service."""
    expiry_flag: str | None = None
    """Meaning not shown by the service."""
    identifier: str | None = None
    """Meaning not shown by the service."""
    ref_ltp: float | None = None
    """Meaning not shown by the service."""
    remarks: str | None = None
    """Meaning not shown by the service."""
    remarks1: str | None = None
    """Meaning not shown by the service."""
    remarks2: str | None = None
    """Meaning not shown by the service."""
    source: str | None = None
    """Meaning not shown by the service."""
    source_name: str | None = None
    """Meaning not shown by the service."""
    strategy_id: str | None = None
    """Meaning not shown by the service."""
    account: str | None = None
    """Label of the account, set by its client and never sent."""

@final
@dataclass(frozen=True, kw_only=True)
class Stock(_RecordBase):
    """One stock that the search found."""

    type: str | None = None
    """Security type (e.g. STK for a stock)."""
    co_code: int | None = None
    """Unique company code."""
    bsecode: str | None = None
    """BSE code."""
    nsesymbol: str | None = None
    """NSE symbol."""
    companyname: str | None = None
    """Full company name."""
    companyshortname: str | None = None
    """Short company name."""
    categoryname: str | None = None
    """Kind of entity (e.g. Company)."""
    isin: str | None = None
    """ISIN."""
    bsegroup: str | None = None
    """BSE group classification (e.g. A)."""
    mcap: float | None = None
    """Market capitalization, in crores or an equivalent unit."""
    mcaptype: str | None = None
    """Market capitalization class (e.g. Large Cap, Mid Cap)."""
    displaytype: str | None = None
    """Type of industry or sector."""
    sectorcode: str | None = None
    """Sector code."""
    sectorname: str | None = None
    """Sector name."""
    industrycode: str | None = None
    """Industry code."""
    industryname: str | None = None
    """Industry name."""
    bselistedflag: str | None = None
    """Y or N: listed on BSE."""
    nselistedflag: str | None = None
    """Y or N: listed on NSE."""
    BSEStatus: str | None = None
    """Listing status on BSE (e.g. Active)."""
    NSEStatus: str | None = None
    """Listing status on NSE (e.g. Active)."""
