"""Rules for text: documented arguments match signatures, and words that mislead stay out."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
import tradingdata.analysis
import tradingdata.archive
import tradingdata.sandbox

ROOT = Path(__file__).parents[2]
CODE = [
    path
    for folder in ("cpp", "python", "tests")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".pyi", ".cpp", ".hpp", ".c") and path != Path(__file__)
]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

# Each reads like a translation. What to write instead is in the second column.
MISLEADING = {
    r"(\b|_)told(\b|_)": "reported",
    r"(\b|_)answers?\b(?!\")(?! ON fetches)|(\b|_)answers?_": "response",
    r"(\b|_)so[ _]many(\b|_)": "at most N",
    r"\b[Hh]and(s|ed)? (on|out)\b|_hand(s|ed)?_(on|out)": "return, yield or pass",
    r"\baskings?\b": "request",
    r"\bstands? (on|in|at|beside|behind)\b|_stands?_": "is in",
    r"\bbelong together\b|\bbelongs together\b": "is consistent",
    r"\bgoes before\b": "takes precedence over",
    r"\b[Tt]wice is once\b": "safe to call more than once",
    r"\b(made|written) by hand\b": "constructed manually",
}


def test_no_text_has_a_word_that_misleads() -> None:
    found = []
    for path in [*CODE, *PAGES]:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            for pattern, better in MISLEADING.items():
                if match := re.search(pattern, line):
                    where = f"{path.relative_to(ROOT)}:{number}"
                    found.append(f"{where}: {match[0]!r}, write {better!r}")
    assert found == []


def public_functions() -> Iterator[tuple[str, Any]]:
    """The functions and methods that users call, by their qualified names."""
    seen = set()
    for module in (td, tradingdata.analysis, tradingdata.archive, tradingdata.sandbox):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value):
                yield value.__qualname__, value
            elif inspect.isclass(value) and value not in seen:
                seen.add(value)
                for member, found in inspect.getmembers(value, inspect.isfunction):
                    if not member.startswith("_") and found.__module__.startswith("tradingdata"):
                        yield f"{value.__name__}.{member}", found


def documented(doc: str) -> list[str]:
    """The names in the section `Args` of a docstring."""
    section = re.search(r"^Args:\n((?:    .*\n|\n)+)", doc + "\n", re.MULTILINE)
    return re.findall(r"^    (\*{0,2}\w+):", section[1], re.MULTILINE) if section else []


def signature_of(function: Any) -> list[str]:
    marks: dict[object, str] = {
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.VAR_KEYWORD: "**",
    }
    parameters = inspect.signature(function).parameters.values()
    return [marks.get(one.kind, "") + one.name for one in parameters if one.name != "self"]


@pytest.mark.parametrize(
    ("name", "function"), [pytest.param(*pair, id=pair[0]) for pair in public_functions()]
)
def test_the_documented_arguments_are_those_of_the_signature(name: str, function: Any) -> None:
    doc = inspect.getdoc(function) or ""
    named = documented(doc)
    if named:
        assert named == signature_of(function)
    else:
        refers = re.search(r"; see ``?\w|Same as|[Aa]rguments as for", doc)
        assert refers or not signature_of(function), f"{name} documents no arguments"
