"""SQL over an archive: what the views have, and that a query only reads them."""

from __future__ import annotations

import datetime as dt
import os
import re
import traceback
from pathlib import Path
from typing import Any

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


DAYS = [dt.date(2026, 11, day) for day in (18, 19, 20)]
ALL: dict[str, Any] = {"start": DAYS[0], "end": DAY}
TODAY = {"start": DAY}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> td.Archive:
    """Of the first day, without orders; of the second; and of the last, with two states."""
    return archive_with(
        tmp_path_factory.mktemp("sql"),
        *(response(td.TradeBook, [trade(str(day), day)], clock("15:45", day)) for day in DAYS[:2]),
        response(td.OrderBook, [order("0")], clock("15:45", DAYS[1])),
        trades(trade("1", quantity=2), trade("2", quantity=3)),
        order_response(order("1", status="Open"), at="15:00"),
        order_response(order("1", status="Done")),
    )


@pytest.mark.parametrize(
    ("query", "options", "rows"),
    [
        *(
            (f"SELECT DISTINCT day FROM {view}", {"start": DAYS[1]}, [(DAYS[1],)])
            for view in ("trades", "orders", "order_states", "fetches")
        ),
        ("SELECT count(*) FROM trades", {"start": DAYS[0], "end": DAYS[1]}, [(2,)]),
        ("SELECT count(DISTINCT day) FROM trades", {}, [(3,)]),
        ("SELECT count(DISTINCT day) FROM orders", {}, [(2,)]),
        ("SELECT count(*) FROM trades JOIN fetches USING (fetch_id)", {}, [(4,)]),
        ("SELECT sum(quantity) FROM trades WHERE quantity < $x", {"parameters": {"x": 3}}, [(2,)]),
        ("SELECT quantity FROM trades WHERE trade_no = ?", {"parameters": ["1"]}, [(2,)]),
        ("WITH log_returns AS (SELECT day FROM TRADES) FROM Log_Returns", TODAY, [(DAY,)] * 2),
        ('SELECT count(*) FROM "Order_States", "Fetches"', TODAY, [(2 * 3,)]),
        ("SELECT status FROM orders", TODAY, [("Done",)]),
        ("SELECT status FROM order_states ORDER BY received_at", TODAY, [("Open",), ("Done",)]),
        ("SELECT book, rows, error FROM fetches LIMIT 1", TODAY, [("trades", 2, None)]),
        ("SELECT unnest([1.5, 'inf'::DOUBLE, 'nan'::DOUBLE])", {}, [(1.5,), (None,), (None,)]),
        ("WITH orders AS (SELECT 5 AS n) SELECT n FROM orders", ALL, [(5,)]),
        *(
            (f"SELECT 'é; --' AS text{end}", {}, [("é; --",)])
            for end in (" -- ;", ";", " ;;\t\n", "; -- é;", " /* ; */ ; /* done */")
        ),
    ],
)
def test_a_query_has_the_rows_of_the_days_asked(
    query: str, options: dict[str, Any], rows: list[Any], archive: td.Archive
) -> None:
    assert [*map(tuple, archive.sql(query, **options))] == rows


READS = "one SELECT that only reads its views trades"
CANNOT = "DuckDB cannot run the query: "
ABSENT = 'Catalog Error: Table with name trade does not exist! Did you mean "trades"?'
CANDIDATES = "part VARCHAR, ts TIMESTAMP WITH TIME ZONE"  # the last of those that DuckDB names


@pytest.mark.parametrize(
    ("query", "error", "words"),
    [
        *(
            (f"SELECT 1 FROM {x}", td.ArchiveError, "orders of 2026-11-18")
            for x in ("orders", "Order_States")
        ),
        *((query, td.ArchiveError, READS) for query in ("", "EXPLAIN SELECT 1", "PRAGMA version")),
        *((query, td.ArchiveError, READS) for query in ("SELECT 1; SELECT 2", HOSTILE[7])),
        ("SELEC 1", td.ConfigurationError, CANNOT),
        ("SELECT nothing FROM trades", td.ConfigurationError, CANNOT),
        ("SELECT *\n  FROM trade", td.ConfigurationError, f"^{CANNOT}{re.escape(ABSENT)}$"),
        (f"SELECT {'(' * 5000}1{')' * 5000}", td.ConfigurationError, CANNOT),  # F157
        ("SELECT date_part(1, 2, 3)", td.ConfigurationError, CANDIDATES),
        ("SELECT 1e20::HUGEINT AS large", td.ConfigurationError, r"is not in -2\^63 to 2\^63"),
        (5, TypeError, "query must be text"),
    ],
)
def test_a_query_that_cannot_be_is_refused_in_a_line(
    query: Any, error: type[Exception], words: str, archive: td.Archive
) -> None:
    with pytest.raises(error, match=words) as caught:
        archive.sql(query, **ALL)
    assert "\n" not in str(caught.value)


def test_a_query_can_only_read(archive: td.Archive) -> None:
    """No other file, extension, setting or variable of the caller is in reach."""
    import pyarrow

    secret_of_the_caller = pyarrow.table({"secret": [1]})
    assert secret_of_the_caller.num_rows == 1
    folder = Path(archive.path).parent
    before = sorted(os.walk(folder))
    file = archive.files("trades")[0]
    for query in HOSTILE:
        with pytest.raises((td.ArchiveError, td.ConfigurationError)):
            archive.sql(query.format(root=archive.path, folder=folder, file=file))
    assert sorted(os.walk(folder)) == before
    assert archive.verify() == 6


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


def test_a_heading_is_quoted_and_runs_no_formula(archive: td.Archive) -> None:
    found = archive.sql("""SELECT 1 AS "a,b", 2 AS "=c" """)
    assert found.to_csv() == '"a,b",=c\n1,2\n'
    assert found.to_csv(spreadsheet=True) == '\ufeff"a,b",\'=c\r\n1,2\r\n'


def test_a_query_beside_a_gap_and_of_an_account(archive: td.Archive, tmp_path: Path) -> None:
    """Columns of one name get other names."""
    with pytest.warns(td.DataWarning, match="2026-11-18"):
        assert len(archive.sql("FROM orders", **ALL, missing_ok=True)) == 2
    desk = archive_with(tmp_path, *(trades(trade(x), account=f"desk{x}") for x in "89"))
    found = desk.sql("SELECT account, account FROM trades", account="desk9")
    assert found.to_dicts() == [{"account": "desk9", "account_1": "desk9"}]
    assert "quantity" in archive.sql("DESCRIBE trades").column("column_name")
    for wrong in (5, "x", b"x", {1, 2}):
        with pytest.raises(TypeError, match="parameters takes a list or a dict of values, not"):
            archive.sql("SELECT 1", parameters=wrong)  # type: ignore[arg-type]


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
