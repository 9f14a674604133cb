"""Counts of a client's calls, connections and bytes."""

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
    """A client's counts since it was created.

    Attributes:
        calls: Number of finished calls, successful or not.
        failures: Number of calls that ended with an error.
        attempts: Number of requests sent.
        retries: Number of attempts after the first of each call.
        connections: Number of responses received over a new connection.
        reused: Number of responses received over a kept-alive connection.
        bytes_sent: Bytes sent on the wire, including headers.
        bytes_received: Bytes received on the wire, including headers.
    """

    __slots__ = ()
