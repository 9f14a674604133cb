"""`~` in every path that a user can name is the home folder, never a folder of that name.

Each public function that takes a path validates it (`tests/uses`), which replaces the `~`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import tradingdata as td
from command_line import commands
from tradingdata._util import validate
from tradingdata.cli.parameters import PATH
from tradingdata.client.options import IN_FILES
from tradingdata.client.profiles import load_profile


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a test."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    return tmp_path


def test_books_and_archives_take_it(home: Path) -> None:
    td.TradeBook().save("~/saved.json")
    td.TradeBook().to_csv("~/book.csv")
    td.Archive("~/books").copy("~/copy")
    assert {path.name for path in home.iterdir()} == {"saved.json", "book.csv", "books", "copy"}
    assert td.TradeBook.load("~/saved.json") == td.TradeBook()


def test_variables_a_profile_file_and_its_keys_take_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [name for name, check in IN_FILES.items() if check.__name__ == "path"] == ["ca_file"]
    (home / "roots.pem").touch()
    keys = {"base_url": "https://a", "access_token_file": "~/token", "ca_file": "~/roots.pem"}
    table = "".join(f'{key} = "{value}"\n' for key, value in keys.items())
    for name, text in {"token": "x" * 16, "profiles.toml": f"[desk1]\n{table}"}.items():
        (home / name).touch(0o600)
        (home / name).write_text(text)
    monkeypatch.setenv("TRADINGDATA_PROFILES", "~/profiles.toml")
    options = load_profile("desk1")
    assert options["access_token"]() == "x" * 16
    td.Client(**options)
    monkeypatch.setenv("SSL_CERT_FILE", "~/roots.pem")
    td.Client("https://127.0.0.1:9", access_token="x" * 16)


def test_files_of_commands_take_it(home: Path) -> None:
    """Also where no shell has expanded it: in quotes, or behind `--output=`."""
    assert PATH.convert("~/x", None, None) == home / "x"
    for command in commands().values():
        for parameter in command.params:
            is_file = parameter.metavar in ("FILE", "SAVED...")
            assert (parameter.type is PATH) == is_file, parameter


@pytest.mark.parametrize(
    ("path", "expected"),
    [("~", "home"), ("~/a b", "home/a b"), ("a/~/b", "a/~/b"), ("./~", "./~"),
     ("~nobody-has-this-name/x", "~nobody-has-this-name/x"), (b"~/x", "home/x"), ("", "")],
)  # fmt: skip
def test_only_what_a_shell_replaces_is_replaced(
    path: str | bytes, expected: str, home: Path
) -> None:
    assert validate.path("path", path) == expected.replace("home", str(home))
