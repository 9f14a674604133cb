"""The rule of the bindings that keeps the end of the process clean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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


def test_f127_cpp_enters_python_only_where_a_thread_can_park() -> None:
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
def test_f127_an_unparked_entry_is_seen(line: str, unparked: bool) -> None:
    assert bool(ENTERS_PYTHON.search(PARKED.sub("", line))) == unparked
