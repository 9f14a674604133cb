"""Every value of every view of a book is the one that Python's json reads in the same bytes."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tradingdata as td
from sample_records import JSON_VALUES
from service import as_json, trades
from worlds.records import KINDS, Sample, body_of, of_kind, read, sample

# What breaks programs that read text; each goes into every text field of each record.
NAUGHTY = (
    "", " ", "undefined", "null", "None", "NaN", "-1", "0x0", "1e400", "1/2", "1,501.05", "٠١٢",
    "ÅÍÎÏ˝ÓÔ", "田中さんにあげて下さい", "הָיְתָה", "مُنَاقَشَةُ", "टाटा मोटर्स", "₹ 1,00,000", "z̷͕̓a̶l̴g̵o̷",
    "\u202etest\u202e", "\u200b\u200e\ufeff", "👩‍👩‍👧‍👦", "🇮🇳", "\U0010ffff", "\ue000", "a\u0301",
    "\x00", "a\x00b", "\x01\x02\x1f\x7f\x80\x9f\xad", "\t\n\v\f\r", "\u2028\u2029", "\\", "\\u0041",
    '"', "'", "''--", "<script>alert(1)</script>", "&lt;", "=1+1|' /C calc'!A0", "../../etc/passwd",
    "%00", "{0}", "$HOME", "`touch x`", "Robert'); DROP TABLE trades;--", "x" * 11, "x" * 12,
    "x" * 13, "₹" * 4, "₹" * 4 + "x", "x" * 15 + "₹", "x" * 16 + "\\" * 17, "0001-01-01",
)  # fmt: skip

WAYS: dict[str, Callable[[Any], list[dict[str, Any]]]] = {
    "attributes": lambda book: [{n: getattr(row, n) for n in book.columns} for row in book],
    "names": lambda book: [{n: row[n] for n in book.columns} for row in reversed(book)][::-1],
    "dicts": lambda book: book.to_dicts(),
    "columns": lambda book: [
        dict(zip(book.columns, values, strict=True))
        for values in zip(*book.to_dict().values(), strict=True)
    ],
    "rows by hand": lambda book: [type(row)(**row._asdict())._asdict() for row in book],
    "a gathered book": lambda book: book[::-1][::-1].to_dicts(),
    "a joined book": lambda book: td.concat([book[:7], book[7:]]).to_dicts(),
    "a pickle": lambda book: pickle.loads(pickle.dumps(book)).to_dicts(),
    "pickled rows": lambda book: [row._asdict() for row in pickle.loads(pickle.dumps([*book]))],
    "a pickled part": lambda book: pickle.loads(pickle.dumps(book[:])).to_dicts(),
}


def expected(sample: Sample) -> list[dict[str, Any]]:
    columns = {name: sample.column(name) for name in sample.kinds}
    return [{name: column[i] for name, column in columns.items()} for i in range(len(sample.rows))]


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("ascii_only", [False, True], ids=["utf-8", "escaped"])
@pytest.mark.parametrize("way", WAYS)
def test_every_view_holds_what_was_sent(kind: str, way: str, ascii_only: bool) -> None:
    truth = sample(kind, 60, seed=2, ascii_only=ascii_only)
    held = WAYS[way](truth.book)
    assert held == expected(truth)
    types = [[type(value) for value in row.values()] for row in held]
    assert types == [[type(value) for value in row.values()] for row in expected(truth)]


@pytest.mark.parametrize("way", WAYS)
def test_naughty_text_comes_through_every_view(kind: str, way: str) -> None:
    texts = of_kind(sample(kind, 1), "string")
    rows = sample(kind, len(NAUGHTY), seed=3).rows
    for i, row in enumerate(rows):
        row.update({name: NAUGHTY[(i + shift) % len(NAUGHTY)] for shift, name in enumerate(texts)})
    for ascii_only in (False, True):
        truth = read(kind, body_of(kind, list(rows), ascii_only=ascii_only))
        assert WAYS[way](truth.book) == expected(truth)


KNOWN = set(td.TradeBook().columns)


@given(st.dictionaries(st.text().filter(lambda name: name not in KNOWN), JSON_VALUES, max_size=5))
def test_any_unknown_field_is_kept(unknown: dict[str, Any]) -> None:
    body = as_json([trades(1)[0] | unknown], ascii_only=True)
    sent = {name: value for name, value in json.loads(body)[0].items() if name not in KNOWN}
    response = b'{"status": "success", "data": ' + body + b"}"
    book = td.TradeBook.from_json(response)
    row = book[0]
    assert set(book.extra_fields) == set(sent)
    for one in (row, pickle.loads(pickle.dumps(row)), book[::-1][0], row._replace(quantity=1)):
        assert one._extra == sent
        assert all(one[name] == value for name, value in sent.items())
