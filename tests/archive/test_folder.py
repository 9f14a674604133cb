"""The folder: its modes, what else is in it, file systems that can less, and what is erased."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import warnings
from contextlib import nullcontext
from pathlib import Path

import pytest

import tradingdata as td
from archive.engines import check_engines, is_named
from archiving import (
    DAY,
    DAYS,
    archive_with,
    numbers,
    order_response,
    trade,
    trade_response,
)
from tradingdata._util.platform import file_lock
from tradingdata.archive import folder, responses, store


def test_the_folder_explains_itself(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(trade("1")), order_response())
    names = {path.name for path in Path(archive.path).iterdir()}
    wanted = "README.md archive.json archive.lock drafts orders responses trades"
    assert names == set(wanted.split())
    text = Path(archive.path, "README.md").read_text()
    assert all(f"`{name}" in text for name in ("trades/", "orders/", "responses/", "drafts/"))
    assert list(Path(archive.path, "drafts").iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_f145_new_files_follow_the_mode_of_the_folder(tmp_path: Path) -> None:
    """A13: 700 if we make it; a folder that was there keeps its own, with the group's bit."""
    for mode in (0o700, 0o755, 0o2770):
        root = tmp_path / f"{mode:o}"
        root.mkdir()
        root.chmod(mode)
        archive = td.Archive(root)
        archive.add(trade_response(trade("1")))
        assert stat.S_IMODE(root.stat().st_mode) == mode
        for path in root.rglob("*"):
            wanted = mode if path.is_dir() else mode & 0o666
            assert stat.S_IMODE(path.stat().st_mode) == wanted, path
    made = td.Archive(tmp_path / "above/books")
    assert stat.S_IMODE(os.stat(made.path).st_mode) == 0o700


def test_a14_what_others_put_there_is_ignored(tmp_path: Path) -> None:
    root = tmp_path / "books"
    (root / "lost+found").mkdir(parents=True)
    (root / ".DS_Store").write_bytes(b"x")
    archive = td.Archive(root)
    archive.add(trade_response(trade("1")))
    month = next(root.glob("responses/*"))
    for name in (".DS_Store", "._x", "Thumbs.db", "2026-11-20 (conflict).parquet", "x.parquet.tmp"):
        for place in (root, month, root / "responses", root / "orders"):
            place.mkdir(exist_ok=True)
            (place / name).write_bytes(b"x")
    archive.add(trade_response(trade("2"), at="16:00"))
    assert numbers(archive.trades(DAY)) == ["1", "2"]
    copy = root / "orders" / "2026-11-20 (conflict).parquet"  # which other engines read
    with pytest.raises(td.ArchiveError, match="is no file of this archive") as caught:
        archive.verify()
    assert str(copy) in str(caught.value)
    copy.unlink()
    assert archive.verify() == 2


@pytest.mark.parametrize("address", ["memory://b", "s3://bucket/books", "file:///tmp/books"])
def test_an_address_is_no_folder(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """N13: and nothing is created."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"path is a folder, not an address .*as one table"):
        td.Archive(address)
    assert list(tmp_path.iterdir()) == []


def test_a11_a_file_system_that_can_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without modes, links or the sync of a folder."""

    def unsupported(*_: object, **__: object) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    for name in ("chmod", "link"):
        monkeypatch.setattr(os, name, unsupported)
    monkeypatch.setattr(folder, "flush_folder", unsupported)
    archive = archive_with(tmp_path, trade_response(trade("1")))
    assert numbers(archive.trades(DAY)) == ["1"]


def test_a_file_that_another_program_has_open_is_replaced_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows: at once if it is closed soon, otherwise by the next writer."""
    archive = archive_with(tmp_path, trade_response(trade("1")))
    replace, left = os.replace, [0]

    def busy(old: str, new: str) -> None:
        if "trades" in new and left[0]:
            left[0] -= 1
            raise PermissionError(13, "used by another process", new)
        replace(old, new)

    monkeypatch.setattr(os, "replace", busy)
    left[0] = 3
    archive.add(trade_response(trade("2"), at="16:00"))
    check_engines(archive)
    left[0] = 10_000
    with pytest.warns(td.DataWarning, match="stored, but not yet in its day"):
        archive.add(trade_response(trade("3"), at="17:00"))
    assert numbers(archive.trades(DAY)) == ["1", "2", "3"]
    left[0] = 0
    archive.add(trade_response(trade("4"), at="18:00"))
    check_engines(archive)


@pytest.mark.parametrize("number", [errno.ESTALE, errno.EACCES, errno.EIO])
def test_a12_an_error_of_the_disk_is_one_of_the_archive(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = archive_with(tmp_path, trade_response(trade("1")))

    def broken(*_: object) -> None:
        raise OSError(number, os.strerror(number), archive.path)

    monkeypatch.setattr(os, "scandir", broken)
    for read in (
        archive.trades,
        lambda: archive.sql("FROM trades"),
        archive.fetches,
        lambda: archive.files("trades"),
    ):
        with pytest.raises(td.ArchiveError, match="damaged or unreadable") as caught:
            read()
        assert caught.value.file == archive.path


def test_a8_nothing_outlives_the_folder(tmp_path: Path) -> None:
    book = trade_response(trade("1"), trade("2"))
    archive = archive_with(tmp_path, book)
    archive.withdraw(archive.fetches()[0].id)
    shutil.rmtree(archive.path)
    archive = archive_with(tmp_path, book)
    assert len(archive.trades(DAY)) == 2


def test_a17_an_erasure_that_failed_is_done_when_it_is_called_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = archive_with(tmp_path, trade_response(trade("1"), account="desk1"))
    monkeypatch.setattr(store, "PATIENCE", 0.05)
    with (
        file_lock(os.path.join(archive.path, "archive.lock"), 5.0),
        pytest.raises(td.ArchiveError, match=r"have held .*try again"),
    ):
        archive.erase("desk1")
    assert archive.erase("desk1") == 1
    assert not is_named(archive, "desk1")
    with pytest.raises(ValueError, match="no account 'desk1'"):
        archive.erase("desk1")


def test_a17_a_draft_of_a_killed_program_is_erased(tmp_path: Path) -> None:
    """Also where it was that of `erase`; a program that is still writing one writes it again."""
    archive = archive_with(tmp_path, trade_response(trade("1"), account="desk1"))
    draft = Path(archive.path, "drafts", "ab" * 16)
    rows = Path(archive.files("trades")[0]).read_bytes()
    for is_known in (True, False):
        draft.write_bytes(rows)
        with nullcontext() if is_known else pytest.raises(ValueError, match="no account 'desk1'"):
            archive.erase("desk1")
        assert not draft.exists()
    files = store.store_of(archive.path, os.getpid()).folder
    drafts: list[str] = []

    def write(path: str) -> None:
        Path(path).write_bytes(b"content")
        if not drafts:
            files.sweep(every=True)
        drafts.append(path)

    files.put(write, "README.md")
    assert len(drafts) == 2
    assert Path(archive.path, "README.md").read_bytes() == b"content"


def test_reading_needs_no_folder_for_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = archive_with(tmp_path, trade_response(trade("1")))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    assert len(archive.trades(DAY)) == len(archive.sql("FROM trades", DAY)) == 1


@pytest.mark.parametrize("name", ["responses/*/*.parquet", "trades/2026-11-20-copy.parquet"])
def test_a17_a_file_that_may_have_an_erased_account_is_named(name: str, tmp_path: Path) -> None:
    """One that is damaged, or a copy that a sync program made."""
    archive = archive_with(tmp_path, trade_response(trade("1"), account="a"))
    root = Path(archive.path)
    (path,) = root.glob(name) if "*" in name else [root / name]
    path.write_bytes((path if "*" in name else next(root.glob("trades/*"))).read_bytes()[:-9])
    store.store_of.cache_clear()
    with pytest.warns(td.DataWarning, match=f"{re.escape(str(path))} may have some of the account"):
        td.Archive(root).erase("a")


def test_a17_a_label_that_only_a_retirement_has_is_erased(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(trade("1"), account="desk1"))
    archive.retire("desk1", DAY)
    settings = Path(archive.path, "archive.json")
    backup = settings.read_bytes()
    archive.erase("desk1")
    settings.write_bytes(backup)
    assert archive.erase("desk1") == 1
    assert "desk1" not in settings.read_text()


def test_a_copy_is_an_archive_of_its_own(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(trade("1")), tz="UTC")
    lost = archive.add(trade_response(trade("2", quantity="ten"), at="16:00"))
    copy = archive.copy(tmp_path / "copy")
    assert str(copy.tz) == "UTC"
    assert copy.fetches() == archive.fetches()
    copy.withdraw(lost.id)
    assert numbers(copy.trades()) == ["1"]
    with pytest.warns(td.DataWarning, match="quantity"):
        assert numbers(archive.trades()) == ["1", "2"]
    with pytest.raises(td.ArchiveError, match="other files"):
        archive.copy(tmp_path / "copy/trades")
    for known in (archive.path, copy.path):
        with pytest.raises(td.ArchiveError, match="an archive already: copy to a folder that is"):
            archive.copy(known)


def test_a6_a_warning_that_is_an_error_costs_no_book(tmp_path: Path) -> None:
    """F182: of a client whose response has a value that does not fit."""
    with td.sandbox.start(orders=6) as service:
        client = service.client()
        body = '{"status": "success", "data": [{"trade_no": "1", "quantity": "NA"}]}'
        service.fail_next(200, body=body, endpoint="trade_book")
        archive = td.Archive(tmp_path / "books")
        with warnings.catch_warnings():
            warnings.simplefilter("error", td.DataWarning)
            with pytest.raises(td.DataWarning, match="Trade"):
                archive.fetch(client)
    assert [(entry.book, entry.ok) for entry in archive.fetches()] == [
        ("orders", True),
        ("trades", True),
    ]


def test_a5_a_holiday_is_an_empty_day(tmp_path: Path) -> None:
    archive = archive_with(tmp_path, trade_response(trade("1")), holidays=[DAYS[3]])
    with pytest.warns(td.DataWarning, match="2026-11-19 is one of `holidays`"):
        assert len(archive.trades(DAYS[3])) == 0


def test_a21_a_day_that_ended_after_its_last_response(tmp_path: Path) -> None:
    path = archive_with(
        tmp_path, trade_response(trade("1"), at="18:30"), order_response(at="23:45")
    ).path
    archive = td.Archive(path, closes="23:30")
    assert [gap.books for gap in archive.missing(DAY)] == [("trades",)]
    assert archive.missing(DAY, after="15:30") == []
    with pytest.warns(td.DataWarning, match="the trades of 2026-11-20 only as of before 23:30"):
        archive.trades(DAY)
    assert archive.orders(DAY) == td.OrderBook()


def test_an_id_tells_nothing_of_the_account(tmp_path: Path) -> None:
    book = trade_response(trade("1"), account="desk1")
    ids = {archive_with(tmp_path / name, book).fetches()[0].id for name in "ab"}
    assert len(ids) == 2
    assert {len(one) for one in ids} == {24}
    assert responses.Entry("x").order == (-1, 0, "", "x")
