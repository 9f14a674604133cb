"""Damage of an archive's files is healed or named, and never fewer rows."""

from __future__ import annotations

import datetime as dt
import json
import random
import re
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from archive.engines import check_engines, damage_bodies, rewrite
from archiving import (
    archive_with,
    clock,
    numbers,
    order,
    order_response,
    response,
    trade,
    trade_response,
)
from tradingdata.archive import folder, store

DAYS = [dt.date(2026, 11, day) for day in (18, 19, 20)]


def books() -> list[Any]:
    """Three days of trades and orders, as they are received."""
    found: list[Any] = []
    for day in DAYS:
        for kind, make in ((td.TradeBook, trade), (td.OrderBook, order)):
            records = [make(f"{day.day}{number}", day) for number in range(20)]
            found.append(response(kind, records, clock("15:45", day)))
    return found


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three days of trades and orders, one commit for each."""
    return Path(archive_with(tmp_path_factory.mktemp("sound"), *books()).path)


@pytest.fixture
def root(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "books"))


def opened(root: Path) -> td.Archive:
    """The archive as another process has it."""
    store.store_of.cache_clear()
    return td.Archive(root)


def day_files(root: Path) -> list[Path]:
    return sorted([*root.glob("trades/*.parquet"), *root.glob("orders/*.parquet")])


def response_files(root: Path) -> list[Path]:
    return sorted(root.glob("responses/*/*.parquet"))


def response_of(root: Path, book: str, day: dt.date) -> Path:
    """The file with the response of a book and a day."""
    import duckdb

    with duckdb.connect() as own:
        files = f"read_parquet('{root}/responses/*/*.parquet', filename = true)"
        query = f"SELECT filename FROM {files} WHERE book = $1 AND day = $2"
        ((name,),) = own.execute(query, [book, str(day)]).fetchall()
    return Path(name)


def read_everything(root: Path) -> None:
    """Reads all days in each way; raises unless all 120 rows are there."""
    archive = td.Archive(root, create=False)
    assert len(archive.trades(DAYS[0], DAYS[-1])) == 60
    assert len(archive.orders(DAYS[0], DAYS[-1])) == 60
    assert [*map(tuple, archive.sql("SELECT count(symbol) FROM trades", DAYS[0], DAYS[-1]))] == [
        (60,)
    ]
    assert len(archive.scan("orders", DAYS[0], DAYS[-1]).fetchall()) == 60


def name_of_a_column(file: Path, name: bytes) -> None:
    """Changes the name of the column ``symbol`` in the file's schema."""
    before, _, after = file.read_bytes().rpartition(b"symbol")
    file.write_bytes(before.replace(b"symbol", name) + name + after)


def a_page(file: Path) -> None:
    content = file.read_bytes()
    third = len(content) // 3
    file.write_bytes(content[:4] + bytes(third) + content[4 + third :])


# What is done to a file.
DAMAGE: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-20]),
    "zeros": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "a page": a_page,
    # A20: what a wrong restore leaves; each file names its day.
    "that of another day": lambda file: shutil.copy(file.with_name(f"{DAYS[2]}.parquet"), file),
    "a renamed column": lambda file: name_of_a_column(file, b"symbom"),
    "a column without a name": lambda file: name_of_a_column(file, b"symb\xefl"),
}
# What is only noticed when rows are read, and not by a writer that adds to other days.
HIDDEN = {"that of another day", "a page", "a renamed column", "a column without a name"}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("book", ["trades", "orders"])
def test_f124_f135_the_file_of_a_day(book: str, damage: str, root: Path) -> None:
    """Each reader folds it in memory, and the next writer that notices it makes it again."""
    file = root / book / f"{DAYS[1 if book == 'trades' else 0]}.parquet"
    DAMAGE[damage](file)
    queries = ("SELECT symbol FROM", "SELECT count(DISTINCT symbol) FROM", "FROM")
    for query in (*(f"{words} {book}" for words in queries), ""):
        archive = opened(root)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            if query:
                assert len(archive.sql(query, DAYS[0], DAYS[-1])) in (60, 1)
            assert len(getattr(archive, book)(DAYS[0], DAYS[-1])) == 60
            assert len(archive.history("180")) == 1
        assert bool(said) == (damage != "missing")
        assert all(str(file) in str(warning.message) for warning in said)
    remedy = "missing: the next" if damage == "missing" else ".*: delete it, and"
    with pytest.raises(td.ArchiveError, match=rf"{re.escape(str(file))}.*{remedy}"):
        archive.verify()
    if damage in HIDDEN:
        file.unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.add(response(td.TradeBook, [], clock("15:45", DAYS[-1] + dt.timedelta(3))))
    check_engines(archive)
    read_everything(root)
    assert archive.verify() == 120


@pytest.mark.parametrize("damage", sorted(DAMAGE.keys() - HIDDEN))
def test_f144_a_file_of_responses(damage: str, root: Path) -> None:
    """Rows stay, new responses are stored, and adding the response again repairs it."""
    file = response_of(root, "trades", DAYS[0])
    DAMAGE[damage](file)
    archive = td.Archive(root)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert len(archive.fetches()) == 5
    assert [str(file) in str(each.message) for each in said] == [True] * (damage != "missing")
    for read in (archive.trades, lambda *days: archive.sql("FROM trades", *days)):
        with pytest.raises(td.ArchiveError, match="trades of 2026-11-18, which were") as caught:
            read(DAYS[0], DAYS[-1])
        assert (f"{file}, which is damaged" in str(caught.value)) == (damage != "missing")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert len(archive.trades(DAYS[0], DAYS[-1], missing_ok=True)) == 60
    assert any("rows of responses that" in str(each.message) for each in said)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for book in [*books(), response(td.TradeBook, [trade("new")], clock("16:45"))]:
            archive.add(book)
        assert len(archive.trades(DAYS[0], DAYS[-1])) == 61
        check_engines(archive)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def lose_body(path: Path) -> None:
    rewrite([path], path, "encode('x')")


@pytest.mark.parametrize(
    ("damage", "read"),
    [
        (lose_body, lambda archive: archive.history("1")),
        (lose_body, lambda archive: archive.sql("FROM order_states", DAYS[-1])),
        (cut, lambda archive: archive.sql("FROM order_states", DAYS[-1])),
        (cut, lambda archive: archive.sql("FROM fetches", DAYS[-1])),
        (cut, lambda archive: archive.trades(DAYS[0], missing_ok=True)),  # it may have rows of any
    ],
    ids=["history", "states", "states of the rest", "fetches", "another day"],
)
def test_f135_f144_what_a_read_lacks_is_named(
    damage: Callable[[Path], None], read: Callable[[td.Archive], Any], tmp_path: Path
) -> None:
    states = [order_response(order("1", quantity=at), at=f"1{at}:00") for at in (1, 2)]
    earlier = response(td.TradeBook, [trade("1", DAYS[0])], clock("15:45", DAYS[0]))
    archive = archive_with(tmp_path, *states, earlier)
    (place,) = archive._store.log().places[archive.fetches()[0].id]
    path = Path(archive.path, place)
    damage(path)
    words = "is damaged: restore" if damage is cut else "lacks the body of a response of 2026-11-20"
    with pytest.warns(td.DataWarning, match=f"{re.escape(str(path))} {words}"):
        assert len(read(opened(Path(archive.path)))) == 1


@pytest.mark.parametrize(
    "name", ["2026-11-20 (1).parquet", "2026-11-20-conflict.parquet", "old/x.parquet"]
)
def test_f183_a_file_beside_the_days_is_named(name: str, root: Path) -> None:
    """Such as the copy of a sync program, of which other engines read every row twice."""
    archive = td.Archive(root)
    (root / "trades" / ".DS_Store").touch()
    assert archive.verify() == 120
    copy = root / "trades" / name
    copy.parent.mkdir(exist_ok=True)
    shutil.copy(root / "trades" / "2026-11-20.parquet", copy)
    with pytest.raises(td.ArchiveError, match="other engines") as caught:
        archive.verify()
    assert str(root / "trades" / name.split("/")[0]) in str(caught.value)
    assert "more" not in str(caught.value)


@pytest.mark.parametrize("kind", ["day", "responses"])
@pytest.mark.parametrize("seed", [*range(3), pytest.param(99, marks=pytest.mark.slow)])
def test_f135_a_flipped_bit_is_named_or_harmless(seed: int, kind: str, root: Path) -> None:
    """Whatever `verify` accepts is as it was, and no reader raises an error of DuckDB."""
    chance = random.Random(seed)
    wanted = _all_that_is_read(td.Archive(root))
    file = day_files(root)[-1] if kind == "day" else response_files(root)[0]
    sound = file.read_bytes()
    for _ in range(100 if seed == 99 else 4):
        content = bytearray(sound)
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        file.write_bytes(content)
        archive = opened(root)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = _all_that_is_read(archive)
            try:
                archive.verify()
            except td.ArchiveError:
                continue
        assert found == wanted


def _all_that_is_read(archive: td.Archive) -> list[Any]:
    """What each reader has, or nothing where it has an error of ours."""
    results: list[Any] = []
    for read in (
        lambda: archive.trades(DAYS[0], DAYS[-1]),
        lambda: archive.orders(DAYS[0], DAYS[-1]),
        lambda: archive.history("180"),
        lambda: archive.sql("SELECT * FROM order_states ORDER BY ALL", DAYS[0], DAYS[-1]),
        archive.fetches,
    ):
        try:
            results.append([*read()])
        except (td.ArchiveError, td.ConfigurationError):
            results.append(None)
    return results


def test_an_archive_of_another_format_is_not_read(root: Path) -> None:
    """Nothing is written into it."""
    settings = json.loads((root / "archive.json").read_text())
    settings = {name: settings[name] for name in settings if name != "seal"} | {"tradingdata": 4}
    folder.Folder(str(root)).write_settings(settings)
    with pytest.raises(td.ArchiveError, match="has format 4, and this version of tradingdata"):
        td.Archive(root)
    for content in (b"", b"{", b"[]", b'{"tradingdata": 5}'):
        (root / "archive.json").write_bytes(content)
        with pytest.raises(td.ArchiveError, match="is damaged: restore a backup of it"):
            td.Archive(root)


@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_without_its_settings_an_archive_stores_and_nothing_else(damage: str, root: Path) -> None:
    """They have what was withdrawn, so that nothing is read or repeated; F112."""
    archive, settings = td.Archive(root), root / "archive.json"
    wrong = archive.add(trade_response(trade("wrong"), at="17:05"))
    archive.withdraw(wrong.id)
    content = settings.read_bytes()
    settings.write_bytes(content[:-9])
    if damage == "missing":
        settings.unlink()
    uses: list[Callable[[], object]] = [
        *(lambda: td.Archive(root), lambda: td.Archive(root, create=False)),
        *(archive.trades, archive.verify, lambda: archive.sql("SELECT * FROM trades")),
        *(lambda: archive.erase(None), lambda: archive.copy(root.parent / "copy")),
    ]
    before = sorted(root.rglob("*"))
    for use in uses:
        with pytest.raises(td.ArchiveError, match=f"json is {damage}: restore a backup") as no:
            use()
        assert no.value.file == str(settings)
    assert sorted(root.rglob("*")) == before
    assert not (root.parent / "copy").exists()
    with pytest.warns(td.DataWarning, match=f"stored, but not yet in its day .*json is {damage}"):
        assert archive.add(trade_response(trade("wrong"), at="17:06")).stored
    settings.write_bytes(content)
    assert "wrong" in numbers(td.Archive(root).trades(DAYS[-1]))


def test_without_its_folder_an_archive_stores_nothing(tmp_path: Path) -> None:
    """A15: as when its disk is not mounted; the book comes back with the error."""
    archive = archive_with(tmp_path, trade_response(trade("1")))
    shutil.rmtree(archive.path)
    book = trade_response(trade("2"))
    with pytest.raises(td.ArchiveError, match="json is missing: restore a backup") as caught:
        archive.add(book, account="desk1")
    assert caught.value.books == (book,)
    assert not Path(archive.path).exists()


def join(root: Path) -> Path:
    """Has the responses in one file, as if their day were over."""
    singles = response_files(root)
    joined = singles[0].with_name(f"{singles[0].name[:10]}-{'0' * 12}.parquet")
    rewrite(singles, joined)
    for path in singles:
        path.unlink()
    return joined


def test_f183_bodies_are_found_where_they_were_joined(tmp_path: Path) -> None:
    """The states of an order, read while another program joins its responses."""
    states = [order_response(order("1", quantity=at), at=f"1{at}:00") for at in (1, 2)]
    archive = archive_with(tmp_path, *states)
    responses = archive._store.responses
    entries = list(responses.refresh().entries.values())
    join(Path(archive.path))
    assert all(body for _, body in responses.bodies(entries))


def test_f183_what_cannot_be_erased_keeps_nobody_from_a_day(tmp_path: Path) -> None:
    """A damaged file has responses of two accounts, one of which is erased."""
    books = [trade_response(trade(label), at="10:00", account=label) for label in "ab"]
    root = Path(archive_with(tmp_path, *books).path)
    joined = join(root)
    damage_bodies(joined)
    archive = opened(root)
    with pytest.raises(td.ArchiveError, match=joined.name):
        archive.erase("a")
    with pytest.warns(td.DataWarning, match=joined.name):
        archive.add(trade_response(trade("c"), at="16:00", account="b"))
    assert numbers(archive.trades(DAYS[-1])) == ["b", "c"]
    check_engines(archive)


@pytest.mark.parametrize("remedy", ["a backup", "the same response", "a repeat"])
def test_f135_a_body_that_cannot_be_read_is_named_until_it_is_restored(
    remedy: str, tmp_path: Path
) -> None:
    """The day's file is lost, and with it the only other place of the rows.

    What is stored once for all its repeats must not stay damaged; borgbackup/borg#4744.
    """
    book = trade_response(trade("1"), trade("2"))
    root = Path(archive_with(tmp_path, book).path)
    (path,), (day,) = response_files(root), day_files(root)
    sound = path.read_bytes()
    lose_body(path)
    day.unlink()
    archive = opened(root)
    with pytest.warns(td.DataWarning, match="lacks the rows of 1 response"):
        archive.add(trade_response(trade("3"), at="10:00"))
    with pytest.warns(td.DataWarning, match="restore a backup of .*responses"):
        assert numbers(archive.trades(DAYS[2])) == ["3"]
    if remedy == "a backup":
        path.write_bytes(sound)
    else:
        again = trade_response(trade("1"), trade("2"), at="16:00")
        archive.add(book if remedy == "the same response" else again)
    assert numbers(opened(root).trades(DAYS[2])) == ["1", "2", "3"]


def test_f183_a_restored_body_has_its_rows_once(tmp_path: Path) -> None:
    """Where the other response of the day is lost: two files have the restored one then."""
    book = trade_response(trade("1"), trade("1", quantity=5, txn_type="S"), at="10:00")
    root = Path(archive_with(tmp_path, book).path)
    (damaged,) = response_files(root)
    td.Archive(root).add(trade_response(trade("2"), at="11:00"))
    for path in response_files(root):
        if path != damaged:
            path.unlink()
    lose_body(damaged)
    archive = opened(root)
    with pytest.warns(td.DataWarning):
        archive.add(book)
    assert numbers(archive.trades(DAYS[2])) == ["1", "1", "2"]
    check_engines(archive)
