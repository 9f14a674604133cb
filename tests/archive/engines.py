"""What pandas, polars, DuckDB and pyarrow read in the folder of an archive."""

from __future__ import annotations

import datetime as dt
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb

import tradingdata as td
from archive.model import COMPARED, NUMBER, TIMES

Rows = Counter[tuple[Any, ...]]


def columns(book: str) -> list[str]:
    names = ["day", "account", NUMBER[book], TIMES[book][0], *COMPARED]
    return list(dict.fromkeys(names))


def of_pandas(path: str, book: str) -> Rows:
    import pandas

    frame = pandas.read_parquet(Path(path, book))[columns(book)].astype(object)
    return _counted(frame.where(frame.notna(), None).itertuples(index=False))


def of_polars(path: str, book: str) -> Rows:
    import polars

    files = f"{_without_pattern(path)}/{book}/*.parquet"
    return _counted(polars.scan_parquet(files).select(columns(book)).collect().iter_rows())


def of_duckdb(path: str, book: str) -> Rows:
    files = f"{_without_pattern(path)}/{book}/*.parquet".replace("'", "''")
    query = f"SELECT {', '.join(columns(book))} FROM '{files}'"
    with duckdb.connect() as own:
        return _counted(own.execute(query).fetchall())


def of_pyarrow(path: str, book: str) -> Rows:
    import pyarrow.dataset as datasets

    table = datasets.dataset(Path(path, book), format="parquet").to_table(columns=columns(book))
    return _counted(zip(*(column.to_pylist() for column in table.columns), strict=True))


def beside_writers(read: Callable[[str, str], Rows], path: str) -> Rows:
    """What an engine reads of the trades, again if it opened a file as it was replaced."""
    for _ in range(20):
        with suppress(Exception):
            return read(path, "trades")
    return read(path, "trades")


ENGINES: dict[str, Callable[[str, str], Rows]] = {
    "pandas": of_pandas,
    "polars": of_polars,
    "DuckDB": of_duckdb,
    "pyarrow": of_pyarrow,
}


def of_archive(archive: td.Archive, book: str) -> Rows:
    """What the archive itself says of all days."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scan = archive.scan(book, dt.date(2026, 1, 1), dt.date(2027, 1, 1), missing_ok=True)
    return _counted(scan.select(*columns(book)).fetchall())


def _counted(rows: Any) -> Rows:
    return Counter(tuple(map(_plain, row)) for row in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return str(value)
    return str(value)[:10] if isinstance(value, dt.date) else value


def _without_pattern(path: str) -> str:
    return path.replace("[", "[[]")


def check_engines(archive: td.Archive, *names: str) -> None:
    """Asserts that engines read in the folder what the archive says, and that it has one schema."""
    for book in NUMBER:
        if files := archive.files(book):
            with duckdb.connect() as own:
                query = (
                    "FROM parquet_schema($1) SELECT list((name, type))::VARCHAR GROUP BY file_name"
                )
                assert len(set(own.execute(query, [files]).fetchall())) == 1, "one schema"
            wanted = of_archive(archive, book)
            for name in names or ENGINES:
                assert ENGINES[name](archive.path, book) == wanted, (name, book)


def is_named(archive: td.Archive, text: str) -> bool:
    """Whether any file has a text: its bytes, or what a reader of Parquet sees in it."""
    for path in Path(archive.path).rglob("*"):
        if path.is_file() and text.encode() in path.read_bytes():
            return True
        if path.suffix == ".parquet":
            with duckdb.connect() as own:
                rows = own.execute(f"SELECT * FROM '{path}'").fetchall()
                notes = f"SELECT decode(value) FROM parquet_kv_metadata('{path}')"
                rows += own.execute(notes).fetchall()
            if text in str(rows):
                return True
    return False


def rewrite(paths: list[Path], target: Path, body: str = "body") -> None:
    """Writes the responses of files into one, with other bodies."""
    listed = [str(path) for path in paths]
    with duckdb.connect() as own:
        own.execute(
            f"CREATE TABLE t AS SELECT * REPLACE ({body} AS body) FROM read_parquet({listed})"
        )
        own.execute(f"COPY t TO '{target}' (FORMAT parquet)")


def damage_bodies(path: Path) -> None:
    """Overwrites the second half of the only page of bodies of a file of responses."""
    query = """SELECT coalesce(dictionary_page_offset, data_page_offset), total_compressed_size
        FROM parquet_metadata($1) WHERE path_in_schema = 'body'"""
    with duckdb.connect() as own:
        ((start, size),) = own.execute(query, [str(path)]).fetchall()
    content = bytearray(path.read_bytes())
    content[start + size // 2 : start + size] = bytes(size - size // 2)
    path.write_bytes(content)
