"""What a client has done so far."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    class _Counts(NamedTuple):
        calls: int
        failures: int
        attempts: int
        retries: int
        connections: int
        reused: int
        bytes_sent: int
        bytes_received: int
else:
    _Counts = namedtuple(
        "ClientStats",
        "calls failures attempts retries connections reused bytes_sent bytes_received",
    )


class ClientStats(_Counts):
    """A client's counts since it was made.

    Attributes:
        calls: calls that ended, well or not.
        failures: calls that ended with an error.
        attempts: requests that were sent.
        retries: attempts after the first of a call.
        connections: answers that came over a new connection.
        reused: answers that came over a kept one.
        bytes_sent: on the wire, headers included.
        bytes_received: on the wire, headers included.
    """

    __slots__ = ()
