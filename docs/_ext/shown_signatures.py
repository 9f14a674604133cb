"""Shortens signatures and docstrings in the reference to what users write.

Errors and results are never constructed manually, so their signatures are omitted. Records take
their fields as keywords, which the field tables list.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.util.typing import ExtensionMetadata

from tradingdata.table.rows import RECORD_TYPES

MADE_BY_CALLS = {
    "tradingdata.types.AsyncSearchPager",
    "tradingdata.types.Issue",
    "tradingdata.types.Response",
    "tradingdata.types.Retry",
    "tradingdata.types.SearchPager",
    "tradingdata.types.SearchStats",
    "tradingdata.sandbox.Request",
    "tradingdata.sandbox.Service",
}
RESULTS = ("tradingdata.analysis", "tradingdata.archive")
ALIAS = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")  # how Sphinx spells `autodoc_type_aliases`


def shorten(
    app: Sphinx,
    what: str,
    name: str,
    value: Any,
    options: Any,
    signature: str | None,
    returned: str | None,
) -> tuple[str, str | None] | None:
    """Replaces a signature, and the names of aliases in it; None leaves it as it is."""
    if not signature:
        return None
    if value in RECORD_TYPES:
        return "(**fields)", None
    if what == "exception" or name in MADE_BY_CALLS:
        return "", None
    if what == "class" and (issubclass(value, tuple) or value.__module__.startswith(RESULTS)):
        return "", None
    return ALIAS.sub(r"\1", signature), ALIAS.sub(r"\1", returned) if returned else None


def without_fields(
    app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]
) -> None:
    """Leaves the fields of a record to their table."""
    if inspect.isclass(value) and value in RECORD_TYPES:
        del lines[1:]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("autodoc-process-signature", shorten)
    app.connect("autodoc-process-docstring", without_fields)
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
