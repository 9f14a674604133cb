"""Seals the content of an archive that was written before archives had checksums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._util.time_zones import zone_of_text
from . import checksums, fetch_log
from .coverage import complete_days
from .failures import Damage

if TYPE_CHECKING:
    import sqlite3

# Per book and account, the log has the number of records that each fetch added.
_LOST = """SELECT book, account, sum(found), sum(wanted) FROM (
        SELECT book, account, count(*) AS found, 0 AS wanted FROM records GROUP BY 1, 2
        UNION ALL SELECT book, account, 0, sum(new) FROM fetches GROUP BY 1, 2
    ) GROUP BY 1, 2 HAVING sum(found) <> sum(wanted)"""
_WITHOUT_STATE = """SELECT count(*) FROM records r
    LEFT JOIN states s ON s.id = r.state AND s.record = r.id WHERE s.id IS NULL"""


def seal_all(connection: sqlite3.Connection, zone: str) -> None:
    """Seals every day and the log, after checking that nothing has been lost from them.

    Raises:
        Damage: Records or states are missing. Sealing them would make the file look complete.
    """
    checksums.check_structure(connection)
    for book, _, found, wanted in connection.execute(_LOST):
        raise Damage(f"{found} {book} instead of {wanted}")
    (without,) = connection.execute(_WITHOUT_STATE).fetchone()
    if without:
        raise Damage(f"{without} records without a state")
    known: dict[tuple[str, str], tuple[set[str], set[str]]] = {}
    for book, account, day in connection.execute("SELECT DISTINCT book, account, day FROM records"):
        known.setdefault((book, account), (set(), set()))[0].add(day)
    fetch_log.seal(connection)
    for entry in fetch_log.read_all(connection, zone_of_text(zone)):
        fetched = known.setdefault((entry.book, entry.account or ""), (set(), set()))[1]
        fetched.update(map(str, complete_days(entry)))
    for (book, account), (changed, fetched) in known.items():
        checksums.seal_days(connection, book, account, changed | fetched, fetched)
