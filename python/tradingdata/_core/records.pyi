# Written by .ci/stubs.py from the compiled field tables: run it rather than edit this.
from collections.abc import Iterable
from dataclasses import Field
from datetime import date, datetime
from typing import Any, ClassVar, Self, final

@final
class Trade:
    """One executed trade of the trade book."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    __match_args__: ClassVar[tuple[()]]

    def __new__(
        cls,
        *,
        order_date_time: datetime | None = None,
        exch_order_time: datetime | None = None,
        exch_trade_time: datetime | None = None,
        last_updated_time: datetime | None = None,
        order_no: str | None = None,
        exch_order_no: str | None = None,
        trade_no: str | None = None,
        client_id: str | None = None,
        exchange: str | None = None,
        txn_type: str | None = None,
        segment: str | None = None,
        order_type: str | None = None,
        symbol: str | None = None,
        display_name: str | None = None,
        product: str | None = None,
        product_name: str | None = None,
        quantity: int | None = None,
        traded_price: float | None = None,
        trade_value: float | None = None,
        security_id: str | None = None,
        row_no: int | None = None,
        pan_no: str | None = None,
        participant_type: str | None = None,
        mkt_pro_flag: str | None = None,
        mkt_pro_value: float | None = None,
        settlor: str | None = None,
        encash_flag: str | None = None,
        mkt_type: str | None = None,
        strike_price: float | None = None,
        expiry_date: date | None = None,
        opt_type: str | None = None,
        instrument: str | None = None,
        lot_size: int | None = None,
        series: str | None = None,
        isin: str | None = None,
        exchange_inst_name: str | None = None,
        placed_by: str | None = None,
        placed_by_entity_id: str | None = None,
        tick_size: float | None = None,
        algo_id: str | None = None,
    ) -> Self: ...
    def __getitem__(self, name: str, /) -> Any: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __dir__(self) -> Iterable[str]: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Self: ...
    def __replace__(self, /, **changes: Any) -> Self: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def _asdict(self, *, extra: bool = False) -> dict[str, Any]: ...
    def _replace(self, **changes: Any) -> Self: ...
    @property
    def _extra(self) -> dict[str, Any]: ...
    @property
    def order_date_time(self) -> datetime | None:
        """Order entry time."""

    @property
    def exch_order_time(self) -> datetime | None:
        """Time the exchange received the order."""

    @property
    def exch_trade_time(self) -> datetime | None:
        """Time the trade executed on the exchange."""

    @property
    def last_updated_time(self) -> datetime | None:
        """Last update of the order details."""

    @property
    def order_no(self) -> str | None:
        """Unique order identifier."""

    @property
    def exch_order_no(self) -> str | None:
        """Exchange-assigned order identifier."""

    @property
    def trade_no(self) -> str | None:
        """Unique trade identifier."""

    @property
    def client_id(self) -> str | None:
        """Client identifier."""

    @property
    def exchange(self) -> str | None:
        """Exchange (e.g. NSE, BSE)."""

    @property
    def txn_type(self) -> str | None:
        """Transaction type (buy or sell; single-letter code)."""

    @property
    def segment(self) -> str | None:
        """Market segment (single-letter code)."""

    @property
    def order_type(self) -> str | None:
        """Order type (e.g. limit, market, stop loss; short codes)."""

    @property
    def symbol(self) -> str | None:
        """Trading symbol."""

    @property
    def display_name(self) -> str | None:
        """Custom symbol name."""

    @property
    def product(self) -> str | None:
        """Product code (single letter)."""

    @property
    def product_name(self) -> str | None:
        """Product name."""

    @property
    def quantity(self) -> int | None:
        """Number of shares or contracts."""

    @property
    def traded_price(self) -> float | None:
        """Execution price."""

    @property
    def trade_value(self) -> float | None:
        """Total trade value."""

    @property
    def security_id(self) -> str | None:
        """Security identifier."""

    @property
    def row_no(self) -> int | None:
        """Row index in the dataset."""

    @property
    def pan_no(self) -> str | None:
        """Permanent account number of the client."""

    @property
    def participant_type(self) -> str | None:
        """Participant type (e.g. client, dealer; code)."""

    @property
    def mkt_pro_flag(self) -> str | None:
        """Market protection indicator."""

    @property
    def mkt_pro_value(self) -> float | None:
        """Market protection value."""

    @property
    def settlor(self) -> str | None:
        """Entity responsible for settlement."""

    @property
    def encash_flag(self) -> str | None:
        """Indicator whether encashment is allowed."""

    @property
    def mkt_type(self) -> str | None:
        """Market type (e.g. normal, odd lot, auction; code)."""

    @property
    def strike_price(self) -> float | None:
        """Option strike price."""

    @property
    def expiry_date(self) -> date | None:
        """Derivative expiry date."""

    @property
    def opt_type(self) -> str | None:
        """Option type (call, put; code)."""

    @property
    def instrument(self) -> str | None:
        """Instrument name."""

    @property
    def lot_size(self) -> int | None:
        """Lot size."""

    @property
    def series(self) -> str | None:
        """Security series (e.g. EQ)."""

    @property
    def isin(self) -> str | None:
        """ISIN code."""

    @property
    def exchange_inst_name(self) -> str | None:
        """Instrument name on the exchange."""

    @property
    def placed_by(self) -> str | None:
        """Who placed the order."""

    @property
    def placed_by_entity_id(self) -> str | None:
        """Identifier of the entity that placed the order."""

    @property
    def tick_size(self) -> float | None:
        """Minimum price movement."""

    @property
    def algo_id(self) -> str | None:
        """Identifier of the algorithm used, if any."""

@final
class Order:
    """One order of the day's order book."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    __match_args__: ClassVar[tuple[()]]

    def __new__(
        cls,
        *,
        client_id: str | None = None,
        order_date_time: datetime | None = None,
        last_updated_time: datetime | None = None,
        exch_order_time: datetime | None = None,
        order_no: str | None = None,
        exch_order_no: str | None = None,
        exchange: str | None = None,
        txn_type: str | None = None,
        segment: str | None = None,
        instrument: str | None = None,
        symbol: str | None = None,
        product: str | None = None,
        product_name: str | None = None,
        status: str | None = None,
        quantity: float | None = None,
        remaining_quantity: float | None = None,
        rem_qty_tot_qty: str | None = None,
        price: float | None = None,
        trigger_price: float | None = None,
        order_type: str | None = None,
        disc_quantity: float | None = None,
        dq_qty_rem: float | None = None,
        serial_no: float | None = None,
        security_id: str | None = None,
        validity: str | None = None,
        lot_size: float | None = None,
        traded_qty: float | None = None,
        traded_price: float | None = None,
        avg_traded_price: float | None = None,
        reason_description: str | None = None,
        leg_no: float | None = None,
        row_no: float | None = None,
        pan_no: str | None = None,
        participant_type: str | None = None,
        mkt_pro_flag: str | None = None,
        mkt_pro_value: float | None = None,
        settlor: str | None = None,
        encash_flag: str | None = None,
        mkt_type: str | None = None,
        algo_id: str | None = None,
        algo_ord_no: str | None = None,
        trailing_sl_value: float | None = None,
        sl_abstick_value: float | None = None,
        pr_abstick_value: float | None = None,
        off_mkt_flag: str | None = None,
        child_leg_unq_id: float | None = None,
        strike_price: float | None = None,
        expiry_date: date | None = None,
        opt_type: str | None = None,
        series: str | None = None,
        good_till_days_date: date | None = None,
        group_id: float | None = None,
        isin: str | None = None,
        display_name: str | None = None,
        exchange_inst_name: str | None = None,
        placed_by: str | None = None,
        placed_by_entity_id: str | None = None,
        tick_size: float | None = None,
        error_code: str | None = None,
        expiry_flag: str | None = None,
        identifier: str | None = None,
        ref_ltp: float | None = None,
        remarks: str | None = None,
        remarks1: str | None = None,
        remarks2: str | None = None,
        source: str | None = None,
        source_name: str | None = None,
        strategy_id: str | None = None,
    ) -> Self: ...
    def __getitem__(self, name: str, /) -> Any: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __dir__(self) -> Iterable[str]: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Self: ...
    def __replace__(self, /, **changes: Any) -> Self: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def _asdict(self, *, extra: bool = False) -> dict[str, Any]: ...
    def _replace(self, **changes: Any) -> Self: ...
    @property
    def _extra(self) -> dict[str, Any]: ...
    @property
    def client_id(self) -> str | None:
        """Client identifier."""

    @property
    def order_date_time(self) -> datetime | None:
        """Order entry time."""

    @property
    def last_updated_time(self) -> datetime | None:
        """Last update time."""

    @property
    def exch_order_time(self) -> datetime | None:
        """Time the exchange received the order."""

    @property
    def order_no(self) -> str | None:
        """Unique order identifier."""

    @property
    def exch_order_no(self) -> str | None:
        """Exchange-assigned order identifier."""

    @property
    def exchange(self) -> str | None:
        """Exchange (e.g. NSE, BSE)."""

    @property
    def txn_type(self) -> str | None:
        """Transaction type (buy or sell; code)."""

    @property
    def segment(self) -> str | None:
        """Market segment (code)."""

    @property
    def instrument(self) -> str | None:
        """Instrument type."""

    @property
    def symbol(self) -> str | None:
        """Trading symbol."""

    @property
    def product(self) -> str | None:
        """Product code (e.g. C, M, I, H)."""

    @property
    def product_name(self) -> str | None:
        """Product name."""

    @property
    def status(self) -> str | None:
        """Current order status."""

    @property
    def quantity(self) -> float | None:
        """Total order quantity."""

    @property
    def remaining_quantity(self) -> float | None:
        """Remaining quantity."""

    @property
    def rem_qty_tot_qty(self) -> str | None:
        """Remaining quantity and total quantity, as a text pair separated by a slash."""

    @property
    def price(self) -> float | None:
        """Order price."""

    @property
    def trigger_price(self) -> float | None:
        """Trigger price."""

    @property
    def order_type(self) -> str | None:
        """Order type (e.g. limit, market, stop loss; short codes)."""

    @property
    def disc_quantity(self) -> float | None:
        """Disclosed quantity."""

    @property
    def dq_qty_rem(self) -> float | None:
        """Remaining disclosed quantity."""

    @property
    def serial_no(self) -> float | None:
        """Serial number assigned to the order."""

    @property
    def security_id(self) -> str | None:
        """Security identifier."""

    @property
    def validity(self) -> str | None:
        """Order validity (e.g. IOC, DAY)."""

    @property
    def lot_size(self) -> float | None:
        """Regular lot size."""

    @property
    def traded_qty(self) -> float | None:
        """Executed quantity."""

    @property
    def traded_price(self) -> float | None:
        """Price of execution."""

    @property
    def avg_traded_price(self) -> float | None:
        """Average execution price."""

    @property
    def reason_description(self) -> str | None:
        """Reason text for an action or event."""

    @property
    def leg_no(self) -> float | None:
        """Leg value of the order."""

    @property
    def row_no(self) -> float | None:
        """Row index."""

    @property
    def pan_no(self) -> str | None:
        """Permanent account number of the client."""

    @property
    def participant_type(self) -> str | None:
        """Participant type (code)."""

    @property
    def mkt_pro_flag(self) -> str | None:
        """Market protection indicator."""

    @property
    def mkt_pro_value(self) -> float | None:
        """Market protection value."""

    @property
    def settlor(self) -> str | None:
        """Entity responsible for settlement."""

    @property
    def encash_flag(self) -> str | None:
        """Indicator whether encashment is allowed."""

    @property
    def mkt_type(self) -> str | None:
        """Market type (codes such as NL, OL, AU, SP, A1, A2)."""

    @property
    def algo_id(self) -> str | None:
        """Algorithm identifier."""

    @property
    def algo_ord_no(self) -> str | None:
        """Algorithmic order identifier."""

    @property
    def trailing_sl_value(self) -> float | None:
        """Trailing stop-loss price."""

    @property
    def sl_abstick_value(self) -> float | None:
        """Stop-loss price."""

    @property
    def pr_abstick_value(self) -> float | None:
        """Profit price."""

    @property
    def off_mkt_flag(self) -> str | None:
        """Off-market indicator."""

    @property
    def child_leg_unq_id(self) -> float | None:
        """Child leg identifier of a multi-leg order."""

    @property
    def strike_price(self) -> float | None:
        """Option strike price."""

    @property
    def expiry_date(self) -> date | None:
        """Derivative expiry date."""

    @property
    def opt_type(self) -> str | None:
        """Option type (code)."""

    @property
    def series(self) -> str | None:
        """Security series (e.g. EQ)."""

    @property
    def good_till_days_date(self) -> date | None:
        """Date until which the order stays valid."""

    @property
    def group_id(self) -> float | None:
        """Group identifier of the order."""

    @property
    def isin(self) -> str | None:
        """ISIN code."""

    @property
    def display_name(self) -> str | None:
        """Custom symbol name."""

    @property
    def exchange_inst_name(self) -> str | None:
        """Instrument name on the exchange."""

    @property
    def placed_by(self) -> str | None:
        """Who placed the order."""

    @property
    def placed_by_entity_id(self) -> str | None:
        """Identifier of the entity that placed the order."""

    @property
    def tick_size(self) -> float | None:
        """Minimum price movement."""

    @property
    def error_code(self) -> str | None:
        """Meaning not shown by the service."""

    @property
    def expiry_flag(self) -> str | None:
        """Meaning not shown by the service."""

    @property
    def identifier(self) -> str | None:
        """Meaning not shown by the service."""

    @property
    def ref_ltp(self) -> float | None:
        """Meaning not shown by the service."""

    @property
    def remarks(self) -> str | None:
        """Meaning not shown by the service."""

    @property
    def remarks1(self) -> str | None:
        """Meaning not shown by the service."""

    @property
    def remarks2(self) -> str | None:
        """Meaning not shown by the service."""

    @property
    def source(self) -> str | None:
        """Meaning not shown by the service."""

    @property
    def source_name(self) -> str | None:
        """Meaning not shown by the service."""

    @property
    def strategy_id(self) -> str | None:
        """Meaning not shown by the service."""

@final
class Stock:
    """One stock that the search found."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    __match_args__: ClassVar[tuple[()]]

    def __new__(
        cls,
        *,
        type: str | None = None,
        co_code: int | None = None,
        bsecode: str | None = None,
        nsesymbol: str | None = None,
        companyname: str | None = None,
        companyshortname: str | None = None,
        categoryname: str | None = None,
        isin: str | None = None,
        bsegroup: str | None = None,
        mcap: float | None = None,
        mcaptype: str | None = None,
        displaytype: str | None = None,
        sectorcode: str | None = None,
        sectorname: str | None = None,
        industrycode: str | None = None,
        industryname: str | None = None,
        bselistedflag: str | None = None,
        nselistedflag: str | None = None,
        BSEStatus: str | None = None,
        NSEStatus: str | None = None,
    ) -> Self: ...
    def __getitem__(self, name: str, /) -> Any: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __dir__(self) -> Iterable[str]: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Self: ...
    def __replace__(self, /, **changes: Any) -> Self: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def _asdict(self, *, extra: bool = False) -> dict[str, Any]: ...
    def _replace(self, **changes: Any) -> Self: ...
    @property
    def _extra(self) -> dict[str, Any]: ...
    @property
    def type(self) -> str | None:
        """Security type (e.g. STK for a stock)."""

    @property
    def co_code(self) -> int | None:
        """Unique company code."""

    @property
    def bsecode(self) -> str | None:
        """BSE code."""

    @property
    def nsesymbol(self) -> str | None:
        """NSE symbol."""

    @property
    def companyname(self) -> str | None:
        """Full company name."""

    @property
    def companyshortname(self) -> str | None:
        """Short company name."""

    @property
    def categoryname(self) -> str | None:
        """Kind of entity (e.g. Company)."""

    @property
    def isin(self) -> str | None:
        """ISIN."""

    @property
    def bsegroup(self) -> str | None:
        """BSE group classification (e.g. A)."""

    @property
    def mcap(self) -> float | None:
        """Market capitalization, in crores or an equivalent unit."""

    @property
    def mcaptype(self) -> str | None:
        """Market capitalization class (e.g. Large Cap, Mid Cap)."""

    @property
    def displaytype(self) -> str | None:
        """Type of industry or sector."""

    @property
    def sectorcode(self) -> str | None:
        """Sector code."""

    @property
    def sectorname(self) -> str | None:
        """Sector name."""

    @property
    def industrycode(self) -> str | None:
        """Industry code."""

    @property
    def industryname(self) -> str | None:
        """Industry name."""

    @property
    def bselistedflag(self) -> str | None:
        """Y or N: listed on BSE."""

    @property
    def nselistedflag(self) -> str | None:
        """Y or N: listed on NSE."""

    @property
    def BSEStatus(self) -> str | None:
        """Listing status on BSE (e.g. Active)."""

    @property
    def NSEStatus(self) -> str | None:
        """Listing status on NSE (e.g. Active)."""
