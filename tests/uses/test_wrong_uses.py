"""Wrong uses, one a line: the error, the use, and the words that say what to do instead.

`python.txt` has calls, those of a client for both clients; `commands.txt` has command lines, their
exit codes and their whole message. "…" stands for any words. Kinds of wrong values that many
functions share are derived from their annotations.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import inspect
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import public_names
import tradingdata as td
from analysis_samples import DAY, order, trade
from archiving import clock
from command_line import Run
from sample_books import BOOK
from sample_records import INDIA
from service import Service as Scripted
from service import book_reply
from tradingdata.analysis.keys import REQUIRED
from tradingdata.cli.terminal import Code
from tradingdata.sandbox import Service

pytestmark = pytest.mark.sanitize


def lines(name: str) -> list[list[str]]:
    text = Path(__file__).with_name(name).read_text("utf-8")
    return [line.split(" | ", 2) for line in text.splitlines() if not line.startswith("#")]


def pattern(words: str) -> str:
    return re.escape(words).replace("…", ".*")


CALLS = lines("python.txt")
OF_CLIENTS = re.compile(r"(^|setattr\()(client|pager|td\.(?=Client))")
CALLS += [
    [error, OF_CLIENTS.sub(r"\1async_\2", use).replace("async_td.", "td.Async"), words]
    for error, use, words in CALLS
    if OF_CLIENTS.search(use)
]
LOT = {name: trade(1, "B", 1, 1.0)[name] for name in REQUIRED} | {"quantity": 5, "value": 50.0}
BODY = b'{"status":"success","message":"","data":[]}'


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What the calls name. No client sends anything: the service has no script."""
    folder = tmp_path_factory.mktemp("uses")
    naive = dt.datetime(2026, 1, 6, 9, 15)
    options: dict[str, Any] = {"access_token": "canary-b1f0c2d9"}
    with Scripted() as service, td.sandbox.start(orders=0) as sandbox:
        client = td.Client(service.base_url, **options)
        async_client = td.AsyncClient(service.base_url, **options)
        yield {
            **{"td": td, "dt": dt, "Path": Path, "TradeBook": td.TradeBook, "service": sandbox},
            **{"book": BOOK, "orders": td.OrderBook(), "local": BOOK.localize(INDIA)},
            **{"ledger": td.Ledger(td.TradeBook()), "archive": td.Archive(folder / "books")},
            **{"client": client, "async_client": async_client, "pager": client.search("tata")},
            **{"async_pager": async_client.search("tata"), "BODY": BODY},
            **{"accounts": td.Accounts({"desk1": client}), "plot": td.plot, "types": td.types},
            **{"without_token": td.Client(service.base_url), "HTTPS": "https://api.example.test"},
            **{"table": pa.table({"symbol": ["A"], "other": ["B"]}), "INDIA": INDIA},
            **{"nan": float("nan"), "inf": float("inf"), "dask": td.dask, "sandbox": td.sandbox},
            **{"NAIVE": naive, "IN_INDIA": naive.replace(tzinfo=INDIA), "DAY": DAY, "LOT": LOT},
            **{"lot": lambda **fields: LOT | fields},
            **{"trade": trade, "order": order, "BUY": td.TradeBook([trade(1, "B", 5, 50.0)])},
        }
        client.close()
        asyncio.run(async_client.aclose())


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder in which no wrong use may leave anything."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not list(tmp_path.iterdir())


def outcome(use: str, names: dict[str, Any]) -> Exception:
    """The error of a use, which shows no token."""

    async def run() -> None:
        result = eval(use, dict(names))
        if inspect.isawaitable(result):
            await result

    with pytest.raises(Exception) as caught:  # noqa: PT011
        asyncio.run(run())
    assert "canary" not in str(caught.value)
    return caught.value


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(("error", "use", "words"), CALLS, ids=[use for _, use, _ in CALLS])
def test_a_wrong_use_says_what_to_write(
    error: str, use: str, words: str, names: dict[str, Any]
) -> None:
    raised = outcome(use, names)
    assert type(raised).__name__ == error
    assert re.search(pattern(words), str(raised.args[0]), re.DOTALL), raised


# The objects of the public types, by the names that the uses have.
OBJECTS: dict[str, str] = {
    **{"Accounts": "accounts", "Archive": "archive", "AsyncClient": "async_client"},
    **{"Client": "client", "Ledger": "ledger", "OrderBook": "orders", "TradeBook": "book"},
    **{"Service": "service", "SearchPager": "pager", "AsyncSearchPager": "async_pager"},
}
# Made by the package only.
NOT_MADE = r"(Watch|AsyncWatch|Response|\w*SearchPager|Service|Request|ArchiveFetch|\w+Error)\.__"


def functions() -> dict[str, Any]:
    """Every public function with arguments, by the call of it: `book.sort`, `td.charges`."""
    found: dict[Any, str] = {}
    for name, function in public_names.annotated():
        *_, kind, member = name.split(".")
        if not inspect.isfunction(function) or re.match(NOT_MADE, f"{kind}.{member}"):
            continue
        if member.startswith("__") and member not in ("__init__", "__new__", "__getitem__"):
            continue
        if not [x for x in inspect.signature(function).parameters if x not in ("self", "cls")]:
            continue
        kind = "TradeBook" if kind == "OrderBook" and hasattr(td.TradeBook, member) else kind
        call = f"{OBJECTS.get(kind, f'td.{kind}')}.{member}".replace("td.tradingdata", "td")
        call = f"td.{kind}" if member in ("__init__", "__new__") else call
        call = call.replace(".__getitem__", "[")
        found.setdefault(function, call)
    return {call: function for function, call in found.items()}


FUNCTIONS = functions()
WRONG: dict[str, tuple[Any, str]] = {
    "bool": ("no", "must be True or False, not 'no'"),
    **dict.fromkeys(("float", "float | None"), ("x", "must be a number")),
    "int": (1.5, "must be an integer, not 1.5"),
    "int | None": (1.5, "must be an integer, not 1.5"),
    **dict.fromkeys(
        ("str | os.PathLike[str]", "str | os.PathLike[str] | None", "Path", "Path | None"),
        (5, "must be a path, not 5"),
    ),
    **dict.fromkeys(
        ("Day", "Day | None", "date | str | None"),
        (5, "must be a date such as '2026-11-20', not 5"),
    ),
}
# For required arguments: a value that is none of the wrong ones.
GOOD: dict[str, str] = {
    **{
        "accounts": "{'a': client}",
        "path": "'x.json'",
        "query": "'tata'",
        "n": "1",
        "data": "BODY",
    },
    **{"at": "'2026-11-20'", "trades": "book", "prices": "{}", "rates": "[]", "orders": "orders"},
    **{"start": "'2026-11-20'", "account": "'a'", "day": "'2026-11-20'", "name": "'trades'"},
    **{"archive": "archive", "previous": "orders", "book": "book", "result": "book"},
    **{"client": "client", "identifier": "'INFY'", "lots": "[]"},
    **{"kind": "401", "fields": "'symbol'", "per_second": "5"},
}
# Calls that need more before they look at an argument.
BEFORE = {
    "book.sort": "'symbol'",
    "td.dask.fetch": "['a'], archive",
    "book.to_excel": "'x.xlsx'",
    **dict.fromkeys(("archive.trades", "archive.orders"), "'2026-11-20'"),
    "archive.scan": "'trades', '2026-11-20'",
    "archive.sql": "'SELECT 1', '2026-11-20'",
}
KINDS = [
    (call, parameter.name)
    for call, function in FUNCTIONS.items()
    for parameter in inspect.signature(function).parameters.values()
    if (call, parameter.name) != ("td.LotChange", "cost")  # which needs `into` and has a line
    and parameter.annotation in WRONG
    and parameter.kind is not parameter.POSITIONAL_ONLY
]


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(("call", "name"), KINDS)
def test_a_value_of_another_kind_is_refused_by_name(
    call: str, name: str, names: dict[str, Any]
) -> None:
    parameters = inspect.signature(FUNCTIONS[call]).parameters
    wrong, words = WRONG[parameters[name].annotation]
    wanted = {n for n, other in parameters.items() if other.default is other.empty}
    wanted |= {"path"} if name == "overwrite" else set()
    given = {n: GOOD[n] for n in parameters if n in wanted & GOOD.keys() - {name}}
    first = (
        [BEFORE[call]]
        if call in BEFORE and name not in ("path", "start")
        else [f"{n}={good}" for n, good in given.items()]
    )
    raised = outcome(f"{call}({', '.join([*first, f'{name}={wrong!r}'])})", names)
    assert isinstance(raised, (TypeError, ValueError))
    assert f"{name} {words}" in str(raised), raised


def test_every_public_function_has_a_line() -> None:
    uses = " ".join(use for _, use, _ in CALLS)
    lacking = [call for call in FUNCTIONS if f"{call}(".replace("[(", "[") not in uses]
    assert not lacking, f"add wrong uses of these to {__name__.rpartition('.')[2]}: {lacking}"


@pytest.mark.parametrize("huge", [1e300, 10**400, 2**62])
def test_a_huge_timeout_is_a_long_one(service: Scripted, huge: Any) -> None:
    service.script(book_reply([]), book_reply([]))
    with td.Client(service.base_url, access_token="x" * 16, timeout=huge) as client:
        assert client.trade_book() == client.trade_book(timeout=huge)


# -- the command line --

COMMANDS = lines("commands.txt")
TOKEN = "eyJhbGciOiJIUzI1NiJ9.c2VjcmV0LXNlY3JldC1zZWNyZXQ"
WITH_REQUESTS = ("stock NOPE", "positions --buy", "pnl --by", "pnl --shorts")
FILES = {
    "old.csv": "old",
    "broken.json": "{}",
    "broken.toml": "[x]\n",
    "days.csv": "day,security_id,price\n2026-11-20,1594,100.5\n",
    "twice.csv": "security_id,price\na,1\na,2\n",
    "short.csv": "security_id,price\na,1\nb\n",
    "long.csv": "security_id,price\na,1\nb,2,3\n",
    "open.csv": 'security_id,price\na,1\n"b,2\nc,3\n',
    "header.csv": 'security_id,"price\na,1\n',
    "wide.csv": f"security_id,price\na,1\n{'x' * 200_000},2\n",
    "nines.csv": f"security_id,price\n1,{'9' * 200_000}\n",
    "latin.csv": "security_id,price\n\xe9,1\n",
    "inf.csv": "security_id,price\na,inf\n",
    "nocolumn.csv": "id,price\na,1\n",
    "badday.csv": "day,security_id,price\nx,a,1\n",
    "noday.csv": "day,security_id,price\n,a,1\n",
    "badlots.csv": "security_id,quantity,value,price\n1,2,3,4\n",
    "badlots2.csv": "security_id,quantity,value\n1,x,3\n",
    "badmult.csv": "security_id,multiplier\n1,2.5\n",
    "badchange.toml": "[[change]]\nratio = 2\n",
}


@pytest.fixture(scope="module")
def folder(sandbox: Service, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an archive of a day, and with the files."""
    folder = tmp_path_factory.mktemp("uses")
    archive, client = td.Archive(folder / "books"), sandbox.client()
    for book in (client.order_book(), client.trade_book()):
        archive.add(book, at=clock("15:45"))
    (folder / "folder").mkdir()
    for name, text in FILES.items():
        (folder / name).write_bytes(text.encode("latin-1"))
    return folder


def contents(folder: Path) -> dict[Path, bytes]:
    """What is in the files of a folder, apart from those of the archive."""
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.iterdir()}


@pytest.mark.parametrize(("code", "use", "message"), COMMANDS, ids=[use for _, use, _ in COMMANDS])
def test_a_wrong_use_says_what_to_do_in_one_line(
    sandbox: Service,
    run: Run,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: str,
    use: str,
    message: str,
) -> None:
    """(X6, X8, X11, L20, A15) It costs no request, and writes no file."""
    monkeypatch.chdir(folder)
    before, files = len(sandbox.requests), contents(folder)
    ran = run(*shlex.split(use))
    assert (ran.code, ran.out) == (Code[code], b"")
    shown = ran.err.replace(f"{folder}/", "./")
    assert re.fullmatch(pattern(f"error: {message}\n"), shown), shown
    assert len(sandbox.requests) == before or use.startswith(WITH_REQUESTS)
    assert contents(folder) == files


@pytest.mark.parametrize(
    "arguments",
    [
        *("--token @", "--token=@", "--access-token @", "--access_token=@", "--bearer @", "@"),
        *("--columns @", "--where @=1", "--timeout @", "--format @", "--@"),
        *("trades -p @", "check -p @", "stock @"),
    ],
)
@pytest.mark.usefixtures("profiles")
def test_a_token_among_the_arguments_is_not_repeated(run: Run, arguments: str) -> None:
    for before in ([],) if " -p" in arguments or "stock" in arguments else ([], ["trades"]):
        ran = run(*before, *arguments.replace("@", TOKEN).split())
        assert ran.code in (Code.USAGE, Code.CONFIGURATION, Code.NOT_FOUND)
        assert TOKEN[:12].lower() not in (ran.text + ran.err).lower()
        assert ran.err.count("\n") == 1
