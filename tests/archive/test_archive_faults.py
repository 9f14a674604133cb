"""F111: an archive that cannot be used says why, and what it held stays as it was."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import tradingdata as td
from archiving import archive_with, content, order_response, trade, trade_response
from calls import run_child, within
from service import trades
from signalling import sent_after
from systems import WINDOWS, needs, not_under_wine, posix
from tradingdata.archive import database, schema


def refused(path: Path, match: str) -> td.ArchiveError:
    with pytest.raises(td.ArchiveError, match=match) as caught:
        td.Archive(path)
    assert "\n" not in str(caught.value)
    assert caught.value.file == str(path)
    assert str(path) in str(caught.value)
    return caught.value


# -- files that are no archive --


def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("a list of trades, by hand\n" * 100)
    before = path.read_bytes()
    refused(path, "is not an archive, .* choose another path")
    assert path.read_bytes() == before


def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE trades (price REAL)")
    other.close()
    before = path.read_bytes()
    refused(path, "not an archive of tradingdata: choose another path")
    assert path.read_bytes() == before


def test_a_place_where_no_file_can_be_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, "check that its folder exists")
    refused(tmp_path / "no" / "folder.sqlite", r"cannot be created \(.+\): check its folder")


def test_an_empty_file_becomes_an_archive(tmp_path: Path) -> None:
    """As a program that was killed right after it made the file leaves it (F112)."""
    (tmp_path / "books.sqlite").touch()
    assert archive_with(tmp_path, trade_response(trade())).fetches()[0].new == 1


@pytest.mark.parametrize("content", [b"", bytes(4096), b"SQLite format 3\0"], ids=len)
def test_a_file_without_content_is_no_archive_to_read(tmp_path: Path, content: bytes) -> None:
    """F124: an archive that was cut to nothing is not a new one."""
    path = tmp_path / "books.sqlite"
    path.write_bytes(content)
    with pytest.raises(td.ArchiveError, match="restore a backup"):
        td.Archive(path, create=False)
    assert path.read_bytes() == content


def test_an_archive_that_is_cut_to_nothing_while_it_is_used_says_so(tmp_path: Path) -> None:
    """F124"""
    archive = archive_with(tmp_path, trade_response(trade()))
    os.truncate(archive.path, 0)
    with pytest.raises(td.ArchiveError, match="is empty and not an archive"):
        archive.trades()
    with pytest.raises(td.ArchiveError, match="is empty and not an archive"):
        archive.add(trade_response(trade("2"), at="16:00"))
    client = td.Client("http://127.0.0.1:9", access_token="abcdefgh")
    with client, pytest.raises(td.ArchiveError, match="is empty and not an archive"):
        archive.fetch(client)


def test_an_archive_whose_start_is_lost_is_not_made_anew(tmp_path: Path) -> None:
    """F124: without its marks and its list of tables, SQLite takes it for a new database."""
    archive = archive_with(tmp_path, trade_response(trade()))
    with open(archive.path, "rb+") as file:
        file.seek(60)
        file.write(bytes(60))
    before = Path(archive.path).read_bytes()
    refused(Path(archive.path), r"is damaged \(")
    assert Path(archive.path).read_bytes() == before


def test_a_damaged_file_is_reported(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(*trades(200)))
    size = os.path.getsize(archive.path)
    with open(archive.path, "rb+") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))
    with pytest.raises(td.ArchiveError, match=r"is damaged \(.*\): restore your last backup"):
        archive.trades()


# -- versions --


def test_an_archive_of_a_later_version_is_refused(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(trade()))
    with sqlite3.connect(archive.path) as later:
        later.execute(f"PRAGMA user_version = {len(schema.MIGRATIONS) + 1}")
    later.close()
    refused(Path(archive.path), r"a later version .* pip install -U tradingdata")
    with pytest.raises(td.ArchiveError, match="later version"):
        archive.trades()
    with pytest.raises(td.ArchiveError, match="later version"):
        archive.add(trade_response(trade("2")))


@pytest.fixture
def later_schema(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A version of the schema behind today's; the test says what it does."""
    statements: list[str] = []
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, statements))
    return statements


def test_an_older_archive_is_raised_to_the_newest_schema(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    book = trade_response(*trades(5))
    before = archive_with(tmp_path, book)
    held = before.trades()
    statements = request.getfixturevalue("later_schema")
    statements.append("ALTER TABLE fetches ADD COLUMN note TEXT")
    with pytest.raises(td.ArchiveError, match="earlier version"):
        before.trades()
    raised = td.Archive(before.path)
    assert raised.trades() == held
    assert raised.sql("SELECT note FROM fetches") == [(None,)]
    assert raised.sql("PRAGMA user_version") == [(len(schema.MIGRATIONS),)]
    assert raised.add(trade_response(trade("new"))).new == 1


def test_a_migration_that_fails_leaves_the_archive_as_it_was(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    archive = archive_with(tmp_path, trade_response(*trades(5)))
    before = content(archive)
    with pytest.MonkeyPatch.context() as patched:
        later = ("CREATE TABLE more (id INTEGER)", "DROP TABLE states", "not SQL")
        patched.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, later))
        with pytest.raises(td.ArchiveError, match="syntax"):
            td.Archive(archive.path)
    assert content(archive) == before


# -- another writer --


@pytest.fixture
def held(tmp_path: Path) -> Iterator[td.Archive]:
    """An archive of one response, which another connection is about to write."""
    archive_with(tmp_path, trade_response(trade()))
    archive = td.Archive(tmp_path / "books.sqlite", timeout=0.2)
    other = sqlite3.connect(archive.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute("DELETE FROM states")
    yield archive
    other.close()


def test_a_second_writer_waits_then_says_so(held: td.Archive) -> None:
    with (
        within(0.6, at_least=0.2),
        pytest.raises(td.ArchiveError, match=r"locked by another program .*: try again") as caught,
    ):
        held.add(trade_response(trade("2")))
    assert caught.value.retryable


def test_a_reader_never_passes_over_a_lock_even_where_it_cannot_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a file that nobody can write may be read without its locks."""
    archive = archive_with(tmp_path, trade_response(trade()))
    monkeypatch.setattr(database, "_OPEN_TIMEOUT", 0.1)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with closing(sqlite3.connect(archive.path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode=DELETE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(td.ArchiveError, match="locked by another program"):
            archive.trades()
    assert len(archive.trades()) == 1


def test_a_reader_sees_what_was_there_before_the_writer_began(held: td.Archive) -> None:
    assert len(held.trades()) == 1
    assert held.sql("SELECT count(*) FROM trades") == [(1,)]
    assert len(td.Archive(held.path).fetches()) == 1


def test_a_failed_fetch_while_another_writes_carries_the_book(held: td.Archive) -> None:
    with td.sandbox.start(orders=5) as service, service.client() as client:
        with pytest.raises(td.ArchiveError, match="another program") as caught:
            held.fetch(client)
        assert caught.value.book == client.order_book()
    assert caught.value.account == "desk1"


def test_ctrl_c_ends_the_wait_for_another_writer(held: td.Archive) -> None:
    patient = td.Archive(held.path, timeout=30)
    with sent_after(0.2), within(0.6), pytest.raises(KeyboardInterrupt):
        patient.add(trade_response(trade("2")))


# -- no room, no permission --


def test_a_full_disk_keeps_nothing_of_a_response_and_all_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = archive_with(tmp_path, trade_response(*trades(5)), order_response())
    before = content(archive)
    connect = database._connect

    def connect_with_little_room(path: str, mode: str, patience: float) -> sqlite3.Connection:
        connection = connect(path, mode, patience)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 3}")
        return connection

    with monkeypatch.context() as patched:
        patched.setattr(database, "_connect", connect_with_little_room)
        with pytest.raises(td.ArchiveError, match="its disk is full: free some space") as caught:
            archive.add(trade_response(*trades(500), at="16:00"))
        assert not caught.value.retryable
    assert content(archive) == before
    assert archive.add(trade_response(*trades(500), at="16:00")).rows == 500


@needs("geteuid")
def test_a_disk_that_is_really_full_does_the_same(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system needs the right to mount one")
    try:
        archive = archive_with(disk, trade_response(*trades(5)))
        before = content(archive)
        with pytest.raises(td.ArchiveError, match="its disk is full"):
            archive.add(trade_response(*trades(500), at="16:00"))
        assert content(archive) == before
        assert archive.sql("PRAGMA integrity_check") == [("ok",)]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_file_that_may_not_grow_is_reported(tmp_path: Path) -> None:
    """A quota, as the system's limit on the size of files is one."""
    posix("resource")
    archive = archive_with(tmp_path, trade_response(*trades(5)))
    before = content(archive)
    said = run_child(
        """
import resource
archive = td.Archive(sys.argv[1])
book = td.TradeBook.load(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    archive.add(book)
except td.ArchiveError as error:
    print(error)
""",
        archive.path,
        saved(tmp_path, trade_response(*trades(500), at="16:00")),
    )
    assert "check the disk and its quota" in said
    assert content(archive) == before


def saved(folder: Path, book: td.TradeBook) -> str:
    book.save(folder / "book.json")
    return str(folder / "book.json")


@needs("geteuid")
def test_a_read_only_disk_is_reported_as_such(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4M", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system needs the right to mount one")
    try:
        archive = archive_with(disk, trade_response(trade()))
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        assert len(td.Archive(archive.path).trades()) == 1
        assert archive.sql("SELECT count(*) FROM trades") == [(1,)]
        with pytest.raises(td.ArchiveError, match="is read-only: make the file and its folder"):
            archive.add(trade_response(trade("2"), at="16:00"))
        client = td.Client("http://127.0.0.1:9", access_token="abcdefgh")
        with client, pytest.raises(td.ArchiveError, match="is read-only"):
            archive.fetch(client)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that other users can reach, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="archive"))
    folder.chmod(0o755)
    yield folder
    for path in (folder, *folder.iterdir()):
        path.chmod(0o755)
    shutil.rmtree(folder)


READ_ONLY = """
import os
if hasattr(os, "geteuid") and os.geteuid() == 0:
    # Used once before, since who gives up root may not reach the modules to import.
    with td.Archive(sys.argv[2]) as used:
        used.add(used.trades()), used.sql("SELECT 1"), used.fetches()
    os.setgid(65534), os.setuid(65534)
archive = td.Archive(sys.argv[1])
print(len(archive.trades()), archive.sql("SELECT count(*) FROM trades"), len(archive.fetches()))
for work in (lambda: archive.fetch(td.Client("http://127.0.0.1:9", access_token=TOKEN)),
             lambda: archive.add(archive.trades())):
    try:
        work()
    except td.ArchiveError as error:
        print(error)
"""


@pytest.mark.parametrize(
    "folder_too",
    [
        pytest.param(False, marks=not_under_wine("root writes to read-only files"), id="file"),
        pytest.param(
            True,
            marks=pytest.mark.skipif(WINDOWS, reason="no folder is read-only here"),
            id="file and folder",
        ),
    ],
)
def test_a_read_only_archive_is_read_and_says_that_it_cannot_be_written(
    public_folder: Path, tmp_path: Path, folder_too: bool
) -> None:
    archive = archive_with(public_folder, trade_response(*trades(5)))
    os.chmod(archive.path, 0o444)
    public_folder.chmod(0o555 if folder_too else 0o777)
    read, asked, added = run_child(READ_ONLY, archive.path, str(tmp_path / "used")).splitlines()
    assert read == "5 [(5,)] 1"
    assert "is read-only: make the file and its folder writable" in asked
    assert "read-only" in added
    assert "127.0.0.1" not in asked, "the service must not be asked for what cannot be kept"
