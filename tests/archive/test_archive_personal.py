"""F120: an archive that keeps account numbers shows them to nobody who did not ask for them."""

from __future__ import annotations

import pickle
import sqlite3
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archiving import DAYS, archive_with, clock, response, trade
from sample_records import PAN

NESTED: dict[str, Any] = {"PAN_NO": PAN, "client": {"pan_no": PAN, "city": "Pune"}}
READS = {
    "trades": lambda archive: archive.trades().to_dicts(extra=True),
    "sql": lambda archive: archive.sql("SELECT * FROM trades"),
    "json": lambda archive: archive.sql("SELECT json FROM trades"),
    "states": lambda archive: archive.sql("SELECT * FROM states"),
}


def keeping(folder: Path) -> td.Archive:
    rows = [trade(str(number), pan_no=PAN, **NESTED) for number in range(3)]
    book = response(td.TradeBook, rows, clock("15:45"), keep=True)
    return archive_with(folder, book, keep_personal_data=True)


@pytest.mark.parametrize("read", READS)
def test_nothing_that_is_read_holds_a_number(read: str, tmp_path: Path) -> None:
    archive = keeping(tmp_path)
    assert PAN in str(READS[read](archive))
    found = str(READS[read](td.Archive(archive.path)))
    assert PAN not in found
    assert "ABXXXXXX4F" in found


def test_an_export_holds_no_number(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    archive = td.Archive(keeping(tmp_path).path)
    for path in archive.export(tmp_path / "files"):
        assert PAN.encode() not in Path(path).read_bytes()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT json FROM main.states",
        "SELECT * FROM main.states",
        "SELECT json FROM _states",
        "SELECT pan_no FROM main.trades",
        "SELECT json FROM main.trades",
        "SELECT max(json) FROM (SELECT * FROM main.states)",
        "SELECT count(*) FROM main.states WHERE json LIKE '%ABC%'",
        "WITH s AS (SELECT * FROM main.states) SELECT json FROM s",
    ],
)
def test_no_query_reads_past_the_masks(query: str, tmp_path: Path) -> None:
    archive = keeping(tmp_path)
    with pytest.raises(sqlite3.DatabaseError, match="prohibited") as caught:
        td.Archive(archive.path).sql(query)
    assert PAN not in chain_of(caught.value)


def test_other_columns_of_the_tables_can_be_read(tmp_path: Path) -> None:
    archive = td.Archive(keeping(tmp_path).path)
    assert archive.sql("SELECT count(*), min(seen_at) > '' FROM main.states") == [(3, 1)]
    assert archive.sql("SELECT count(*) FROM states s JOIN records r ON r.state = s.id") == [(3,)]


def test_a_masked_record_and_a_whole_one_are_the_same_state(tmp_path: Path) -> None:
    archive = keeping(tmp_path)
    rows = [trade(str(number), pan_no=PAN, **NESTED) for number in range(3)]
    masked = response(td.TradeBook, rows, clock("16:00"))
    assert archive.add(masked).changed == 0


def chain_of(error: BaseException) -> str:
    """All that the error and those before it hold."""
    shown = "".join(traceback.format_exception(error))
    links: list[BaseException | None] = [error]
    seen: set[int] = set()
    while links:
        link = links.pop()
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        facts: dict[str, Any] = vars(link)
        held = [getattr(link, name, "") for name in ("object", "doc", "body")]
        shown += f"{link!r} {link.args!r} {facts!r} {held!r}"
        links += [link.__cause__, link.__context__]
    return shown + pickle.dumps(str(error)).decode("latin-1")


def error_of(work: Callable[[td.Archive], object], archive: td.Archive) -> Exception | None:
    try:
        work(archive)
    except (td.ArchiveError, sqlite3.Error) as error:
        return error
    return None


DAMAGE = {
    "not UTF-8": "CAST(CAST(json AS BLOB) || x'ff' AS TEXT)",
    "not UTF-8 within": "CAST(x'7b2261223a22ff222c' || substr(CAST(json AS BLOB), 2) AS TEXT)",
    "not JSON": "json || '}'",
    "cut": "substr(json, 1, length(json) - 1)",
    "a lone surrogate": "replace(json, 'Pune', '\\ud800')",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("keep", [False, True])
def test_f124_the_error_of_a_damaged_row_holds_no_number(
    damage: str, keep: bool, tmp_path: Path
) -> None:
    archive = keeping(tmp_path)
    connection = sqlite3.connect(archive.path)
    with connection:
        connection.execute(f"UPDATE states SET json = {damage} WHERE record = 2")
    connection.close()
    opened = td.Archive(archive.path, keep_personal_data=keep)
    works: dict[str, Any] = {
        **READS,
        "add": lambda archive: archive.add(
            response(td.TradeBook, [trade("1", pan_no=PAN)], clock("16:30"), keep=True)
        ),
        "history": lambda archive: archive.history("2"),
        "export": lambda archive: archive.export(tmp_path / "files"),
        "missing": lambda archive: archive.missing(DAYS[0], DAYS[1]),
    }
    errors = [error for work in works.values() if (error := error_of(work, opened))]
    assert len(errors) >= len(READS)
    for error in errors:
        assert PAN not in chain_of(error)
