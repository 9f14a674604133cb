"""Fictional clients of the sandbox: a label, an identifier and a PAN of valid form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from string import ascii_uppercase as _LETTERS


@dataclass(frozen=True, slots=True)
class Account:
    """A client of the sandbox. The label is local and never on the wire."""

    number: int
    label: str
    client_id: str
    pan: str


def make_accounts(accounts: int | Sequence[str], seed: int) -> tuple[Account, ...]:
    """Returns accounts by number ("desk1", "desk2", ...) or by label.

    Raises ValueError if there are none, and for an empty or repeated label.
    """
    if isinstance(accounts, str):
        raise TypeError(f"accounts must be a number or a list of labels: use [{accounts!r}]")
    if isinstance(accounts, int):
        labels = [f"desk{number}" for number in range(1, accounts + 1)]
    else:
        labels = list(accounts)
    if not labels or not all(labels) or len(set(labels)) < len(labels):
        raise ValueError("accounts must be one or more distinct, non-empty labels")
    return tuple(
        Account(number, label, str(1_100_420_000 + 17 * number), _pan(seed, number))
        for number, label in enumerate(labels, start=1)
    )


def _pan(seed: int, number: int) -> str:
    """Returns three letters, P for a person, the initial, four digits and a letter."""
    random = Random(f"{seed}/pan/{number}")
    letters = [_LETTERS[int(random.random() * 26)] for _ in range(5)]
    digits = int(random.random() * 9999) + 1
    return f"{''.join(letters[:3])}P{letters[3]}{digits:04d}{letters[4]}"
