"""The project's own rules, kept as tests."""

from __future__ import annotations

import functools
import importlib.metadata
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import service
import tradingdata as td
from tradingdata import _core

ROOT = Path(__file__).parents[2]
RECORDS = tuple(record["name"] for record in _core.records())


def code(folder: str) -> list[Path]:
    """The sources of C++ in a folder."""
    return sorted((ROOT / folder).rglob("*.[ch]pp"))


@functools.cache
def text(path: Path) -> str:
    return path.read_text("utf-8")


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
    assert compiled == documented, "records.hpp and tests/support/service/service.md differ"


# What the core may use that is not of the standard library, and where.
OF_SYSTEMS = (
    r"(arpa|sys|netinet)/\w+|(unistd|poll|fcntl|pthread|x?locale|stdlib|windows|win\w+2|ws2\w+)"
)
FOREIGN = {
    r"base/simd.hpp": r"emmintrin|arm_neon",
    r"compute/exact.hpp": r"__msvc_int128",  # the integers of 128 bits of MSVC's library
    r"http/(address|curl_easy|http|transfer_failure).cpp|http/curl_easy.hpp": r"curl/curl",
    r"http/inflate.cpp": r"isa-l|zlib",
    r".*\.cpp": OF_SYSTEMS,
}
# The layers that each layer may include, as CMake links it.
CMAKE = re.findall(r"^tradingdata_layer\(([\w ]+)\)", text(ROOT / "cpp/CMakeLists.txt"), re.M)
BELOW = {line.split()[0]: "|".join(line.split()) for line in CMAKE}


def test_a_file_of_the_core_includes_what_its_layer_may() -> None:
    """Nothing of Python; libcurl in the transport only; no third-party type in a header."""
    for path in code("cpp/src"):
        place = path.relative_to(ROOT / "cpp/src").as_posix()
        layer = place.split("/")[0]
        allowed = [rf"({BELOW[layer]})/[\w/]+\.hpp", r"\w+"]
        allowed += [
            rf"({what})(\.h|\.hpp)" for at, what in FOREIGN.items() if re.fullmatch(at, place)
        ]
        for name in re.findall(r"^\s*#\s*include\s*[<\"]([^>\"]+)", text(path), re.MULTILINE):
            assert re.fullmatch("|".join(allowed), name), f"{place} includes {name}"


def test_nothing_is_initialised_on_first_use() -> None:
    """A fork while another thread initialises a static leaves the child waiting for ever."""
    objects = list(ROOT.glob("build/*/**/CMakeFiles/*.dir/**/*.o"))
    core = [path for path in objects if "/tradingdata_" in str(path)]
    bindings = [path for path in objects if "/_core.dir/" in str(path)]
    if not core or not bindings or shutil.which("nm") is None:
        pytest.skip("needs what a build leaves, and nm")
    symbols = [subprocess.check_output(["nm", *part], text=True) for part in (core, bindings)]
    assert "__cxa_guard_acquire" not in symbols[0]
    assert (
        re.findall(r"\b_ZGVZ+NK?11tradingdata\w+", symbols[1]) == []
    )  # pybind11 has some of its own


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
        for path in code("python/bindings")
        for found in ENTERS_PYTHON.finditer(PARKED.sub("", text(path)).replace(THE_PARK, ""))
    }
    assert unparked == set()
