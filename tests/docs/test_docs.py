"""Every Python and bash block of the README and of the documentation runs, page by page, in order.

Of `sh` blocks the package's own commands run: the others install, or belong to this repository.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import readme_renderer.markdown

from tradingdata import sandbox

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```(sh|bash)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BASES = {
    "blob": "https://github.com/tradingdata/tradingdata/blob/main/",
    "tree": "https://github.com/tradingdata/tradingdata/tree/main/",
    "picture": "https://raw.githubusercontent.com/tradingdata/tradingdata/main/",
}
PAGES = [*sorted(ROOT.glob("*.md"), reverse=True), *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[str]:
    """The page's Python blocks, each under as many empty lines as stand before it on the page.

    So a failure's traceback names the page and the line.
    """
    text = page.read_text("utf-8")
    return ["\n" * text.count("\n", 0, match.start(1)) + match[1] for match in BLOCK.finditer(text)]


def relative(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def _sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """What a page may take for granted: an account in the environment, a folder to write to."""
    monkeypatch.chdir(tmp_path)
    with sandbox.start() as service:
        monkeypatch.setenv("TRADINGDATA_BASE_URL", service.base_url)
        monkeypatch.setenv("TRADINGDATA_ACCESS_TOKEN", service.token())
        yield


@pytest.fixture
def _no_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the code of a page may assume: an empty folder. It may set variables of its own."""
    monkeypatch.chdir(tmp_path)
    for name in ("TRADINGDATA_BASE_URL", "TRADINGDATA_ACCESS_TOKEN"):
        monkeypatch.setenv(name, "")  # restored after the page
        monkeypatch.delenv(name)


@pytest.mark.usefixtures("_no_account")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=relative)
def test_the_code_on_the_page_runs(page: Path) -> None:
    """Without an account, as a reader types it."""
    names: dict[str, object] = {"__name__": page.stem}
    try:
        for block in blocks(page):
            exec(compile(block, str(page), "exec", dont_inherit=True), names)
    finally:
        for value in names.values():
            if isinstance(value, sandbox.Service):
                value.stop()


def commands(page: Path) -> list[str]:
    """The page's bash blocks, and the package's own commands in its sh blocks."""
    found = []
    for shell, block in SHELL.findall(page.read_text("utf-8")):
        own = re.findall(r"^(?:tradingdata|python -m tradingdata) .*", block, re.MULTILINE)
        found += [block] if shell == "bash" else own
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("_sandbox")
@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=relative)
def test_the_commands_on_the_page_run(page: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    script = "\n".join(["set -e", *commands(page)])
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def of_pytest(page: Path) -> bool:
    return any("\ndef test_" in block for block in blocks(page))


@pytest.mark.parametrize("page", [page for page in PAGES if of_pytest(page)], ids=relative)
def test_the_tests_on_the_page_pass(page: Path, tmp_path: Path) -> None:
    """As a reader runs them: under pytest, with the page's own fixtures."""
    (tmp_path / "test_page.py").write_text("".join(blocks(page)), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"]
    command += ["-p", "tradingdata_pytest"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # they take seconds
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"^[1-9]\d* passed", done.stdout, re.MULTILINE), done.stdout


def extracted(folder: Path) -> int:
    """Writes the code of each page to a file of its own, every line where the page has it."""
    pages = [page for page in PAGES if blocks(page)]
    for page in pages:
        lines: list[str] = []
        for block in blocks(page):  # under the empty lines that put it in its place
            lines += block.splitlines()[len(lines) :]
        name = re.sub(r"\W+", "_", relative(page.with_suffix("")))
        (folder / f"{name}.py").write_text("\n".join(lines) + "\n", "utf-8")
    return len(pages)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("tool", ["mypy", "pyright"])
def test_type_checkers_accept_the_code_on_the_pages(tool: str, tmp_path: Path) -> None:
    """As written, and as a user's program: with the tools' own defaults."""
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed")
    pages = extracted(tmp_path)
    options = {
        "mypy": ["--config-file=", "--check-untyped-defs", "--ignore-missing-imports"],
        "pyright": ["--pythonpath", sys.executable],
    }
    done = subprocess.run(
        [sys.executable, "-m", tool, *options[tool], "."],
        cwd=tmp_path,
        env={**os.environ, **dict.fromkeys(("MYPYPATH", "PYTHONPATH"), str(ROOT / "python"))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert f"{pages} source files" in done.stdout or "\n0 errors" in done.stdout


def test_the_readme_is_complete_where_it_is_published() -> None:
    """As PyPI renders it, which has no other file of ours: a relative link or picture is dead."""
    rendered = readme_renderer.markdown.render((ROOT / "README.md").read_text("utf-8"))
    assert rendered is not None
    assert rendered.count("<table") == 1
    links = re.findall('<(?:a|img)[^>]* (href|src)="([^"#]+)"', rendered)
    assert len(links) > 10
    for tag, target in links:
        kind, found = next((k, target[len(b) :]) for k, b in BASES.items() if target.startswith(b))
        assert (ROOT / found).is_dir() if kind == "tree" else (ROOT / found).is_file(), target
        assert (kind == "picture") == (tag == "src")
