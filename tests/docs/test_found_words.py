"""What people look for is in a heading of the page that has it, where the search ranks it first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HOW_TO = Path(__file__).parents[2] / "docs/how-to"
WORDS = {
    "capital-gains": [
        *("capital gains", "financial year", "turnover", "splits", "bonus", "mergers", "demergers"),
    ],
    "trade-statistics": [
        *("win rate", "holding time", "slippage", "brokerage of a month", "equity curve"),
    ],
    "other-brokers": ["Zerodha", "Upstox", "kiteconnect", "tradebook", "other brokers"],
    "trades-to-pnl": ["profit and loss", "charges", "reconcile|agree", "holdings"],
}


@pytest.mark.parametrize(
    ("page", "words"), [(page, word) for page, words in WORDS.items() for word in words]
)
def test_a_page_has_its_words_in_a_heading(page: str, words: str) -> None:
    text = re.sub(r"^```.*?^```", "", (HOW_TO / f"{page}.md").read_text("utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    assert any(re.search(words, heading, re.IGNORECASE) for heading in headings)


def test_a_brokers_file_becomes_net_profit_in_under_15_lines() -> None:
    text = (HOW_TO / "other-brokers.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)
    ways = [block for block in blocks if "from_arrow" in block]
    assert len(ways) == 3
    for block in ways:
        lines = [line for line in block.splitlines() if line and not line.startswith("assert")]
        assert len(lines) < 15
