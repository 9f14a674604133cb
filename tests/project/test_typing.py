"""The annotations, which frameworks read; `nox -s types` checks the examples in `tests/typing`."""

from __future__ import annotations

import typing

import public_names


def test_the_annotations_of_all_that_is_public_can_be_evaluated() -> None:
    """Frameworks and notebooks read them: FastAPI, Typer, pydantic, beartype."""
    unresolved = {}
    names = []
    for name, value in public_names.annotated():
        names.append(name)
        try:
            typing.get_type_hints(value)
        except Exception as error:
            unresolved[name] = repr(error)
    assert not unresolved
    assert {"tradingdata.day_pnl", "tradingdata.Client.__init__"} <= set(names)
    assert {"tradingdata.TradeBook.to_pandas", "tradingdata.types.Watch.__next__"} <= set(names)
