"""Which tests cover which fault, read off their names, docstrings and parameters.

python tests/support/fault_matrix.py lists them: F19 test_faults_framing::test_a_damaged_response...
"""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
CORE_TESTS = TESTS.parent / "cpp/tests"
NUMBER = re.compile(r"\bF(\d+)\b|_f(\d+)(?=_)")
CORE_CASE = re.compile(r'TEST_CASE\(\s*"([^"]*)"')
Functions = ast.FunctionDef | ast.AsyncFunctionDef


def numbers(text: str) -> set[int]:
    return {int(a or b) for a, b in NUMBER.findall(text)}


def texts(node: ast.AST, constants: dict[str, ast.AST]) -> Iterator[str]:
    """The strings of an expression, and of the module's constants that it names."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
        elif isinstance(part, ast.Name) and part.id in constants:
            yield from texts(constants[part.id], {})


def of_module(path: Path) -> Iterator[tuple[str, set[int]]]:
    """The tests of a file, each with the faults that it names."""
    module = ast.parse(path.read_text("utf-8"))
    constants: dict[str, ast.AST] = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            constants[node.targets[0].id] = node.value
    for node in module.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        about = (ast.get_docstring(node) or "") if isinstance(node, ast.ClassDef) else ""
        for member in members:
            if isinstance(member, Functions) and member.name.startswith("test_"):
                said = [member.name, about, ast.get_docstring(member) or ""]
                said += [text for one in member.decorator_list for text in texts(one, constants)]
                yield f"{path.stem}::{member.name}", numbers(" ".join(said))


@functools.cache
def covered() -> dict[int, list[str]]:
    """The tests of each fault: those of the package first, then those of the core."""
    found: dict[int, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        if not path.stem.startswith("test_service_self"):  # these test the tests' own service
            for test, faults in of_module(path):
                for fault in faults:
                    found[fault].append(test)
    for path in sorted(CORE_TESTS.rglob("*_test.cpp")):
        for title in CORE_CASE.findall(path.read_text("utf-8")):
            for fault in numbers(title):
                found[fault].append(f"{path.stem}::{title}")
    return found


def main() -> None:
    for fault, tests in sorted(covered().items()):
        for test in tests:
            print(f"F{fault:<4} {test}")


if __name__ == "__main__":
    main()
