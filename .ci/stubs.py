"""Writes python/tradingdata/_core/records.pyi from the field tables that are compiled in.

`python .ci/stubs.py` writes the file, `--check` says whether it is what would be written.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from tradingdata import _core

TARGET = Path(__file__).parent.parent / "python/tradingdata/_core/records.pyi"

HEAD = """\
# Written by .ci/stubs.py from the compiled field tables: run it rather than edit this.
from collections.abc import Iterable
from dataclasses import Field
from datetime import date, datetime
from typing import Any, ClassVar, Self, final
"""

RECORD = '''
@final
class {record}:
    """{title}."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    __match_args__: ClassVar[tuple[()]]

    def __new__(
        cls,
        *,
{keywords}
    ) -> Self: ...
    def __getitem__(self, name: str, /) -> Any: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __dir__(self) -> Iterable[str]: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Self: ...
    def __replace__(self, /, **changes: Any) -> Self: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def _asdict(self, *, extra: bool = False) -> dict[str, Any]: ...
    def _replace(self, **changes: Any) -> Self: ...
    @property
    def _extra(self) -> dict[str, Any]: ...
'''

PROPERTY = '''\
    @property
    def {name}(self) -> {type}:
        """{doc}."""
'''

# How each kind shows in Python; every field may be missing or null, and is None then.
TYPES = {
    "text": "str | None",
    "integer": "int | None",
    "number": "float | None",
    "timestamp": "datetime | None",
    "date": "date | None",
}


def class_of(record: Any) -> str:
    fields = [{**field, "type": TYPES[field["kind"]]} for field in record["fields"]]
    keywords = "\n".join(f"        {field['name']}: {field['type']} = None," for field in fields)
    text = RECORD.format(record=record["name"], title=record["title"], keywords=keywords)
    return text + "\n".join(PROPERTY.format_map(field) for field in fields)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    stub = HEAD + "".join(map(class_of, _core.records()))
    if not parser.parse_args().check:
        TARGET.write_text(stub)
        return 0
    if TARGET.exists() and TARGET.read_text() == stub:
        return 0
    print(f"{TARGET} is not what the compiled tables give: run .ci/stubs.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
