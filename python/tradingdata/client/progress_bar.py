"""Optional progress bars (tqdm), in a terminal and in Jupyter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .._util.optional_imports import require

if TYPE_CHECKING:

    class Bar(Protocol):
        """Receives the progress of a long operation."""

        def update(self, n: int) -> object:
            """Adds ``n`` finished units."""

        def close(self) -> object:
            """Ends the bar."""


class _NoBar:
    def update(self, n: int) -> None:
        pass

    def close(self) -> None:
        pass


def require_bar() -> Any:
    """Returns tqdm's class. Raises ImportError if tqdm is not installed."""
    return require("tqdm.auto", "progress", "a progress bar").tqdm


def progress_bar(title: str, unit: str, *, enabled: bool, total: int | None = None) -> Bar:
    """Returns a bar that counts units of work, or one that shows nothing unless ``enabled``.

    Args:
        title: Text before the bar.
        unit: Name of the units, in the plural.
        enabled: Whether to show the bar.
        total: The number of units; None if unknown, as in a search.

    Raises:
        ImportError: tqdm is not installed.
    """
    if not enabled:
        return _NoBar()
    bar: Bar = require_bar()(desc=title, unit=f" {unit}", total=total)
    return bar
