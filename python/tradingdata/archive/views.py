"""The views `trades` and `orders`: a row for each record, a typed column for each field.

The views interpret values like the decoder, but in SQL, so that any program that opens the file can
use them: a number sent as text becomes a number; a zero date, or a value that does not fit, becomes
NULL. Times are text that sorts chronologically and that SQLite's date functions accept.
"""

from __future__ import annotations

import sqlite3

from .. import _core

RECORDS = {"trades": "Trade", "orders": "Order"}
"""The books of an archive, with the type of their records."""

_EXACT = 2**53  # beyond it, an integer would be rounded in a float
_GREATEST = "1.7976931348623157e308"
_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_CLOCK = "[0-9][0-9]:[0-5][0-9]:[0-5][0-9]"


_MASKED = "masked_json(CAST(s.json AS BLOB))"
_UNMASKED = "_states"  # a temporary view of the table of states, which only other views may read


def define_views(
    connection: sqlite3.Connection, *, temporary: bool = False, personal: bool = True
) -> None:
    """Creates the views, or replaces those that another version created.

    Args:
        connection: A connection that may write.
        temporary: Whether only this connection sees the views, which then take precedence over
            those in the file.
        personal: Whether the views show personal values unmasked, as those in the file do. If not,
            `hide_personal_values` must be called first.
    """
    schema = "temp.sqlite_master" if temporary else "sqlite_master"
    found = dict(connection.execute(f"SELECT name, sql FROM {schema} WHERE type = 'view'"))
    states = ("main.states" if personal else _UNMASKED) if temporary else "states"
    for name, record in RECORDS.items():
        columns = ["r.account AS account", "r.day AS day", "s.seen_at AS seen_at"]
        for field, kind, _, is_personal in _core.fields_of(record):
            masked = is_personal and not personal
            columns.append(f"{_masked(field) if masked else _column(field, kind)} AS {field}")
        columns.append(f"{'s.json' if personal else _MASKED} AS json")
        query = (
            f"SELECT {', '.join(columns)} FROM records r JOIN {states} s ON s.id = r.state "
            f"WHERE r.book = '{name}'"
        )
        if (found.get(name) or "").endswith(f"AS {query}"):
            continue
        if name in found:
            connection.execute(f"DROP VIEW {'temp' if temporary else 'main'}.{name}")
        connection.execute(f"CREATE {'TEMP ' if temporary else ''}VIEW {name} AS {query}")


def hide_personal_values(connection: sqlite3.Connection) -> None:
    """Masks the personal values in the table of states, for this connection.

    A query can then read them neither in a view nor in the table, not even as `main.states`.
    """
    # Passed as a blob, because errors of the sqlite3 module quote text that is not valid UTF-8.
    connection.create_function(
        "masked_json", 1, lambda json: _core.masked_json(json).decode(), deterministic=True
    )
    connection.execute(f"CREATE TEMP VIEW {_UNMASKED} AS SELECT * FROM main.states")
    connection.execute(
        f"CREATE TEMP VIEW states AS SELECT id, record, fetch, seen_at, {_MASKED} AS json "
        f"FROM {_UNMASKED} s"
    )
    connection.set_authorizer(_authorize)


def _authorize(
    action: int, table: str | None, column: str | None, schema: str | None, view: str | None
) -> int:
    """Allows a query to read the JSON of a state only through the views that mask it."""
    if action != sqlite3.SQLITE_READ or column != "json":
        return sqlite3.SQLITE_OK
    if table == "states" and schema == "main":
        return sqlite3.SQLITE_OK if view == _UNMASKED else sqlite3.SQLITE_DENY
    if table == _UNMASKED:
        return sqlite3.SQLITE_OK if view in ("states", *RECORDS) else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _masked(name: str) -> str:
    """Returns the SQL expression of a personal field's value, masked."""
    return (
        f"CASE json_type({_MASKED}, '$.{name}') "
        f"WHEN 'text' THEN json_extract({_MASKED}, '$.{name}') END"
    )


def _column(name: str, kind: str) -> str:
    """Returns the SQL expression of a field's value in `s.json`."""
    value = f"json_extract(s.json, '$.{name}')"
    sent = f"json_type(s.json, '$.{name}')"
    if kind == "text":
        # A number keeps the digits that it was sent with.
        digits = _digits(name)
        return (
            f"CASE {sent} WHEN 'text' THEN {value} "
            f"WHEN 'integer' THEN {digits} WHEN 'real' THEN {digits} END"
        )
    if kind in ("timestamp", "date"):
        time = _timestamp(value) if kind == "timestamp" else _date(value)
        return f"CASE {sent} WHEN 'text' THEN {time} END"
    number = _number if kind == "number" else _integer
    text = f"trim({value}, ' ')"
    of_text = number(f"json_type({text})", f"json_extract({text}, '$')")
    return (
        f"CASE {sent} WHEN 'text' THEN CASE WHEN json_valid({text}) THEN {of_text} END "
        f"ELSE {number(sent, value)} END"
    )


def _digits(name: str) -> str:
    """Returns a number's JSON text, cut from [number,null] since SQLite before 3.38 lacks `->`."""
    pair = f"json_extract(s.json, '$.{name}', '$[0]')"
    return f"substr({pair}, 2, length({pair}) - 7)"


def _number(sent: str, value: str) -> str:
    return (
        f"CASE {sent} WHEN 'real' "
        f"THEN CASE WHEN {value} BETWEEN -{_GREATEST} AND {_GREATEST} THEN {value} END "
        f"WHEN 'integer' "
        f"THEN CASE WHEN {value} BETWEEN -{_EXACT} AND {_EXACT} THEN CAST({value} AS REAL) END END"
    )


def _integer(sent: str, value: str) -> str:
    return (
        f"CASE {sent} WHEN 'integer' THEN CASE typeof({value}) WHEN 'integer' THEN {value} END "
        f"WHEN 'real' THEN CASE WHEN {value} BETWEEN -{_EXACT} AND {_EXACT} "
        f"AND {value} = CAST({value} AS INTEGER) THEN CAST({value} AS INTEGER) END END"
    )


def _is_day(value: str) -> str:
    """Returns whether the text begins with a calendar day after the zero date."""
    day = f"substr({value}, 1, 10)"
    return f"{value} >= '0001-01-02' AND date(julianday({day})) = {day}"


def _is_timestamp(value: str) -> str:
    """Returns whether the text is a time, with or without a fraction and an offset from UTC."""
    rest, offset = f"substr({value}, 20)", _offset(value)
    return (
        f"{value} GLOB '{_DAY}[ T]{_CLOCK}*' AND {_is_day(value)} "
        f"AND substr({value}, 12, 2) < '24' "
        f"AND ({rest} = {offset} OR {rest} GLOB '.[0-9]*' AND {rest} NOT GLOB '.*.*') "
        f"AND ({offset} IN ('', 'Z') OR {offset} GLOB '[-+][0-9][0-9]' "
        f"OR {offset} GLOB '[-+][0-9][0-9][0-5][0-9]' "
        f"OR {offset} GLOB '[-+][0-9][0-9]:[0-5][0-9]') AND substr({offset}, 2, 2) < '24'"
    )


def _offset(value: str) -> str:
    """Returns what follows the seconds of a time and their fraction."""
    return f"ltrim(substr({value}, 20), '.0123456789')"


def _timestamp(value: str) -> str:
    """Returns the clock time, without its offset and digits beyond a microsecond."""
    clock = f"substr({value}, 12, min(15, length({value}) - 11 - length({_offset(value)})))"
    return f"CASE WHEN {_is_timestamp(value)} THEN substr({value}, 1, 10) || ' ' || {clock} END"


def _date(value: str) -> str:
    is_midnight = f"ltrim(substr({value}, 12), '0:.') = {_offset(value)}"
    return (
        f"CASE WHEN length({value}) = 10 AND {value} GLOB '{_DAY}' AND {_is_day(value)} "
        f"OR {_is_timestamp(value)} AND {is_midnight} THEN substr({value}, 1, 10) END"
    )
