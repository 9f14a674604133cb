// The declaration of each record of the service: its fields (names as on the wire, in the service's
// order, with the service document's meaning) and what else is known of it. Everything else
// (columns, attributes, Arrow, displays, stubs, docs) loops over these. A field that the service
// adds is one line here; the calls that return the records are in client/calls.hpp.
#pragma once

#include <array>

#include "table/schema.hpp"

namespace tradingdata {

// The label of the account, which the client sets. A field of this name that the service might send
// is an unknown one.
inline constexpr Field account_field{"account",
                                     Kind::text,
                                     "Label of the account, set by its client and never sent",
                                     {.local = true}};

inline constexpr std::array trade_fields{
    Field{"order_date_time", Kind::timestamp, "Order entry time"},
    Field{"exch_order_time", Kind::timestamp, "Time the exchange received the order"},
    Field{"exch_trade_time", Kind::timestamp, "Time the trade executed on the exchange"},
    Field{"last_updated_time", Kind::timestamp, "Last update of the order details"},
    Field{"order_no", Kind::text, "Unique order identifier"},
    Field{"exch_order_no", Kind::text, "Exchange-assigned order identifier"},
    Field{"trade_no", Kind::text, "Unique trade identifier"},
    Field{"client_id", Kind::text, "Client identifier"},
    Field{"exchange", Kind::text, "Exchange (e.g. NSE, BSE)"},
    Field{"txn_type", Kind::text, "Transaction type (buy or sell; single-letter code)"},
    Field{"segment", Kind::text, "Market segment (single-letter code)"},
    Field{"order_type", Kind::text, "Order type (e.g. limit, market, stop loss; short codes)"},
    Field{"symbol", Kind::text, "Trading symbol"},
    Field{"display_name", Kind::text, "Custom symbol name"},
    Field{"product", Kind::text, "Product code (single letter)"},
    Field{"product_name", Kind::text, "Product name"},
    Field{"quantity", Kind::integer, "Number of shares or contracts"},
    Field{"traded_price", Kind::number, "Execution price"},
    Field{"trade_value", Kind::number, "Total trade value"},
    Field{"security_id", Kind::text, "Security identifier"},
    Field{"row_no", Kind::integer, "Row index in the dataset"},
    Field{"pan_no", Kind::text, "Permanent account number of the client", {.personal = true}},
    Field{"participant_type", Kind::text, "Participant type (e.g. client, dealer; code)"},
    Field{"mkt_pro_flag", Kind::text, "Market protection indicator"},
    Field{"mkt_pro_value", Kind::number, "Market protection value"},
    Field{"settlor", Kind::text, "Entity responsible for settlement"},
    Field{"encash_flag", Kind::text, "Indicator whether encashment is allowed"},
    Field{"mkt_type", Kind::text, "Market type (e.g. normal, odd lot, auction; code)"},
    Field{"strike_price", Kind::number, "Option strike price"},
    Field{"expiry_date", Kind::date, "Derivative expiry date"},
    Field{"opt_type", Kind::text, "Option type (call, put; code)"},
    Field{"instrument", Kind::text, "Instrument name"},
    Field{"lot_size", Kind::integer, "Lot size"},
    Field{"series", Kind::text, "Security series (e.g. EQ)"},
    Field{"isin", Kind::text, "ISIN code"},
    Field{"exchange_inst_name", Kind::text, "Instrument name on the exchange"},
    Field{"placed_by", Kind::text, "Who placed the order"},
    Field{"placed_by_entity_id", Kind::text, "Identifier of the entity that placed the order"},
    Field{"tick_size", Kind::number, "Minimum price movement"},
    Field{"algo_id", Kind::text, "Identifier of the algorithm used, if any"},
    account_field,
};

inline constexpr std::array order_fields{
    Field{"client_id", Kind::text, "Client identifier"},
    Field{"order_date_time", Kind::timestamp, "Order entry time"},
    Field{"last_updated_time", Kind::timestamp, "Last update time"},
    Field{"exch_order_time", Kind::timestamp, "Time the exchange received the order"},
    Field{"order_no", Kind::text, "Unique order identifier"},
    Field{"exch_order_no", Kind::text, "Exchange-assigned order identifier"},
    Field{"exchange", Kind::text, "Exchange (e.g. NSE, BSE)"},
    Field{"txn_type", Kind::text, "Transaction type (buy or sell; code)"},
    Field{"segment", Kind::text, "Market segment (code)"},
    Field{"instrument", Kind::text, "Instrument type"},
    Field{"symbol", Kind::text, "Trading symbol"},
    Field{"product", Kind::text, "Product code (e.g. C, M, I, H)"},
    Field{"product_name", Kind::text, "Product name"},
    Field{"status", Kind::text, "Current order status"},
    Field{"quantity", Kind::number, "Total order quantity"},
    Field{"remaining_quantity", Kind::number, "Remaining quantity"},
    Field{"rem_qty_tot_qty", Kind::text,
          "Remaining quantity and total quantity, as a text pair separated by a slash"},
    Field{"price", Kind::number, "Order price"},
    Field{"trigger_price", Kind::number, "Trigger price"},
    Field{"order_type", Kind::text, "Order type (e.g. limit, market, stop loss; short codes)"},
    Field{"disc_quantity", Kind::number, "Disclosed quantity"},
    Field{"dq_qty_rem", Kind::number, "Remaining disclosed quantity"},
    Field{"serial_no", Kind::number, "Serial number assigned to the order"},
    Field{"security_id", Kind::text, "Security identifier"},
    Field{"validity", Kind::text, "Order validity (e.g. IOC, DAY)"},
    Field{"lot_size", Kind::number, "Regular lot size"},
    Field{"traded_qty", Kind::number, "Executed quantity"},
    Field{"traded_price", Kind::number, "Price of execution"},
    Field{"avg_traded_price", Kind::number, "Average execution price"},
    Field{"reason_description", Kind::text, "Reason text for an action or event"},
    Field{"leg_no", Kind::number, "Leg value of the order"},
    Field{"row_no", Kind::number, "Row index"},
    Field{"pan_no", Kind::text, "Permanent account number of the client", {.personal = true}},
    Field{"participant_type", Kind::text, "Participant type (code)"},
    Field{"mkt_pro_flag", Kind::text, "Market protection indicator"},
    Field{"mkt_pro_value", Kind::number, "Market protection value"},
    Field{"settlor", Kind::text, "Entity responsible for settlement"},
    Field{"encash_flag", Kind::text, "Indicator whether encashment is allowed"},
    Field{"mkt_type", Kind::text, "Market type (codes such as NL, OL, AU, SP, A1, A2)"},
    Field{"algo_id", Kind::text, "Algorithm identifier"},
    Field{"algo_ord_no", Kind::text, "Algorithmic order identifier"},
    Field{"trailing_sl_value", Kind::number, "Trailing stop-loss price"},
    Field{"sl_abstick_value", Kind::number, "Stop-loss price"},
    Field{"pr_abstick_value", Kind::number, "Profit price"},
    Field{"off_mkt_flag", Kind::text, "Off-market indicator"},
    Field{"child_leg_unq_id", Kind::number, "Child leg identifier of a multi-leg order"},
    Field{"strike_price", Kind::number, "Option strike price"},
    Field{"expiry_date", Kind::date, "Derivative expiry date"},
    Field{"opt_type", Kind::text, "Option type (code)"},
    Field{"series", Kind::text, "Security series (e.g. EQ)"},
    Field{"good_till_days_date", Kind::date, "Date until which the order stays valid"},
    Field{"group_id", Kind::number, "Group identifier of the order"},
    Field{"isin", Kind::text, "ISIN code"},
    Field{"display_name", Kind::text, "Custom symbol name"},
    Field{"exchange_inst_name", Kind::text, "Instrument name on the exchange"},
    Field{"placed_by", Kind::text, "Who placed the order"},
    Field{"placed_by_entity_id", Kind::text, "Identifier of the entity that placed the order"},
    Field{"tick_size", Kind::number, "Minimum price movement"},
    Field{"error_code", Kind::text, "Meaning not shown by the service"},
    Field{"expiry_flag", Kind::text, "Meaning not shown by the service"},
    Field{"identifier", Kind::text, "Meaning not shown by the service"},
    Field{"ref_ltp", Kind::number, "Meaning not shown by the service"},
    Field{"remarks", Kind::text, "Meaning not shown by the service"},
    Field{"remarks1", Kind::text, "Meaning not shown by the service"},
    Field{"remarks2", Kind::text, "Meaning not shown by the service"},
    Field{"source", Kind::text, "Meaning not shown by the service"},
    Field{"source_name", Kind::text, "Meaning not shown by the service"},
    Field{"strategy_id", Kind::text, "Meaning not shown by the service"},
    account_field,
};

inline constexpr std::array stock_fields{
    Field{"type", Kind::text, "Security type (e.g. STK for a stock)"},
    Field{"co_code", Kind::integer, "Unique company code"},
    Field{"bsecode", Kind::text, "BSE code"},
    Field{"nsesymbol", Kind::text, "NSE symbol"},
    Field{"companyname", Kind::text, "Full company name"},
    Field{"companyshortname", Kind::text, "Short company name"},
    Field{"categoryname", Kind::text, "Kind of entity (e.g. Company)"},
    Field{"isin", Kind::text, "ISIN"},
    Field{"bsegroup", Kind::text, "BSE group classification (e.g. A)"},
    Field{"mcap", Kind::number, "Market capitalization, in crores or an equivalent unit"},
    Field{"mcaptype", Kind::text, "Market capitalization class (e.g. Large Cap, Mid Cap)"},
    Field{"displaytype", Kind::text, "Type of industry or sector"},
    Field{"sectorcode", Kind::text, "Sector code"},
    Field{"sectorname", Kind::text, "Sector name"},
    Field{"industrycode", Kind::text, "Industry code"},
    Field{"industryname", Kind::text, "Industry name"},
    Field{"bselistedflag", Kind::text, "Y or N: listed on BSE"},
    Field{"nselistedflag", Kind::text, "Y or N: listed on NSE"},
    Field{"BSEStatus", Kind::text, "Listing status on BSE (e.g. Active)"},
    Field{"NSEStatus", Kind::text, "Listing status on NSE (e.g. Active)"},
};

namespace detail {

template <typename... Names>
consteval auto positions_in(std::span<const Field> fields, Names... names) {
  return std::array{Schema{{}, fields}[names]...};
}

// Numbers of two exchanges, segments, clients or accounts may collide, the (child) legs of an order
// share its number, and both sides of a trade of an account with itself share the trade's.
inline constexpr auto trade_identity = positions_in(trade_fields, "trade_no", "exchange", "segment",
                                                    "order_no", "client_id", "account");
inline constexpr auto order_identity =
    positions_in(order_fields, "order_no", "exchange", "segment", "leg_no", "child_leg_unq_id",
                 "client_id", "account");
inline constexpr auto stock_identity = positions_in(stock_fields, "isin", "co_code");

inline constexpr auto trade_times =
    positions_in(trade_fields, "exch_trade_time", "order_date_time");
inline constexpr auto order_times =
    positions_in(order_fields, "order_date_time", "exch_order_time");

// The name precedes the symbol, which all expiries and strikes of an underlying share.
inline constexpr auto trade_display =
    positions_in(trade_fields, "account", "display_name", "txn_type", "quantity", "traded_price",
                 "exch_trade_time", "trade_value", "exchange", "symbol");
inline constexpr auto order_display =
    positions_in(order_fields, "account", "display_name", "txn_type", "quantity", "price", "status",
                 "traded_qty", "order_date_time", "exchange", "symbol");
inline constexpr auto stock_display = positions_in(
    stock_fields, "nsesymbol", "bsecode", "companyname", "isin", "mcaptype", "mcap", "sectorname");

inline constexpr auto trade_narrow =
    positions_in(trade_fields, "display_name", "txn_type", "quantity", "traded_price", "account");
inline constexpr auto order_narrow = positions_in(order_fields, "display_name", "txn_type",
                                                  "quantity", "status", "price", "account");
inline constexpr auto stock_narrow = positions_in(stock_fields, "nsesymbol", "companyname", "mcap");

}  // namespace detail

inline constexpr Schema trade_schema{"Trade", trade_fields, detail::trade_identity};
inline constexpr Schema order_schema{"Order", order_fields, detail::order_identity};
inline constexpr Schema stock_schema{"Stock", stock_fields, detail::stock_identity};

inline constexpr std::array record_schemas{&trade_schema, &order_schema, &stock_schema};

// A record of the service: its schema, and how it is named and shown.
struct Record {
  const Schema* schema;
  std::string_view title;
  std::string_view book;  // the class of several records
  std::string_view noun;  // of one, and of several
  std::string_view nouns;
  std::span<const int> display;           // the columns of a display, the most important first
  std::span<const int> narrow;            // those of a narrow screen
  std::span<const int> event_times = {};  // the first of them that is known determines the day
};

inline constexpr std::array records{
    Record{&trade_schema, "One executed trade of the trade book", "TradeBook", "trade", "trades",
           detail::trade_display, detail::trade_narrow, detail::trade_times},
    Record{&order_schema, "One order of the day's order book", "OrderBook", "order", "orders",
           detail::order_display, detail::order_narrow, detail::order_times},
    Record{&stock_schema, "One stock that the search found", "StockList", "stock", "stocks",
           detail::stock_display, detail::stock_narrow},
};

}  // namespace tradingdata
