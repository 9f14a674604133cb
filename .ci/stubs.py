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
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Self, final, type_check_only

class Row: ...

@type_check_only
class _RecordBase(Row):
    def __getitem__(self, name: str, /) -> Any: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Self: ...
    def __replace__(self, /, **changes: Any) -> Self: ...
    def _asdict(self, *, extra: bool = False) -> dict[str, Any]: ...
    def _replace(self, **changes: Any) -> Self: ...
    @property
    def _extra(self) -> dict[str, Any]: ...
"""

# A record honours the protocol of dataclasses, though it is none.
RECORD = '''
@final
@dataclass(frozen=True, kw_only=True)
class {name}(_RecordBase):
    """{title}."""

'''

FIELD = '''\
    {name}: {type} = None
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
    return RECORD.format_map(record) + "".join(map(FIELD.format_map, fields))


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
