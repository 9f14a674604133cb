"""Selected columns of a table, as lists of values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._util.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import tzinfo
    from typing import Any, Self


def checked_names(argument: str, names: Collection[str]) -> list[str]:
    """Returns the names as a list.

    Raises:
        TypeError: The argument is text rather than a list of names.
        ValueError: A name appears twice.
    """
    if isinstance(names, str):
        raise TypeError(f"{argument}= takes a list of names, not the text {names!r}")
    chosen = list(names)
    for name in chosen:
        if chosen.count(name) > 1:
            raise ValueError(f"{argument}= names {name!r} twice")
    return chosen


class Columns:
    """Columns in order, each of a kind: text, integer, number, timestamp or date.

    Attributes:
        title: What the table is called in messages and workbooks.
        kinds: The kind of each selected column, in order.
        categories: Text columns that become categories in frames.
        zone: Time zone of the timestamps; ``None`` if they are naive.
    """

    __slots__ = ("_lists", "_rows", "categories", "kinds", "title", "zone")

    def __init__(
        self,
        title: str,
        kinds: Mapping[str, str],
        lists: Mapping[str, list[Any]],
        *,
        columns: Sequence[str] | None = None,
        categories: Collection[str] = (),
        zone: tzinfo | None = None,
    ) -> None:
        self._rows = max(map(len, lists.values()), default=0)
        self._choose(title, kinds, columns, categories)
        self._lists = {name: lists[name] for name in self.kinds}
        self.zone = zone

    def _choose(
        self,
        title: str,
        known: Mapping[str, str],
        columns: Sequence[str] | None,
        categories: Collection[str],
    ) -> None:
        """Sets title, kinds and categories from the names that a caller passed.

        Raises:
            KeyError: There is no such column.
            TypeError: A category is not a text column, or an argument is text.
        """
        names = list(known) if columns is None else checked_names("columns", columns)
        coded = checked_names("categories", categories)
        for name in (*names, *coded):
            if name not in known:
                raise KeyError(self._missing(title, name, known))
        for name in coded:
            if known[name] != "text":
                raise TypeError(f"{name} is not a text column, so it cannot have categories")
        self.title = title
        self.kinds = {name: known[name] for name in names}
        self.categories = coded

    def _missing(self, title: str, name: str, known: Mapping[str, str]) -> str:
        return f"{title} has no column {name!r}{did_you_mean(name, known)}"

    def __len__(self) -> int:
        return self._rows

    def lists(self) -> dict[str, list[Any]]:
        """Returns the values of each column."""
        return {name: list(values) for name, values in self._lists.items()}

    def localized(self, zone: tzinfo) -> Self:
        """Returns the columns with their naive times declared to be in a zone."""
        made = object.__new__(type(self))
        made.title, made.kinds, made.categories = self.title, self.kinds, self.categories
        made.zone, made._rows = zone, len(self)
        made._lists = {
            name: [value and value.replace(tzinfo=zone) for value in values]
            if self.kinds[name] == "timestamp"
            else values
            for name, values in self._lists.items()
        }
        return made

    def cells(self) -> dict[str, list[Any]]:
        """Returns the values of each column for files, which contain plain values."""
        return self.lists()

    def dicts(self) -> list[dict[str, Any]]:
        """Returns a dict for each row."""
        lists = self.lists()
        if not lists:
            return [{} for _ in range(len(self))]
        return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
