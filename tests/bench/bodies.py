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
import zlib
from collections.abc import Callable
from pathlib import Path

from .contest import TESTS
from .day import FILLS, Record, records

MAKERS = [TESTS / "support/service/records.py", Path(__file__).with_name("day.py"), Path(__file__)]
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


TOUCHED = 6 << 30  # bytes, more than all processes of the largest contest take


def touch_memory() -> None:
    """Writes to as much memory as the largest contest takes, in a process that then ends.

    A virtual machine pays for each page that it never used before, which would slow the first large
    case and nothing after it.
    """
    available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    size = min(TOUCHED, available * 2 // 3)
    code = "import sys; b'1' * int(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(size)], check=False)


def digest(*files: Path) -> str:
    """Names what was made from these files, so that a changed file makes it anew."""
    total = hashlib.sha256()
    for file in files:
        total.update(file.read_bytes())
    return total.hexdigest()[:12]


def book(record: str, count: int, form: str = "compact", fills: int = FILLS) -> Path:
    """A response of `count` records in one of FORMS, as a file.

    A book of orders and one of trades belong together if there are `fills` times as many trades.
    """
    path = folder() / f"{record}-{count}-{fills}-{form}-{digest(*MAKERS)}.json"
    if not path.exists():
        print(f"making {count:,} {record}s, {form} ...", file=sys.stderr)
        made = records(record, count, fills)
        if form == "hard":
            made = (_changing(*one) for one in enumerate(made))
        if form == "compact":
            with path.with_suffix(f".{os.getpid()}").open("wb") as file:
                file.write(b'{"data":[')
                for index, one in enumerate(made):
                    file.write(b"," * (index > 0) + _compact(one).encode())
                file.write(b'],"message":"Success","status":"success"}')
            Path(file.name).replace(path)
        else:
            from service import envelope

            _write(path, FORMS[form](envelope(list(made))).encode())
    return path


def pages(count: int, size: int) -> list[bytes]:
    """The pages of a search that finds `count` stocks."""
    from service import stocks

    known = stocks(1000)

    def stock(number: int) -> Record:
        own = {"co_code": number, "nsesymbol": f"S{number}", "isin": f"INE{number:06}A01"}
        return known[number % len(known)] | own | {"companyname": f"Company {number} Limited"}

    found = [stock(number) for number in range(1, count + 1)]
    return [_compact(found[at : at + size]).encode() for at in range(0, count, size)]


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
    """Calls and downloads with libcurl, decoded or not."""
    return _floor("libcurl_floor", "-lcurl")


def walk_floor() -> Path:
    """The decoder alone, without Python and on warm memory."""
    return _floor("walk_floor")


def _floor(name: str, *libraries: str) -> Path:
    """A program that uses the core's decoder. Needs cmake, for the core's library."""
    core = sorted((CPP / "src").rglob("*.[ch]pp"))
    made_from = digest(FLOORS / f"{name}.cpp", FLOORS / "rounds.hpp", *core)
    if (program := folder() / f"{name}-{made_from}").exists():
        return program
    # Of this checkout: cmake does not build another one in the same folder.
    build = folder() / f"core-{digest(*core)}-{zlib.crc32(bytes(CPP.resolve())):x}"
    settings = ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON")
    _quietly("cmake", "-S", str(CPP), "-B", str(build), "-DTRADINGDATA_TESTS=OFF", *settings)
    _quietly("cmake", "--build", str(build), "--target", "tradingdata_decode", "-j2")
    layers = ("decode", "privacy", "table", "base")
    archives = [str(build / f"libtradingdata_{layer}.a") for layer in layers]
    options = ["-flto=auto", f"-I{CPP / 'src'}"]
    return _program(name, made_from, options, [*archives, *libraries, "-pthread"])


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
    "spaced": _spaced,
    "reversed": _reversed,
    "unknown": _unknown,
    "hard": _hard,
}
NAMES = ("Mahindra & Mahindra", "हिंदुस्तान यूनिलीवर", "Société Générale", "Müller & Söhne", "SBI")
