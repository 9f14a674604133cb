"""Books far larger than any day's."""

from __future__ import annotations

import pytest

import tradingdata as td
from service import as_json, envelope, trades


@pytest.mark.long
def test_f93_a_book_of_200_mb_is_read_whole() -> None:
    one = as_json(trades(1)[0])
    count = 200_000_000 // len(one)
    body = as_json(envelope([])).replace(b"[]", b"[" + b",".join([one] * count) + b"]")
    assert len(body) > 200_000_000
    book = td.TradeBook.from_json(body)
    assert len(book) == count
    assert book[0] == book[-1] == td.TradeBook.from_json(as_json(envelope(trades(1))))[0]
    [repeated] = book.issues
    assert (repeated.field, repeated.count) == ("trade_no", count - 1)
    with pytest.raises(td.DecodeError, match="ends too early"):
        td.TradeBook.from_json(body[:-30])
