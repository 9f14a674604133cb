"""A search as a frame, a file or plain Python: all pages are read first, and mistakes cost none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tradingdata as td
from tradingdata.sandbox import Service, start

EXPORTS = ["to_pandas", "to_polars", "to_arrow", "to_dicts", "to_dict", "to_json", "to_csv"]
FILES = {"to_csv": "csv", "to_json": "json", "to_parquet": "parquet", "to_excel": "xlsx"}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Service]:
    with start(orders=0) as service:
        yield service


@pytest.fixture(scope="module")
def banks(sandbox: Service) -> td.StockList:
    return sandbox.client().search("bank").all()


def same(found: object, expected: object) -> bool:
    equal = getattr(found, "equals", None)
    return bool(equal(expected)) if equal else found == expected


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_of_a_search_is_that_of_all_its_stocks(
    sandbox: Service, banks: td.StockList, name: str
) -> None:
    options = {"columns": ["nsesymbol", "mcap"]}
    expected = getattr(banks, name)(**options)
    assert len(banks) > 10
    assert same(getattr(sandbox.client().search("bank", page_size=10), name)(**options), expected)

    async def awaited() -> object:
        async with sandbox.async_client() as client:
            return await getattr(client.search("bank", page_size=10), name)(**options)

    assert same(asyncio.run(awaited()), expected)


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_written(
    sandbox: Service, banks: td.StockList, name: str, tmp_path: Path
) -> None:
    path = tmp_path / f"banks.{FILES[name]}"
    getattr(sandbox.client().search("bank"), name)(path, ["nsesymbol"])
    assert path.stat().st_size > 0
    if name == "to_json":
        assert len(json.loads(path.read_text("utf-8"))) == len(banks)


def test_a_library_that_speaks_arrow_takes_a_search_as_it_is(
    sandbox: Service, banks: td.StockList
) -> None:
    assert pl.DataFrame(sandbox.client().search("bank")).equals(banks.to_polars())


@pytest.mark.parametrize("name", [*EXPORTS, "to_parquet", "to_excel"])
def test_a_mistake_costs_no_request(sandbox: Service, name: str, tmp_path: Path) -> None:
    search = sandbox.client().search("bank")
    path = () if name in EXPORTS[:5] else (tmp_path / "banks.xlsx",)
    before = sandbox.requests.counts["search"]
    with pytest.raises(KeyError, match="did you mean 'nsesymbol'"):
        getattr(search, name)(*path, columns=["nsesymbl"])
    with pytest.raises(TypeError, match="colums"):
        getattr(search, name)(*path, colums=["nsesymbol"])
    assert sandbox.requests.counts["search"] == before


@pytest.mark.parametrize(
    ("name", "options", "error"),
    [
        ("to_pandas", {"categories": ["mcap"]}, TypeError),
        ("to_pandas", {"index": "nsesymbl"}, KeyError),
        ("to_pandas", {"tz": "Nowhere/Atall"}, ValueError),
        ("to_polars", {"tz": "Nowhere/Atall"}, ValueError),
        ("to_arrow", {"categories": ["nosuch"]}, KeyError),
        ("to_csv", {"path": __file__}, FileExistsError),
        ("to_json", {"path": __file__}, FileExistsError),
        ("to_parquet", {"path": __file__}, FileExistsError),
        ("to_excel", {"path": __file__}, FileExistsError),
    ],
)
def test_any_wrong_argument_raises_before_a_request(
    sandbox: Service, name: str, options: dict[str, Any], error: type[Exception]
) -> None:
    before = sandbox.requests.counts["search"]
    with pytest.raises(error):
        getattr(sandbox.client().search("bank"), name)(**options)

    async def awaited() -> None:
        async with sandbox.async_client() as client:
            await getattr(client.search("bank"), name)(**options)

    with pytest.raises(error):
        asyncio.run(awaited())
    assert sandbox.requests.counts["search"] == before


class TestSeveralStocks:
    def test_they_come_in_the_order_asked_each_looked_up_once(self, sandbox: Service) -> None:
        before = sandbox.requests.counts["search"]
        found = sandbox.client().stock(["TCS", " reliance", "500325", "tcs"])
        assert [stock.nsesymbol for stock in found] == ["TCS", "RELIANCE", "RELIANCE", "TCS"]
        assert sandbox.requests.counts["search"] == before + 3
        assert sandbox.client().stock([]) == td.StockList()

    def test_those_without_a_stock_are_all_named_and_the_others_kept(
        self, sandbox: Service
    ) -> None:
        wanted = ["TCS", "NOSUCH", "RELIANCE", "BANKX"]
        with pytest.raises(td.StockNotFoundError, match=r"2 of 4.*'NOSUCH'.*'BANKX'") as caught:
            sandbox.client().stock(wanted)
        assert [stock.nsesymbol for stock in caught.value.received] == ["TCS", "RELIANCE"]

        async def awaited() -> None:
            async with sandbox.async_client() as client:
                assert len(await client.stock(["TCS", "RELIANCE"])) == 2
                with pytest.raises(td.StockNotFoundError, match=r"2 of 4.*'NOSUCH'.*'BANKX'"):
                    await client.stock(wanted)

        asyncio.run(awaited())

    @pytest.mark.parametrize("odd", [5, None, b"TCS", ["TCS", 5], ["TCS", " "]])
    def test_what_is_no_identifier_is_refused(self, sandbox: Service, odd: object) -> None:
        before = sandbox.requests.counts["search"]
        with pytest.raises((TypeError, td.ConfigurationError), match="identifier"):
            sandbox.client().stock(odd)  # type: ignore[call-overload]
        assert sandbox.requests.counts["search"] == before
