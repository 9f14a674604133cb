"""`pan_no` at any depth, in any case, beside `data`, as a number, with an escaped name."""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import json
import pickle
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tradingdata as td
from echoes import shown_of
from tradingdata import _core
from tradingdata.table.rows import row_type
from tradingdata.table.table import Table

PAN = "ABCPK1234F"
HIDDEN = ("CPK123", "cpk123", "98765432")
NAMES = ["pan_no", "PAN_NO", "Pan_No", "panNo", "PAN-NO", "pan no", "pan_n\\u006f", "\\u0050AN_NO"]
VALUES = [
    f'"{PAN}"',
    f'"{PAN.lower()}"',
    '"\\u0041BC\\u0050K1234F"',
    "9876543210",
    "-98765432.5",
    f'["{PAN}",{{"a":"{PAN}"}}]',
    f'{{"number":"{PAN}"}}',
    f'"{PAN} and more"',
]


KEEPING = {"strict": True, "keep_personal_data": True}


def member(name: str, value: str) -> str:
    return f'"{name}":{value}'


def deep(inner: str, depth: int) -> str:
    for level in range(depth):
        inner = f'"l{level}":{{{inner}}}' if level % 2 else f'"l{level}":[1,{{{inner},"x":"y"}},[]]'
    return inner


def body(record: str = '"symbol":"INFY"', beside: str = '"more":1') -> bytes:
    return f'{{"status":"success","data":[{{{record}}}],"message":"Success",{beside}}}'.encode()


def decoded(data: bytes, **options: Any) -> td.TradeBook:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        return td.TradeBook.from_json(data, **options)


def shows_a_number(text: str) -> bool:
    plain = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    return any(part in plain for part in HIDDEN)


@settings(max_examples=3 * settings().max_examples)
@given(
    name=st.sampled_from(NAMES),
    value=st.sampled_from(VALUES),
    depth=st.integers(0, 6),
    where=st.sampled_from(["record", "known field", "beside"]),
    spaces=st.sampled_from(["", " ", "\n\t "]),
    cut=st.integers(0, 400),
)
def test_a_personal_value_is_masked_wherever_it_is(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    value: str,
    depth: int,
    where: str,
    spaces: str,
    cut: int,
) -> None:
    inner = deep(f'"{name}"{spaces}:{spaces}{value}', depth)
    data = {
        "record": body(f'"symbol":"INFY",{inner},"quantity":7'),
        "known field": body(f'"symbol":{{{inner}}},"quantity":[{{{inner}}}]'),
        "beside": body(beside=inner),
    }[where]
    book = decoded(data)
    assert not shows_a_number(shown_of(book, tmp_path_factory.getbasetemp()))
    assert book.response is not None
    assert book.response.masked
    assert len(book.response.content) == len(data)
    again = decoded(book.response.content)
    assert again.to_dicts(extra=True) == book.to_dicts(extra=True)
    assert again.response is not None
    assert again.response.content == book.response.content
    others = json.loads(book.response.content)
    assert others["status"] == "success"
    if where == "record":
        assert (book[0].symbol, book[0].quantity) == ("INFY", 7)
    assert decoded(pickle.loads(pickle.dumps(book)).response.content) == book
    for refused, options in ((data[: cut % len(data)], {}), (data, KEEPING)):
        with pytest.raises(td.DecodeError) as caught:
            decoded(refused, **options)
        assert not shows_a_number(f"{caught.value} {vars(caught.value)}")


def test_a_search_masks_unknown_fields_too() -> None:
    with pytest.warns(td.DataWarning):
        stocks = td.StockList.from_json(f'[{{"owner":{{"PAN_NO":"{PAN}"}}}}]'.encode())
    assert stocks[0]["owner"] == {"PAN_NO": "ABXXXXXX4F"}


@pytest.mark.parametrize(
    "inner", [member("PAN_NO", VALUES[0]), deep(member("pan_no", VALUES[0]), 3)]
)
def test_what_is_kept_is_masked_where_it_is_shown(inner: str) -> None:
    book = decoded(
        body(f'"symbol":"INFY",{inner},"quantity":[{{{inner}}}]'), keep_personal_data=True
    )
    assert book.response is not None
    assert PAN.encode() in book.response.content
    names = book.extra_fields
    from tradingdata.display import Shown, set_fields

    shown = repr([book, book[0], book.issues, set_fields(book[0]), Shown(book, names).rows])
    shown += book._repr_html_() + book[0]._repr_html_()  # type: ignore[attr-defined]
    assert not shows_a_number(shown)


def test_a_number_is_masked_once_and_alike_in_every_copy(tmp_path: Path) -> None:
    for value in VALUES[3:5]:
        book = decoded(body(f'"symbol":"INFY","pan_no":{value}'))
        assert book.response is not None
        for suffix in ("json", "parquet"):
            book.save(tmp_path / f"{value}.{suffix}")
        copies = [
            decoded(book.response.content),
            td.TradeBook([copy.copy(book[0])]),
            td.TradeBook([pickle.loads(pickle.dumps(book[0]))]),
            pickle.loads(pickle.dumps(book)),
            pickle.loads(pickle.dumps(td.concat([book]))),
            decoded(f'{{"status":"success","data":{book.to_json()}}}'.encode()),
            td.TradeBook.from_arrow(book.to_arrow()),
            *(td.TradeBook.load(tmp_path / f"{value}.{suffix}") for suffix in ("json", "parquet")),
        ]
        assert {copied[0].pan_no for copied in copies} == {book[0].pan_no}
        assert not shows_a_number(str(book[0].pan_no))


KEPT = td.TradeBook([td.Trade(order_no="1", symbol="INFY", pan_no=PAN)], keep_personal_data=True)
WRONG: dict[str, Callable[[], object]] = {
    "dicts for records": lambda: td.TradeBook(KEPT.to_dicts()),  # type: ignore[arg-type]
    "lists for records": lambda: td.TradeBook([[PAN]]),  # type: ignore[list-item]
    "text for records": lambda: td.TradeBook([PAN]),  # type: ignore[list-item]
    "half a surrogate": lambda: td.Trade(pan_no=PAN + "\ud800"),
    "a number": lambda: td.Trade(pan_no=9876543210),  # type: ignore[arg-type]
    "another field": lambda: td.Trade(quantity=PAN),  # type: ignore[arg-type]
    "a row for a field": lambda: td.Trade(symbol=KEPT.to_dicts()),  # type: ignore[arg-type]
    "a list of another type in a filter": lambda: KEPT.filter(quantity=[1, PAN]),
    "a mapping in a filter": lambda: KEPT.filter(quantity={"panNo": f"{PAN} x"}),
    "another column": lambda: KEPT.filter(quantity=PAN),
    "concat": lambda: td.concat([KEPT, {"pan_no": PAN}]),  # type: ignore[type-var]
    "an option": lambda: td.Client("https://127.0.0.1", timeout=PAN),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("wrong", WRONG)
def test_no_error_about_an_argument_shows_a_number(wrong: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        WRONG[wrong]()
    assert not shows_a_number(str(caught.value))


@pytest.mark.parametrize("name", ["pan_no", "PAN-NO", "x", "symbol"])
def test_rows_of_any_table_show_no_number(name: str) -> None:
    """A query may give a number any name; what only contains such letters is shown."""
    kind = row_type("Row", [(name, "text", ""), ("future", "text", "")])
    table: Any = type("Rows", (Table,), {"__slots__": (), "_row": kind})
    columns = [[PAN, f"({PAN})"], ["BANKNIFTY2026JANFUT"] * 2]
    made = table._over(_core.table_of(kind, columns, None))
    shown = [repr(made), made._repr_html_(), repr(made[0]), made[0]._repr_html_()]
    assert not shows_a_number("".join(shown))
    assert all("BANKNIFTY2026JANFUT" in text for text in shown)
    assert made.to_dict()[name] == [PAN, f"({PAN})"]


def test_a_change_does_not_show_a_kept_number() -> None:
    def orders(value: str) -> td.OrderBook:
        record = f'"order_no":"1","PAN_NO":"{value}","client":{{"pan_no":"{value}"}}'
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", td.DataWarning)
            return td.OrderBook.from_json(body(record), keep_personal_data=True)

    from tradingdata.cli.watch import text_lines

    (change,) = orders(PAN).diff(orders("ZZCPK1234Z"))
    assert set(change.fields) == {"PAN_NO", "client"}
    at = dt.datetime(2026, 11, 20, tzinfo=dt.UTC)
    update = td.types.OrderUpdate(orders(PAN), (change,), False, None, 0, at)
    assert not shows_a_number("".join([repr(change), *text_lines(update)]))


def sent(**fields: Any) -> bytes:
    record = {"order_no": "1", "exch_trade_time": "2026-11-20 09:15:03", "symbol": "INFY"}
    return body(json.dumps(record | fields)[1:-1])


KEPT_BODY = sent(pan_no=PAN, panNo=PAN, more={"PAN_NO": [PAN]})


def kept() -> td.TradeBook:
    return decoded(KEPT_BODY, keep_personal_data=True)


def loaded(suffix: str) -> Callable[[Path], td.TradeBook]:
    def load(folder: Path) -> td.TradeBook:
        kept().save(folder / f"kept.{suffix}")
        return td.TradeBook.load(folder / f"kept.{suffix}")

    return load


def archived(folder: Path) -> td.TradeBook:
    archive = td.Archive(folder / "archive", tz="Asia/Kolkata")
    archive.add(kept(), account="", at=dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC))
    return archive.trades("2026-11-20")


def from_arrow(data: Any, **options: Any) -> td.TradeBook:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        return td.TradeBook.from_arrow(data, **options)


WAYS: dict[str, Callable[[Path], td.TradeBook]] = {
    "body": lambda folder: decoded(KEPT_BODY),
    "Arrow": lambda folder: from_arrow(kept().to_arrow(extra=True)),
    "Arrow with a dictionary": lambda folder: from_arrow(
        pa.table({name: pa.array([PAN]).dictionary_encode() for name in ("pan_no", "PAN-NO")})
    ),
    "Arrow with numbers": lambda folder: from_arrow(
        pa.table({"pan_no": [9876543210], "Pan_No": [9876543210]})
    ),
    "Arrow with another name": lambda folder: from_arrow(
        pa.table({"tax id": [PAN]}), names={"tax id": "pan_no"}
    ),
    "pandas": lambda folder: from_arrow(kept().to_pandas(extra=True)),
    "polars": lambda folder: from_arrow(kept().to_polars(extra=True)),
    "DuckDB": lambda folder: from_arrow(duckdb.sql(f"SELECT '{PAN}' AS pan_no, '1' AS order_no")),
    "a field of extra": lambda folder: from_arrow(
        pa.table({"extra": [json.dumps({"pan_no": PAN, "PAN_NO": {"a": PAN}})]})
    ),
    "constants": lambda folder: from_arrow(
        pa.table({"trade_no": ["1"]}), constants={"pan_no": PAN}
    ),
    "CSV": loaded("csv"),
    "Parquet": loaded("parquet"),
    "saved JSON": loaded("json"),
    "rows": lambda folder: td.TradeBook(list(kept())),
    "records": lambda folder: td.TradeBook([td.Trade(order_no="1", pan_no=PAN)]),
    "dicts": lambda folder: td.TradeBook(td.Trade(**row) for row in kept().to_dicts()),
    "changed rows": lambda folder: td.TradeBook([td.Trade()._replace(pan_no=PAN)]),
    "pickle": lambda folder: pickle.loads(pickle.dumps(decoded(KEPT_BODY))),
    "rows of a pickle": lambda folder: td.TradeBook([pickle.loads(pickle.dumps(kept()[0]))]),
    "archive": archived,
}


@pytest.mark.parametrize("way", WAYS)
def test_no_way_into_a_book_passes_the_mask_by(way: str, tmp_path: Path) -> None:
    """F185"""
    book = WAYS[way](tmp_path)
    assert book[0].pan_no is not None
    folder = tmp_path / "out"
    folder.mkdir()
    for suffix in ("json", "csv", "parquet"):
        book.save(folder / f"book.{suffix}")
    archive = td.Archive(folder / "archive", tz="Asia/Kolkata")
    archive.add(book, account="", at=dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC))
    table = book.to_arrow(extra=True)
    ways_out = [
        *(repr(book), str(book[0]), book._repr_html_(), book.issues, book.extra_fields),
        *(book.to_dicts(extra=True), book.to_dict(extra=True), book[0]._asdict(extra=True)),
        *(book.to_json(extra=True), book.to_json(lines=True, extra=True), book.to_csv(extra=True)),
        *(book.to_csv(spreadsheet=True), table.to_pylist(), table.schema),
        *(book.to_pandas(extra=True).to_csv(), book.to_polars(extra=True).to_dicts()),
        *(td.concat([book, book]).to_dicts(extra=True), book.filter(order_no="1").to_dicts()),
        *(dataclasses.asdict(book[0]), book.response and book.response.content),
        *(pickle.dumps(part) for part in (book, book[0], book[:1], book.issues)),
        *(file.read_bytes() for file in folder.rglob("*") if file.is_file()),
    ]
    for text in ways_out:
        plain = text.decode("latin-1") if isinstance(text, bytes) else str(text)
        assert not shows_a_number(plain)


def test_rows_are_kept_where_the_caller_says_so() -> None:
    rows = list(kept())
    assert td.TradeBook(rows, keep_personal_data=True) == kept()
    masked = td.TradeBook(rows)
    assert masked == decoded(KEPT_BODY)
    assert td.TradeBook(list(masked), keep_personal_data=True) == masked
    with pytest.raises(TypeError, match="keep_personal_data"):
        td.TradeBook(rows, keep_personal_data="no")  # type: ignore[arg-type]


def test_dicts_are_refused_with_what_to_pass() -> None:
    with pytest.raises(TypeError, match=r"records, not of dict: pass Trade\(\*\*row\) for each"):
        td.TradeBook(KEPT.to_dicts())  # type: ignore[arg-type]
    rows = (td.Trade(**row) for row in KEPT.to_dicts())
    assert td.TradeBook(rows, keep_personal_data=True) == KEPT
