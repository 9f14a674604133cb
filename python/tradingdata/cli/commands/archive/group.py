"""The sub-commands as a group."""

from __future__ import annotations

from . import add, books, export, fetch, history, log, missing, sql

SUMMARY = (
    "Keep every day's books in a file.\n\nThe service clears its order book after the session."
)

COMMANDS = {
    "fetch": (fetch.fetch, fetch.EXAMPLES),
    "add": (add.add, add.EXAMPLES),
    "trades": (books.trades, books.TRADES_EXAMPLES),
    "orders": (books.orders, books.ORDERS_EXAMPLES),
    "history": (history.history, history.EXAMPLES),
    "log": (log.log, log.EXAMPLES),
    "missing": (missing.missing, missing.EXAMPLES),
    "export": (export.export, export.EXAMPLES),
    "sql": (sql.sql, sql.EXAMPLES),
}
EXAMPLES = """
tradingdata archive fetch books.sqlite
tradingdata archive trades books.sqlite 2026-11-20
tradingdata archive missing b.sqlite 2026-11-01 2026-11-20
"""
