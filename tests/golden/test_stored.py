"""Every version reads what an earlier one stored, to the same values (`samples.py`)."""

from __future__ import annotations

import datetime as dt
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from golden.samples import DAY, ODD, ORDERS, STORED, TRADES, body, books

pytestmark = pytest.mark.sanitize
VERSIONS = sorted(STORED.parent.iterdir())
NAMES = ("trades", "orders", "stocks", "zoned")


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return books()


@pytest.fixture(params=VERSIONS, ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suffix", ["json", "parquet", "csv", "pickle"])
def test_a_stored_book_is_read(
    suffix: str, name: str, folder: Path, expected: dict[str, Any]
) -> None:
    book, path = expected[name], folder / f"{name}.{suffix}"
    stored = pickle.loads(path.read_bytes()) if suffix == "pickle" else type(book).load(path)
    assert type(stored) is type(book)
    if suffix == "csv":  # which has neither a zone nor empty text, and unknown fields as JSON
        assert plain(stored) == plain(book)
        return
    assert stored.to_dicts(extra=True) == book.to_dicts(extra=True)
    assert stored == book
    assert stored.extra_fields == book.extra_fields
    if suffix != "parquet":
        assert stored.issues == book.issues


def plain(book: Any) -> list[dict[str, Any]]:
    return [
        {
            name: value.replace(tzinfo=None) if isinstance(value, dt.datetime) else value or None
            for name, value in row.items()
        }
        for row in book.to_dicts()
    ]


def test_a_pickle_of_another_version_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"another version of tradingdata: read it with that"):
        pickle.loads((folder / "other.pickle").read_bytes())


@pytest.fixture
def archive(folder: Path, tmp_path: Path) -> td.Archive:
    shutil.copytree(folder / "archive", tmp_path / "archive")
    return td.Archive(tmp_path / "archive")


@pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")
def test_a_stored_archive_is_read(archive: td.Archive) -> None:
    assert archive.verify() == 6 + 6
    assert archive.accounts == ("desk1", "desk2")
    trades = archive.trades(DAY)
    sent = td.TradeBook.from_json(body([*TRADES, ODD]), account="desk1")
    assert trades.to_dicts(extra=True) == sent.to_dicts(extra=True)
    lost = [(issue.field, issue.problem, issue.raw) for issue in trades.issues]
    assert lost == [("traded_price", "not a number", '"NA"')]
    orders = td.OrderBook.from_json(body(ORDERS), account="desk1")
    assert archive.orders(DAY).sort("order_no").to_dicts() == orders.to_dicts()
    assert len(archive.trades(DAY, account="desk2")) == 0
