"""`tradingdata archive orders`: the orders of any days."""

from __future__ import annotations

from tradingdata.archive import Archive

from .arguments import book_command

EXAMPLES = """
tradingdata archive orders books.sqlite 2026-11-20
tradingdata archive orders books.sqlite 2026-11-01 2026-11-30 -o november.parquet
"""

orders = book_command("Order", Archive.orders)
