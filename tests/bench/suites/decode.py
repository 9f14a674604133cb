"""Body to records: against peers, against the walk alone, and in other spellings of the JSON."""

from __future__ import annotations

from ..cases.decoders import LABELS
from ..floors import programs
from ..harness.bodies import book
from ..harness.case import Source
from ..harness.goals import Goal, Row
from ..harness.rounds import Contest, Entry
from ..harness.suite import Show, Suite, entries, play_all

MODULE = "record_cases"
PEER = ("msgspec Struct",)
WALK = "the walk alone, C++"
ALL_FIELDS = [name for name in LABELS if name != "msgspec-five"]
SPELLINGS = {
    "reversed": "keys reversed",
    "spaced": "spaced",
    "unknown": "three unknown keys",
    "indented": "indented",
}


def run(rounds: int, show: Show, only: str | None) -> list[Row]:
    return play_all(SUITE, rounds, show, only)


def _trades(form: str = "compact") -> Source:
    return Source("Trade", str(book("Trade", 10_000, form)))


def _contest(title: str, source: Source, cases: list[str], *more: Entry) -> Contest:
    taking_part = entries(MODULE, source, LABELS, cases, "decode:")
    return Contest(f"{title}, body to records", (*taking_part, *more))


def _trades_10k() -> Contest:
    program = (str(programs.walk_floor()), "Trade", _trades().path)
    walk = Entry(WALK, "", "", _trades(), program)
    return _contest("10,000 trades", _trades(), list(LABELS), walk)


def _orders_10k() -> Contest:
    return _contest("10,000 orders", Source("Order", str(book("Order", 10_000))), ALL_FIELDS)


def _trades_200k() -> Contest:
    source = Source("Trade", str(book("Trade", 200_000)))
    return _contest("200,000 trades", source, ["tradingdata", "msgspec"])


def _trades_100() -> Contest:
    return _contest("100 trades", Source("Trade", str(book("Trade", 100))), ALL_FIELDS)


def _dicts() -> Contest:
    cases = {
        "tradingdata": "dicts:tradingdata",
        "to_dicts() alone": "dicts:to_dicts-alone",
        "orjson dict": "decode:orjson",
        "json dict": "decode:json",
    }
    return Contest(
        "10,000 trades, body to dicts",
        tuple(Entry(label, MODULE, case, _trades()) for label, case in cases.items()),
    )


def _spellings() -> Contest:
    forms = {"tradingdata": "compact", **{what: form for form, what in SPELLINGS.items()}}
    return Contest(
        "10,000 trades in other spellings, body to records",
        tuple(
            Entry(label, MODULE, "decode:tradingdata", _trades(form))
            for label, form in forms.items()
        ),
    )


def _spelling_goal(what: str) -> Goal:
    title = f"{what}: times slower than compact, in order"
    return Goal(title, "spellings", ("tradingdata",), 1.5, 1.2, faster=False, ours=what)


def _hard() -> Contest:
    return _contest("10,000 trades, hard to read", _trades("hard"), ["tradingdata", "msgspec"])


SUITE = Suite(
    contests={
        "trades-10k": _trades_10k,
        "orders-10k": _orders_10k,
        "trades-200k": _trades_200k,
        "trades-100": _trades_100,
        "dicts": _dicts,
        "spellings": _spellings,
        "hard": _hard,
    },
    goals=(
        Goal("10k trades to a book, times faster", "trades-10k", PEER, 3.5, 5),
        Goal("part of the C++ limit", "trades-10k", (WALK,), 0.7, 0.9),
        Goal("10k orders to a book, times faster", "orders-10k", PEER, 3.5, 5),
        Goal("200k trades to a book, times faster", "trades-200k", PEER, 2, 3),
        Goal("100 trades to a book, times faster", "trades-100", PEER, 3, 4),
        Goal("10k trades to dicts, times faster", "dicts", ("orjson dict",), 1.5, 3),
        Goal("10k hard trades to a book, times faster", "hard", PEER, 3.5, 5),
        # The indented body informs only.
        *(_spelling_goal(SPELLINGS[form]) for form in ("reversed", "spaced", "unknown")),
    ),
)
