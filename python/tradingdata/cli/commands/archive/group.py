"""The sub-commands as a group."""

from __future__ import annotations

from . import add, export, fetch, history, log, missing, orders, sql, trades

SUMMARY = (
    "Keep the books of every day in a file.\n\nThe service clears its order book after the session."
)

COMMANDS = (
    (fetch, fetch.fetch),
    (add, add.add),
    (trades, trades.trades),
    (orders, orders.orders),
    (history, history.history),
    (log, log.log),
    (missing, missing.missing),
    (export, export.export),
    (sql, sql.sql),
)
EXAMPLES = """
tradingdata archive fetch books.sqlite
tradingdata archive trades books.sqlite 2026-11-20
tradingdata archive missing books.sqlite 2026-11-01 2026-11-20
"""
