"""Comparison of two order books: which orders are new, changed or gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .. import _core
from .._util.shown import shown
from ..display.preview import instrument_name, value_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from ..table.rows import Order


class OrderChange(NamedTuple):
    """An order that is new, has changed or is gone; its records own their storage.

    Attributes:
        kind: ``"new"``, ``"changed"`` or ``"gone"``. ``"gone"`` means that the order is no longer
            in the book. It does not say why; in particular, not that it was cancelled.
        order: The current record; the last known one if the order is gone.
        previous: The earlier record; ``None`` for a new order.
        fields: Wire names of the changed fields in the record's order, unknown fields last. Empty
            unless ``kind`` is ``"changed"``.
    """

    kind: Literal["new", "changed", "gone"]
    order: Order
    previous: Order | None
    fields: tuple[str, ...]

    def __repr__(self) -> str:
        order = self.order
        known = (self.kind, order.order_no, instrument_name(order), order.txn_type)
        what = " ".join(part for part in known if part)
        shown = [self._values(name) for name in self.fields[:4]]
        more = f" and {len(self.fields) - 4} more" if len(self.fields) > 4 else ""
        values = f" ({', '.join(shown)}{more})" if shown else ""
        return f"<OrderChange {what}{values}>"

    def _values(self, name: str) -> str:
        if _core.is_personal(name):
            return name
        values = f"{value_of(self.previous, name)!r} -> {value_of(self.order, name)!r}"
        return f"{name}: {_core.displayed(name, values)}"


def checked_ignore(ignore: Iterable[str]) -> list[str]:
    """Returns the names of fields to ignore, as a list; raises TypeError for anything but names."""
    listed = [ignore] if isinstance(ignore, str) else list(ignore)
    for name in listed:
        if isinstance(ignore, str) or not isinstance(name, str):
            raise TypeError(f"ignore= takes a collection of field names, not {shown(name)}")
    return listed
