"""`~` in every path that a user can name is the home folder, never a folder of that name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import public_names
import tradingdata as td
from command_line import commands
from tradingdata._util import validate
from tradingdata.client.options import IN_FILES
from tradingdata.client.profiles import Profiles, profiles_path

BOOK = td.TradeBook([td.Trade(order_no="1", quantity=5, traded_price=2.0)])
RATES = "[[rate]]\nbrokerage = 0.0003\n"

# What is called with a path below the home folder, and what it reads there or leaves there.
Use = tuple[Callable[[str], Any], str, str | None]


def client_with(path: str) -> td.Client:
    return td.Client("https://127.0.0.1:9", access_token="x" * 16, ca_file=path)


def loaded(path: str) -> td.TradeBook:
    BOOK.save(Path.home() / "loaded.json", overwrite=True)
    return td.TradeBook.load(path)


USES: dict[str, Use] = {
    "Archive.__init__": (lambda path: td.Archive(path), "books", None),
    "Archive.copy": (lambda path: td.Archive(Path.home() / "kept").copy(path), "books", None),
    "AsyncClient.__init__": (
        lambda path: td.AsyncClient("https://127.0.0.1:9", access_token="x" * 16, ca_file=path),
        "roots.pem",
        "",
    ),
    "ChargeRate.load": (td.ChargeRate.load, "rates.toml", RATES),
    "LotChange.load": (td.LotChange.load, "changes.toml", "[[change]]\nat = 2026-11-18\n"),
    "Client.__init__": (client_with, "roots.pem", ""),
    "TradeBook.load": (loaded, "loaded.json", None),
    "TradeBook.save": (BOOK.save, "saved.json", None),
    "TradeBook.to_csv": (lambda path: BOOK.to_csv(path), "book.csv", None),
    "TradeBook.to_excel": (BOOK.to_excel, "book.xlsx", None),
    "TradeBook.to_json": (lambda path: BOOK.to_json(path), "book.json", None),
    "TradeBook.to_parquet": (BOOK.to_parquet, "book.parquet", None),
    "token_file": (lambda path: td.token_file(path)(), "token", "x" * 16),
}


def with_paths() -> set[str]:
    """The public functions that take a path, those of each table under the trade book."""
    found = set()
    for name, function in public_names.annotated():
        member = name.rpartition(".")[2]
        shared = inspect.getattr_static(td.TradeBook, member, None)
        kind = "TradeBook." if getattr(shared, "__func__", shared) is function else ""
        if inspect.isfunction(function) and "Path" in str(inspect.signature(function)):
            own = ".".join(name.split(".")[-2:]).removeprefix("tradingdata.")
            found.add(kind + member if kind else own)
    return found


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder, beside the folder in which the test runs."""
    folder = tmp_path / "home"
    elsewhere = tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.chdir(elsewhere)
    return folder


def test_every_public_function_with_a_path_has_a_use_here() -> None:
    assert with_paths() == set(USES)


@pytest.mark.parametrize("name", sorted(USES))
def test_a_function_takes_the_home_folder(name: str, home: Path) -> None:
    use, file, content = USES[name]
    if content is not None:
        (home / file).write_text(content)
    use(f"~/{file}")
    assert (home / file).exists()
    assert list(Path().iterdir()) == []


def test_keys_of_a_profile_take_it(home: Path) -> None:
    (home / "token").touch(0o600)
    (home / "token").write_text("x" * 16)
    (home / "roots.pem").touch()
    paths = [name for name, check in IN_FILES.items() if check.__name__ == "path"]
    assert paths == ["ca_file"]
    table = {"base_url": "https://127.0.0.1:9", "access_token_file": "~/token"}
    profiles = Profiles("profiles.toml", {"desk1": table | dict.fromkeys(paths, "~/roots.pem")})
    options = profiles.options("desk1")
    assert options["access_token"]() == "x" * 16
    td.Client(**options)


def test_variables_take_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "roots.pem").touch()
    monkeypatch.setenv("SSL_CERT_FILE", "~/roots.pem")
    td.Client("https://127.0.0.1:9", access_token="x" * 16)
    monkeypatch.setenv("TRADINGDATA_PROFILES", "~/profiles.toml")
    assert profiles_path() == str(home / "profiles.toml")


FILES = {"output", "saved", "prices", "charges", "changes", "state"}
FILES |= {"opening", "settle", "multipliers"}


@pytest.mark.parametrize("name", sorted(commands()))
def test_commands_take_it(name: str, home: Path) -> None:
    """Also where no shell has expanded it: in quotes, or behind `--output=`."""
    for parameter in commands()[name].params:
        is_file = parameter.name in FILES
        assert is_file or "FILE" not in str(getattr(parameter, "metavar", "")), parameter
        if is_file:
            assert parameter.type.convert("~/x", parameter, None) == home / "x"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("~", "home"), ("~/a b", "home/a b"), ("a/~/b", "a/~/b"), ("./~", "./~"),
     ("~nobody-has-this-name/x", "~nobody-has-this-name/x"), (b"~/x", "home/x"), ("", "")],
)  # fmt: skip
def test_only_what_a_shell_replaces_is_replaced(
    path: str | bytes, expected: str, home: Path
) -> None:
    assert validate.path("path", path) == expected.replace("home", str(home))
