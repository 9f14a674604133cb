"""How books and records look: in a terminal, and as HTML in a notebook."""

from __future__ import annotations

import datetime as dt
import warnings
from html.parser import HTMLParser
from typing import Any

import pytest

import tradingdata as td
from service import trades
from tradingdata._util.declarations import RECORDS
from worlds.records import KINDS, MAKERS, body_of, sample

PAN = "ABCPK1234F"


def book_of(rows: list[dict[str, object]], **options: Any) -> td.TradeBook:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        return td.TradeBook.from_json(body_of("trade", rows), **options)


def html_of(record: Any) -> str:
    """What a notebook shows of a record; the method is no part of its documented interface."""
    html: str = record._repr_html_()
    return html


class Page(HTMLParser):
    """The rows of a page's tables as texts, and its tags; open tags must be closed in order."""

    VOID = ("meta", "br")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.rows: list[list[tuple[str, str]]] = []
        self.hints: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.open.append(tag)
        given = dict(attributes)
        self.hints += [given["title"] or ""] if "title" in given else []
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append((given.get("class") or "", ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            kind, text = self.rows[-1][-1]
            self.rows[-1][-1] = (kind, text + data)

    def texts(self, row: int) -> list[str]:
        return [text for _, text in self.rows[row]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [40, 80, 100, 200])
def test_a_repr_fits_the_screen(kind: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    book = sample(kind, 500).book
    text = repr(book).splitlines()
    assert len(text) <= 24
    assert max(map(len, text[1:])) <= columns
    record = RECORDS[book._record]
    day = " of 2025-01-06" if {*record["event_times"]} & {*record["display"]} else ""
    assert text[0] == f"{record['book']}: 500 {record['noun'][1]}{day}"


def test_a_repr_shows_head_and_tail_and_counts_the_rest() -> None:
    book = book_of(trades(25, display_name=lambda index: f"NAME {index}"))
    text = repr(book)
    shown = [index for index in range(25) if f" NAME {index} " in text]
    assert shown == [0, 1, 2, 3, 4, 20, 21, 22, 23, 24]
    assert "… 15 more" in text
    assert "more columns" in text
    assert " more\n" not in repr(book[:11])
    assert repr(book[:1]).startswith("TradeBook: 1 trade of 2025-01-06\n")
    assert repr(book[:0]) == "TradeBook: 0 trades"


def test_omitted_rows_are_counted_where_the_first_column_does_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with td.sandbox.start(orders=50) as service:
        trades = service.client("desk1").trade_book()
    other = td.TradeBook(trade._replace(account="desk2") for trade in trades)
    book = td.concat([trades, other])
    assert "\n  account  " in repr(book)
    monkeypatch.setenv("COLUMNS", "60")
    assert "\n  account  " not in repr(book)
    assert f"\n  … {len(book) - 10} more\n" in repr(book)


def test_a_display_says_whose_it_is_and_when_it_was_received() -> None:
    rows = book_of(trades(3))._rows
    when = dt.datetime(2025, 1, 6, 10, 1, 2, 345, dt.UTC)
    response = td.types.Response(rows, account="desk<1>", received_at=when)
    book = td.TradeBook._received(rows, response)
    assert repr(book).startswith(
        "TradeBook: 3 trades of 2025-01-06, account desk<1>, received 2025-01-06 10:01:02 UTC\n"
    )
    assert "account desk&lt;1&gt;, received 2025-01-06 10:01:02 UTC" in book._repr_html_()
    assert "times in Asia/Kolkata" in repr(book.localize("Asia/Kolkata"))


def test_numbers_are_grouped_the_indian_way_and_money_has_two_decimals() -> None:
    one = book_of(trades(1, quantity=50, trade_value=8325))
    assert "8,325.00" in repr(one)
    row: Any = one[0]
    assert "8,325.00" in row._repr_html_()
    book = book_of(trades(2, quantity=(1_234_567, 5).__getitem__, trade_value=1_234_567.5))
    page = Page(book._repr_html_())
    at = page.texts(0).index("trade_value")
    assert page.rows[1][at] == ("n", "12,34,567.50")
    at = page.texts(0).index("quantity")
    assert page.rows[1][at] == ("n", "12,34,567")
    assert "12,34,567.50" in repr(book)
    orders = td.OrderBook.from_json(body_of("order", MAKERS["order"](1, quantity=100000.0)))
    assert "1,00,000" in Page(orders._repr_html_()).texts(1)


def test_prices_show_all_their_decimals_up_to_four() -> None:
    prices = (83.5, 83.5025)
    page = Page(book_of(trades(2, traded_price=prices.__getitem__))._repr_html_())
    at = page.texts(0).index("traded_price")
    assert [page.texts(row)[at] for row in (1, 2)] == ["83.5000", "83.5025"]


def test_text_is_escaped() -> None:
    nasty = '<script>alert("x")</script>&amp;\'"'
    stock = td.StockList.from_json(body_of("stock", MAKERS["stock"](1, companyname=nasty)))
    for html in (stock._repr_html_(), html_of(stock[0])):
        page = Page(html)
        assert "script" not in page.tags
        assert nasty in [text for row in page.rows for _, text in row]
    name = '"><script>alert(1)</script>'
    unknown = book_of([{**trades(1)[0], name: name}])
    for html in (unknown._repr_html_(), html_of(unknown[0])):
        assert "script" not in Page(html).tags


def test_issues_are_shown_and_escaped() -> None:
    book = book_of(trades(2, quantity=("<b>NA</b>", 5).__getitem__))
    assert 'quantity: not an integer, 1 value lost, first "<b>NA</b>" (row 0)' in repr(book)
    html = book._repr_html_()
    assert "<details><summary>1 issue</summary>" in html
    assert "first &quot;&lt;b&gt;NA&lt;/b&gt;&quot;" in html
    assert Page(html).tags >= {"details", "ul", "li"}
    assert "issue" not in repr(book_of(trades(2)))


def test_control_characters_do_not_reach_the_terminal() -> None:
    book = book_of(trades(1, display_name="a\nb\x1b[31m\u202ec"))
    assert "a\\nb\\x1b[31m\\u202ec" in repr(book)
    assert "\x1b" not in repr(book) + book._repr_html_() + html_of(book[0])


@pytest.mark.parametrize("keep", [False, True])
def test_no_display_shows_an_account_number(keep: bool) -> None:
    book = book_of(trades(3, pan_no=PAN), keep_personal_data=keep)
    displays = [repr(book), book._repr_html_(), repr(book[0]), html_of(book[0])]
    assert not [display for display in displays if PAN in display]
    assert "ABXXXXXX4F" in displays[3]
    odd = book_of(trades(1, pan_no="SECRET"), keep_personal_data=keep)[0]
    assert "SECRET" not in html_of(odd)
    assert "XXXXXX" in html_of(odd)


def test_times_of_several_days_keep_their_day() -> None:
    times = ["2026-11-19 09:15:00", "2026-11-20 09:15:00"]
    book = book_of(trades(2, exch_trade_time=times.__getitem__))
    assert all(time in repr(book) for time in times)
    assert "of 2026-11" not in repr(book)
    local = book[:1].localize("Asia/Kolkata")
    assert "1 trade of 2026-11-19" in repr(local)
    assert " 09:15:00+05:30 " in repr(local)
