"""`tradingdata archive trades`: the trades of any days."""

from __future__ import annotations

from tradingdata.archive import Archive

from .arguments import book_command

EXAMPLES = """
tradingdata archive trades books.sqlite 2026-11-20
tradingdata archive trades books.sqlite 2026-11-01 2026-11-30 -o november.parquet
"""

trades = book_command("Trade", Archive.trades)
