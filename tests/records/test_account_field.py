"""The account of a row: a local field, which survives everything that is done with the row."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from calls import TOKEN, good_book
from service import Service, as_json, envelope, trades
from tradingdata import _core

# The tests of a wheel run without libraries of frames.
pytest.importorskip("pandas")
pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

KINDS: list[Any] = [
    getattr(td, record["book"])
    for record in _core.records()
    if any(field["name"] == "account" for field in record["fields"])
]
LABELS = ("desk1", "a label that is not inline ₹")


def labelled(*labels: str | None, kind: Any = td.TradeBook, **unknown: object) -> Any:
    """A book of responses under labels, two rows of each."""
    rows = [row | unknown for row in trades(2)]
    body = as_json(envelope(rows if kind is td.TradeBook else [{**unknown}, {**unknown}]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tradingdata.books.book.warn_of_lost", lambda *_: None)
        return td.concat([kind.from_json(body, account=label) for label in labels])


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_last_field_and_none_without_a_label(kind: Any) -> None:
    book = labelled(None, kind=kind)
    assert book.columns[-1] == "account"
    assert book.to_dict()["account"] == [None, None]
    assert not any(issue.field == "account" for issue in book.issues)
    assert kind().to_polars().schema == book.to_polars().schema


def test_the_client_s_option_labels_the_rows_and_is_not_sent(service: Service) -> None:
    service.script(then=good_book())
    book = td.Client(service.base_url, access_token=TOKEN, account="desk-label").trade_book()
    assert {trade.account for trade in book} == {"desk-label"}
    assert b"desk-label" not in service.requests[0].raw
    unlabelled = td.Client(service.base_url, access_token=TOKEN).trade_book()
    assert {trade.account for trade in unlabelled} == {None}
    assert book != unlabelled


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("label", [None, *LABELS])
def test_it_survives_what_is_done_with_a_book(kind: Any, label: str | None, tmp_path: Path) -> None:
    whole = labelled(label, kind=kind)
    joined = labelled(*LABELS, None, kind=kind)
    for book in (whole, whole[:], joined):
        for form in ("json", "parquet"):
            file = tmp_path / f"{len(book)}.{form}"
            book.save(file, overwrite=True)
            assert kind.load(file) == book
        for again in (
            pickle.loads(pickle.dumps(book)),
            kind(pickle.loads(pickle.dumps(list(book)))),
            kind([copy.deepcopy(row) for row in book]),
            kind([type(row)(**row._asdict()) for row in book]),
            kind.from_arrow(book.to_arrow()),
            kind.from_arrow(book.to_polars()),
            kind.from_arrow(pa.Table.from_pandas(book.to_pandas(), preserve_index=False)),
            book[::-1][::-1],
            td.concat([book[:1], book[1:]]),
        ):
            assert again == book
            assert again.to_dict()["account"] == book.to_dict()["account"]


def test_a_response_s_own_account_stays_an_unknown_field(tmp_path: Path) -> None:
    book = labelled("desk1", account="theirs")
    row = book[0]
    assert (row.account, row["account"], row._extra) == ("desk1", "desk1", {"account": "theirs"})
    assert book.extra_fields == ("account",)
    assert book.to_dicts(extra=True)[0]["account"] == "desk1"
    assert book.to_dict(extra=True)["account"] == ["desk1"] * 2
    assert json.loads(book.to_json(extra=True))[0]["account"] == "desk1"
    assert json.loads(book.to_arrow(extra=True)["extra"][0].as_py()) == {"account": "theirs"}
    part = book[:1]
    part.save(tmp_path / "part.json")
    kept = [
        pickle.loads(pickle.dumps(part)),
        td.TradeBook.load(tmp_path / "part.json"),
        td.TradeBook.from_arrow(part.to_arrow(extra=True)),
        td.TradeBook([row._replace(quantity=row.quantity)]),
    ]
    for each in kept:
        assert (each[0].account, each[0]._extra) == ("desk1", {"account": "theirs"})
    assert labelled(None, account="theirs")[0].account is None


def test_keys_of_saved_local_fields_mean_nothing_in_a_response() -> None:
    for name in ("_tradingdata.account", "_tradingdata.symbol"):
        row = labelled(None, **{name: "x"})[0]
        assert (row.account, row._extra) == (None, {name: "x"})


def test_displays_have_a_column_only_where_it_tells_rows_apart() -> None:
    body = as_json(envelope(trades(2)))
    single = td.TradeBook.from_json(body, account="desk1")
    several = labelled("desk1", "desk2")
    assert "account desk1" in repr(single).splitlines()[0]
    assert "account" not in repr(single).splitlines()[1]
    assert repr(single).splitlines()[1:] == repr(td.TradeBook.from_json(body)).splitlines()[1:]
    assert "account" not in repr(labelled(None))
    assert repr(several).splitlines()[1].split()[0] == "account"
    assert "desk2" in several._repr_html_()
    for part in (several[:2], several.filter(account="desk1")):
        heading, names, *_ = repr(part).splitlines()
        assert ("account desk1" in heading, "account" in names) == (True, False)
    assert "4 trades of 2025-01-06, 2 accounts\n" in repr(several)
    assert "account" not in repr(several[:0])


@pytest.mark.parametrize("wrong", [5, b"desk1"])
def test_a_label_is_text(wrong: Any) -> None:
    with pytest.raises(TypeError, match="account must be text"):
        td.TradeBook.from_json(as_json(envelope([])), account=wrong)
    with pytest.raises(TypeError, match="account"):
        td.Trade(account=wrong)
