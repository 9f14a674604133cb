"""`tradingdata`: each wrong use is one line that says what to do, and the exit code of its kind.

`wrong_uses.txt` has the code, the command line and the message of each; "…" ends or parts a message
whose rest is another library's or the clock's.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import tradingdata as td
from archiving import clock
from command_line import Run
from tradingdata.cli.terminal import Code
from tradingdata.sandbox import Service

USES = [
    line.split(" | ")
    for line in Path(__file__).with_name("wrong_uses.txt").read_text("utf-8").splitlines()
]
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


@pytest.mark.parametrize(("code", "use", "message"), USES, ids=[use for _, use, _ in USES])
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
    pattern = re.escape(f"error: {message}\n").replace("…", ".*")
    assert re.fullmatch(pattern, ran.err.replace(f"{folder}/", "./")), ran.err
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
