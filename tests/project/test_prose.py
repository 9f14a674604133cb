"""Rules for text: documented arguments match signatures, and words that mislead stay out."""

from __future__ import annotations

import inspect
import io
import re
import tokenize
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
# The text between the braces of an f-string, which is a token of its own from Python 3.12 on.
FSTRING = getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

# Each reads like a translation. What to write instead is in the second column.
MISLEADING = {
    r"\b[Tt]old\b": "reported",
    r"\b[Aa]nswers?\b(?! ON fetches)": "response",
    r"\b[Ss]o many\b": "at most N",
    r"\b[Hh]and(s|ed)? (on|out)\b": "return, yield or pass",
    r"\b[Aa]skings?\b": "request",
    r"\b[Ss]tands? (on|in|at|beside|behind)\b": "is in",
    r"\bbelongs? together\b": "is consistent",
    r"\bgoes before\b": "takes precedence over",
    r"\b[Tt]wice is once\b": "safe to call more than once",
    r"\b(made|written) by hand\b": "constructed manually",
}
CPP_PROSE = re.compile(r'//.*|/\*(?s:.)*?\*/|"(?:\\.|[^"\\\n])*"')
MARKDOWN_CODE = re.compile(r"^ *```(?s:.)*?^ *```|`[^`]+`", re.MULTILINE)


ANY = re.compile("|".join(MISLEADING))


def prose_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of prose: comments and strings of several words, or a page without its code."""
    content = path.read_text("utf-8")
    if not ANY.search(content):
        return
    found: Iterator[tuple[int, str]]
    if path.suffix in (".py", ".pyi"):
        kinds = (tokenize.COMMENT, tokenize.STRING, FSTRING)
        tokens = tokenize.generate_tokens(io.StringIO(content).readline)
        found = ((one.start[0], one.string) for one in tokens if one.type in kinds)
    elif path.suffix == ".md":
        blank = MARKDOWN_CODE.sub(lambda code: "\n" * code[0].count("\n"), content)
        found = iter([(1, blank)])
    else:
        matches = CPP_PROSE.finditer(content)
        found = ((content.count("\n", 0, one.start()) + 1, one[0]) for one in matches)
    for first, text in found:
        if " " in text.strip():
            yield from enumerate(text.splitlines(), first)


def misleading(path: Path) -> Iterator[str]:
    for number, line in prose_of(path):
        for pattern, better in MISLEADING.items():
            if match := re.search(pattern, line):
                yield f"{path.name}:{number}: {match[0]!r}, write {better!r}"


def test_no_text_has_a_word_that_misleads() -> None:
    assert [fault for path in [*CODE, *PAGES] for fault in misleading(path)] == []


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("a.py", "answers = told(so_many)\n", []),
        ("a.py", "x = 1  # what it answers\n", [1]),
        ("a.py", 'def f():\n    """One.\n\n    Two stands in it.\n    """\n', [4]),
        ("a.py", 'x = {"answers": "the answers"}\n', [1]),
        ("a.cpp", 'int answers;\n// it was told\nauto y = "so many";\n', [2, 3]),
        ("a.md", "```py\ntold = 1\n```\nA `told` is\ntold here\n", [5]),
    ],
)
def test_prose_is_judged_and_identifiers_are_not(
    name: str, content: str, lines: list[int], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    assert [int(fault.split(":")[1]) for fault in misleading(tmp_path / name)] == lines


def public_functions() -> Iterator[tuple[str, Any]]:
    """The functions and methods that users call, by their qualified names."""
    seen = set()
    for module in (td, td.types, td.analysis, tradingdata.archive, td.sandbox):
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


def test_the_changelog_of_an_unreleased_version_says_what_it_contains() -> None:
    """Nobody has a build before the first release, so nothing has changed since one."""
    newest = (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n## ")[1]
    if "(unreleased)" in newest.splitlines()[0]:
        assert "###" not in newest, "write what the version contains, in its list"
        assert not re.search(r"\b(is|are) gone\b", newest)
        assert len(newest.split()) <= 404
