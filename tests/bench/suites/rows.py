"""Body to records and then a loop over them: five fields of each, and all."""

from __future__ import annotations

from ..cases.decoders import LABELS
from ..harness.bodies import book
from ..harness.case import Source
from ..harness.goals import Goal, Row
from ..harness.rounds import Contest
from ..harness.suite import Show, Suite, entries, play_all

PEER = ("msgspec Struct",)
FIVE_ONLY = "msgspec-five"


def run(rounds: int, show: Show, only: str | None) -> list[Row]:
    return play_all(SUITE, rounds, show, only)


def _contest(title: str, prefix: str, cases: list[str]) -> Contest:
    trades = Source("Trade", str(book("Trade", 10_000)))
    taking_part = entries("record_cases", trades, LABELS, cases, prefix)
    return Contest(f"10,000 trades, body to {title} of each in a loop", taking_part)


SUITE = Suite(
    contests={
        "five": lambda: _contest("five fields", "five:", list(LABELS)),
        "all": lambda: _contest("all fields", "all:", [one for one in LABELS if one != FIVE_ONLY]),
    },
    goals=(
        Goal("five fields in a loop, times faster", "five", PEER, 3, 4, ahead_of=LABELS[FIVE_ONLY]),
        Goal("all fields in a loop, times faster", "all", PEER, 1.7, 2.5),
    ),
)
