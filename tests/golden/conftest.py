"""Golden files: texts that must not change unseen. `--renew` writes them, and git shows how."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from golden.samples import FOLDER


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="write the golden files anew")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with a file of this folder."""
    renews = request.config.getoption("--renew", default=False)

    def compare(name: str, text: str) -> None:
        path = FOLDER / name
        # A field that the service adds changes the number of hidden columns, and their names.
        text = re.sub(r"\+\d+ more column", "+N more column", text)
        text = re.sub(r'title="[^"]*">(?=\+N)', 'title="…">', text)
        if renews:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", newline="\n")
        assert text == path.read_bytes().decode()

    return compare
