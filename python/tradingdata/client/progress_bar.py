"""Optional progress bars (tqdm), in a terminal and in Jupyter."""

from __future__ import annotations

from typing import Any

from .._util.optional_imports import require


class _NoBar:
    def update(self, n: int = 0) -> None:
        pass

    close = update


def require_bar() -> Any:
    """Returns tqdm's class. Raises ImportError if tqdm is not installed."""
    return require("tqdm.auto", "progress", "a progress bar").tqdm


def progress_bar(title: str, unit: str, *, enabled: bool, total: int | None = None) -> Any:
    """Returns a bar, with ``update(n)`` and ``close()``; it shows nothing unless ``enabled``.

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
    return require_bar()(desc=title, unit=f" {unit}", total=total)
