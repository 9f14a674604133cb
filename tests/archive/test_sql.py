"""SQL over an archive: what the views have, and that a query only reads them."""

from __future__ import annotations

import datetime as dt
import os
import re
import traceback
from pathlib import Path

import pytest

import tradingdata as td
from archiving import DAY, archive_with, clock, order, order_response, response, trade
from archiving import trade_response as trades

HOSTILE = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_parquet('{root}/trades/*.parquet')",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM 'https://example.com/x.parquet'",
    "SELECT getenv('HOME')",
    "COPY (SELECT 1) TO '{folder}/stolen'",
    "COPY (SELECT 1) TO '{root}/fetches/x.parquet'",
    "EXPORT DATABASE '{folder}/stolen'",
    "ATTACH '{folder}/stolen.db'",
    "ATTACH ':memory:' AS other; COPY (SELECT 1) TO '{folder}/stolen'",
    "INSTALL httpfs",
    "LOAD '{folder}/x.duckdb_extension'",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET memory_limit = '1GB'",
    "PRAGMA memory_limit = '1GB'",
    "PRAGMA profiling_output = '{folder}/stolen.json'",
    "CALL enable_logging(storage = 'file', storage_path = '{folder}/stolen')",
    "CREATE SECRET s (TYPE s3)",
    "SELECT * FROM secret_of_the_caller",
    "COPY (SELECT 1) TO '{file}' (USE_TMP_FILE false)",
    "WITH a AS (COPY (SELECT 1) TO '{file}' (USE_TMP_FILE false)) SELECT 1",
    "SELECT (WITH a AS (COPY (SELECT 1) TO '{file}' (USE_TMP_FILE false)) SELECT 1)",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{file}' (USE_TMP_FILE false)",
    "FROM query('WITH a AS (COPY (SELECT 1) TO ''{file}'' (USE_TMP_FILE false)) SELECT 1')",
    "WITH a AS (INSERT INTO fetches FROM fetches RETURNING 1) SELECT 1",
    "FROM enable_logging(storage := 'file', storage_path := '{folder}/stolen')",
    "FROM enable_profiling(save_location := '{folder}/stolen.json')",
    "SELECT 1) UNION ALL (SELECT 2",
    "SELECT 1; SELECT 2",
    "SELECT 1; COPY (SELECT 1) TO '{file}' (USE_TMP_FILE false)",
    "DROP VIEW trades",
]


@pytest.fixture
def archive(tmp_path: Path) -> td.Archive:
    return archive_with(
        tmp_path,
        trades(trade("1", quantity=2), trade("2", quantity=3)),
        order_response(order("1", status="Open"), at="15:00"),
        order_response(order("1", status="Done")),
    )


def test_a_query_can_only_read(archive: td.Archive, tmp_path: Path) -> None:
    """No other file, extension, setting or variable of the caller is in reach."""
    import pyarrow

    secret_of_the_caller = pyarrow.table({"secret": [1]})
    assert secret_of_the_caller.num_rows == 1
    before = sorted(os.walk(tmp_path))
    file = archive.files("trades")[0]
    for query in HOSTILE:
        with pytest.raises((td.ArchiveError, td.ConfigurationError)):
            archive.sql(query.format(root=archive.path, folder=tmp_path, file=file))
    assert sorted(os.walk(tmp_path)) == before
    with pytest.raises(td.ArchiveError, match="only reads its views"):
        archive.sql("COPY (SELECT 1) TO '/tmp/stolen'")
    assert archive.verify() == 3


@pytest.mark.parametrize("end", [" -- ;", ";", " ;;\t\n", "; -- é;", " /* ; */ ; /* done */"])
def test_semicolons_and_comments_may_end_a_query(end: str, archive: td.Archive) -> None:
    (row,) = archive.sql(f"SELECT 'é; --' AS text{end}")
    assert row.text == "é; --"


def test_views_have_the_days_asked_and_no_others(tmp_path: Path) -> None:
    days = [dt.date(2026, 11, day) for day in (18, 19, 20)]
    archive = archive_with(
        tmp_path,
        *(response(td.TradeBook, [trade(str(day), day)], clock("15:45", day)) for day in days),
        *(response(td.OrderBook, [order(str(day))], clock("15:45", day)) for day in days),
    )
    for view in ("trades", "orders", "order_states", "fetches"):
        found = archive.sql(f"SELECT DISTINCT day FROM {view}", days[1])
        assert [*map(tuple, found)] == [(days[1],)], view
        assert len(archive.sql(f"SELECT DISTINCT day FROM {view}")) == 3
    assert [*map(tuple, archive.sql("SELECT count(*) FROM trades", days[0], days[1]))] == [(2,)]


def test_parameters_accounts_and_types(archive: td.Archive) -> None:
    query = "SELECT sum(quantity) AS total, max(day) AS day FROM trades WHERE quantity > $least"
    found = archive.sql(query, DAY, parameters={"least": 2})
    assert [*map(tuple, found)] == [(3, DAY)]
    assert found.columns == ["total", "day"]
    assert found.to_dicts() == [{"total": 3, "day": DAY}]
    assert [
        *map(tuple, archive.sql("SELECT count(*) FROM trades WHERE trade_no = ?", parameters=["1"]))
    ] == [(1,)]
    archive.add(trades(trade("9"), account="desk9"))
    assert [*map(tuple, archive.sql("SELECT count(*) FROM trades", account="desk9"))] == [(1,)]
    assert archive.sql("SELECT account, account FROM trades", account="desk9").columns == [
        "account",
        "account_1",
    ]


def test_values_that_a_book_does_not_have_become_text_or_numbers(archive: td.Archive) -> None:
    """Columns of one name get other names, as DuckDB gives them."""
    query = """
        SELECT 7::HUGEINT AS a, 1.5 AS b, [1, 2] AS c, TIMESTAMPTZ '2026-11-20 00:00Z' AS d,
            'nan'::DOUBLE AS e, true AS a, 'x' AS a_1, 1 / 0::DOUBLE AS "%", DATE 'infinity' AS f,
            TIMESTAMP '2026-11-20' AS g, [1.5] AS h, [TIMESTAMPTZ '2026-11-20 00:00Z'] AS i
        UNION ALL SELECT NULL, NULL, NULL, NULL, 2.5, NULL, 'y', 1, DATE '2026-11-20', NULL, [], []
    """
    found = archive.sql(query)
    day = dt.datetime(2026, 11, 20)
    assert found.to_dict() == {
        "a": [7, None],
        "b": [1.5, None],
        "c": ["[1, 2]", None],
        "d": [day, None],
        "e": [None, 2.5],
        "a_1": ["true", None],
        "a_1_1": ["x", "y"],
        "%": [None, 1.0],
        "f": [None, day.date()],
        "g": [day, None],
        "h": ["[1.5]", "[]"],
        "i": ["['2026-11-20 00:00:00+00']", "[]"],
    }
    assert [tuple(row)[:2] for row in found.filter(a__gt=3)] == [(7, 1.5)]
    assert found[0].b == found[0]["b"] == 1.5
    (row,) = archive.sql("SELECT TIMESTAMPTZ '2026-11-20 00:00Z' AS at, [TIMESTAMP '2026-11-20']")
    assert row.at == day.replace(tzinfo=dt.UTC)
    with pytest.raises(td.ConfigurationError, match=r"of the result is not in -2\^63 to 2\^63"):
        archive.sql("SELECT 1e20::HUGEINT AS large")


def test_names_are_of_any_case_and_those_of_the_query_its_own(archive: td.Archive) -> None:
    query = "WITH log_returns AS (SELECT count(*) AS n FROM TRADES) SELECT n FROM Log_Returns"
    assert archive.sql(query)[0].n == 2
    assert len(archive.sql('SELECT * FROM "Order_States", "Fetches"')) == 2 * 3


def test_a_heading_is_quoted_and_runs_no_formula(archive: td.Archive) -> None:
    found = archive.sql("""SELECT 1 AS "a,b", 2 AS "=c" """)
    assert found.to_csv() == '"a,b",=c\n1,2\n'
    assert found.to_csv(spreadsheet=True) == '\ufeff"a,b",\'=c\r\n1,2\r\n'


def test_states_of_orders_and_the_log_are_views(archive: td.Archive) -> None:
    states = archive.sql("SELECT status FROM order_states ORDER BY received_at")
    assert [*map(tuple, states)] == [("Open",), ("Done",)]
    assert [*map(tuple, archive.sql("SELECT status FROM orders"))] == [("Done",)]
    log = archive.sql("SELECT book, rows, error FROM fetches ORDER BY filed_at")
    assert [*map(tuple, log)] == [("trades", 2, None), ("orders", 1, None), ("orders", 1, None)]


def test_a_book_with_a_gap_has_no_view(archive: td.Archive) -> None:
    """The error names the days; a name of the query's own is not a view."""
    archive.add(trades(trade("3", dt.date(2026, 11, 19))))
    with pytest.raises(td.ArchiveError, match="orders of 2026-11-19"):
        archive.sql("SELECT count(*) FROM orders", "2026-11-19", DAY)
    with pytest.raises(td.ArchiveError, match="orders of 2026-11-19"):
        archive.sql("SELECT count(*) FROM Order_States", "2026-11-19", DAY)
    assert [*map(tuple, archive.sql("SELECT count(*) FROM trades", "2026-11-19", DAY))] == [(3,)]
    own = "WITH orders AS (SELECT 5 AS n) SELECT n FROM orders"
    assert [*map(tuple, archive.sql(own, "2026-11-19", DAY))] == [(5,)]
    with pytest.warns(td.DataWarning, match="2026-11-19"):
        found = archive.sql("SELECT count(*) FROM orders", "2026-11-19", DAY, missing_ok=True)
    assert [*map(tuple, found)] == [(1,)]


def test_a_bad_query_is_an_error_of_one_line(archive: td.Archive) -> None:
    """With the reason of DuckDB."""
    for query in ("SELEC 1", "SELECT nothing FROM trades", "SELECT * FROM nowhere"):
        with pytest.raises(td.ConfigurationError, match="DuckDB cannot run the query"):
            archive.sql(query)
    with pytest.raises(td.ConfigurationError) as caught:
        archive.sql("SELECT *\n  FROM trade")
    said = 'Table with name trade does not exist! Did you mean "trades"?'
    assert str(caught.value) == f"DuckDB cannot run the query: Catalog Error: {said}"
    with pytest.raises(TypeError, match="query must be text"):
        archive.sql(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT pan_no::INTEGER FROM trades",
        "SELECT pan_no::DATE FROM trades",
        "SELECT pan_no::STRUCT(a INTEGER) FROM trades",
        "SELECT error(pan_no) FROM trades",
        "SELECT strptime(pan_no, '%Y') FROM trades",
        "SELECT ABCDE1234F FROM trades",
        "SELECT 'ABCDE1234F",
    ],
)
def test_an_error_shows_no_account_number(query: str, tmp_path: Path) -> None:
    """DuckDB quotes the value that it cannot convert."""
    kept = response(td.TradeBook, [trade(pan_no="ABCDE1234F")], clock("15:45"), keep=True)
    archive = archive_with(tmp_path, kept, keep_personal_data=True)
    with pytest.raises(td.ConfigurationError, match=r"X{4}") as caught:
        archive.sql(query)
    assert "ABCDE1234F" not in "".join(traceback.format_exception(caught.value))


NESTED = {
    "subqueries that end the process": "SELECT * FROM " + "(SELECT * FROM " * 200_000 + "trades",
    "subqueries": "SELECT * FROM " + "(SELECT * FROM " * 5000 + "trades" + ")" * 5000,
    "negations": "SELECT " + "NOT " * 980 + "true",
    "functions": "SELECT " + "abs(" * 900 + "1" + ")" * 900,
    "brackets": "SELECT " + "[" * 50_000,
    "types": "SELECT NULL::INTEGER" + "[]" * 900,
}


@pytest.mark.parametrize("query", NESTED.values(), ids=NESTED)
def test_deep_sql_is_an_error_in_a_sentence(query: str, archive: td.Archive) -> None:
    """Or a result: how deep json reads depends on the version of Python."""
    said = "a syntax that is fine"
    try:
        assert len(archive.sql(query, DAY)) <= 1
    except (td.ArchiveError, td.ConfigurationError) as error:
        said = str(error)
    assert re.search("nested|characters|depth|syntax", said)
    assert len(archive.sql("SELECT 1" + " + 1" * 250, DAY)) == 1


def test_what_a_query_cannot_be_is_said(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trades(trade("1")))
    assert "quantity" in archive.sql("DESCRIBE trades").column("column_name")
    assert len(archive.sql("SELECT 1;\n")) == 1
    for query in ("", "EXPLAIN SELECT 1", "PRAGMA version", "SELECT 1; SELECT 2"):
        with pytest.raises(td.ArchiveError, match="one SELECT that only reads its views trades"):
            archive.sql(query)
    with pytest.raises(td.ConfigurationError, match="part VARCHAR, ts TIMESTAMP WITH TIME ZONE"):
        archive.sql("SELECT date_part(1, 2, 3)")  # all candidates, of which this is the last
    for wrong in (5, "x", b"x", {1, 2}):
        with pytest.raises(TypeError, match="parameters takes a list or a dict of values, not"):
            archive.sql("SELECT 1", parameters=wrong)  # type: ignore[arg-type]
