"""Lifetimes: who keeps what alive, and that nothing is kept for ever."""

from __future__ import annotations

import copy
import datetime as dt
import gc
import pickle
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from calls import at_once, run_child
from sample_books import Nameless
from service import as_json, envelope, trades

pytestmark = pytest.mark.sanitize

HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()
with_gil = pytest.mark.skipif(not HAS_GIL, reason="looks at what only a GIL makes so")
BODY = as_json(envelope([row | {"more": [i]} for i, row in enumerate(trades(200, variety=True))]))


def make() -> td.TradeBook:
    return td.TradeBook.from_json(BODY)


def resident_kilobytes() -> int:
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("no /proc here")
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1])


class TestOwnership:
    def test_an_iteration_goes_on_after_its_book(self) -> None:
        book = make()
        symbols = [row.symbol for row in book]
        forward, backward = iter(book), reversed(book)
        del book
        gc.collect()
        assert [row.symbol for row in forward] == symbols
        assert [row.symbol for row in backward] == symbols[::-1]
        assert next(forward, None) is None

    @pytest.mark.parametrize("order", range(6))
    def test_any_order_of_deletion_will_do(self, order: int) -> None:
        book = make()
        held: list[Any] = [book, book[3], book[4:9], iter(book), book.response, book[::2]]
        del book
        for _ in range(len(held)):
            del held[order % len(held)]
            gc.collect()
            assert all(repr(one) for one in held)

    def test_a_book_dies_with_its_last_reference(self) -> None:
        book = make()
        gone = weakref.ref(book)
        del book
        assert gone() is None

    @pytest.mark.memory
    @pytest.mark.parametrize(
        "own", [copy.copy, copy.deepcopy, lambda row: row._replace(quantity=1)]
    )
    def test_a_copied_row_does_not_keep_the_book(self, own: Callable[[td.Trade], td.Trade]) -> None:
        before = resident_kilobytes()
        body = as_json(envelope(trades(5_000)))
        kept = [own(td.TradeBook.from_json(body)[7]) for _ in range(20)]
        assert len(kept) == 20
        assert resident_kilobytes() - before < 20 * len(body) / 1024 / 2

    def test_a_pickled_row_does_not_carry_its_book(self) -> None:
        assert len(pickle.dumps(make()[0])) < len(BODY) / 100
        assert len(pickle.dumps(make()[4:6])) < len(BODY) / 50


def read_all(book: td.TradeBook) -> None:
    names = book.columns
    for row in book:
        for name in names:
            getattr(row, name)


def fail_often(book: td.TradeBook) -> None:
    for _ in range(10):
        for call in (
            lambda: book[0].quantiti,  # type: ignore[attr-defined]
            lambda: book[0]["nothing"],
            lambda: td.Trade(quantity="x"),  # type: ignore[arg-type]
            lambda: td.Trade(quantiti=1),  # type: ignore[call-arg]
            lambda: book.filter(quantity="5"),
            lambda: book.to_dicts(["nothing"]),
            lambda: td.TradeBook.from_json(b"{"),
        ):
            with suppress(AttributeError, KeyError, TypeError, td.DecodeError):
                raise AssertionError(f"no error, but {call()!r}")


ROUNDS = 10
WORK: dict[str, Callable[[td.TradeBook], Any]] = {
    "decoding": lambda _: make(),
    "reading": read_all,
    "dicts": lambda book: book.to_dicts(extra=True),
    "columns": lambda book: book.to_dict(extra=True),
    "slices": lambda book: [book[i::3] for i in range(9)] and book[3:5],
    "filters": lambda book: book.filter(symbol={"INFY", "TCS"}),
    "unions": lambda book: td.concat([book, book]),
    "pickles": lambda book: pickle.loads(pickle.dumps([book, book[0]])),
    "zones": lambda book: [row.exch_trade_time for row in book.localize("Asia/Kolkata")],
    "records by hand": lambda _: td.TradeBook([td.Trade(**row) for row in hand_made(40)]),
    "changed copies": lambda book: [row._replace(symbol="x" * 20, lot_size=None) for row in book],
    "hashes": lambda book: (len({*book}), book[3] in book, book.index(book[9])),
    "errors": fail_often,
    "issues": lambda _: td.TradeBook.from_json(BODY.replace(b'"quantity":', b'"qty":')).issues,
}


def hand_made(count: int) -> Iterator[dict[str, Any]]:
    return (row._asdict() for row in make()[:count])


def settle() -> None:
    """Frees garbage, and CPython's cache of attribute lookups, which keeps each name pickled."""
    gc.collect()
    name = "_clear_internal_caches" if sys.version_info >= (3, 13) else "_clear_type_cache"
    getattr(sys, name)()


def growth(work: Callable[[td.TradeBook], Any]) -> int:
    """Blocks that stay after a spell of rounds: the fewest of all spells, as the first warm up."""
    book = make()
    grown = []
    for _ in range(4):
        settle()
        before = sys.getallocatedblocks()
        for _ in range(ROUNDS):
            work(book)
        settle()
        grown.append(sys.getallocatedblocks() - before)
    return min(grown)


# Without a GIL freed blocks come back later; what stays for good shows in the test of memory below.
@with_gil
def test_nothing_stays_behind() -> None:
    """A leak of one block a round shows in every spell.

    In a process of its own, because threads that earlier tests left behind allocate too.
    """
    path = [str(Path(__file__).parent), *filter(None, sys.path)]
    code = (
        f"sys.path[:0] = {path!r}"
        + """
import warnings
from test_lifetimes import ROUNDS, WORK, growth
warnings.simplefilter("ignore", td.DataWarning)
kept = []
leaking = {"a leak": lambda _: kept.append(object())}
print([name for name, work in {**WORK, **leaking}.items() if growth(work) >= ROUNDS / 2])
"""
    )
    assert run_child(code).strip() == "['a leak']"


def test_threads_read_one_book() -> None:
    """Every thread sees every value."""
    book = td.TradeBook.from_json(as_json(envelope(trades(1_000, variety=True))))
    expected = td.TradeBook.from_json(as_json(envelope(trades(1_000, variety=True)))).to_dicts()

    def read(number: int) -> None:
        for _ in range(3):
            rows = [{name: getattr(row, name) for name in book.columns} for row in book]
            joined = td.concat([book[: number * 100], book[number * 100 :]])
            assert rows == book.to_dicts() == expected
            assert joined == book

    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        at_once(8, read)
    finally:
        sys.setswitchinterval(old)


def test_threads_share_one_iterator() -> None:
    """Each row goes to one thread, with or without a GIL."""
    book = td.TradeBook.from_json(as_json(envelope(trades(1_000))))
    rows = iter(book)
    taken = at_once(8, lambda _: list(rows))
    numbers = sorted(row.row_no or 0 for into in taken for row in into)
    assert numbers == sorted(row.row_no or 0 for row in book)


class Linked(Nameless):
    """A zone that may refer to anything."""

    other: object = None


@pytest.mark.parametrize(
    "holder",
    [
        lambda book: book,
        lambda book: book[0],
        lambda book: book._rows,
        iter,
        reversed,
        list,
        lambda book: book[1:],
        lambda book: td.Trade(exch_trade_time=book[0].exch_trade_time),
        lambda book: copy.copy(book[0]),
    ],
    ids=["book", "row", "slice", "iterator", "reversed", "rows", "part", "record", "copy"],
)
def test_a_zone_that_refers_to_its_book_is_collected(holder: Any) -> None:
    zone = Linked()
    gone = weakref.ref(zone)
    zone.other = holder(td.TradeBook.from_json(as_json(envelope(trades(2)))).localize(zone))
    gc.collect()
    assert gone() is zone
    del zone
    gc.collect()
    assert gone() is None


def test_a_zone_in_use_is_not_collected() -> None:
    zone = Linked()
    row = td.TradeBook.from_json(as_json(envelope(trades(2)))).localize(zone)[0]
    zone.other = row
    del zone
    gc.collect()
    assert row.exch_trade_time is not None
    assert row.exch_trade_time.utcoffset() == dt.timedelta(minutes=330)
