"""A progress bar over pages: tqdm's, in a terminal and in Jupyter."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Bar(Protocol):
        """What a pager tells of its way."""

        def update(self, n: int) -> object:
            """``n`` more stocks came."""

        def close(self) -> object:
            """There will be no more."""


class _NoBar:
    def update(self, n: int) -> None:
        pass

    def close(self) -> None:
        pass


def require_bar() -> Any:
    """The class of the bar. Raises ImportError with what to install."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError(
            "progress=True needs tqdm: pip install 'tradingdata[notebook]', or pip install tqdm"
        ) from None
    return tqdm


def page_bar(title: str, *, enabled: bool) -> Bar:
    """A bar that counts stocks; the total is not known, since the service does not tell it."""
    if not enabled:
        return _NoBar()
    bar: Bar = require_bar()(desc=f"search {title}", unit=" stocks")
    return bar
