"""The bodies that cases decode, and the programs that show the least a task can cost: made once."""

from __future__ import annotations

import datetime as dt
import gzip
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from .contest import TESTS

Record: TypeAlias = dict[str, object]

MAKERS = [TESTS / "support/service/records.py", Path(__file__)]
FLOORS = Path(__file__).with_name("floors")
CPP = TESTS.parent / "cpp"
FLAGS = "-std=c++20 -O3 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror".split()


def folder() -> Path:
    """Where bodies and compiled programs are kept from one run to the next."""
    kept = Path(tempfile.gettempdir()) / f"tradingdata-bench-{os.getuid()}"
    kept.mkdir(mode=0o700, exist_ok=True)
    if kept.stat().st_uid != os.getuid():
        raise PermissionError(f"{kept} belongs to another user; set TMPDIR")
    return kept


def digest(*files: Path) -> str:
    """Names what was made from these files, so that a changed file makes it anew."""
    total = hashlib.sha256()
    for file in files:
        total.update(file.read_bytes())
    return total.hexdigest()[:12]


def book(record: str, count: int, form: str = "compact") -> Path:
    """A response of `count` records in one of FORMS, as a file."""
    path = folder() / f"{record}-{count}-{form}-{digest(*MAKERS)}.json"
    if not path.exists():
        print(f"making {count:,} {record}s, {form} ...", file=sys.stderr)
        from service import envelope, orders, trades

        records = {"Trade": trades, "Order": orders}[record](count)
        if form == "hard":
            records = [_changing(*one) for one in enumerate(records)]
        _write(path, FORMS[form](envelope(records)).encode())
    return path


def _write(path: Path, content: bytes) -> None:
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(content)
    unfinished.replace(path)


def compressed(body: Path) -> Path:
    """The same body as gzip, of the level that servers use."""
    path = body.with_name(f"{body.name}.gz")
    if not path.exists():
        _write(path, gzip.compress(body.read_bytes(), 6))
    return path


def libcurl_floor() -> Path:
    """Calls and downloads with bare libcurl."""
    return _program("libcurl_floor", digest(*_sources("libcurl_floor")), [], ["-lcurl"])


def walk_floor() -> Path:
    """The decoder alone, without Python and on warm memory. Needs cmake, for the core's library."""
    core = sorted((CPP / "src").rglob("*.[ch]pp"))
    made_from = digest(*_sources("walk_floor"), *core)
    program = folder() / f"walk_floor-{made_from}"
    if program.exists():
        return program
    build = folder() / f"core-{made_from}"
    settings = ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON")
    _quietly("cmake", "-S", str(CPP), "-B", str(build), "-DTRADINGDATA_TESTS=OFF", *settings)
    _quietly("cmake", "--build", str(build), "--target", "tradingdata_decode", "-j2")
    libraries = [str(build / f"libtradingdata_{layer}.a") for layer in ("decode", "table", "base")]
    options = ["-flto=auto", f"-I{CPP / 'src'}"]
    return _program("walk_floor", made_from, options, [*libraries, "-pthread"])


def _sources(name: str) -> list[Path]:
    return [FLOORS / f"{name}.cpp", FLOORS / "rounds.hpp"]


def _program(name: str, made_from: str, options: list[str], libraries: list[str]) -> Path:
    program = folder() / f"{name}-{made_from}"
    if not program.exists():
        unfinished = f"{program}.{os.getpid()}"
        compiler = os.environ.get("CXX", "g++")
        source = str(FLOORS / f"{name}.cpp")
        _quietly(compiler, *FLAGS, *options, source, "-o", unfinished, *libraries)
        Path(unfinished).replace(program)
    return program


def _quietly(*command: str) -> None:
    print(f"$ {' '.join(command)}", file=sys.stderr)
    # cmake may be the environment's own, which is not on the PATH unless it is activated.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def _spaced(value: object) -> str:
    """As json writes it by default: a space behind each colon and comma."""
    return json.dumps(value, ensure_ascii=False)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _reversed(whole: dict[str, object]) -> str:
    """Each record's keys from last to first."""
    records = [dict(reversed(record.items())) for record in _records(whole)]
    return _compact(whole | {"data": records})


def _unknown(whole: dict[str, object]) -> str:
    """Three fields that no document knows, before, amid and behind the known ones."""
    records = []
    for index, record in enumerate(_records(whole)):
        known = list(record.items())
        middle = len(known) // 2
        records.append(
            {
                "venue_code": f"V{index % 7}",
                **dict(known[:middle]),
                "fees": {"stt": 1.25, "stamp": index % 100 / 8},
                **dict(known[middle:]),
                "tags": ["a", index],
            }
        )
    return _compact(whole | {"data": records})


def _changing(index: int, record: Record) -> Record:
    """Another day and another name in every record, some of them not ASCII."""
    day = (dt.date(2024, 1, 1) + dt.timedelta(days=index * 7 % 731)).isoformat()
    times = {
        name: f"{day}{value[10:]}"
        for name, value in record.items()
        if name.endswith("_time") and isinstance(value, str)
    }
    expiry = {"expiry_date": f"{2025 + index % 3}-{1 + index % 12:02}-{1 + index % 28:02}"}
    name = {"display_name": f"{NAMES[index % len(NAMES)]} {index}"}
    return record | times | expiry | name


def _hard(whole: dict[str, object]) -> str:
    """Unknown keys, spaces, and escapes as Go writes them, beside text that is not ASCII."""
    text = _spaced(json.loads(_unknown(whole)))
    return text.replace("&", r"\u0026").replace("ü", r"\u00fc")


def _records(whole: dict[str, object]) -> list[dict[str, object]]:
    records = whole["data"]
    assert isinstance(records, list)
    return records


FORMS: dict[str, Callable[[dict[str, object]], str]] = {
    "compact": _compact,
    "spaced": _spaced,
    "reversed": _reversed,
    "unknown": _unknown,
    "hard": _hard,
}
NAMES = ("Mahindra & Mahindra", "हिंदुस्तान यूनिलीवर", "Société Générale", "Müller & Söhne", "SBI")
