"""The project's own rules, kept as tests."""

from __future__ import annotations

import ast
import functools
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

import service
import tradingdata as td
from tradingdata import _core, errors

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python/tradingdata"
RECORDS = tuple(record["name"] for record in _core.records())
GENERATED = ROOT / "python/tradingdata/_core/records.pyi"
CODE = {".py", ".pyi", ".cpp", ".hpp", ".c", ".sh", ""}


def files(*folders: str) -> list[Path]:
    """The files of some top-level folders that are not hidden, made or cached."""
    found = (path for folder in folders for path in sorted((ROOT / folder).rglob("*")))
    made = re.compile(r"__pycache__|\.\w+_cache")
    return [path for path in found if path.is_file() and not any(map(made.match, path.parts))]


def code(*folders: str) -> list[Path]:
    return [path for path in files(*folders) if path.suffix in CODE]


@functools.cache
def text(path: Path) -> str:
    return path.read_text("utf-8")


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def named(paths: Iterable[Path]) -> list[str]:
    return [relative(path) for path in paths]


EVERYWHERE = ("cpp", "python", "tests", "docs", ".ci")


@pytest.mark.parametrize("record", RECORDS)
def test_the_compiled_fields_are_those_of_the_service_document(record: str) -> None:
    kinds = {
        "string": "text",
        "integer": "integer",
        "number": "number",
        "string, timestamp": "timestamp",
        "string, date": "date",
    }
    documented = [
        (field.name, kinds[field.type], "personal data" in field.meaning)
        for field in service.fields(record.lower())
    ]
    declared = next(each for each in _core.records() if each["name"] == record)["fields"]
    sent = [field for field in declared if not field["local"]]
    assert declared[: len(sent)] == tuple(sent), "local fields are the last"
    compiled = [(field["name"], field["kind"], field["personal"]) for field in sent]
    assert compiled == documented, "declare and document the same: table/records.hpp, service.md"


def includes(path: Path) -> list[str]:
    return re.findall(r"^\s*#\s*include\s*[<\"]([^>\"]+)[>\"]", text(path), re.MULTILINE)


def including(paths: Iterable[Path], pattern: str) -> list[str]:
    """The files that include a header whose name matches."""
    return named(path for path in paths if any(re.search(pattern, name) for name in includes(path)))


def test_the_core_knows_nothing_of_python() -> None:
    assert including(code("cpp"), r"^Python\.h$|pybind11") == []


# Comments, literals, braces, the ends of statements, and all between them.
CPP_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|"""
    r"""\#(?:\\\n|[^\n])*|[{};]|[^{};"'/#]+|[/'"#]""",
    re.DOTALL,
)


def lazy_statics(source: str) -> list[str]:
    """The static variables that C++ code initialises when a function first reaches them.

    What is `constexpr` or `constinit` is a constant of the program. What is `thread_local` is made
    by each thread for itself, so that no other thread waits for it.
    """
    found = []
    statement = ""
    in_function = [False]  # for each open brace
    for match in CPP_TOKEN.finditer(source):
        token = match[0]
        if token.startswith(("//", "/*", "#")):
            continue
        if token not in "{};":
            statement += token if token[0] not in "\"'R" else '""'
            continue
        words = re.findall(r"\w+", statement)
        if in_function[-1] and "static" in words and not {"constexpr", "constinit"} & set(words):
            found.append(" ".join(statement.split()))
        if token == "{":
            names_a_scope = {"class", "struct", "union", "enum", "namespace"} & set(words)
            in_function.append(not names_a_scope or (")" in statement and "=" not in statement))
        elif token == "}" and len(in_function) > 1:
            in_function.pop()
        statement = ""
    return found


def test_a_lazy_static_is_seen_where_there_is_one() -> None:
    lazy = """
    namespace a { struct S { static int f(int a = 1); static constexpr int x = 1; }; }
    int g() { if (true) { static const std::set<int> names{1}; } return 0; }
    class T { void h() { static Foo foo("static"); constinit static int fine = 0; } };
    auto lambda = [] { static int* p = new int; };
    """
    assert [found.split()[-1] for found in lazy_statics(lazy)] == ["names", 'foo("")', "int"]


def test_nothing_is_initialised_on_first_use() -> None:
    """A fork while another thread initialises a static leaves the child waiting for ever."""
    for path in code("cpp/src", "python/bindings"):
        assert lazy_statics(text(path)) == [], relative(path)


def test_only_the_transport_knows_libcurl() -> None:
    """The multi handle, the options of a transfer, its failures, URLs, and the reader of dates."""
    transport = ["address.cpp", "curl_easy.cpp", "http.cpp", "transfer_failure.cpp"]
    found = including(code("cpp", "python"), "^curl/")
    assert found == [f"cpp/src/http/{name}" for name in transport]


# What each layer of the core may include, as its CMake target links it.
CORE_LAYERS = {
    "base": {"base"},
    "table": {"table", "base"},
    "compute": {"compute", "table", "base"},
    "privacy": {"privacy", "table", "base"},
    "http": {"http", "privacy", "base"},
    "export": {"export", "table", "base"},
    "decode": {"decode", "privacy", "table", "base"},
    "client": {"client", "decode", "http", "privacy", "table", "base"},
}


def test_a_layer_of_the_core_includes_only_layers_below_it() -> None:
    for path in code("cpp/src"):
        own = {name.split("/")[0] for name in includes(path) if re.search(r"/.*\.hpp$", name)}
        layer = path.relative_to(ROOT / "cpp/src").parts[0]
        assert own <= CORE_LAYERS[layer], relative(path)


def test_headers_of_the_core_hold_no_third_party_type() -> None:
    """Such a header has a slash or an extension; those of the standard library have neither."""
    allowed = {
        "curl_easy.hpp": {"curl"},
        "exact.hpp": {"__msvc_int128.hpp"},  # the integers of 128 bits of MSVC's library
        "simd.hpp": {"arm_neon.h", "emmintrin.h"},
    }
    for path in code("cpp/src"):
        if path.suffix == ".hpp":
            foreign = {name.split("/")[0] for name in includes(path) if re.search(r"[/.]", name)}
            assert foreign <= CORE_LAYERS.keys() | allowed.get(path.name, set()), relative(path)


# The packages of tradingdata, from top to bottom: each imports only those after it.
PACKAGE_LAYERS = (
    "__main__ __init__ cli dask plot archive sandbox accounts types client watch analysis books "
    "table display _util errors _core"
).split()


def test_the_package_holds_its_layers_only() -> None:
    marks = {"py.typed", "__pycache__"}  # for type checkers, and for the interpreter
    found = {path.stem for path in PACKAGE.iterdir() if path.name not in marks}
    assert found == set(PACKAGE_LAYERS)
    assert len(found) <= 18


MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for pattern in ("*.py", "*.pyi")
    for path in sorted(PACKAGE.rglob(pattern))
}


def imported(module: str, source: str, *, is_package: bool) -> Iterator[tuple[int, str]]:
    """Yields the modules of the package that a module imports, each with its line.

    Includes imports in functions and those for type checkers only.
    """
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").split(".") if node.module else []
            if node.level:
                own = module.split(".") if module != "__init__" else []
                levels = node.level - (is_package or module == "__init__")
                base = ["tradingdata", *own[: len(own) - levels], *base]
            names = [[*base, alias.name] for alias in node.names]
        for top, *parts in names:
            if top == "tradingdata":
                # What is no module is a name in one.
                while parts and ".".join(parts) not in MODULES:
                    parts.pop()
                yield node.lineno, ".".join(parts) or "__init__"  # type: ignore[attr-defined]


def imports_of_the_package() -> dict[str, dict[str, int]]:
    """Returns for each module those that it imports, each with a line that does."""
    return {
        module: {
            other: line
            for line, other in imported(module, text(path), is_package=path.stem == "__init__")
            if other != module
        }
        for module, path in MODULES.items()
    }


def in_cycles(imports: Mapping[str, Mapping[str, int]]) -> list[tuple[str, int, str]]:
    """Returns the imports that close a cycle: who imports, in which line, and what."""

    def reached_from(module: str) -> set[str]:
        reached: set[str] = set()
        todo = [module]
        while todo:
            new = set(imports.get(todo.pop(), ())) - reached
            reached |= new
            todo += new
        return reached

    reached = {module: reached_from(module) for module in imports}
    return [
        (module, line, other)
        for module, others in imports.items()
        for other, line in others.items()
        if module in reached.get(other, ())
    ]


def test_an_import_cycle_is_seen_wherever_the_import_is() -> None:
    source = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from .issues import Issue
def late():
    from ..table import selection
    import tradingdata.errors
"""
    assert list(imported("books.book", source, is_package=False)) == [
        (4, "books.issues"),
        (6, "table.selection"),
        (7, "errors"),
    ]
    assert list(imported("books", "from . import book", is_package=True)) == [(1, "books.book")]
    assert in_cycles({"a": {"b": 1}, "b": {"c": 2, "d": 3}, "c": {"a": 4}, "d": {}}) == [
        ("a", 1, "b"),
        ("b", 2, "c"),
        ("c", 4, "a"),
    ]


def test_no_module_imports_itself_over_others() -> None:
    found = in_cycles(imports_of_the_package())
    assert not [f"{relative(MODULES[a])}:{line} imports {b} in a cycle" for a, line, b in found]


def test_a_package_imports_only_from_those_below_it() -> None:
    rank = {package: rank for rank, package in enumerate(PACKAGE_LAYERS)}
    upward = [
        f"{relative(MODULES[module])}:{line} imports {other}"
        for module, others in imports_of_the_package().items()
        for other, line in others.items()
        if rank[other.split(".")[0]] < rank[module.split(".")[0]]
    ]
    assert not upward


def test_no_test_imports_a_private_name_of_the_package() -> None:
    """But for the core, whose stubs say what it has."""
    private = [
        f"{relative(path)}:{node.lineno} imports {alias.name}"
        for path in code("tests")
        if path.suffix == ".py"
        for node in ast.walk(ast.parse(text(path)))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tradingdata")
        for alias in node.names
        if alias.name.startswith("_") and alias.name != "_core"
    ]
    assert private == []


def test_the_exports_are_sorted_and_have_docstrings() -> None:
    exported = [name for name in td.__all__ if not name.startswith("__")]
    own = [name for name in exported if name not in errors.__all__]
    assert own == sorted(own)
    assert errors.__all__ == sorted(errors.__all__)
    for name in exported:
        assert getattr(td, name).__doc__, f"{name} has no docstring"


def test_every_public_name_of_the_package_is_exported() -> None:
    public = {
        name
        for name, value in vars(td).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("tradingdata")
    }
    assert public <= set(td.__all__)


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.findall(r"^## (\d\S+)", changelog, re.MULTILINE)[0]
    assert {td.__version__, _core.__version__, importlib.metadata.version("tradingdata")} == {
        project["version"]
    }
    assert newest == project["version"]


def test_the_base_installation_has_no_dependency_outside_windows() -> None:
    requirements = importlib.metadata.requires("tradingdata") or []
    base = [line for line in requirements if "extra ==" not in line]
    assert [line.replace("'", '"') for line in base] == ['tzdata; sys_platform == "win32"']


def test_the_stub_of_the_records_is_what_the_tables_give() -> None:
    check = [sys.executable, str(ROOT / ".ci/stubs.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


BINDINGS = Path(__file__).parents[2] / "python/bindings"

# What may take the GIL or run Python code, and what would stop the unwinding of a thread.
ENTERS_PYTHON = re.compile(
    r"gil_scoped|PyGILState_Ensure|PyEval_RestoreThread|PyErr_CheckSignals|catch \(\.\.\.\)|"
    r"(?<!module)\.attr\(|\.equal\(|py::(?:getattr|hasattr|iterable)|module_::import|PyImport_|"
    r"PyObject_(?:Call|GetAttr|GetBuffer|IsInstance|Repr|RichCompare|Str)|PyNumber_|PySlice_Unpack|"
    r"PyFloat_AsDouble|PyErr_Format\([^;]*%[.\d]*[ARS]"
)
PARKED = re.compile(r"or_park\(\[[^\]]*\] \{ return [^{}]*; \}\)|or_park\(\[this\] \{[^{}]*\}\)")
THE_PARK = "catch (...) {  // C functions throw nothing else"


def test_cpp_enters_python_only_where_a_thread_can_park() -> None:
    """A thread that CPython ends elsewhere would unwind through frames of ours, into an abort."""
    unparked = {
        (path.name, found[0])
        for path in sorted(BINDINGS.iterdir())
        for found in ENTERS_PYTHON.finditer(
            PARKED.sub("", path.read_text("utf-8")).replace(THE_PARK, "")
        )
    }
    assert unparked == set()


@pytest.mark.parametrize(
    ("line", "unparked"),
    [
        ("const py::gil_scoped_acquire gil;", True),
        ('py::module_::import("os");', True),
        ("or_park([&] { return PyObject_CallObject(work, given); });", False),
        ("work(or_park([] { return 1; }), PyObject_CallObject(work, given));", True),
        ('PyErr_Format(type, "not %.100R", value);', True),
        ('PyErr_Format(type, "not %s", name);', False),
    ],
)
def test_an_unparked_entry_is_seen(line: str, unparked: bool) -> None:
    assert bool(ENTERS_PYTHON.search(PARKED.sub("", line))) == unparked
