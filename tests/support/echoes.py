"""Responses that repeat an access token, as careless services do: spellings, bodies, and a reader.

`pieces_in` is independent of the package: it undoes escapes with the standard library and looks
for any twelve characters of the token in a row, or for the complete token where it is shorter.
"""

from __future__ import annotations

import html
import json
import pickle
import random
import re
import traceback
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from service import Behaviour, reply

TESTS = str(Path(__file__).parents[1])
PIECE = 12
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_RARE = "-._~+/=0123456789QXZ"  # in every piece, so that no word of a message passes for one


def random_token(seed: int, length: int) -> str:
    chance = random.Random(seed)
    return "".join(chance.choice(_PLAIN if at % 3 else _RARE) for at in range(length))


def _each(form: str) -> Callable[[str], str]:
    return lambda token: "".join(form % ord(letter) for letter in token)


def _only(letters: str, form: str) -> Callable[[str], str]:
    return lambda token: "".join(
        form % ord(letter) if letter in letters else letter for letter in token
    )


def _mixed(token: str) -> str:
    chance = random.Random(token)
    forms = ["%c", "\\u%04x", "%%%02X", "&#%d;", "%%25%02x"]
    return "".join(chance.choice(forms) % ord(letter) for letter in token)


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "plus as .NET writes it": _only("+=/", "\\u%04X"),
    "equals as Gson writes it": _only("=", "\\u%04x"),
    "slashes as PHP writes them": lambda token: token.replace("/", "\\/"),
    "all JSON escapes": _each("\\u%04x"),
    "JSON within JSON": _each("\\\\u%04X"),
    "percent": lambda token: urllib.parse.quote(token, safe=""),
    "all percent": _each("%%%02x"),
    "percent twice": lambda token: urllib.parse.quote(urllib.parse.quote(token, safe=""), safe=""),
    "all percent twice": _each("%%25%02X"),
    "HTML": _only("+=/&", "&#%d;"),
    "all HTML": _each("&#x%02x;"),
    "HTML names": lambda token: token.translate({43: "&plus;", 61: "&equals;", 47: "&sol;"}),
    "HTML within JSON": _each("\\u0026#%d;"),
    "mixed": _mixed,
}


def _valid_in_json(text: str) -> str:
    """Escapes the backslashes that JSON does not know, as a service that logs such text does."""
    return re.sub(r'\\(?![\\/"bfnrt]|u[0-9a-fA-F]{4})', r"\\\\", text)


def _around(before: str, after: str, *, json: bool = True) -> Callable[[str], bytes]:
    return lambda text: f"{before}{_valid_in_json(text) if json else text}{after}".encode()


BODIES: dict[str, Callable[[str], bytes]] = {
    "JSON": _around('{"status":"error","message":"', '","data":null}'),
    "nested JSON": _around('{"error":{"code":7,"details":["', '"]}}'),
    "key of JSON": _around('{"status":"failed","', '":true}'),
    "HTML": _around("<!DOCTYPE html><html><body><p>", "</p></body></html>", json=False),
    "plain text": str.encode,
    "header dump": _around("Authorization: Bearer ", "\r\nAccept: */*\r\n", json=False),
    "cut JSON": _around('{"status":"success","data":[{"remarks":"', ""),
    "UTF-16": lambda text: text.encode("utf-16"),
}


def echo(status: int, body: bytes) -> Behaviour:
    return reply(status, body, headers={"Content-Type": "text/html"})


def _readings(text: str) -> set[str]:
    """The text, and what is left of it when escapes are resolved, in any order."""
    found = {text}
    new = {text}
    for _ in range(4):
        new = {undo(one) for one in new for undo in _UNDO} - found
        found |= new
    return found


def _unescaped(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        return chr(int(match[1], 16))

    text = re.sub(r"\\u([0-9a-fA-F]{4})", character, text)
    return re.sub(r"\\([^a-zA-Z0-9])", r"\1", text)


_UNDO: tuple[Callable[[str], str], ...] = (
    html.unescape,
    urllib.parse.unquote,
    _unescaped,
    lambda text: text.replace("\0", "").replace("\N{REPLACEMENT CHARACTER}", ""),
)


def pieces_in(text: str, token: str) -> set[str]:
    """The pieces of a token that can be read in a text."""
    size = min(PIECE, len(token))
    wanted = {token[at : at + size] for at in range(len(token) - size + 1)}
    found = set()
    for reading in _readings(text):
        found |= wanted & {reading[at : at + size] for at in range(len(reading) - size + 1)}
    return found


def said_by(error: BaseException) -> str:
    """All that any tool shows of an error: its traceback with every local, its pickle, its body."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    # The lines and locals of tests hold the token by themselves.
    shown.stack[:] = [frame for frame in shown.stack if not frame.filename.startswith(TESTS)]
    facts = {**vars(error), "args": error.args}
    pickled = pickle.dumps(error).decode("latin-1")
    body = getattr(error, "body", "")
    return "\n".join([*shown.format(), str(error), repr(error), repr(facts), body, pickled])


def shown_of(book: Any, folder: Path) -> str:
    """All that a book shows, keeps and gives away."""
    row, response = book[0], book.response
    parts = [book, row, book.issues, book.extra_fields, response, response.facts()]
    parts += [response.content, book._repr_html_(), row._repr_html_()]
    parts += [book.to_dicts(extra=True), row._asdict(extra=True), book.to_dict(extra=True)]
    parts += [book.to_csv(extra=True), book._rows.to_json()]
    parts += [pickle.dumps(one) for one in (book, row, book[:1], book.issues)]
    book.save(folder / "book.json", overwrite=True)
    parts.append((folder / "book.json").read_bytes())
    return "\n".join(
        part.decode("latin-1") if isinstance(part, bytes) else str(part) for part in parts
    )


def success_with(text: str, where: str) -> bytes:
    """A good book of one trade that holds the text in a field, a key or the envelope."""
    text = _valid_in_json(text)
    record = '"order_no":"1","symbol":"INFY","quantity":5'
    message = "Success"
    beside = ""
    if where == "documented field":
        record = record.replace("INFY", text)
    elif where == "unknown field":
        record += f',"debug":"{text}"'
    elif where == "nested field":
        record += f',"debug":{{"headers":["Bearer {text}"]}}'
    elif where == "name":
        record += f',"{text}":1'
    elif where == "wrong type":
        record = record.replace("5", f'["{text}"]')
    elif where == "message":
        message = text
    elif where == "beside data":
        beside = f',"session":"{text}"'
    body = f'{{"status":"success","message":"{message}","data":[{{{record}}}]{beside}}}'.encode()
    json.loads(body)
    return body


# Where a book loses a token: everywhere but in the documented fields.
PLACES = ("unknown field", "nested field", "name", "message", "beside data")
