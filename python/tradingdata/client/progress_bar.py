"""Progress bars of tqdm, in a terminal and in Jupyter."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Bar(Protocol):
        """What long work reports its progress to."""

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
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError(
            "progress=True needs tqdm: pip install 'tradingdata[notebook]', or pip install tqdm"
        ) from None
    return tqdm


def progress_bar(title: str, unit: str, *, enabled: bool, total: int | None = None) -> Bar:
    """Returns a bar that counts units of work, or one that shows nothing unless ``enabled``.

    Args:
        title: What is shown before the bar.
        unit: What is counted, in the plural.
        enabled: Whether to show the bar.
        total: The number of units; None if it is not known, as that of a search.

    Raises:
        ImportError: tqdm is not installed.
    """
    if not enabled:
        return _NoBar()
    bar: Bar = require_bar()(desc=title, unit=f" {unit}", total=total)
    return bar
